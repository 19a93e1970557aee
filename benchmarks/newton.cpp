// Newton steps of the swinging beam (2 x 1 x 1 m, five tetrahedra a cell, stable Neo-Hookean, 1/60 s, step length below
// 1e-6 m/s) with the direct solver and with conjugate gradients, over size and stiffness: which one to choose, and how
// a step compares with a product of dense 1000 x 1000 matrices on the same machine.
//
//   benchmark_newton [--quick] [--threads N] [--steps N] [--cells N] [--young E]    one size, one stiffness
#include <cblas.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "pliant/scene/scene.hpp"

namespace {

using namespace pliant;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double dgemm_milliseconds(int threads) {
  const int n = 1000;
  std::vector<double> a(1000 * 1000, 1.0), b = a, c = a;
  openblas_set_num_threads(threads);
  std::vector<double> times;
  for (int k = 0; k < 7; ++k) {
    const double begin = seconds_now();
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
    times.push_back(1e3 * (seconds_now() - begin));
  }
  openblas_set_num_threads(1);
  return median(times);
}

struct Linear {
  const char* name;
  const char* keys;
};
constexpr Linear choices[] = {
    {"direct", "linear = \"direct\""},
    {"pcg, block-Jacobi", "linear = \"pcg\"\npreconditioner = \"block-jacobi\""},
    {"pcg, incomplete Cholesky", "linear = \"pcg\"\npreconditioner = \"incomplete-cholesky\""}};

struct Result {
  double milliseconds = 0;
  double iterations = 0;
  double products = 0;
  bool converged = true;
};

Result run(int cells, double young, const Linear& linear, int steps, int& vertices) {
  const std::string scene_text =
      "version = 1\n[simulation]\nfps = 60\nduration = 1.0\n"
      "[[body]]\nbox = {size = [2, 1, 1], cells = [" +
      std::to_string(2 * cells) + ", " + std::to_string(cells) + ", " + std::to_string(cells) +
      "], split = \"five\"}\nmaterial = \"stable-neo-hookean\"\nyoung = " + std::to_string(young) +
      "\npoisson = 0.4\n[[pin]]\nwhere = \"x-min\"\n[solver]\nname = \"newton\"\ncriterion = \"step-length\"\n"
      "tolerance = 1e-6\n" +
      linear.keys + "\n";
  const Scene scene = parse_scene(scene_text, "swinging beam");
  const auto model = build_model(scene);
  const auto stepper = make_stepper(scene, model);
  State state = model->rest_state();
  vertices = model->nodes();
  Result result;
  std::vector<double> times;
  for (int s = 0; s < steps; ++s) {
    const double begin = seconds_now();
    const StepReport report = stepper->step(state, 1.0 / 60);
    if (s > 0) times.push_back(1e3 * (seconds_now() - begin));  // the first one also analyses the pattern
    result.iterations += double(report.iterations) / steps;
    result.products += double(report.linear_iterations) / steps;
    result.converged = result.converged && report.converged();
  }
  result.milliseconds = median(times);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  int threads = static_cast<int>(std::thread::hardware_concurrency()), steps = 6;
  std::vector<int> sizes{10, 16, 24};
  std::vector<double> stiffness{4e4, 4e5, 4e6, 4e7};
  for (int a = 1; a < argc; ++a) {
    const std::string word = argv[a];
    if (word == "--quick") sizes = {10}, stiffness = {4e5};
    if (word == "--cells" && a + 1 < argc) sizes = {std::max(1, std::atoi(argv[++a]))};
    if (word == "--young" && a + 1 < argc) stiffness = {std::atof(argv[++a])};
    if (word == "--threads" && a + 1 < argc) threads = std::max(1, std::atoi(argv[++a]));
    if (word == "--steps" && a + 1 < argc) steps = std::max(2, std::atoi(argv[++a]));
  }
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  std::printf("%d threads\n%9s %9s  %-26s %10s %10s %10s %10s %14s\n", threads, "vertices", "E, Pa", "linear solver",
              "ms a step", "ms a dgemm", "in dgemms", "iterations", "products");
  for (const int cells : sizes) {
    for (const double young : stiffness) {
      for (const Linear& linear : choices) {
        int vertices = 0;
        const double before = dgemm_milliseconds(threads);
        const Result r = run(cells, young, linear, steps, vertices);
        const double unit = 0.5 * (before + dgemm_milliseconds(threads));  // the load of a shared machine changes
        std::printf("%9d %9.0e  %-26s %10.1f %10.1f %10.2f %10.1f %14.1f%s\n", vertices, young, linear.name,
                    r.milliseconds, unit, r.milliseconds / unit, r.iterations, r.products,
                    r.converged ? "" : "  did not converge");
        std::fflush(stdout);
      }
    }
  }
}
