#include "pliant/energies/node_penalty.hpp"

#include <algorithm>

namespace pliant {

NodePenalty::NodePenalty(std::vector<Index> nodes) : stencils_{1, std::move(nodes)} {
  targets_.assign(stencils_.nodes.size(), Vec3::Zero());
  weights_.assign(stencils_.nodes.size(), 0.0);
}

void NodePenalty::release_all() { std::fill(weights_.begin(), weights_.end(), 0.0); }

void NodePenalty::hold(Index stencil, const Vec3& target, double weight) {
  targets_[stencil] = target;
  weights_[stencil] = weight;
}

void NodePenalty::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  for (Index s = range.begin; s < range.end; ++s) {
    const auto k = s;
    const Vec3 offset = node(pose.x, stencils_.nodes[k]) - targets_[k];
    *values++ = 0.5 * weights_[k] * offset.squaredNorm();
    if (gradients) {
      Eigen::Map<Vec3>{gradients} = weights_[k] * offset;
      gradients += 3;
    }
  }
}

void NodePenalty::hessians(const Pose&, Range range, Projection, double* blocks) const {
  for (Index s = range.begin; s < range.end; ++s, blocks += 9)
    Eigen::Map<Mat3>{blocks} = weights_[s] * Mat3::Identity();
}

}  // namespace pliant
