// How pod-newton's linear systems are best solved: by a factorisation, by conjugate gradients, plain or with multigrid,
// or as `auto` chooses, for compact, slender and flat bodies, soft and stiff, moving, touching the ground and at rest.
// Times are processor times of one thread per step, and of whole runs for statics; `ratio` is auto's time over the best
// one's. Factorisations of more than 50 thousand vertices are left out, and plain conjugate gradients above 300.
//
//   benchmark_linear [VERTICES [CASE]]      CASE: part of a name

#include <oneapi/tbb/global_control.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "thread_time.hpp"

namespace {

using namespace pliant;

struct Case {
  std::string name;
  Vec3 shape;  ///< of the box, in cells of its shortest edges
  double young;
  bool is_static = false;
  int order = 1;
  bool falls = false;  ///< free, onto a floor
  bool is_lattice = false;
};

std::shared_ptr<const Model> make_model(const Case& c, double vertices) {
  const double scale = std::cbrt(vertices / c.shape.prod());
  std::array<Index, 3> cells;
  for (std::size_t a = 0; a < 3; ++a)
    cells[a] = std::max<Index>(1, static_cast<Index>(std::lround(scale * c.shape[static_cast<int>(a)] / c.order) - 1));
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  if (c.is_lattice) {
    // Struts of a cell have some 60 vertices.
    const auto n = std::max<Index>(1, static_cast<Index>(std::lround(std::cbrt(vertices / 60))));
    body.mesh = std::make_shared<TetMesh>(lattice({.cells = {n, n, n}, .strut = 0.3 / n}));
  } else {
    body.mesh = std::make_shared<TetMesh>(box({.size = c.shape / c.shape.maxCoeff(), .cells = cells}));
  }
  body.material = {find_law("stable-neo-hookean"), lame_from_young(c.young, 0.4)};
  body.order = c.order;
  builder.add_body(body);
  if (c.falls) {
    Collider floor;
    floor.shape = PlaneShape{{0, -0.01, 0}, {0, 1, 0}};
    builder.add_collider(floor);
  } else {
    const auto positions = builder.body(0).elements->positions();
    std::vector<Index> held;
    for (std::size_t i = 0; i < positions.size(); ++i)
      if (positions[i].x() < 1e-9) held.push_back(static_cast<Index>(i));
    builder.add_pin({"clamp", held});
  }
  return builder.build();
}

struct Timed {
  double ms = 0;
  int iterations = 0, linear_iterations = 0, factorisations = 0, steps = 0;
  bool failed = false;
};

Timed run(const Case& c, const std::shared_ptr<const Model>& model, const std::string& linear,
          const std::string& preconditioner = "block-jacobi") {
  ParameterMap parameters = {{"linear", linear}, {"preconditioner", preconditioner}};
  if (c.is_static) parameters["integrator"] = std::string("quasistatic");
  const auto stepper = make_stepper(model, "pod-newton", parameters);
  State state = model->rest_state();
  Timed timed;
  const int steps = c.is_static ? 1 : 8;
  std::vector<double> times;
  for (int k = 0; k < steps; ++k) {
    const double begin = thread_time();
    const StepReport report = stepper->step(state, 1.0 / 60);
    times.push_back(thread_time() - begin);
    timed.failed |= !report.succeeded();
    timed.iterations += report.iterations;
    timed.linear_iterations += report.linear_iterations;
    timed.factorisations += report.factorisations;
    ++timed.steps;
    if (timed.failed) break;
  }
  // The first step has the set-up in it, which the others do not.
  std::sort(times.begin(), times.end());
  timed.ms = times[times.size() / 2];
  return timed;
}

}  // namespace

int main(int count, char** arguments) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  std::vector<double> sizes = {2500, 9500, 30000};
  if (count > 1) sizes = {std::atof(arguments[1])};
  const std::string only = count > 2 ? arguments[2] : "";
  std::vector<Case> cases;
  for (const double young : {4e4, 4e5, 4e7, 4e9}) {
    char name[64];
    std::snprintf(name, sizeof name, "compact %.0e", young);
    cases.push_back({name, {2, 1, 1}, young});
    std::snprintf(name, sizeof name, "slender %.0e", young);
    cases.push_back({name, {40, 1, 1}, young});
    std::snprintf(name, sizeof name, "sheet %.0e", young);
    cases.push_back({name, {20, 20, 1}, young});
  }
  cases.push_back({"compact P2", {2, 1, 1}, 4e5, false, 2});
  cases.push_back({"lattice 4e5", {1, 1, 1}, 4e5, false, 1, false, true});
  cases.push_back({"lattice 4e7", {1, 1, 1}, 4e7, false, 1, false, true});
  cases.push_back({"contact 4e5", {2, 1, 1}, 4e5, false, 1, true});
  cases.push_back({"contact 4e7", {2, 1, 1}, 4e7, false, 1, true});
  cases.push_back({"static compact", {2, 1, 1}, 4e7, true});
  cases.push_back({"static slender", {10, 1, 1}, 4e7, true});
  std::printf("%-16s %8s  %9s %4s  %9s %4s %6s  %9s %4s %6s  %9s %4s %6s  %6s %6s\n", "", "nodes", "direct ms", "its",
              "pcg ms", "its", "linear", "multi ms", "its", "linear", "auto ms", "its", "factor", "ratio", "MB");
  for (const double vertices : sizes)
    for (const Case& c : cases) {
      if (c.name.find(only) == std::string::npos) continue;
      const auto model = make_model(c, vertices);
      Timed none;
      none.failed = true;
      const Timed direct = vertices > 5e4 ? none : run(c, model, "direct");
      const Timed pcg = vertices > 3e5 ? none : run(c, model, "pcg");
      const Timed multigrid = run(c, model, "pcg", "multigrid"), own = run(c, model, "auto");
      double best = 1e300;
      for (const Timed* t : {&direct, &pcg, &multigrid})
        if (!t->failed) best = std::min(best, t->ms);
      rusage usage;
      getrusage(RUSAGE_SELF, &usage);
      std::printf("%-16s %8d  %9.1f %4d  %9.1f %4d %6d  %9.1f %4d %6d  %9.1f %4d %6d  %6.2f %6ld%s\n", c.name.c_str(),
                  model->nodes(), direct.ms, direct.iterations, pcg.ms, pcg.iterations, pcg.linear_iterations,
                  multigrid.ms, multigrid.iterations, multigrid.linear_iterations, own.ms, own.iterations,
                  own.factorisations, own.ms / best, usage.ru_maxrss / 1024, own.failed ? "  (a step failed)" : "");
      std::fflush(stdout);
    }
}
