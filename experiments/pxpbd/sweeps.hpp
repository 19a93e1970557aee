#pragma once

#include "experiments/experiment.hpp"
#include "experiments/pxpbd/scenes.hpp"
#include "pliant/sim/stepper.hpp"

namespace pliant::experiments {

/// The time step of the paper's examples, s.
inline constexpr double kPaperStep = 0.01;

/// Residuals over the sweeps of one step, relative to the start: r of backward Euler's equation, the primal one, and
/// the secondary one relative to its value after the first sweep.
struct SweepCurve {
  std::string label;
  std::vector<double> r, primal, secondary;
  double ms_per_sweep = 0;
  double kappa = 0;
  VecX x;

  double at(std::size_t sweeps) const;
  double last() const { return at(r.size()); }
  /// Sweeps until r is at or below; infinite if it never was.
  double sweeps_to(double below) const;
};

/// One step by position-based sweeps alone.
SweepCurve follow_sweeps(const std::shared_ptr<const Model>& model, const State& start, double h,
                         const std::string& solver, ParameterMap parameters, std::int64_t sweeps);
/// The same for Newton's method, iteration by iteration.
SweepCurve follow_newton(const std::shared_ptr<const Model>& model, const State& start, double h,
                         ParameterMap parameters, std::int64_t iterations);

/// Conventions of the contract. Between sweeps 100 and the last r changes by less than 5%, stays above 0.02, and is at
/// least 100 times FP-PXPBD's.
bool stagnates(const SweepCurve& xpbd, const SweepCurve& fp);
/// r falls over every 50 sweeps until 1e-10 or the end, and ends at 1e-3 and at a hundredth of XPBD's or below.
bool reduces(const SweepCurve& curve, const SweepCurve& xpbd);

/// Largest stiffness number of the model's elements for a step of h.
double largest_kappa_of(const std::shared_ptr<const Model>& model, double h);
/// The edge of cells for which a box of these cells has the stiffness number, at rho = 10, nu = 0.3.
double edge_for_kappa(double kappa, double young, double h);

/// A step to take apart: the three of fig. 1.
struct HardStep {
  std::string label;
  std::shared_ptr<const Model> model;
  State start;
};
/// Stretched by half and moving unevenly; a cantilever in mid-swing; a squeezed bar. All with cells of one stiffness
/// number, fixed corotated of E = 1e4 unless another law is given.
std::vector<HardStep> hard_steps(Index cells, double kappa);
HardStep stretched_step(Index cells, double kappa, const std::string& law, double stretch);

}  // namespace pliant::experiments
