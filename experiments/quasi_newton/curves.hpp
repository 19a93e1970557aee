#pragma once

#include "experiments/quasi_newton/frames.hpp"

namespace pliant::experiments {

/// A solver with its parameters, to be run for one frame from a given state.
struct Contender {
  std::string label, solver;
  ParameterMap parameters;
  std::int64_t iterations = 60;
};

/// How the relative error (12), (g(x_k) - g*)/(g(x_0) - g*), fell in one frame.
struct ConvergenceCurve {
  std::string label;
  std::vector<double> energy;                 ///< before each iteration, and at the end, J
  std::vector<double> error;                  ///< the same as Eq. (12)
  std::vector<double> alphas;                 ///< step lengths
  double ms_before = 0;                       ///< a factorisation of the frame's Hessian and the like
  double ms_per_iteration = 0, solve_ms = 0;  ///< the latter of linear systems, per iteration
  double evaluations_per_iteration = 0;
  int failed_factorisations = 0;

  double at(std::size_t iteration) const { return error.empty() ? 1 : error[std::min(iteration, error.size() - 1)]; }
  /// Infinite if the error never was at or below.
  double iterations_to(double below) const;
  double ms_to(double below) const;
  double ms_spent() const { return ms_before + ms_per_iteration * static_cast<double>(energy.size() - 1); }
  /// Decades of the error per iteration, from where it is at or below `from` to where it is at or below `to`.
  double rate(double from, double to) const;
};

/// Milliseconds to an error for comparison with a rival's: one that never got there counts as slower only if it had ten
/// times the other's time, and is NaN otherwise, so that the comparison stays undecided.
double ms_or_undecided(const ConvergenceCurve& curve, double error, double other_ms);

/// One frame by one contender; energies only.
ConvergenceCurve run_contender(const FrameScene& scene, const State& begin, const Contender& contender);
/// All contenders of a frame, timed on one thread, taking turns, medians of seven; g* is the least anybody found,
/// Newton run to its end and the curves in `others` among them. What a run pays once is not counted.
std::vector<ConvergenceCurve> convergence_curves(Context& context, const FrameScene& scene, const State& begin,
                                                 const std::vector<Contender>& contenders,
                                                 std::vector<ConvergenceCurve>* others = nullptr);

/// One row: errors after 1, 5, 10, 20, ... iterations, milliseconds, and the curve.
Json convergence_row(const ConvergenceCurve& curve, const std::string& group);

/// The twisting bar of Table I with the moduli of its row, and the states at which it has been turned by so many
/// degrees.
struct TwistedBar {
  FrameScene scene;
  std::vector<double> degrees;
  std::vector<State> begins;
};
/// Empty without a folder of meshes. `mesh`: longbar2, or longbar for what the contract allows to be smaller.
std::optional<TwistedBar> twisted_bar(Context& context, const std::string& mesh, const std::vector<double>& degrees);

/// Leaves every claim of an experiment undecided, for want of a mesh.
void decide_without_meshes(Context& context, const std::string& experiment);

}  // namespace pliant::experiments
