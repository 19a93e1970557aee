#pragma once

#include <memory>
#include <span>

#include "pliant/linalg/block_product.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"

namespace pliant {

/// An approximate inverse of a symmetric positive definite matrix, itself symmetric positive definite.
template <class T>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// Takes over the numbers of the matrix, which has the pattern given at construction.
  virtual void set(const BlockProduct<T>& A) = 0;
  /// z = M^{-1} r
  virtual void apply(const VectorOf<T>& r, VectorOf<T>& z) = 0;
};

/// identity, the reciprocal diagonal, the inverse 3x3 diagonal blocks, an incomplete Cholesky factorisation without
/// fill in 3x3 blocks; or algebraic multigrid (multigrid/multigrid.hpp) or the factor of the matrix at rest, which need
/// to know more than the matrix and are made by those who know.
enum class PreconditionerKind { none, jacobi, block_jacobi, incomplete_cholesky, multigrid, rest_factor };

/// Where diagonal entries or blocks are not positive definite, their absolute values are used: the product with the
/// matrix, not the preconditioner, is what finds negative curvature.
///
/// The incomplete factorisation works on ranges of nodes that depend on their number alone, and drops what couples
/// different ranges: they run in parallel with the same bits for any number of threads. When a pivot block is not
/// positive definite, the diagonal is raised and the range begun again (Manteuffel 1980).
template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(PreconditionerKind kind);

/// A factor of a matrix of some steps ago, or of the rest shape: M = R L L^T R^T with a rotation per node, identity
/// when none are given. set() does nothing; the factor and the rotations must outlive it and may change between
/// solutions.
class StaleFactor final : public Preconditioner<double> {
 public:
  explicit StaleFactor(SparseCholesky& factor) : factor_(factor) {}
  void set_rotations(std::span<const Mat3> rotations) { rotations_ = rotations; }
  void set(const BlockProduct<double>&) override {}
  void apply(const VecX& r, VecX& z) override;

 private:
  SparseCholesky& factor_;
  std::span<const Mat3> rotations_;
};

}  // namespace pliant
