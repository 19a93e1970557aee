#pragma once

#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/incremental_potential.hpp"
#include "pliant/solvers/newton/newton_minimiser.hpp"
#include "pliant/solvers/newton/newton_system.hpp"

namespace pliant::experiments {

/// One step's potential with its matrices and systems at hand, for experiments that look inside Newton's methods.
class StepLab {
 public:
  explicit StepLab(const std::shared_ptr<const Model>& model)
      : potential_(model, {}),
        system_(potential_, LinearOptions{.solver = LinearSolver::direct}),
        A_(potential_.make_matrix()) {}

  void begin(const State& state, double h) {
    potential_.begin_step(state, h);
    report_ = {};
    system_.begin_step(report_);
  }
  IncrementalPotential& potential() { return potential_; }
  NewtonSystem& system() { return system_; }
  /// Where the step begins, evaluated.
  Iterate start() { return at(potential_.start()); }
  Iterate at(const VecX& x) {
    Iterate iterate{x, 0, {}};
    iterate.energy = potential_.gradient(x, iterate.gradient);
    return iterate;
  }
  /// The matrix at x, on whatever pattern it has there.
  const BlockMatrix& matrix(const VecX& x, Projection projection, double inertia_scale = 1) {
    potential_.hessian(x, projection, inertia_scale, A_);
    return A_;
  }
  /// dx = -A^{-1} g by an LL^T; false where A is not positive definite.
  bool direction(const Iterate& from, Projection projection, VecX& dx, double inertia_scale = 1) {
    system_.assemble(from.x, projection, inertia_scale);
    return system_.solve(Factorisation::llt, from.gradient, dx) == FactorStatus::ok;
  }

 private:
  IncrementalPotential potential_;
  StepReport report_;
  NewtonSystem system_;
  BlockMatrix A_;
};

/// A step's potential with something changed about it; as it is, unless overridden.
class ChangedFunction : public StepFunction {
 public:
  explicit ChangedFunction(IncrementalPotential& potential) : potential_(potential) {}
  const Model& model() const override { return potential_.model(); }
  const StepProblem& problem() const override { return potential_.problem(); }
  ContactStep* contact() override { return potential_.contact(); }
  double gradient(const VecX& x, VecX& g) override { return potential_.gradient(x, g); }
  void hessian(const VecX& x, Projection projection, double inertia_scale, BlockMatrix& A, Drive* drive) override {
    potential_.hessian(x, projection, inertia_scale, A, drive);
  }
  void rest_stiffness(BlockMatrix& A) override { potential_.rest_stiffness(A); }
  void rest_hessian(BlockMatrix& A) override { potential_.rest_hessian(A); }

 protected:
  IncrementalPotential& potential_;
};

/// Newton's loop over a changed function: NewtonStepper, but for that.
template <class Function>
class ChangedStepper {
 public:
  ChangedStepper(const std::shared_ptr<const Model>& model, const NewtonOptions& options)
      : potential_(model, {}), function_(potential_), minimiser_(function_, model, options) {}

  Function& function() { return function_; }
  IncrementalPotential& potential() { return potential_; }
  /// The state goes on to the last iterate, converged or not, unless the step had no finite start.
  StepReport step(State& state, double h) {
    StepReport report;
    potential_.begin_step(state, h);
    minimiser_.begin_step(report);
    if (!minimiser_.start_at(potential_.start())) {
      report.end(Outcome::inverted_start, "");
      return report;
    }
    minimiser_.run(report);
    VecX v;
    potential_.velocities(minimiser_.current().x, v);
    potential_.end_step(minimiser_.current().x, v, state);
    return report;
  }

 private:
  IncrementalPotential potential_;
  Function function_;
  NewtonMinimiser minimiser_;
};

}  // namespace pliant::experiments
