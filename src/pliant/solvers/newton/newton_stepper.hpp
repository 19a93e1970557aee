#pragma once

#include "pliant/sim/incremental_potential.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/newton/newton_minimiser.hpp"

namespace pliant {

/// Minimises the incremental potential of each step by one of the four Newton-type methods of `pitfalls`.
class NewtonStepper final : public Stepper {
 public:
  NewtonStepper(std::shared_ptr<const Model> model, const NewtonOptions& options);

  std::string_view name() const override;
  const NewtonOptions& options() const { return options_; }
  std::vector<double> memory() const override { return minimiser_.memory(); }
  void recall(std::span<const double> memory) override { minimiser_.recall(memory); }

 protected:
  void advance(Solution& solution, StepReport& report) override;

 private:
  bool find_start(StepReport& report);
  void find_better_start();
  std::string describe_infinite_start(const VecX& x) const;

  NewtonOptions options_;
  NewtonMinimiser minimiser_;
};

}  // namespace pliant
