#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "pliant/energies/tie_energy.hpp"

namespace pliant {

struct Body;

/// What a joint leaves free: nothing, a turn about its axis, all turns, a way along its axis.
enum class RigidJoint { fixed, hinge, ball, slider };

/// Holds a rigid body to another body, or to the world, for ModelBuilder (docs/rigid.md). Places and directions are
/// those of the bodies at rest.
struct JointOptions {
  std::string name = "joint";
  RigidJoint kind = RigidJoint::ball;
  std::size_t body = 0;                         ///< a rigid one
  std::optional<std::size_t> to_body;           ///< none: the world
  Vec3 place = Vec3::Zero();                    ///< m
  Vec3 axis = Vec3::UnitZ();                    ///< of a hinge or slider
  double stiffness = 0;                         ///< of each of its ties, N/m; zero: chosen from the bodies
  std::optional<std::array<double, 2>> limits;  ///< of a hinge (rad) or slider (m), from where it is at rest
  Keyframes<double> motor;                      ///< where a hinge (rad) or slider (m) is to be over time; empty: none
  double motor_stiffness = 0;                   ///< of the tie that takes it there, N/m; zero: as the others
};

/// Its ties: of places that it has in common with the other body. Throws InputError.
std::vector<Tie> make_joint(const JointOptions& options, const std::vector<Body>& bodies);

}  // namespace pliant
