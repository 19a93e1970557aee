#pragma once

#include "pliant/linalg/multigrid/sparse_rows.hpp"

namespace pliant::multigrid {

struct Aggregates {
  Index count = 0;
  std::vector<Index> of;  ///< each node's; -1 where a node is coupled to nothing
};

/// Groups of nodes that move much alike (Vanek, Mandel and Brezina 1996): a node with its strong neighbours where none
/// of them has a group yet; what is left over joins the group it is most strongly coupled to. With
/// s_ij = |A_ij| / sqrt(|A_ii| |A_jj|), nodes i and j are strong neighbours where s_ij is more than `threshold` times
/// the largest of row i or of row j. That keeps soft and stiff parts, and layers of flat elements, in groups of their
/// own, however many neighbours a node has. `norms` has one number for each block, the Frobenius norm.
Aggregates aggregate(const SparseRows& rows, std::span<const Real> norms, double threshold);

}  // namespace pliant::multigrid
