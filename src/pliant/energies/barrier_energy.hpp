#pragma once

#include <memory>
#include <optional>

#include "pliant/contact/pair_derivatives.hpp"
#include "pliant/energies/contact_pair.hpp"
#include "pliant/energies/energy.hpp"

namespace pliant {

/// The repulsion of surfaces that are nearer than dhat (IPC, Li et al. 2020, with weights by area):
///   E = sum over pairs  kappa r A  m(c)  B(d^2/r^2),   B(y) = -(y - 1)^2 ln y,
/// kappa in Pa, A the area the pair stands for, d its distance, r its reach (dhat, or less), m the mollifier of nearly
/// parallel edges. At half of the reach the pressure is 4.3 kappa; it is infinite at zero.
///
/// Which pairs there are is set from outside, and changes from iterate to iterate; so do the obstacles' places.
class BarrierEnergy final : public Energy {
 public:
  explicit BarrierEnergy(std::shared_ptr<const ContactModel> model);

  void set_pairs(std::vector<ContactPair> pairs);
  void set_obstacles(const ObstacleState& obstacles) { obstacles_ = obstacles; }
  void set_stiffness(double kappa) { kappa_ = kappa; }

  const std::vector<ContactPair>& pairs() const { return pairs_; }
  const ObstacleState& obstacles() const { return obstacles_; }
  double stiffness() const { return kappa_; }
  /// What the barrier b(d^2) of a pair (contact/barrier.hpp) is multiplied by, J/m^4: its stiffness, area and
  /// mollifier.
  double factor(const ContactPair& pair, const PlacedPair& placed) const;
  /// The part of a pair's gradient that comes from its mollifier (N), and a bound on its derivative (N/m).
  struct Twist {
    Vec12 gradient;
    double stiffness;
  };
  /// None where edges are not nearly parallel.
  std::optional<Twist> twist(const ContactPair& pair, const PlacedPair& placed) const;
  /// How hard the primitives of a pair press on each other along its normal, N.
  double normal_force(const ContactPair& pair, const PlacedPair& placed) const;

  /// Appends the pairs as springs along their normals.
  void append_springs(const VecX& x, std::vector<ContactSpring>& springs) const;

  /// Adds to g the Hessian's product with the obstacles' way to `there`: by how much the gradient changes on it, to
  /// first order.
  void add_coupling(const Pose& pose, Projection projection, const ObstacleState& there, VecX& g) const;

  std::string_view name() const override { return "contact"; }
  const Stencils& stencils() const override { return stencils_; }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;
  std::int64_t revision() const override { return revision_; }

 private:
  double scale(const ContactPair& pair) const;
  Mat12 hessian(const ContactPair& pair, const VecX& x, bool project) const;

  std::shared_ptr<const ContactModel> model_;
  double kappa_ = 1;
  std::vector<ContactPair> pairs_;
  ObstacleState obstacles_;
  Stencils stencils_;
  std::int64_t revision_ = 0;
};

}  // namespace pliant
