#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pliant/sim/model.hpp"
#include "pliant/solvers/warp_canceling/corotated_kernels.hpp"

namespace pliant {

/// The linear tetrahedra of all bodies, in an order of their own: elements of a group (a supernode of the factor) sit
/// side by side in *slots*, kBatch slots to a batch, and a batch holds elements of one body only. Slots that fill up a
/// body's last batch repeat its last element and count for nothing.
///
/// Forces are those of each body's law; the stiffness is that of corotated linear elasticity with the law's own
/// parameters at rest. For the law linear-corotated this is the method of the paper; for others it is the same matrix
/// with exact forces.
class CorotatedElements {
 public:
  /// Elements of all bodies one after the other: the number of the first one of a body is the sum of those before it.
  /// `group`: one per element; a group must not span bodies.
  CorotatedElements(const Model& model, std::span<const Index> group);

  Index elements() const { return static_cast<Index>(slot_of_element_.size()); }
  Index slots() const { return static_cast<Index>(nodes_.size() / 4); }
  Index batches() const { return slots() / kBatch; }
  /// The slot of every element. All slots of a group are consecutive.
  std::span<const Index> slot_of_element() const { return slot_of_element_; }
  /// The four nodes of a slot.
  const Index* nodes(Index slot) const { return nodes_.data() + 4 * static_cast<std::ptrdiff_t>(slot); }
  /// What the elements of a batch share.
  Index body(Index batch) const { return body_[static_cast<std::size_t>(batch)]; }
  const ElementGeometry& geometry(Index batch) const { return geometry_[static_cast<std::size_t>(batch)]; }
  const Batch<2>& lame(Index batch) const { return linear_lame_[static_cast<std::size_t>(batch)]; }

  /// Rotations by the polar decomposition that survives inversion (Irving et al. 2004), stresses and the elastic energy
  /// of these positions. Returns the energy, J.
  double deform(const VecX& x);
  /// As deform() left them; entries of padding are those of the element they repeat.
  const Batch9& rotations(Index batch) const { return R_[static_cast<std::size_t>(batch)]; }

  /// out += -(h grad Phi + sum_e scale R K R^T v) at the positions of deform(); `scale` has one entry per body. N s.
  void add_impulse(const VecX& v, double h, std::span<const double> scale, VecX& out);

  /// Vectors of the nodes of a batch.
  void gather(const VecX& u, Index batch, NodeVectorBatch& out) const;
  void gather(std::span<const Mat3> rotations, Index batch, NodeRotationBatch& out) const;

 private:
  std::vector<const Law*> laws_;  ///< per body; null: linear corotated, whose stress needs no second decomposition
  std::vector<Index> slot_of_element_, nodes_, body_;
  std::vector<ElementGeometry> geometry_;
  std::vector<Batch<2>> lame_, linear_lame_;
  std::vector<std::uint8_t> is_padding_;  ///< per slot
  std::vector<Index> offsets_;            ///< as gather_nodes wants them
  std::vector<Batch9> R_, P_;
  std::vector<double> forces_;  ///< per slot 12
  // For every node its corners, slot by slot: 4 slot + corner.
  std::vector<std::int64_t> corner_start_;
  std::vector<std::int32_t> corners_;
};

}  // namespace pliant
