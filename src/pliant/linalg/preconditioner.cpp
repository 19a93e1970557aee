#include "pliant/linalg/preconditioner.hpp"

#include <cassert>
#include <cmath>

#include "pliant/linalg/incomplete_cholesky.hpp"
#include "pliant/linalg/vector_kernels.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/math/small_cholesky.hpp"

namespace pliant {
namespace {

constexpr Index row_chunk = 1024;

template <class T>
class Identity final : public Preconditioner<T> {
 public:
  void set(const BlockProduct<T>&) override {}
  void apply(const VectorOf<T>& r, VectorOf<T>& z) override { z = r; }
};

/// Position of the diagonal block among a row's blocks: after the lower triangle's.
template <class T>
const T* diagonal_block(const BlockProduct<T>& A, Index row) {
  const auto before = static_cast<std::int64_t>(A.pattern().lower_row(row).size());
  return A.blocks_of(row) + before * A.block_size() * A.block_size();
}

template <class T>
class Jacobi final : public Preconditioner<T> {
 public:
  void set(const BlockProduct<T>& A) override {
    const int b = A.block_size();
    inverse_.resize(Eigen::Index(b) * A.rows());
    for_chunks(A.rows(), row_chunk, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        for (int c = 0; c < b; ++c) {
          const T d = std::abs(diagonal_block(A, i)[c + c * b]);
          inverse_[Eigen::Index(b) * i + c] = d > 0 ? 1 / d : T(1);
        }
      }
    });
  }
  void apply(const VectorOf<T>& r, VectorOf<T>& z) override { z = inverse_.cwiseProduct(r); }

 private:
  VectorOf<T> inverse_;
};

/// The inverse of a matrix that is positive definite by a margin, by its cofactors; otherwise false.
bool invert_definite(const Eigen::Matrix3d& a, Eigen::Matrix3d& inverse) {
  constexpr double kMargin = 1e-6;  // of the determinant to its largest value, the product of the diagonal
  const double xx = a(1, 1) * a(2, 2) - a(1, 2) * a(1, 2), xy = a(0, 2) * a(1, 2) - a(0, 1) * a(2, 2);
  const double xz = a(0, 1) * a(1, 2) - a(0, 2) * a(1, 1), yy = a(0, 0) * a(2, 2) - a(0, 2) * a(0, 2);
  const double yz = a(0, 1) * a(0, 2) - a(0, 0) * a(1, 2), zz = a(0, 0) * a(1, 1) - a(0, 1) * a(0, 1);
  const double determinant = a(0, 0) * xx + a(0, 1) * xy + a(0, 2) * xz;
  const bool is_definite = a(0, 0) > 0 && a(1, 1) > 0 && zz > 0 && determinant > kMargin * a(0, 0) * a(1, 1) * a(2, 2);
  if (!is_definite) return false;
  inverse << xx, xy, xz, xy, yy, yz, xz, yz, zz;
  inverse /= determinant;
  return true;
}

/// The inverse of the positive definite matrix with the same eigenvectors and absolute eigenvalues.
template <class T>
Eigen::Matrix<T, 3, 3> positive_inverse(const Eigen::Matrix<T, 3, 3>& block) {
  const Eigen::Matrix3d a = block.template cast<double>();
  Eigen::Matrix3d inverse;
  if (invert_definite(a, inverse)) return inverse.cast<T>();
  Eigen::Matrix3d L = a;
  if (factor_cholesky(L) && L.diagonal().minCoeff() > 0) return inverse_of_factored(L).template cast<T>();
  const SymmetricEigen<3> eigen(a);
  const double least = std::max(1e-8 * a.cwiseAbs().maxCoeff(), 1e-300);
  const Vec3 values = eigen.values.cwiseAbs().cwiseMax(least).cwiseInverse();
  return (eigen.vectors * values.asDiagonal() * eigen.vectors.transpose()).cast<T>();
}

template <class T>
class BlockJacobi final : public Preconditioner<T> {
 public:
  void set(const BlockProduct<T>& A) override {
    assert(A.block_size() == 3);
    inverse_.resize(9 * Eigen::Index(A.rows()) + 1);
    for_chunks(A.rows(), row_chunk, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        Eigen::Map<Eigen::Matrix<T, 3, 3>>(inverse_.data() + 9 * Eigen::Index(i)) =
            positive_inverse<T>(Eigen::Map<const Eigen::Matrix<T, 3, 3>>(diagonal_block(A, i)));
      }
    });
  }
  void apply(const VectorOf<T>& r, VectorOf<T>& z) override {
    z.resize(r.size());
    for_chunks(static_cast<Index>(r.size() / 3), row_chunk, [&](Index begin, Index end) {
      const Eigen::Index first = 3 * Eigen::Index(begin);
      vectors::multiply_blocks(end - begin, inverse_.data() + 3 * first, r.data() + first, z.data() + first);
    });
  }

 private:
  VectorOf<T> inverse_;
};

/// Block-Jacobi for scalar matrices is Jacobi.
template <class T>
class BlockOrScalarJacobi final : public Preconditioner<T> {
 public:
  void set(const BlockProduct<T>& A) override {
    scalar_ = A.block_size() == 1;
    scalar_ ? jacobi_.set(A) : block_.set(A);
  }
  void apply(const VectorOf<T>& r, VectorOf<T>& z) override { scalar_ ? jacobi_.apply(r, z) : block_.apply(r, z); }

 private:
  bool scalar_ = false;
  Jacobi<T> jacobi_;
  BlockJacobi<T> block_;
};

}  // namespace

template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(PreconditionerKind kind) {
  switch (kind) {
    case PreconditionerKind::none:
      return std::make_unique<Identity<T>>();
    case PreconditionerKind::jacobi:
      return std::make_unique<Jacobi<T>>();
    case PreconditionerKind::block_jacobi:
      return std::make_unique<BlockOrScalarJacobi<T>>();
    case PreconditionerKind::incomplete_cholesky:
      return std::make_unique<IncompleteCholesky<T>>();
    case PreconditionerKind::multigrid:  // which know more than the matrix
    case PreconditionerKind::rest_factor:
      break;
  }
  assert(false);
  return nullptr;
}

template std::unique_ptr<Preconditioner<double>> make_preconditioner(PreconditionerKind);
template std::unique_ptr<Preconditioner<float>> make_preconditioner(PreconditionerKind);

void StaleFactor::apply(const VecX& r, VecX& z) {
  z = r;
  const auto rotate = [&](bool back) {
    assert(3 * rotations_.size() == at(z.size()));
    for_chunks(static_cast<Index>(rotations_.size()), row_chunk, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Mat3& R = rotations_[at(i)];
        const Vec3 v = node(z, i);
        node(z, i) = back ? Vec3(R * v) : Vec3(R.transpose() * v);
      }
    });
  };
  if (!rotations_.empty()) rotate(false);
  factor_.solve(z);
  if (!rotations_.empty()) rotate(true);
}

}  // namespace pliant
