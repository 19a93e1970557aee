#pragma once

#include <span>
#include <vector>

#include "pliant/sim/step_problem.hpp"

namespace pliant {

/// How free parts turn over a step: along the tangent of their motion, as the papers have it, or as rigid bodies do.
enum class Turning { exact, linear };

/// The connected parts of a model's mesh, and the rigid motion of those that nothing holds.
///
/// What forces do to a free part as a whole needs no matrix, only its mass and its inertia. A matrix that is stale in
/// places answers a force with a wrong motion of the whole as well, which one sees first; and one that is linearised at
/// the start of a step takes a turn for a stretch.
class FreeParts {
 public:
  explicit FreeParts(const Model& model);

  /// Parts with a prescribed, penalised or grabbed node, or one on a spring to the world, are not free; nor are those
  /// of several bodies that are not damped alike.
  void set_boundary(const StepProblem& problem);
  /// Nor is the part of this node.
  void hold(Index node) { held_[at(part_[at(node)])] = 1; }
  void hold_all() { held_.assign(held_.size(), 1); }
  bool none() const;
  /// Adds to the velocities of free parts the rigid motion that the impulses (N s) on their nodes at x cause; damping
  /// by mass counts as implicit over a step h.
  void push(const VecX& impulse, const VecX& x, double h, VecX& v) const;
  /// Turns and moves free parts on for the time h by the rigid motion that their nodes' momenta (N s) amount to. Others
  /// stay. y: where nodes are then; u: how fast that motion is there, zero for others; a: its centripetal acceleration.
  void advance(const VecX& momentum, const VecX& x, double h, VecX& y, VecX& u, VecX& a) const;
  /// The frames that turn with free parts over a step: by `turn` about `centre`, which moves at `velocity`.
  struct Frames {
    std::vector<Vec3> centre, velocity, omega;
    std::vector<Mat3> turn;
  };
  /// Those of the rigid motion that the nodes' momenta (N s) at x amount to, over the time h.
  Frames frames(const VecX& momentum, const VecX& x, double h) const;
  /// Velocities at the end of the step, seen from the frames at its start.
  void turn_back(const Frames& frames, VecX& v) const;
  /// The way back: y, where velocities v seen from the frames lead from x, x + h v for parts that are held; and v as
  /// they are.
  void turn_on(const Frames& frames, const VecX& x, double h, VecX& v, VecX& y) const;
  /// Adds to the velocities v of free parts at y the rigid motion that they lack to the momentum and the angular
  /// momentum that nodes with these momenta (N s) had at x.
  void keep_momentum(const VecX& momentum, const VecX& x, double h, const VecX& y, VecX& v) const;

 private:
  struct RigidMotion {
    Vec3 centre = Vec3::Zero(), momentum = Vec3::Zero(), spin = Vec3::Zero();
    Mat3 inertia = Mat3::Zero();
    Vec3 velocity = Vec3::Zero(), omega = Vec3::Zero();
  };
  std::vector<RigidMotion> motions(const VecX& momentum, const VecX& x, double h) const;
  VecX momentum_of(const VecX& v) const;

  const Model& model_;
  std::vector<Index> part_;  ///< of each node
  std::vector<double> mass_, alpha_;
  std::vector<Index> mixed_;  ///< parts of bodies with different damping by mass
  std::vector<std::uint8_t> held_;
};

/// Draws the velocities of a group of nodes towards their best rigid motion, which has the same momentum and angular
/// momentum: v += share (v_rigid - v). Prescribed unknowns stay.
void damp_towards_rigid(const Model& model, std::span<const Index> nodes, std::span<const std::uint8_t> fixed,
                        const VecX& x, double share, VecX& v);

}  // namespace pliant
