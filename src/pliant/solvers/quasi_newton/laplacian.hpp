#pragma once

#include <memory>
#include <optional>

#include "pliant/linalg/scalar_multigrid.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/materials/secant_stiffness.hpp"
#include "pliant/sim/step_problem.hpp"

namespace pliant {

/// The constant matrix of the quasi-Newton family (quasi-newton, section 4; docs/quasi-newton.md):
///
///   A = (1/h^2 + alpha/h) M + (1 + beta/h) L + penalties,   L = sum_e V_e grad N^T (k_e 1 + sum_f k_f d d^T) grad N,
///
/// with k the secant stiffness of each element's law and of its fibres, and k (x_a - x_b)^2 for springs; alpha and beta
/// are Rayleigh's. The same n x n matrix serves x, y and z. It changes only with the time step and with the set of
/// prescribed nodes.
///
/// Grabs, which come and go, are part of the matrix too, without a factorisation: with W the weights of the grabbed
/// points and K their stiffness, (A + W K W^T)^{-1} = A^{-1} - Z (K^{-1} + W^T Z)^{-1} Z^T, Z = A^{-1} W (Woodbury).
class LaplacianMatrix {
 public:
  enum class Precision { single_precision, double_precision };

  /// `automatic`: by a factor, unless that needs more memory than there is or makes a solution slower than multigrid.
  enum class Solve { automatic, factor, multigrid };

  struct Options {
    Precision precision = Precision::single_precision;
    Solve solve = Solve::automatic;
    StretchRange stretches = {};
  };

  LaplacianMatrix(std::shared_ptr<const Model> model, const Options& options);

  /// Makes A for this problem unless that is the one at hand. Returns whether it had to, and counts factorisations;
  /// throws nothing: status() tells how it went.
  bool prepare(const StepProblem& problem, int& factorisations);
  FactorStatus status() const { return status_; }

  /// d = A^{-1} g, coordinate by coordinate; zero where prescribed. By multigrid, to a hundredth.
  void solve(const VecX& g, VecX& d);
  /// Iterations of multigrid since the last prepare().
  int linear_iterations() const { return linear_iterations_; }

  /// A without grabs, not factorised.
  const BlockMatrix& assemble(const StepProblem& problem);
  /// L alone, without mass and boundaries.
  const BlockMatrix& stiffness() const { return stiffness_; }
  /// What there is, or is not, of a factor.
  const SparseCholesky& cholesky() const { return cholesky_; }

 private:
  void choose_solver();
  void factorise();
  void solve_columns(Eigen::MatrixXd& columns);
  void prepare_grabs(const StepProblem& problem);
  void correct_for_grabs(VecX& d) const;

  std::shared_ptr<const Model> model_;
  Options options_;
  BlockMatrix stiffness_;  ///< L, N/m
  BlockMatrix damping_;    ///< alpha M + beta L, body by body
  BlockMatrix A_;
  SparseCholesky cholesky_;
  std::optional<ScalarMultigrid> multigrid_;  ///< in its place
  int linear_iterations_ = 0;
  FactorStatus status_ = FactorStatus::singular;
  bool has_solver_ = false;
  MatrixKey made_for_;
  std::vector<Index> held_;  ///< the prescribed unknowns
  std::vector<Grab> grabs_;
  Eigen::MatrixXd Z_;         ///< a column per grab
  Eigen::MatrixXd coupling_;  ///< (K^{-1} + W^T Z)^{-1}
};

}  // namespace pliant
