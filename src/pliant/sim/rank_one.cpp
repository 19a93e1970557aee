#include "pliant/sim/rank_one.hpp"

namespace pliant {

void RankOneUpdate::set(std::span<const RankOne> ones, const std::function<void(MatView)>& solve) {
  clear();
  std::vector<const RankOne*> used;
  for (const RankOne& one : ones)
    if (one.scale > 0) used.push_back(&one);
  if (used.empty()) return;
  const auto count = static_cast<Eigen::Index>(used.size());
  MatX U(used.front()->vector.size(), count), inverse = MatX::Zero(count, count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const RankOne& one = *used[static_cast<std::size_t>(k)];
    U.col(k) = one.vector;
    inverse(k, k) = 1 / one.scale;
  }
  Z_ = U;
  solve(Z_);  // which may ask for what there is of this
  add_transposed_product(1, U, Z_, inverse);
  factor_.factor(inverse);
  U_ = std::move(U);
}

MatX RankOneUpdate::coefficients(const MatX& B) const {
  MatX found(B.rows(), B.cols());
  for (Eigen::Index c = 0; c < B.cols(); ++c) found.col(c) = factor_.solve(B.col(c));
  return found;
}

void RankOneUpdate::apply(MatView y) const {
  if (none()) return;
  for (Eigen::Index c = 0; c < y.cols(); ++c) y.col(c) -= Z_ * factor_.solve(U_.transpose() * y.col(c));
}

void add_rank_ones(SparseCholesky& A, std::span<const RankOne> ones, VecX& x) {
  if (ones.empty()) return;
  RankOneUpdate update;
  update.set(ones, [&](MatView columns) { A.solve(columns); });
  update.apply(x);
}

}  // namespace pliant
