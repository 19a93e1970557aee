#pragma once

#include <memory>

#include "pliant/solvers/criteria.hpp"
#include "pliant/solvers/newton/direction.hpp"

namespace pliant {

enum class NewtonMethod { newton, projected, on_demand, kinetic };

struct NewtonOptions {
  NewtonMethod method = NewtonMethod::on_demand;
  Integrator integrator = Integrator::implicit_euler;
  bool starts_at_prediction = false;             ///< x~ in place of x^n, where the energy is finite there
  Projection projection = Projection::analytic;  ///< where the method projects
  CriterionOptions criterion;
  LineSearchOptions line_search;
  LinearOptions linear;
  int max_iterations = 1000;
  bool history = false;  ///< record every iteration in the report
};

/// Minimises the incremental potential of each step by one of the four Newton-type methods of `pitfalls`.
class NewtonStepper final : public Stepper {
 public:
  NewtonStepper(std::shared_ptr<const Model> model, const NewtonOptions& options);

  std::string_view name() const override;
  StepReport step(State& state, double h) override;
  /// With contact: the force of contact and friction (N) and the pressure (Pa) on each node.
  std::vector<NodeValues> node_values() const override;

 private:
  void minimise(StepReport& report);
  void record_contact(StepReport& report);
  bool begin(StepReport& report);
  void iterate(StepReport& report);
  LineSearchResult go_along(double largest);
  std::string describe_infinite_start() const;

  std::shared_ptr<const Model> model_;
  NewtonOptions options_;
  IncrementalPotential potential_;
  ConvergenceTest convergence_;
  NewtonSystem system_;
  std::unique_ptr<Direction> direction_;
  Iterate current_, trial_;
  VecX dx_;
  Drive drive_;
  VecX contact_force_, contact_pressure_;  ///< of the last step
};

}  // namespace pliant
