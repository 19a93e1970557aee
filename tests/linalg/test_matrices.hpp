#pragma once

#include <Eigen/Dense>
#include <random>
#include <vector>

#include "pliant/linalg/block_matrix.hpp"

/// Matrices the tests of linalg share.
namespace pliant::test {

inline Eigen::Index unknowns(const BlockMatrix& A) { return Eigen::Index(A.block_size()) * A.pattern().rows(); }

inline std::shared_ptr<const BlockPattern> pattern_of(Index rows, const std::vector<Index>& nodes, int clique_size) {
  const BlockPattern::Cliques cliques[] = {{nodes, clique_size}};
  return std::make_shared<const BlockPattern>(rows, cliques);
}

inline std::shared_ptr<const BlockPattern> random_pattern(Index rows, int edges, std::mt19937& random) {
  std::uniform_int_distribution<Index> any(0, rows - 1);
  std::vector<Index> nodes(static_cast<std::size_t>(2 * edges));
  for (Index& i : nodes) i = any(random);
  return pattern_of(rows, nodes, 2);
}

/// The corners of the cells of an nx x ny x nz node grid: 27-point coupling.
inline std::shared_ptr<const BlockPattern> grid_pattern(Index nx, Index ny, Index nz) {
  std::vector<Index> cells;
  for (Index z = 0; z + 1 < nz; ++z) {
    for (Index y = 0; y + 1 < ny; ++y) {
      for (Index x = 0; x + 1 < nx; ++x) {
        for (Index c = 0; c < 8; ++c) cells.push_back(x + (c & 1) + nx * (y + ((c >> 1) & 1) + ny * (z + (c >> 2))));
      }
    }
  }
  return pattern_of(nx * ny * nz, cells, 8);
}

/// Entries uniform in [-1, 1].
inline BlockMatrix random_symmetric(std::shared_ptr<const BlockPattern> pattern, int block_size, std::mt19937& random) {
  BlockMatrix A(std::move(pattern), block_size);
  std::uniform_real_distribution<double> entry(-1, 1);
  for (double& a : A.values()) a = entry(random);
  for (Index i = 0; i < A.pattern().rows(); ++i) {
    double* a = A.block(A.pattern().diagonal(i));
    for (int c = 0; c < block_size; ++c) {
      for (int r = 0; r < c; ++r) a[c + r * block_size] = a[r + c * block_size];
    }
  }
  return A;
}

inline void shift(BlockMatrix& A, double sigma) {
  const int b = A.block_size();
  for (Index i = 0; i < A.pattern().rows(); ++i) {
    for (int c = 0; c < b; ++c) A.block(A.pattern().diagonal(i))[c + c * b] += sigma;
  }
}

/// Strictly diagonally dominant, with margin `margin`.
inline BlockMatrix random_spd(std::shared_ptr<const BlockPattern> pattern, int block_size, std::mt19937& random,
                              double margin = 0.5) {
  BlockMatrix A = random_symmetric(std::move(pattern), block_size, random);
  const int b = block_size;
  std::vector<double> sums(static_cast<std::size_t>(b * A.pattern().rows()), margin);
  const auto sum = [&](Index node, int c) -> double& { return sums[static_cast<std::size_t>(node * b + c)]; };
  for (Index i = 0; i < A.pattern().rows(); ++i) {
    for (std::int64_t k = A.pattern().diagonal(i); k < A.pattern().row_start()[static_cast<std::size_t>(i) + 1]; ++k) {
      const Index j = A.pattern().columns()[static_cast<std::size_t>(k)];
      for (int c = 0; c < b; ++c) {
        for (int r = 0; r < b; ++r) {
          const double a = std::abs(A.block(k)[r + c * b]);
          if (i != j || r != c) sum(i, r) += a;
          if (i != j) sum(j, c) += a;
        }
      }
    }
  }
  for (Index i = 0; i < A.pattern().rows(); ++i) {
    for (int c = 0; c < b; ++c) A.block(A.pattern().diagonal(i))[c + c * b] = sum(i, c);
  }
  return A;
}

/// Stiffness-like: every off-diagonal block couples its two nodes by a spring tensor I + 4 n n^T with a random
/// direction n (for block size 1: a conductance), so that constants are in the kernel of all but the `ground` added to
/// the diagonal.
inline BlockMatrix spring_matrix(std::shared_ptr<const BlockPattern> pattern, int block_size, double ground,
                                 std::mt19937& random) {
  BlockMatrix A(std::move(pattern), block_size);
  const int b = block_size;
  std::uniform_real_distribution<double> entry(-1, 1);
  const BlockPattern& p = A.pattern();
  for (Index i = 0; i < p.rows(); ++i) {
    for (std::int64_t k = p.diagonal(i) + 1; k < p.row_start()[static_cast<std::size_t>(i) + 1]; ++k) {
      const Index j = p.columns()[static_cast<std::size_t>(k)];
      const Vec3 n = Vec3(entry(random), entry(random), entry(random)).normalized();
      for (int c = 0; c < b; ++c) {
        for (int r = 0; r < b; ++r) {
          const double s = (r == c ? 1.0 : 0.0) + 4 * n[r] * n[c];
          A.block(k)[r + c * b] -= s;
          A.block(p.diagonal(i))[r + c * b] += s;
          A.block(p.diagonal(j))[r + c * b] += s;
        }
      }
    }
  }
  shift(A, ground);
  return A;
}

inline Eigen::MatrixXd dense(const BlockMatrix& A) {
  const BlockPattern& p = A.pattern();
  const int b = A.block_size();
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(Eigen::Index(b) * p.rows(), Eigen::Index(b) * p.rows());
  for (Index i = 0; i < p.rows(); ++i) {
    for (std::int64_t k = p.diagonal(i); k < p.row_start()[static_cast<std::size_t>(i) + 1]; ++k) {
      const Index j = p.columns()[static_cast<std::size_t>(k)];
      const Eigen::Map<const Eigen::MatrixXd> block(A.block(k), b, b);
      full.block(b * i, b * j, b, b) = block;
      full.block(b * j, b * i, b, b) = block.transpose();
    }
  }
  return full;
}

}  // namespace pliant::test
