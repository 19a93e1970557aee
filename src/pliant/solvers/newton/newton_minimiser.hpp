#pragma once

#include <functional>
#include <memory>

#include "pliant/solvers/criteria.hpp"
#include "pliant/solvers/newton/direction.hpp"
#include "pliant/solvers/newton/obstacle_drive.hpp"
#include "pliant/solvers/newton/turning_search.hpp"

namespace pliant {

enum class NewtonMethod { newton, projected, on_demand, kinetic };

struct NewtonOptions {
  NewtonMethod method = NewtonMethod::on_demand;
  Integrator integrator = Integrator::implicit_euler;
  bool starts_at_prediction = false;             ///< x~ in place of x^n, where the energy is finite there
  Projection projection = Projection::analytic;  ///< where the method projects
  CriterionOptions criterion{.kind = Criterion::automatic};
  LineSearchOptions line_search;
  Turning turning = Turning::exact;  ///< whether steps that turn bodies may follow curves
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
  /// The same where somebody else has got to: `iterate` is evaluated already, and left empty.
  void start_from(Iterate& iterate) { std::swap(current_, iterate); }
  /// Minimises from there, and says in the report how that went; iterations that the report has already do not count.
  void run(StepReport& report);
  /// As Stepper::memory().
  std::vector<double> memory() const { return system_.memory(); }
  void recall(std::span<const double> memory) { system_.recall(memory); }
  /// Where it is.
  Iterate& current() { return current_; }

 private:
  void iterate(StepReport& report);
  bool find_direction(StepReport& report);
  LineSearchResult search(StepReport& report);
  void renew_friction(StepReport& report);
  void end(StepReport& report, Outcome outcome, std::string detail);

  StepFunction& function_;
  NewtonOptions options_;
  ConvergenceTest convergence_;
  StagnationTest stagnation_;
  NewtonSystem system_;
  std::unique_ptr<Direction> direction_;
  ObstacleDrive obstacles_;
  TurningSearch turning_;
  Iterate current_, trial_;
  VecX dx_;
  int last_iteration_ = 0;  ///< the limit, as the report counts
};

}  // namespace pliant
