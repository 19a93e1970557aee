// How pod-newton's linear systems are best solved: by a factorisation, by conjugate gradients, or as `auto` chooses,
// for compact, slender and flat bodies, soft and stiff, moving and at rest. Times are processor times of one thread per
// step; the last column is auto's time over the better one's.
//
//   linear [VERTICES [CASE]]      CASE: part of a name

#include <oneapi/tbb/global_control.h>

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
};

std::shared_ptr<const Model> make_model(const Case& c, double vertices) {
  const double scale = std::cbrt(vertices / c.shape.prod());
  std::array<Index, 3> cells;
  for (std::size_t a = 0; a < 3; ++a)
    cells[a] = std::max<Index>(1, static_cast<Index>(std::lround(scale * c.shape[static_cast<int>(a)] / c.order) - 1));
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box({.size = c.shape / c.shape.maxCoeff(), .cells = cells}));
  body.material = {find_law("stable-neo-hookean"), lame_from_young(c.young, 0.4)};
  body.order = c.order;
  builder.add_body(body);
  builder.add_pin({"clamp", builder.body(0).elements->nodes_of(body.mesh->sets().at("x-min"))});
  return builder.build();
}

struct Timed {
  double ms = 0;
  int iterations = 0, linear_iterations = 0, factorisations = 0, steps = 0;
  bool failed = false;
};

Timed run(const Case& c, const std::shared_ptr<const Model>& model, const std::string& linear) {
  ParameterMap parameters = {{"linear", linear}};
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
  cases.push_back({"static compact", {2, 1, 1}, 4e7, true});
  cases.push_back({"static slender", {10, 1, 1}, 4e7, true});
  std::printf("%-18s %8s  %10s %4s  %10s %4s %6s  %10s  %6s %6s\n", "case", "nodes", "direct ms", "its", "pcg ms",
              "its", "linear", "auto ms", "factor", "ratio");
  for (const double vertices : sizes)
    for (const Case& c : cases) {
      if (c.name.find(only) == std::string::npos) continue;
      const auto model = make_model(c, vertices);
      const Timed direct = run(c, model, "direct"), pcg = run(c, model, "pcg"), own = run(c, model, "auto");
      const double best = std::min(direct.failed ? 1e300 : direct.ms, pcg.failed ? 1e300 : pcg.ms);
      std::printf("%-18s %8d  %10.1f %4d  %10.1f %4d %6d  %10.1f  %6d %6.2f%s\n", c.name.c_str(), model->nodes(),
                  direct.ms, direct.iterations, pcg.ms, pcg.iterations, pcg.linear_iterations, own.ms,
                  own.factorisations, own.ms / best,
                  own.failed || direct.failed || pcg.failed ? "  (a step failed)" : "");
      std::fflush(stdout);
    }
}
