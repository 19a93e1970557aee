#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pliant/sim/model.hpp"

namespace pliant {

/// Which rotations carry a stale matrix along (warp-canceling, 3.3 and 4.1): those of each node's one-ring, or none,
/// which is more stable where elements are so flat that neighbouring rings turn abruptly.
enum class NodeRotationKind { automatic, ring, identity };

/// The rotation that takes each node and its neighbours best from where they rest to where they are.
///
/// Horn (1987) finds it as the quaternion that maximises tr(R^T C), C the covariance of the two clouds of points about
/// their centroids. That maximum is the rotation nearest to C, for which there is a polar decomposition in batches that
/// needs no special case for flat or empty clouds. Nodes of shells, cloth and rods keep the identity.
class NodeRotationField {
 public:
  NodeRotationField(const Model& model, NodeRotationKind kind);

  /// Nodes marked in `held` keep the identity: their matrix rows are cut along the axes of the world.
  void compute(const VecX& x, std::span<const std::uint8_t> held);
  std::span<const Mat3> rotations() const { return rotations_; }
  /// Whether all are the identity for ever.
  bool none() const { return none_; }

 private:
  const VecX& rest_;
  std::vector<std::int64_t> start_;
  std::vector<Index> ring_;
  std::vector<std::uint8_t> turns_;  ///< whether a node is given a rotation at all
  std::vector<Mat3> rotations_;
  bool none_ = true;
};

/// The documented test for `automatic`: a solid is thin when its mean thickness 2 V/S is below a quarter of its mean
/// edge, that is when its elements are flat.
bool is_thin(const Body& body);

}  // namespace pliant
