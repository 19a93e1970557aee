#include "pliant/energies/spring_energy.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace pliant {

SpringEnergy::SpringEnergy(std::vector<Index> ends, std::vector<double> stiffness, std::vector<double> rest_length)
    : stencils_{2, std::move(ends)}, stiffness_(std::move(stiffness)), rest_length_(std::move(rest_length)) {
  assert(stiffness_.size() == static_cast<std::size_t>(stencils_.count()) && rest_length_.size() == stiffness_.size());
}

void SpringEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  for (Index s = range.begin; s < range.end; ++s) {
    const auto k = static_cast<std::size_t>(s);
    const Vec3 d = node(pose.x, stencils_[s][1]) - node(pose.x, stencils_[s][0]);
    const double length = d.norm(), stretch = length - rest_length_[k];
    *values++ = 0.5 * stiffness_[k] * stretch * stretch;
    if (!gradients) continue;
    // Two ends in one place have no direction to push in: an unstable equilibrium.
    const Vec3 pull = length > 0 ? Vec3(stiffness_[k] * stretch / length * d) : Vec3(Vec3::Zero());
    Eigen::Map<Vec3>{gradients} = -pull;
    Eigen::Map<Vec3>{gradients + 3} = pull;
    gradients += 6;
  }
}

void SpringEnergy::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  for (Index s = range.begin; s < range.end; ++s, blocks += 27) {
    const auto k = static_cast<std::size_t>(s);
    const Vec3 d = node(pose.x, stencils_[s][1]) - node(pose.x, stencils_[s][0]);
    const double r = rest_length_[k];
    const double length = std::max({d.norm(), 1e-9 * r, std::numeric_limits<double>::min()});
    // B = k (n n^T + (1 - r/l) (1 - n n^T)); the Hessian [B -B; -B B] has twice B's eigenvalues, so that clamping the
    // transverse one, negative under compression, is the analytic and the numerical projection alike.
    double across = 1 - r / length;
    if (projection != Projection::none) across = std::max(across, 0.0);
    const Vec3 n = d / length;
    Eigen::Map<Mat3> first(blocks), mixed(blocks + 9), second(blocks + 18);
    first = stiffness_[k] * (across * Mat3::Identity() + (1 - across) * n * n.transpose());
    second = first;
    mixed = -first;
  }
}

}  // namespace pliant
