#include "pliant/io/last_step.hpp"

#include <algorithm>

#include "pliant/sim/judgement.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant {

namespace {

constexpr Index kMostNodes = 10000;
constexpr std::int64_t kMostIterations = 50;  // nobody is to wait for this
constexpr double kShareOfMotion = 1.0 / 3, kShareOfSize = 1e-3;

double farthest(const VecX& a, const VecX& b) {
  double most = 0;
  for (Index i = 0; i < static_cast<Index>(a.size() / 3); ++i) most = std::max(most, (node(a, i) - node(b, i)).norm());
  return most;
}

/// conjac takes stiff modes to be at rest in each step, and links are its own; the unknowns of a grid are not a mesh's.
bool is_comparable(const SceneSolver& solver, const Model& model) {
  if (model.nodes() > kMostNodes || model.articulation()) return false;
  if (solver.name == "conjac" || solver.name == "grid-b-pxpbd") return false;
  const auto integrator = solver.parameters.find("integrator");
  return integrator == solver.parameters.end() || integrator->second == ParameterValue(std::string("implicit-euler"));
}

}  // namespace

std::optional<LastStep> judge_last_step(const SceneSolver& solver, double dt, const std::shared_ptr<const Model>& model,
                                        const State& before, const State& after) {
  if (!is_comparable(solver, *model) || before.x.size() != after.x.size()) return std::nullopt;
  State solved = before;
  if (!make_stepper(model, "pod-newton", {{"max_iterations", kMostIterations}})->step(solved, dt).succeeded())
    return std::nullopt;
  LastStep last{farthest(solved.x, after.x), farthest(solved.x, before.x), false};
  last.is_far = last.distance > kShareOfMotion * std::max(last.motion, farthest(after.x, before.x)) &&
                last.distance > kShareOfSize * smallest_body_size(*model);
  return last;
}

}  // namespace pliant
