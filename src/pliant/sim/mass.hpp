#pragma once

#include <memory>
#include <span>

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

enum class MassKind { lumped, consistent };

/// The mass matrix: the same scalar n x n matrix for x, y and z. `consistent_diagonal` and `lumped` are there for both
/// kinds.
class Mass {
 public:
  Mass() = default;
  /// `consistent` has block size 1; `lumped` one entry per node, kg.
  Mass(MassKind kind, BlockMatrix consistent, VecX lumped);

  MassKind kind() const { return kind_; }
  Index nodes() const { return static_cast<Index>(lumped_.size()); }
  /// kg per node; sums to the total mass.
  const VecX& lumped() const { return lumped_; }
  /// M_ii of the consistent matrix, kg: what the penalty of moving boundaries is weighted with.
  VecX consistent_diagonal() const;
  const BlockMatrix& consistent() const { return consistent_; }

  /// y = M x, with x and y over 3 n unknowns.
  void multiply(const VecX& x, VecX& y) const;
  /// Adds scale * M to a matrix of 3x3 blocks whose pattern contains M's.
  void add_to(BlockMatrix& A, double scale) const;

 private:
  MassKind kind_ = MassKind::lumped;
  BlockMatrix consistent_;
  VecX lumped_;
};

}  // namespace pliant
