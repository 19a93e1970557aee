#pragma once

#include <limits>
#include <memory>
#include <string_view>

#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/sim/incremental_potential.hpp"
#include "pliant/sim/stepper.hpp"

namespace pliant {

/// When an iteration has converged (pitfalls, section 8). `r` is the gradient of the incremental potential over the
/// free unknowns.
enum class Criterion {
  /// acceleration; in models with contact step_length, with a hundredth of the tolerance in m/s, since friction hides
  /// from steps that are not well below eps_v, and less where that would move a small body by much of its size
  automatic,
  residual,         ///< |r|_2 <= tolerance, N
  reference_force,  ///< |r|_2 <= tolerance |f_ext|_2
  characteristic,   ///< |r|_2 <= tolerance times a force that stiffness and mesh suggest (Zhu 2018, Li 2019)
  step_length,      ///< |dx|_inf <= tolerance h; tolerance in m/s
  acceleration,     ///< |M^{-1} r|_inf <= tolerance, m/s^2
};

/// What M is in the acceleration criterion: the factorised consistent matrix, or the diagonal of it (cheaper, nearly
/// the same).
enum class AccelerationMass { factorised, diagonal };

struct CriterionOptions {
  Criterion kind = Criterion::acceleration;
  double tolerance = 0.01;
  AccelerationMass mass = AccelerationMass::diagonal;
};

/// Tells when rounding keeps an iteration from getting any better: the next step no longer changes the positions, or
/// steps are tiny and the residual has not fallen for a while.
class StagnationTest {
 public:
  void begin() { *this = {}; }
  /// Before a step dx from x, given by their largest components, with this residual (N).
  bool reached(double largest_x, double largest_dx, double residual);
  /// Whether dx is so small against x that rounding may hide the decrease of an energy along it.
  static bool is_tiny(double largest_x, double largest_dx);

 private:
  double best_ = std::numeric_limits<double>::infinity();
  int since_best_ = 0;  ///< iterations
};

/// Measures residuals of a model and decides on convergence.
class ConvergenceTest {
 public:
  ConvergenceTest(std::shared_ptr<const Model> model, const CriterionOptions& options);

  void set_tolerance(double tolerance) { tolerance_ = tolerance; }
  /// Before the first measure of a step: reference_force compares with the forces of this one.
  void begin_step(const StepProblem& problem);
  /// Writes force norm and acceleration of r, whose fixed unknowns are zero, with the mass that the criterion asks for.
  void measure(const VecX& r, const BoundaryState& boundary, Residuals& residuals);
  /// Whether these residuals after so many iterations satisfy the criterion. Never for step_length. Before the first
  /// iteration only where nothing would move anyway: forces that a loose tolerance takes for balance, the weight of a
  /// falling body for one, would otherwise never act.
  bool satisfied(const Residuals& residuals, int iterations) const;
  /// The criterion's bound over where an iteration stands, after one that lowered the gradient by `contraction` and is
  /// expected to shorten the next step by as much.
  double distance(const Residuals& residuals, double contraction) const;
  /// Whether a step that was taken, of this largest component over h (m/s), does. Only for step_length.
  bool satisfied_by_step(double step_length) const {
    return options_.kind == Criterion::step_length && step_length <= tolerance_;
  }

 private:
  double acceleration(const VecX& r, const BoundaryState& boundary);

  std::shared_ptr<const Model> model_;
  CriterionOptions options_;
  double tolerance_;                    ///< of the step
  double size_ = 0;                     ///< of the smallest body, where the tolerance goes by it, m
  double scale_ = 1;                    ///< what |r|_2 is compared with, times tolerance, N
  SparseCholesky mass_factor_;          ///< of the consistent mass over the free unknowns
  std::vector<std::uint8_t> factored_;  ///< the fixed unknowns it was factorised with
};

/// The characteristic force of Zhu et al. 2018 (section 5, "characteristic value"), extended to several materials and
/// orders: the norm over all nodes of sum_e W_e V_e |grad N|, with W_e the largest eigenvalue of d2Psi/dF2 at rest.
double characteristic_force(const Model& model);

}  // namespace pliant
