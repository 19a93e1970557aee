#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pliant/io/last_step.hpp"
#include "pliant/sim/step_report.hpp"

namespace pliant {

/// Why what a run ends with is not to be relied on though it reached its end, for people: steps that failed and were
/// gone on from, a body that has grown beyond measure, a rigid one that was bent, scripted nodes that are not where
/// they belong, elements that are inverted at the end, a step far from its solution. Whoever takes steps tells it
/// of each; it asks nothing of how they are taken, so that `run` and experiments judge alike.
class Doubts {
 public:
  /// Told of each doubt as soon as there is one.
  using Listener = std::function<void(const std::string&)>;
  explicit Doubts(Listener listener = nullptr) : listener_(std::move(listener)) {}

  /// Steps that failed before a run was resumed.
  void add_failed_steps(std::int64_t count) { failed_ += count; }
  /// After every step that was gone on from.
  void after_step(const Model& model, const State& state, const StepReport& report);
  /// At the end, which need not be that of a finished run.
  void at_end(const Model& model, const State& state);
  /// Before a step that may be judged: the last of `steps`, and in runs of some length those at their quarters, as a
  /// swing is slow at its ends, where any solver keeps up.
  void before_step(const std::shared_ptr<const Model>& model, const State& state, std::int64_t steps);
  /// Of a finished run: the last step, and unless that is far from its solution the others, where they ended by their
  /// budget.
  void judge(const SceneSolver& solver, double dt);

  bool empty() const { return texts_.empty(); }
  const std::vector<std::string>& texts() const { return texts_; }
  /// Of the last step, where it was judged.
  const std::optional<LastStep>& last_step() const { return last_step_; }

 private:
  struct Step {
    std::shared_ptr<const Model> model;
    State before, after;
    bool is_by_budget = false;
  };

  void add(std::string text);
  void tell_of_growth(const Model& model, const State& state);
  void tell_of_bent(const Model& model, const State& state);
  void tell_of_scripts(const Model& model, const State& state);

  Listener listener_;
  std::vector<std::string> texts_;
  std::optional<LastStep> last_step_;
  std::vector<Step> steps_;  ///< to be judged, in their order
  std::int64_t failed_ = 0;
  bool is_watched_ = false;  ///< the last of them has yet to be taken
  bool has_told_of_growth_ = false, has_told_of_bent_ = false;
};

}  // namespace pliant
