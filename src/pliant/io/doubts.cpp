#include "pliant/io/doubts.hpp"

#include <fmt/format.h>

#include "pliant/sim/judgement.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

namespace {

constexpr double kBeyondMeasure = 10;  ///< times its size at rest

std::string describe(const LastStep& last, const SceneSolver& solver) {
  std::string more;
  if (const auto found = solver.parameters.find("iterations"); found != solver.parameters.end())
    if (const auto* count = std::get_if<std::int64_t>(&found->second))
      more = fmt::format(", or --set solver.iterations={}", 10 * *count);
  return fmt::format(
      "the last step ended {:.2g} m from its solution, in which nothing moves by more than {:.2g} m: {} does not "
      "keep up with this scene. Try smaller time steps, --solver pod-newton{}",
      last.distance, last.motion, solver.name, more);
}

}  // namespace

void Doubts::add(std::string text) {
  if (listener_) listener_(text);
  texts_.push_back(std::move(text));
}

void Doubts::after_step(const Model& model, const State& state, const StepReport& report) {
  is_by_budget_ = report.outcome == Outcome::budget_spent;
  if (!report.succeeded()) ++failed_;
  if (has_told_of_growth_) return;
  const Growth growth = largest_growth(model, state.x);
  if (!(growth.times > kBeyondMeasure)) return;
  has_told_of_growth_ = true;
  add(fmt::format(
      "by step {} (t = {:.4g} s) body '{}' has grown to {:.3g} times its size at rest: loads, scripts or gravity "
      "pull more than its material holds, or the time step is too large for the solver",
      state.step, state.time, model.bodies()[growth.body].name, growth.times));
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
  for (const Body& body : model.bodies())
    if (const Index count = body.elastic ? body.elastic->count_inverted(state.x) : 0; count > 0)
      add(
          fmt::format("{} of {} elements of body '{}' are inverted at the end: smaller time steps, a stiffer material "
                      "or a law that resists it (neo-hookean) may help",
                      count, body.elements->element_count(), body.name));
}

void Doubts::judge(const SceneSolver& solver, double dt, const std::shared_ptr<const Model>& model, const State& before,
                   const State& after) {
  if (!is_by_budget_) return;
  last_step_ = judge_last_step(solver, dt, model, before, after);
  if (last_step_ && last_step_->is_far) add(describe(*last_step_, solver));
}

}  // namespace pliant
