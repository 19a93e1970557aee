#pragma once

#include <memory>

#include "pliant/energies/contact_pair.hpp"
#include "pliant/energies/energy.hpp"

namespace pliant {

/// A contact whose friction is that of an earlier state: nearest points, tangents and normal force are kept.
struct FrictionPair {
  std::array<Index, 4> nodes = {-1, -1, -1, -1};  ///< unknowns; -1 for corners of obstacles
  std::array<double, 4> weight{};                 ///< of the relative displacement
  std::array<Vec3, 4> start;                      ///< of the nodes where the step begins, m
  Vec3 offset = Vec3::Zero();                     ///< what the obstacle's own motion adds to it, m
  Eigen::Matrix<double, 3, 2> tangents;           ///< orthonormal
  double force = 0;                               ///< coefficient of friction times the normal force, N
};

/// The law of smoothed Coulomb friction: f1 = f0' over the sliding distance y, which rises from 0 to 1 until y = eps.
struct SmoothFriction {
  double eps = 1;  ///< m
  double f0(double y) const { return y < eps ? y * y / eps * (1 - y / (3 * eps)) + eps / 3 : y; }
  double f1_over_y(double y) const { return y < eps ? (2 - y / eps) / eps : 1 / y; }
  double f1_slope(double y) const { return y < eps ? 2 * (1 - y / eps) / eps : 0; }
  /// The y >= 0 with y + a f1(y) = s, for a, s >= 0: where friction that gives way by a stops what would slide by s.
  double stopped(double s, double a) const;
};

/// Smoothed Coulomb friction with lagged normal forces (IPC, section 4): for each pair force f0(|u|), u the tangential
/// relative displacement since the beginning of the step, and f0(y) = y from the sliding distance eps = h eps_v on and
/// a cubic that begins quadratically below. Its Hessian is positive semidefinite, so that there is nothing to project.
class FrictionEnergy final : public Energy {
 public:
  FrictionEnergy() : stencils_{4, {}} {}
  /// `distance` is eps, m.
  void set_pairs(std::vector<FrictionPair> pairs, double distance);
  const std::vector<FrictionPair>& pairs() const { return pairs_; }
  const SmoothFriction& law() const { return law_; }
  /// The gradient of a pair by its relative displacement at x, N.
  Vec3 force(const FrictionPair& pair, const VecX& x) const;

  /// Appends the pairs as springs across their normals.
  void append_springs(const VecX& x, std::vector<ContactSpring>& springs) const;

  std::string_view name() const override { return "friction"; }
  const Stencils& stencils() const override { return stencils_; }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;
  std::int64_t revision() const override { return revision_; }

 private:
  Eigen::Vector2d slip(const FrictionPair& pair, const VecX& x) const;
  Mat3 stiffness(const FrictionPair& pair, const Eigen::Vector2d& slip) const;

  std::vector<FrictionPair> pairs_;
  SmoothFriction law_;
  Stencils stencils_;
  std::int64_t revision_ = 0;
};

/// Two unit vectors across a direction.
Eigen::Matrix<double, 3, 2> tangents_of(const Vec3& normal);

}  // namespace pliant
