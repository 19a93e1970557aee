#pragma once

#include <functional>
#include <memory>

#include "pliant/solvers/criteria.hpp"
#include "pliant/solvers/newton/direction.hpp"
#include "pliant/solvers/newton/long_step_search.hpp"
#include "pliant/solvers/newton/obstacle_drive.hpp"
#include "pliant/solvers/newton/turning_search.hpp"

namespace pliant {

enum class NewtonMethod { newton, projected, on_demand, kinetic };

/// Where a step begins to search: at x^n, at x^n + h v^n, or at the best of those and of an explicit step.
enum class NewtonStart { automatic, last_positions, prediction };

/// Whether a whole step along which the energy bends down may be followed by more of it.
enum class LongSteps { where_concave, never };

struct NewtonOptions {
  NewtonMethod method = NewtonMethod::on_demand;
  Integrator integrator = Integrator::implicit_euler;
  NewtonStart start = NewtonStart::automatic;
  Projection projection = Projection::analytic;  ///< where the method projects
  CriterionOptions criterion{.kind = Criterion::automatic};
  LineSearchOptions line_search;
  Turning turning = Turning::exact;  ///< whether steps that turn bodies may follow curves
  LongSteps long_steps = LongSteps::where_concave;
  LinearOptions linear;
  int max_iterations = 1000;
  /// Kinetic Newton under the step-length criterion: steps that added inertia made shorter are judged by the longest
  /// step that Newton itself could have taken, their length over beta^2. Without, as in the paper, a small beta ends
  /// the step however far the solution is.
  bool bounds_kinetic_step = true;
  bool history = false;  ///< record every iteration in the report
  /// Told of every iteration: for studies of the methods themselves.
  std::function<void(const Direction& direction, const Iterate& from, const VecX& dx, const LineSearchResult& found)>
      observer = nullptr;
  OnDemandOptions on_demand;
  KineticOptions kinetic;
};

/// From x^n with its gradient to x^n + h v^n + h^2 a^n, where a^n is the acceleration by the forces at x^n and a mass
/// for each node: x^n - h^2 M^{-1} g(x^n). Off by h^3 where the motion is smooth.
VecX explicit_step(const Iterate& at_x_n, const VecX& mass, double h);

/// Newton's loop: minimises the function of a step by one of the four Newton-type methods of `pitfalls`. With contact,
/// no iterate ever intersects.
class NewtonMinimiser {
 public:
  NewtonMinimiser(StepFunction& function, const std::shared_ptr<const Model>& model, const NewtonOptions& options);

  /// The function is that of another step.
  void begin_step(StepReport& report);
  /// Another tolerance of the criterion, from this step on.
  void set_tolerance(double tolerance) { convergence_.set_tolerance(tolerance); }
  /// Begins to search at x. False when the value is not finite there.
  bool start_at(const VecX& x);
  /// Begins at x instead where the value is lower there.
  void start_lower(const VecX& x);
  /// The same where somebody else has got to: `iterate` is evaluated already, and left empty.
  void start_from(Iterate& iterate) { std::swap(current_, iterate); }
  /// Minimises from there, and says in the report how that went; iterations that the report has already do not count.
  void run(StepReport& report) { run(report, options_.max_iterations); }
  void run(StepReport& report, int most_iterations);
  /// As Stepper::memory().
  std::vector<double> memory() const { return system_->memory(); }
  void recall(std::span<const double> memory) { system_->recall(memory); }
  /// Where it is.
  Iterate& current() { return current_; }

 private:
  void iterate(StepReport& report);
  bool find_direction(StepReport& report);
  bool find_chord_direction();
  LineSearchResult search(StepReport& report);
  void renew_friction(StepReport& report);
  void end(StepReport& report, Outcome outcome, std::string detail);

  StepFunction& function_;
  NewtonOptions options_;
  ConvergenceTest convergence_;
  StagnationTest stagnation_;
  Sharing* sharing_;
  std::unique_ptr<LinearSystem> system_;
  std::unique_ptr<Direction> direction_;
  ObstacleDrive obstacles_;
  TurningSearch turning_;
  LongStepSearch long_steps_;
  Iterate current_, trial_;
  VecX dx_;
  int last_iteration_ = 0;  ///< the limit, as the report counts
  double last_force_ = 0;   ///< norm of the gradient before the last whole step, N; 0: there was none
  double last_step_ = 0;    ///< largest component of that step, m
  double contraction_ = 1;  ///< of the norm by it
};

}  // namespace pliant
