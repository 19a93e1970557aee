#pragma once

#include "pliant/linalg/multigrid/aggregation.hpp"
#include "pliant/linalg/multigrid/sparse_rows.hpp"

namespace pliant::multigrid {

using Mat6 = Eigen::Matrix<double, 6, 6>;

/// The six motions of the whole as a rigid body, as a level's unknowns see them: node i moves by modes[i] (t, w) where
/// the body moves by t and turns by w / length[i], both at centre[i]. The finest level has three unknowns a node, of
/// which `fixed` are held.
struct RigidModes {
  std::vector<Vec3> centre;
  std::vector<double> length;
  std::vector<Mat6> modes;          ///< of coarse levels
  std::vector<std::uint8_t> fixed;  ///< of the finest, three a node

  bool is_finest() const { return modes.empty(); }
  Index nodes() const { return static_cast<Index>(centre.size()); }
};

/// The tentative prolongation: every group of nodes has its own six motions, orthonormal. Writes the block of each node
/// (3 x 6 or 6 x 6, by rows) to Q, zero for nodes without a group, and the modes as the groups see them to `coarse`.
/// Motions that a group cannot make, such as turning where it is a single node, are zero columns.
void tentative_prolongation(const RigidModes& fine, const Aggregates& groups, const SparseColumns& members,
                            std::vector<Real>& Q, RigidModes& coarse);

}  // namespace pliant::multigrid
