// How the cost of a step grows from a few thousand to a million vertices, family by family: a beam 2:1:1 of stable
// Neo-Hookean rubber (E = 4e5 Pa; the corotational families their own law), clamped at one end, under gravity, default
// settings. For every size the wall time and the processor time of the first step and of those after it (median), and
// the exponents over the sizes that ran: cost ~ vertices^exponent.
//
//   scale [--solvers a,b,...] [--largest VERTICES, default 100000] [--steps N, default 3] [--seconds S, default 300]
//   scale --set-up [--largest VERTICES]    the parts of what comes before the first step, and of a frame
//
// A solver ends with the first size whose step fails, or takes longer than S seconds.

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "pliant/io/frames.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace {

using namespace pliant;

constexpr double kStep = 0.01;
constexpr Index kCells[] = {10, 16, 24, 32, 50, 80};  // along the beam's width: 2.5 thousand to 1.06 million vertices

double wall() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double processor() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double largest_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e6;  // of kB: GB
}

struct Cost {
  double wall = 0, processor = 0;  // s
};
template <class Work>
Cost measured(Work&& work) {
  const double w = wall(), p = processor();
  work();
  return {wall() - w, processor() - p};
}

Index vertices_of(Index n) { return (2 * n + 1) * (n + 1) * (n + 1); }

std::shared_ptr<const TetMesh> beam_mesh(Index n) { return testing::box_mesh({2, 1, 1}, {2 * n, n, n}); }

std::shared_ptr<const Model> beam(const std::shared_ptr<const TetMesh>& mesh, const std::string& law) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = mesh;
  body.material = testing::material(law, 4e5, 0.4);
  builder.add_body(body);
  builder.add_pin({"clamp", builder.body(0).elements->nodes_of(mesh->sets().at("x-min"))});
  return builder.build();
}

std::string law_for(const std::string& solver) {
  for (const char* corotational : {"corotational", "corotational-cg", "stiffness-warping", "warp-canceling"})
    if (solver == corotational) return "linear-corotated";
  for (const char* by_constraints : {"xpbd", "b-pxpbd", "grid-b-pxpbd"})
    if (solver == by_constraints) return "fixed-corotated";
  return "stable-neo-hookean";
}

struct Row {
  double vertices = 0, first = 0, later = 0;
};

double exponent(const std::vector<Row>& rows, double Row::*cost) {
  const Row &a = rows.front(), &b = rows.back();
  return std::log(b.*cost / (a.*cost)) / std::log(b.vertices / a.vertices);
}

struct Options {
  std::vector<std::string> solvers = {"pod-newton", "quasi-newton", "fp-pxpbd", "warp-canceling", "linearly-implicit"};
  double largest = 1e5, seconds = 300;
  int steps = 3;
  bool set_up = false;
};

void run_solver(const std::string& solver, const Options& options) {
  std::printf("%s\n  %9s %12s %12s %12s %12s %6s %6s %8s\n", solver.c_str(), "vertices", "first, ms", "then, ms",
              "cpu, ms", "cpu first", "its", "linear", "peak, GB");
  std::vector<Row> rows;
  for (Index n : kCells) {
    if (vertices_of(n) > options.largest) break;
    const auto model = beam(beam_mesh(n), law_for(solver));
    const auto stepper = make_stepper(model, solver);
    State state = model->rest_state();
    StepReport report;
    std::vector<double> walls, processors;
    for (int s = 0; s < options.steps && report.succeeded(); ++s) {
      const Cost cost = measured([&] { report = stepper->step(state, kStep); });
      walls.push_back(1e3 * cost.wall);
      processors.push_back(1e3 * cost.processor);
      if (cost.wall > options.seconds) break;
    }
    if (!report.succeeded()) {
      std::printf("  %9d %s: %s\n", vertices_of(n), std::string(to_string(report.outcome)).c_str(),
                  report.detail.c_str());
      break;
    }
    const auto median_after_first = [](std::vector<double> values) {
      if (values.size() > 1) values.erase(values.begin());
      std::sort(values.begin(), values.end());
      return values[values.size() / 2];
    };
    rows.push_back({double(vertices_of(n)), processors[0], median_after_first(processors)});
    std::printf("  %9d %12.1f %12.1f %12.1f %12.1f %6d %6d %8.2f\n", vertices_of(n), walls[0],
                median_after_first(walls), rows.back().later, processors[0], report.iterations,
                report.linear_iterations, largest_memory());
    std::fflush(stdout);
    if (walls.back() > 1e3 * options.seconds) break;
  }
  if (rows.size() > 1)
    std::printf("  exponent of the processor time: %.2f (first step %.2f)\n", exponent(rows, &Row::later),
                exponent(rows, &Row::first));
}

void run_set_up(const Options& options) {
  std::printf("wall / processor, ms\n  %9s %19s %19s %19s %19s\n", "vertices", "mesh", "model", "fp-pxpbd's stepper",
              "a frame");
  const auto folder = std::filesystem::temp_directory_path() / "pliant-benchmark-scale";
  for (Index n : kCells) {
    if (vertices_of(n) > options.largest) break;
    std::shared_ptr<const TetMesh> mesh;
    std::shared_ptr<const Model> model;
    std::unique_ptr<Stepper> stepper;
    std::vector<Cost> costs;
    costs.push_back(measured([&] { mesh = beam_mesh(n); }));
    costs.push_back(measured([&] { model = beam(mesh, "stable-neo-hookean"); }));
    costs.push_back(measured([&] { stepper = make_stepper(model, "fp-pxpbd"); }));
    std::filesystem::create_directories(folder);
    FrameWriter frames(
        folder, model,
        {FrameField::displacement, FrameField::velocity, FrameField::von_mises, FrameField::stretch, FrameField::body});
    costs.push_back(measured([&] { frames.write(0, model->rest_state()); }));
    std::printf("  %9d", vertices_of(n));
    for (const Cost& cost : costs) std::printf(" %9.0f %9.0f", 1e3 * cost.wall, 1e3 * cost.processor);
    std::printf("\n");
    std::fflush(stdout);
    std::filesystem::remove_all(folder);
  }
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    if (is("--set-up")) {
      options.set_up = true;
      continue;
    }
    if (i + 1 >= argc) break;
    if (is("--largest"))
      options.largest = std::atof(argv[++i]);
    else if (is("--seconds"))
      options.seconds = std::atof(argv[++i]);
    else if (is("--steps"))
      options.steps = std::atoi(argv[++i]);
    else if (is("--solvers")) {
      options.solvers.clear();
      for (const char* name = std::strtok(argv[++i], ","); name; name = std::strtok(nullptr, ","))
        options.solvers.emplace_back(name);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.set_up) return run_set_up(options), 0;
  for (const std::string& solver : options.solvers) run_solver(solver, options);
}
