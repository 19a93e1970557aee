#include "pliant/sim/rank_one.hpp"

#include "pliant/math/dense.hpp"

namespace pliant {

void add_rank_ones(SparseCholesky& A, std::span<const RankOne> ones, VecX& x) {
  const auto count = static_cast<Eigen::Index>(ones.size());
  if (count == 0) return;
  MatX U(x.size(), count), inverse = MatX::Zero(count, count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const RankOne& one = ones[static_cast<std::size_t>(k)];
    U.col(k) = one.vector;
    inverse(k, k) = 1 / one.scale;
  }
  MatX Z = U;
  A.solve(Z);
  add_transposed_product(1, U, Z, inverse);
  DenseLdlt factor;
  factor.factor(inverse);
  x -= Z * factor.solve(U.transpose() * x);
}

}  // namespace pliant
