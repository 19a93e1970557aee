#pragma once

#include "pliant/energies/energy.hpp"

namespace pliant {

/// Springs of zero length that pull single nodes to targets: 1/2 w |x - c|^2. The nodes are fixed; targets and weights
/// may be set between steps, a weight of zero lets a node go.
class NodePenalty final : public Energy {
 public:
  explicit NodePenalty(std::vector<Index> nodes);

  std::string_view name() const override { return "node penalty"; }
  const Stencils& stencils() const override { return stencils_; }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;

  void release_all();
  /// `weight` in N/m.
  void hold(Index stencil, const Vec3& target, double weight);

 private:
  Stencils stencils_;
  std::vector<Vec3> targets_;
  std::vector<double> weights_;
};

}  // namespace pliant
