// A frame of quasi-newton (10 iterations, window 5, h = 1/30 s, one thread) on a bar that is twisted by one turn over
// 60 frames, against what it cannot do without: the floor of ten times (reading the factor twice, one pass over the
// elements). Times are processor times of the thread, in milliseconds and in products of two 1000 x 1000 matrices by
// OpenBLAS on the same core, which makes them comparable between machines.
//
//   quasi_newton [MESH [LAW]]   with MESH, such as longbar2.mesh, in place of the first generated bar; with LAW, it
//   alone

#include <cblas.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <numbers>
#include <numeric>
#include <vector>

#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/quasi_newton/laplacian.hpp"

namespace {

using namespace pliant;

constexpr double kStep = 1.0 / 30;
constexpr int kFrames = 60;

/// Processor time of this thread, so that other programs on the machine disturb less.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Median milliseconds of a call.
template <class Body>
double measure(int repetitions, Body&& body) {
  std::vector<double> times;
  body();
  for (int r = 0; r < repetitions; ++r) {
    const double begin = now();
    body();
    times.push_back(now() - begin);
  }
  return median(times);
}

double matrix_product() {
  constexpr int n = 1000;
  std::vector<double> a(n * n, 1.5), b(n * n, 0.5), c(n * n);
  openblas_set_num_threads(1);
  return measure(9, [&] {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
  });
}

/// Both ends held, one of them turned once about the bar's axis, x, in the 60 frames. The bar is one metre long.
std::shared_ptr<const Model> twisted_bar(MeshData data, const std::string& law) {
  double low = 1e300, high = -1e300;
  for (const Vec3& p : data.vertices) {
    low = std::min(low, p.x());
    high = std::max(high, p.x());
  }
  Vec3 centre = Vec3::Zero();
  for (const Vec3& p : data.vertices) centre += p / static_cast<double>(data.vertices.size());
  for (Vec3& p : data.vertices) p = (p - centre) / (high - low);
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law(law), {4e4, 1e5}};
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  Pin pin{"held", {}};
  Script script{"turned", {}, {}, Imposition::direct};
  for (std::size_t i = 0; i < body.mesh->vertices().size(); ++i) {
    const double x = body.mesh->vertices()[i].x();
    if (x < -0.45) pin.nodes.push_back(static_cast<Index>(i));
    if (x > 0.45) script.nodes.push_back(static_cast<Index>(i));
  }
  script.motion.axis = Vec3::UnitX();
  script.motion.angle.keys = {{0, 0.0}, {kFrames * kStep, 2 * std::numbers::pi}};
  builder.add_body(body);
  builder.add_pin(pin);
  builder.add_script(script);
  return builder.build();
}

MeshData bar(Index cells) {
  BoxOptions options;
  options.size = {8, 1, 1};
  options.cells = {8 * cells, cells, cells};
  return box(options);
}

struct Row {
  double vertices, ms;
};

Row run(const MeshData& mesh, const std::string& law, double unit) {
  const auto model = twisted_bar(mesh, law);
  const auto stepper = make_stepper(model, "quasi-newton");
  State state = model->rest_state();
  stepper->step(state, kStep);  // pays the factorisation
  std::vector<double> times;
  StageSeconds stages;
  int evaluations = 0, iterations = 0;
  for (int frame = 1; frame < kFrames; ++frame) {
    const double begin = now();
    const StepReport report = stepper->step(state, kStep);
    times.push_back(now() - begin);
    stages.solve += report.seconds.solve;
    stages.line_search += report.seconds.line_search;
    stages.total += report.seconds.total;
    evaluations += report.line_search_evaluations;
    iterations += report.iterations;
  }
  LaplacianMatrix matrix(model, {});
  StepProblem problem;
  problem.begin(*model, model->rest_state(), kStep, {});
  int factorisations = 0;
  matrix.prepare(problem, factorisations);
  VecX d, g = VecX::Random(3 * model->nodes());
  const double solve = measure(51, [&] { matrix.solve(g, d); });
  std::vector<float> factor(static_cast<std::size_t>(matrix.cholesky().statistics().factor_bytes) / sizeof(float),
                            1.0F);
  float sink = 0;
  const double read = measure(51, [&] {
    // Eight sums in vectors: as fast as memory gives them.
    using Vector = float __attribute__((vector_size(32)));
    Vector sums[8] = {};
    const auto* data = reinterpret_cast<const float*>(factor.data());
    for (std::size_t i = 0; i + 64 <= factor.size(); i += 64)
      for (std::size_t k = 0; k < 8; ++k) {
        Vector v;
        __builtin_memcpy(&v, data + i + 8 * k, sizeof v);
        sums[k] += v;
      }
    for (const Vector& s : sums) sink += s[0];
  });
  const Energy& energy = model->bodies()[0].energy().in_memory_order();
  std::vector<double> values(256), forces(256 * 12);
  const double elements = measure(51, [&] {
    for (Index e = 0; e < energy.stencils().count(); e += 256)
      energy.evaluate(state.x, {e, std::min(e + 256, energy.stencils().count())}, values.data(), forces.data());
  });
  const double frame = median(times), floor = 10 * (2 * read + elements);
  std::printf("%-18s %8d %8d %9.2f %8.3f %8.2f %6.2f %9.3f %9.3f %9.3f %6.1f%% %6.1f%% %7.2f%s\n", law.c_str(),
              static_cast<int>(model->nodes()), static_cast<int>(energy.stencils().count()), frame, frame / unit, floor,
              frame / floor, solve, 2 * read, elements, 100 * stages.solve / stages.total,
              100 * stages.line_search / stages.total, static_cast<double>(evaluations) / iterations,
              sink == -1 ? "!" : "");
  std::fflush(stdout);
  return {static_cast<double>(model->nodes()), frame};
}

}  // namespace

int main(int argc, char** argv) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const double unit = matrix_product();
  std::printf("dgemm 1000: %.1f ms\n\n", unit);
  std::printf(
      "law                vertices elements  ms/frame   dgemms    floor  ratio     solve  2 x read  elements  solve%%  "
      "search%%  evals\n");
  const MeshData first = argc > 1 ? read_mesh_data(argv[1]) : bar(7);
  if (argc > 2) {
    for (int k = 0; k < 5; ++k) run(first, argv[2], unit);
    return 0;
  }
  for (const char* law : {"neo-hookean", "linear-corotated", "polynomial"}) run(first, law, unit);
  std::vector<Row> rows;
  for (Index cells : {4, 6, 8, 12, 16}) rows.push_back(run(bar(cells), "neo-hookean", unit));
  const Row& a = rows.front();
  const Row& b = rows.back();
  std::printf("\nms/frame grows with vertices^%.2f\n", std::log(b.ms / a.ms) / std::log(b.vertices / a.vertices));
}
