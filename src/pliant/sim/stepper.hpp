#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/base/step_control.hpp"
#include "pliant/sim/model.hpp"
#include "pliant/sim/step_report.hpp"

namespace pliant {

class IncrementalPotential;
struct ProblemOptions;
struct StepProblem;

/// One number for each element of all bodies, body by body, of the last step: a field of its frame.
struct ElementValues {
  std::string_view name;
  std::span<const double> values;
};

/// The same for nodes, `components` numbers each.
struct NodeValues {
  std::string_view name;
  int components = 1;
  std::span<const double> values;
};

/// What a family makes of a step's problem.
struct Solution {
  VecX x;  ///< m
  VecX v;  ///< m/s; left empty: the velocities that belong to x under implicit Euler
  /// The gradient (N) and value (J) of the potential at x, from families that have them at hand.
  VecX gradient;
  double energy = 0;
  bool is_measured = false;

  void clear() {
    v.resize(0);
    is_measured = false;
  }
};

/// Advances a state. What a step is stands here once for all families: check where it begins, make the problem, let the
/// family advance, measure what came out, judge it, accept or refuse it.
///
/// A stepper holds factorisations and scratch memory for its model, nothing that a state needs: any state of the model
/// may be passed at any time. The result depends on state and step size alone, and on memory() where there is any.
class Stepper {
 public:
  virtual ~Stepper();
  virtual std::string_view name() const = 0;
  /// Never throws std::bad_alloc: a step for which memory does not suffice is reported as such. With a control, others
  /// may end the step before it is done; the outcome is then `interrupted`.
  StepReport step(State& state, double h, StepControl* control = nullptr);
  /// Whether an earlier step was left in its middle: memory ran out, or it was interrupted. What is left here is then
  /// not to be relied on, and all further steps are refused: a new stepper is to be made (Simulation does).
  bool is_spoilt() const { return spoilt_by_.has_value(); }

  /// What is left unbalanced at the end of the last accepted step: the gradient of its incremental potential, N, zero
  /// where positions are prescribed. Its norm is the force residual of the report. Empty before the first step.
  const VecX& unbalanced_forces() const { return unbalanced_; }
  /// The forces by which pins and scripts hold their nodes at the end of the last step, N, zero elsewhere: what a scale
  /// under the supports would show. Nothing before the first step and after one that was not accepted.
  std::optional<VecX> support_forces();
  /// Valid until the next step.
  virtual std::vector<ElementValues> element_values() const { return {}; }
  /// With contact: the force of contact and friction (N) and the pressure (Pa) on each node.
  virtual std::vector<NodeValues> node_values() const;
  /// What the next step depends on besides the state, for methods that keep a matrix from step to step: a checkpoint
  /// with it goes on with the same bits.
  virtual std::vector<double> memory() const { return {}; }
  /// Takes it back; an empty one begins anew. Throws InputError for what cannot be a memory of this stepper.
  virtual void recall(std::span<const double> /*memory*/) {}

 protected:
  Stepper(std::shared_ptr<const Model> model, const ProblemOptions& options);

  /// Solves the problem at hand as well as the family does, and says in the report how that went. Anything but
  /// report.advanced() leaves the state as it was.
  virtual void advance(Solution& solution, StepReport& report) = 0;
  /// What helps when a step ran away, for people.
  virtual std::string remedy() const { return "take smaller steps"; }

  const std::shared_ptr<const Model>& model() const { return model_; }
  IncrementalPotential& potential() { return *potential_; }
  const StepProblem& problem() const;

 private:
  void take_step(State& state, double h, StepReport& report);
  bool can_start(const State& state, double h, StepReport& report);
  void measure(StepReport& report);
  void judge(StepReport& report);

  std::shared_ptr<const Model> model_;
  std::unique_ptr<IncrementalPotential> potential_;
  double elastic_scale_ = 0;  ///< J
  Solution solution_;
  bool has_solution_ = false;         ///< the last step was accepted: solution_.x solves problem()
  std::optional<Outcome> spoilt_by_;  ///< the outcome of a step that was left in its middle
  VecX unbalanced_;
  VecX contact_force_, contact_pressure_;  ///< of the last step
};

}  // namespace pliant
