#include "pliant/io/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pliant/sim/judgement.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

namespace {

constexpr double kBeyondMeasure = 10;  ///< times its size at rest
constexpr double kBent = 0.05;         ///< strain of a rigid body
constexpr double kAstray = 0.05;       ///< of the smallest body's size, between a scripted node and its place

std::string describe(const LastStep& last, const std::string& which, const SceneSolver& solver) {
  std::string more;
  if (const auto found = solver.parameters.find("iterations"); found != solver.parameters.end())
    if (const auto* count = std::get_if<std::int64_t>(&found->second))
      more = fmt::format(", or --set solver.iterations={}", 10 * *count);
  return fmt::format(
      "{} ended {:.2g} m from its solution, in which nothing moves by more than {:.2g} m: {} does not "
      "keep up with this scene. Try smaller time steps, --solver pod-newton{}",
      which, last.distance, last.motion, solver.name, more);
}

}  // namespace

void Doubts::add(std::string text) {
  if (listener_) listener_(text);
  texts_.push_back(std::move(text));
}

void Doubts::after_step(const Model& model, const State& state, const StepReport& report) {
  if (is_watched_) {
    steps_.back().after = state;
    steps_.back().is_by_budget = report.outcome == Outcome::budget_spent;
    is_watched_ = false;
  }
  if (!report.succeeded()) ++failed_;
  if (!has_told_of_growth_) tell_of_growth(model, state);
  if (!has_told_of_bent_) tell_of_bent(model, state);
}

void Doubts::tell_of_growth(const Model& model, const State& state) {
  const Growth growth = largest_growth(model, state.x);
  if (!(growth.times > kBeyondMeasure)) return;
  has_told_of_growth_ = true;
  add(fmt::format(
      "by step {} (t = {:.4g} s) body '{}' has grown to {:.3g} times its size at rest: loads, scripts or gravity "
      "pull more than its material holds, or the time step is too large for the solver",
      state.step, state.time, model.bodies()[growth.body].name, growth.times));
}

void Doubts::tell_of_bent(const Model& model, const State& state) {
  for (const Body& body : model.bodies())
    if (const double strain = rigid_strain(body, state.x); !(strain <= kBent)) {
      has_told_of_bent_ = true;
      return add(fmt::format(
          "by step {} (t = {:.4g} s) rigid body '{}' is strained by {:.2g}: what drives it is stronger than "
          "its stiffness. Where a motor or an obstacle presses it against another, a smaller "
          "motor_stiffness lets the motor stall; smaller time steps, or a larger young of the body, help "
          "against forces that are right",
          state.step, state.time, body.name, strain));
    }
}

/// Springs draw them there; where something is in the way, they stretch.
void Doubts::tell_of_scripts(const Model& model, const State& state) {
  const BoundaryState boundary = boundary_state(model.pins(), model.scripts(), model.rest(), state.time);
  double largest = 0;
  Index farthest = -1;
  for (std::size_t k = 0; k < boundary.penalised.size(); ++k)
    if (const double away = (node(state.x, boundary.penalised[k]) - boundary.targets[k]).norm(); away > largest) {
      largest = away;
      farthest = boundary.penalised[k];
    }
  if (farthest < 0 || !(largest > kAstray * smallest_body_size(model))) return;
  const auto body = std::find_if(model.bodies().begin(), model.bodies().end(),
                                 [&](const Body& b) { return b.nodes.begin <= farthest && farthest < b.nodes.end; });
  add(fmt::format(
      "at the end a node of body '{}' is {:.2g} m from where its script wants it: something is in its way, or "
      "the script is faster than its springs (sigma) can follow",
      body->name, largest));
}

void Doubts::at_end(const Model& model, const State& state) {
  if (failed_ > 0)
    add(fmt::format("{} step{} failed, and the run went on from where {} left the bodies (on_failure = \"continue\")",
                    failed_, failed_ == 1 ? "" : "s", failed_ == 1 ? "it" : "they"));
  if (Sharing* sharing = model.sharing()) {
    double inverted = 0;
    for (const Body& body : model.bodies()) inverted += body.elastic->count_inverted(state.x);
    if (const double all = sharing->sum(inverted); all > 0)
      add(fmt::format("{} elements are inverted at the end", all));
    return;
  }
  tell_of_scripts(model, state);
  for (const Body& body : model.bodies())
    if (const Index count = body.elastic ? body.elastic->count_inverted(state.x) : 0; count > 0)
      add(
          fmt::format("{} of {} elements of body '{}' are inverted at the end: smaller time steps, a stiffer material "
                      "or a law that resists it (neo-hookean) may help",
                      count, body.elements->element_count(), body.name));
}

void Doubts::before_step(const std::shared_ptr<const Model>& model, const State& state, std::int64_t steps) {
  constexpr std::int64_t kQuarters = 4, kFewest = 40;  // so that judging takes no more than a tenth of the run
  const std::int64_t step = state.step + 1;
  bool is_wanted = step == steps;
  if (steps >= kFewest && !model->sharing())
    for (std::int64_t quarter = 1; quarter < kQuarters; ++quarter) is_wanted |= step == quarter * steps / kQuarters;
  if (!is_wanted) return;
  steps_.push_back({model, state, {}, false});
  is_watched_ = true;
}

void Doubts::judge(const SceneSolver& solver, double dt) {
  for (std::size_t k = steps_.size(); k-- > 0;) {
    const Step& step = steps_[k];
    if (!step.is_by_budget) continue;
    const bool is_last = k + 1 == steps_.size();
    const std::optional<LastStep> judged = judge_last_step(solver, dt, step.model, step.before, step.after);
    if (is_last) last_step_ = judged;
    if (!judged || !judged->is_far) continue;
    return add(describe(*judged,
                        is_last ? std::string("the last step")
                                : fmt::format("step {} (t = {:.4g} s)", step.after.step, step.after.time),
                        solver));
  }
}

}  // namespace pliant
