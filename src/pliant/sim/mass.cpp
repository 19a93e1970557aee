#include "pliant/sim/mass.hpp"

#include <cassert>

namespace pliant {

Mass::Mass(MassKind kind, BlockMatrix consistent, VecX lumped)
    : kind_(kind), consistent_(std::move(consistent)), lumped_(std::move(lumped)) {
  assert(consistent_.block_size() == 1 && consistent_.pattern().rows() == lumped_.size());
}

VecX Mass::consistent_diagonal() const {
  VecX diagonal(nodes());
  for (Index i = 0; i < nodes(); ++i) diagonal[i] = *consistent_.block(consistent_.pattern().diagonal(i));
  return diagonal;
}

void Mass::multiply(const VecX& x, VecX& y) const {
  if (kind_ == MassKind::consistent) return consistent_.multiply(x, y);
  y.resize(x.size());
  for (Index i = 0; i < nodes(); ++i) node(y, i) = lumped_[i] * node(x, i);
}

void Mass::add_to(BlockMatrix& A, double scale) const {
  assert(A.block_size() == 3);
  const BlockPattern& target = A.pattern();
  const auto add = [&](std::int64_t block, double m) {
    double* a = A.block(block);
    a[0] += m, a[4] += m, a[8] += m;
  };
  if (kind_ == MassKind::lumped) {
    for (Index i = 0; i < nodes(); ++i) add(target.diagonal(i), scale * lumped_[i]);
    return;
  }
  // Both rows are sorted, so one walk along the target's row finds every block of the mass matrix.
  const BlockPattern& source = consistent_.pattern();
  for (Index i = 0; i < nodes(); ++i) {
    std::int64_t t = target.diagonal(i);
    for (std::int64_t s = source.diagonal(i); s < source.row_start()[i + 1]; ++s) {
      while (target.columns()[t] != source.columns()[s]) ++t;
      add(t, scale * *consistent_.block(s));
    }
  }
}

}  // namespace pliant
