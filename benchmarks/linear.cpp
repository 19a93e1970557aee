// How pod-newton's linear systems are best solved: by a factorisation, by conjugate gradients, plain, with multigrid or
// with the factor of the matrix at rest, or as `auto` chooses, for compact, slender and flat bodies, soft and stiff,
// moving, touching the ground and at rest. Times are processor times of one thread per step, and of whole runs for
// statics; `ratio` is auto's time over the best one's. Factorisations of more than 50 thousand vertices are left out,
// and plain conjugate gradients above 300.
//
//   benchmark_linear [VERTICES [CASE [STEPS]]]      CASE: part of a name; STEPS: how many are taken, and each is shown

#include <oneapi/tbb/global_control.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
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

/// One way to solve, with a body of its own.
struct Contestant {
  std::string name, linear, preconditioner = "block-jacobi";
  std::unique_ptr<Stepper> stepper;
  State state;
  std::vector<double> times;
  int iterations = 0, linear_iterations = 0, factorisations = 0;
  bool failed = false;

  void begin(const Case& c, const std::shared_ptr<const Model>& model) {
    ParameterMap parameters = {{"linear", linear}, {"preconditioner", preconditioner}};
    if (c.is_static) parameters["integrator"] = std::string("quasistatic");
    stepper = make_stepper(model, "pod-newton", parameters);
    state = model->rest_state();
    iterations = linear_iterations = factorisations = 0;
  }

  void step(bool shows_steps) {
    if (failed) return;
    const double begin = thread_time();
    const StepReport report = stepper->step(state, 1.0 / 60);
    times.push_back(thread_time() - begin);
    failed = !report.succeeded();
    iterations += report.iterations;
    linear_iterations += report.linear_iterations;
    factorisations += report.factorisations;
    if (!shows_steps) return;
    double multigrid = 0;
    for (const Figure& figure : report.figures)
      if (figure.name == "multigrid_systems") multigrid = figure.value;
    std::printf(
        "  %-11s step %2zu %8.1f ms: %2d Newton, %5d linear iterations, %2d factorisations, %2.0f by multigrid\n",
        name.c_str(), times.size(), times.back(), report.iterations, report.linear_iterations, report.factorisations,
        multigrid);
  }

  /// The first step has the set-up in it, which the others do not.
  double median() const {
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
};

/// Steps are taken in turn, so that a machine that is slow for a while is slow for all of them.
void run(const Case& c, const std::shared_ptr<const Model>& model, std::span<Contestant> contestants, int steps,
         bool shows_steps) {
  for (Contestant& contestant : contestants) contestant.begin(c, model);
  for (int k = 0; k < steps; ++k)
    for (Contestant& contestant : contestants) {
      if (c.is_static && k > 0) contestant.begin(c, model);
      contestant.step(shows_steps);
    }
}

}  // namespace

int main(int count, char** arguments) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  std::vector<double> sizes = {2500, 9500, 30000};
  if (count > 1) sizes = {std::atof(arguments[1])};
  const std::string only = count > 2 ? arguments[2] : "";
  const int steps = count > 3 ? std::atoi(arguments[3]) : 0;
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
  std::printf("%-16s %8s  %9s %4s %6s  %9s %4s %6s  %9s %4s %6s  %9s %4s %6s  %9s %4s %6s  %6s %6s\n", "", "nodes",
              "direct ms", "its", "factor", "pcg ms", "its", "linear", "multi ms", "its", "linear", "rest ms", "its",
              "linear", "auto ms", "its", "factor", "ratio", "MB");
  for (const double vertices : sizes)
    for (const Case& c : cases) {
      if (c.name.find(only) == std::string::npos) continue;
      const auto model = make_model(c, vertices);
      std::vector<Contestant> all(5);
      all[0].name = all[0].linear = "direct";
      all[1].name = all[1].linear = all[2].linear = all[3].linear = "pcg";
      all[2].name = all[2].preconditioner = "multigrid";
      all[3].name = all[3].preconditioner = "rest-factor";
      all[4].name = all[4].linear = "auto";
      all[0].failed = all[3].failed = vertices > 5e4;
      all[1].failed = vertices > 3e5;
      run(c, model, all, steps > 0 ? steps : c.is_static ? 3 : 8, steps > 0);
      double best = 1e300;
      for (std::size_t k = 0; k < 4; ++k)
        if (!all[k].failed) best = std::min(best, all[k].median());
      rusage usage;
      getrusage(RUSAGE_SELF, &usage);
      std::printf("%-16s %8d", c.name.c_str(), model->nodes());
      for (const Contestant& a : all)
        std::printf("  %9.1f %4d %6d", a.median(), a.iterations,
                    a.name == "direct" || a.name == "auto" ? a.factorisations : a.linear_iterations);
      std::printf("  %6.2f %6ld%s\n", all.back().median() / best, usage.ru_maxrss / 1024,
                  all.back().failed ? "  (a step failed)" : "");
      std::fflush(stdout);
    }
}
