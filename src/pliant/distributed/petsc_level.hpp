#pragma once

#include <petscmat.h>

#include <vector>

#include "pliant/linalg/multigrid/rigid_modes.hpp"

namespace pliant {

/// One level of a hierarchy whose matrices have their rows spread over all processes: what multigrid::Level is on one
/// machine, with the same groups, rigid motions, damping and smoother (docs/multigrid.md), by PETSc's matrices. Groups
/// do not reach from one process to another. All processes call everything together.
class PetscLevel {
 public:
  /// A matrix with b unknowns a node. It belongs to the level, but for the finest, which is the caller's.
  PetscLevel(Mat A, int b, bool is_owner);
  PetscLevel(PetscLevel&& other) noexcept;
  PetscLevel& operator=(PetscLevel&&) = delete;
  PetscLevel(const PetscLevel&) = delete;
  ~PetscLevel();

  Mat matrix() const { return A_; }
  Index nodes() const { return nodes_; }  ///< of this process
  /// The finest level's: where nodes are. Also finds which unknowns are held.
  void set_positions(const VecX& own);
  /// The inverses of the diagonal's blocks, and how far the smoother's spectrum reaches.
  void prepare();
  /// Groups nodes and makes the next level's matrix, its motions with it.
  PetscLevel make_coarse();
  Index groups() const { return groups_.count; }  ///< of this process
  void group();

  /// x from f, from zero.
  void smooth_from_zero();
  void smooth_on();
  /// coarse.f = P^T (f - A x)
  void restrict_residual(PetscLevel& coarse);
  void add_correction(const PetscLevel& coarse);

  Vec f = nullptr, x = nullptr;  ///< right-hand side and solution

 private:
  void follow_pattern(std::vector<multigrid::Real>& norms);
  void scale(Vec from, Vec to) const;
  void estimate_largest_eigenvalue();
  void smooth_prolongation(const std::vector<multigrid::Real>& Q);
  void hold_empty_unknowns(Mat coarse) const;

  Mat A_ = nullptr, P_ = nullptr, R_ = nullptr;  ///< R_ is the transpose of P_
  bool is_owner_;
  int b_;
  Index nodes_ = 0;
  PetscInt first_row_ = 0;
  multigrid::SparseRows rows_;  ///< couplings within this process
  multigrid::Aggregates groups_;
  multigrid::RigidModes modes_;
  std::vector<double> inverse_;  ///< of diagonal blocks
  double largest_ = 4;           ///< eigenvalue of D^{-1} A
  Vec r_ = nullptr, d_ = nullptr, y_ = nullptr;
};

}  // namespace pliant
