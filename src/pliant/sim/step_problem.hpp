#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pliant/sim/integrator.hpp"
#include "pliant/sim/model.hpp"

namespace pliant {

/// What a family asks of the problems it is given.
struct ProblemOptions {
  Integrator integrator = Integrator::implicit_euler;
  /// Whether scripts that act by penalties are prescribed directly instead: a method that solves one linear system has
  /// no use for a stiff spring where it can have the motion itself.
  bool imposes_scripts = false;
};

/// What one time step is to solve, fixed before any family looks at it: where the step begins, how long it is, what is
/// prescribed at its end, who pulls at what. IncrementalPotential turns it into a function of the positions; the model
/// has everything else. Families read it and never change it.
///
/// The one equation of every step (docs/architecture.md, "One step, one equation"): over the unknowns that are free,
///
///   M (x - x^n - h v^n)/h^2 + D (x - x^n)/h + grad Phi(x) - f_ext
///       + penalties + grabs + pressures + colliders + contact = 0.
struct StepProblem {
  StepProblem() = default;
  /// Throws InputError for grabs of nodes that do not exist or that belong to no common surface triangle.
  void begin(const Model& model, const State& state, double time_step, const ProblemOptions& options);

  Integrator integrator = Integrator::implicit_euler;
  double time_step = 0;           ///< as asked for, s
  double h = 0;                   ///< of the equation: half of it for the implicit midpoint, s
  std::int64_t steps_before = 0;  ///< taken before this one
  double start = 0, end = 0;      ///< time of x^n, and time that boundaries, activations and colliders are taken at, s
  VecX x_n, v_n;                  ///< where the step begins, m and m/s
  VecX predicted;                 ///< x^n + h v^n, m
  BoundaryState boundary;         ///< at `end`
  std::vector<Index> fixed;       ///< the prescribed unknowns, ascending
  std::vector<double> start_activation, activation;  ///< of the muscles, at `start` and at `end`
  std::vector<Grab> grabs;
  /// What does not depend on the positions, N: gravity and loads at `end`, and of loads that follow surfaces what stays
  /// as it is for the step (sim/load.hpp).
  VecX external_force;
  /// The same with all of these loads as they are where the step is expected to end: for families that take forces
  /// explicitly.
  VecX explicit_force;
  std::span<const SurfaceLoad> surface_loads;  ///< the model's
  std::vector<Vec3> load_origins;              ///< where the volumes of each are measured from, m

  bool has_inertia() const { return pliant::has_inertia(integrator); }
  /// Puts the prescribed unknowns of x where they belong.
  void impose_boundary(VecX& x) const;
  /// x^n + h v^n with the prescribed unknowns where they belong.
  VecX predicted_start() const;
  /// Where a step is expected to end: there, or without inertia at x^n with the prescribed unknowns where they belong.
  VecX expected_end() const;
  /// The positions with the activations and the time of the end of the step.
  Pose pose(const VecX& x) const { return {x, activation, end}; }
};

/// Everything besides the model that a matrix depends on which is made once and kept for many steps: step size,
/// inertia, prescribed unknowns, penalties and grabs. A family keeps the key of the problem its matrix was made for,
/// and makes the matrix anew when the key no longer fits. What else a matrix is made of must then come from the model
/// alone, so that it does not depend on the step in which it happened to be made.
class MatrixKey {
 public:
  MatrixKey() = default;  ///< fits nothing
  explicit MatrixKey(const StepProblem& problem);

  /// Whether the matrix would come out the same for this problem.
  bool fits(const StepProblem& problem) const;
  /// For matrices that grabs are not part of.
  bool fits_without_grabs(const StepProblem& problem) const;
  /// Whether the grabs pull at the same points as strongly.
  bool has_same_springs(const StepProblem& problem) const;
  /// A number that stands for all but the grabs, for a memory: different keys have different ones, but for one in 1e15.
  double digest_without_grabs() const;

 private:
  double h_ = -1;
  bool has_inertia_ = false;
  std::vector<std::uint8_t> fixed_;
  std::vector<Index> penalised_;
  std::vector<double> sigma_;
  std::vector<Grab> grabs_;
};

}  // namespace pliant
