#pragma once

#include "experiments/experiment.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

/// Processor time of all threads so far: what other programs on the machine do not disturb. Run with one thread.
double processor_ms();

/// A solver with its parameters, to be run for one frame from a given state.
struct Contender {
  std::string label, solver;
  ParameterMap parameters;
};

/// How the relative error (12), (g(x_k) - g*)/(g(x_0) - g*), fell in one frame.
struct ConvergenceCurve {
  std::string label;
  std::vector<double> error;   ///< before each iteration
  std::vector<double> alphas;  ///< step lengths
  double ms_before = 0;        ///< factorisations and the like
  double ms_per_iteration = 0;
  double evaluations_per_iteration = 0;

  double at(std::size_t iteration) const { return error.empty() ? 1 : error[std::min(iteration, error.size() - 1)]; }
  /// Milliseconds until the error is below; infinite if it never was.
  double ms_to(double below) const;
};

/// All begin at the inertial prediction and run so many iterations. g* is the least energy anybody found, Newton run to
/// convergence among them. A constant factor is not counted: a run pays it once.
std::vector<ConvergenceCurve> convergence_curves(Context& context, const std::shared_ptr<const Model>& model,
                                                 const State& start, double h, const std::vector<Contender>& methods,
                                                 std::int64_t iterations);

/// One row: errors after 1, 5, 10, 20, ... iterations, milliseconds, and the curves.
Json convergence_row(const ConvergenceCurve& curve, const std::string& group);

/// The state of a scene of Table I after so many frames of quasi-newton.
State state_after(const std::shared_ptr<const Model>& model, int frames, double h);

}  // namespace pliant::experiments
