#pragma once

#include <optional>
#include <vector>

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// Sparse columns over the scalars of a matrix.
struct SparseColumns {
  std::vector<int> start = {0}, rows;
  std::vector<double> values;
  int columns() const { return static_cast<int>(start.size()) - 1; }
};

/// Of the processor, all threads together.
struct LowRankTimes {
  double factorisation = 0;  ///< of A, supernodal, s
  double modification = 0;   ///< of its factor to that of A + U U^T - D D^T, s
  VecX solution;             ///< of (A + U U^T - D D^T) x = b with the modified factor
};

enum class LowRankOrdering { nested_dissection, minimum_degree };

/// CHOLMOD's update and downdate of a factor (Davis, Hager 2009), for comparison with refactoring a part of the tree.
/// Nothing when CHOLMOD is not part of this build or the factorisation fails.
std::optional<LowRankTimes> cholmod_low_rank(const BlockMatrix& A, const SparseColumns& up, const SparseColumns& down,
                                             const VecX& b,
                                             LowRankOrdering ordering = LowRankOrdering::nested_dissection);

}  // namespace pliant
