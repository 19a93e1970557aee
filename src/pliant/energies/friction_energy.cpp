#include "pliant/energies/friction_energy.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace pliant {

Eigen::Matrix<double, 3, 2> tangents_of(const Vec3& normal) {
  const Vec3 n = normal.normalized();
  Eigen::Index least = 0;
  n.cwiseAbs().minCoeff(&least);
  Eigen::Matrix<double, 3, 2> T;
  T.col(0) = n.cross(Vec3::Unit(least)).normalized();
  T.col(1) = n.cross(T.col(0));
  return T;
}

double SmoothFriction::stopped(double s, double a) const {
  if (s - a >= eps) return s - a;
  // f1 = 2 y/eps - y^2/eps^2: a quadratic equation, written without cancellation.
  const double b = 1 + 2 * a / eps;
  return 2 * s / (b + std::sqrt(std::max(0.0, b * b - 4 * a * s / (eps * eps))));
}

void FrictionEnergy::set_pairs(std::vector<FrictionPair> pairs, double distance) {
  pairs_ = std::move(pairs);
  law_.eps = distance;
  stencils_.nodes.clear();
  for (const FrictionPair& pair : pairs_)
    stencils_.nodes.insert(stencils_.nodes.end(), pair.nodes.begin(), pair.nodes.end());
  ++revision_;
}

Eigen::Vector2d FrictionEnergy::slip(const FrictionPair& pair, const VecX& x) const {
  Vec3 relative = pair.offset;
  for (std::size_t k = 0; k < 4; ++k)
    if (pair.nodes[k] >= 0) relative += pair.weight[k] * (node(x, pair.nodes[k]) - pair.start[k]);
  return pair.tangents.transpose() * relative;
}

Vec3 FrictionEnergy::force(const FrictionPair& pair, const VecX& x) const {
  const Eigen::Vector2d u = slip(pair, x);
  return pair.force * law_.f1_over_y(u.norm()) * (pair.tangents * u);
}

void FrictionEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  for (Index s = range.begin; s < range.end; ++s) {
    const FrictionPair& pair = pairs_[static_cast<std::size_t>(s)];
    *values++ = pair.force * law_.f0(slip(pair, pose.x).norm());
    if (!gradients) continue;
    const Vec3 f = force(pair, pose.x);
    for (std::size_t k = 0; k < 4; ++k, gradients += 3) Eigen::Map<Vec3>{gradients} = pair.weight[k] * f;
  }
}

/// f1 = 2 y/eps - y^2/eps^2 below eps, and 1 beyond. Along u: f1'(y); across: f1(y)/y. Equal where nothing slides.
Mat3 FrictionEnergy::stiffness(const FrictionPair& pair, const Eigen::Vector2d& u) const {
  const double y = u.norm(), across = law_.f1_over_y(y), along = law_.f1_slope(y);
  Eigen::Matrix2d H = across * Eigen::Matrix2d::Identity();
  if (y > 0) H += (along - across) / (y * y) * u * u.transpose();
  return pair.force * pair.tangents * H * pair.tangents.transpose();
}

void FrictionEnergy::hessians(const Pose& pose, Range range, Projection, double* blocks) const {
  for (Index s = range.begin; s < range.end; ++s) {
    const FrictionPair& pair = pairs_[static_cast<std::size_t>(s)];
    const Mat3 K = stiffness(pair, slip(pair, pose.x));
    for (std::size_t b = 0; b < 4; ++b)
      for (std::size_t a = 0; a <= b; ++a, blocks += 9) Eigen::Map<Mat3>{blocks} = pair.weight[a] * pair.weight[b] * K;
  }
}

void FrictionEnergy::append_springs(const VecX& x, std::vector<ContactSpring>& springs) const {
  for (const FrictionPair& pair : pairs_) {
    const Eigen::Vector2d u = slip(pair, x);
    ContactSpring& spring = springs.emplace_back();
    std::copy_n(pair.nodes.begin(), 4, spring.nodes.begin());
    std::copy_n(pair.weight.begin(), 4, spring.weight.begin());
    spring.stiffness = stiffness(pair, u);
    spring.largest = pair.force * law_.f1_over_y(u.norm());
  }
}

}  // namespace pliant
