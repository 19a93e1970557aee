#pragma once

#include <vector>

#include "pliant/linalg/block_matrix.hpp"
#include "pliant/math/dense.hpp"

namespace pliant {

struct SparseRows;

/// Solution of A x = b for a scalar symmetric positive definite matrix in which neighbours pull on each other (a graph
/// Laplacian, with a positive diagonal added or not), for the three coordinates of every node at once: conjugate
/// gradients preconditioned by a cycle of algebraic multigrid, smoothed aggregation (Vanek, Mandel, Brezina 1996) with
/// the constant as near-null vector and Chebyshev smoothing. Memory and time of a solution grow with the number of
/// nodes, where those of a factor of a solid body grow with its power 4/3.
///
/// Numbers are kept in float: this serves matrices that are themselves estimates. Same bits for any number of threads.
class ScalarMultigrid {
 public:
  /// Nodes without neighbours, such as eliminated ones, take no part in coarser levels. Throws std::bad_alloc.
  void set(const BlockMatrix& A);
  /// False where the coarsest matrix has no Cholesky factor: A is singular.
  bool is_usable() const { return is_usable_; }

  /// x = A^{-1} b up to a residual of `tolerance` times b, both in the 2-norm; b[3 i + c]. Returns the iterations.
  int solve(const VecX& b, VecX& x, double tolerance, int most_iterations = 100);

  /// Of all levels and vectors.
  std::int64_t bytes() const;
  int levels() const { return static_cast<int>(levels_.size()); }
  /// Entries of all levels over those of the finest.
  double complexity() const;

 private:
  /// x, y, z and nothing: a vector register.
  struct alignas(16) Float4 {
    float v[4];
  };
  using Vector = std::vector<Float4>;
  struct Matrix {
    std::vector<std::int64_t> start;
    std::vector<Index> column;
    std::vector<float> value;

    Matrix() = default;
    explicit Matrix(const SparseRows& A);
    Index rows() const { return static_cast<Index>(start.size()) - 1; }
  };
  struct Level {
    Matrix A;
    std::vector<float> inverse_diagonal;
    Matrix prolongation, restriction;  ///< from and to the next level
    double largest = 1;                ///< eigenvalue of D^{-1} A, or a little more
    Vector x, b, r, d;
  };

  template <class Use>
  static void multiply(const Matrix& A, const Vector& x, Use&& use);
  static double dot(const Vector& a, const Vector& b);
  void smooth(Level& level, bool starts_at_zero);
  void cycle(std::size_t l);
  void solve_coarsest(Level& level);

  std::vector<Level> levels_;
  DenseCholesky coarsest_;
  bool has_coarsest_ = false;  ///< where matrices of free nodes end, smoothing alone serves
  bool is_usable_ = false;
  Vector x_, r_, p_, q_;
};

}  // namespace pliant
