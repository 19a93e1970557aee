#pragma once

#include <string>
#include <vector>

#include "pliant/math/motion.hpp"

namespace pliant {

/// What a joint lets a link do against its parent.
enum class JointKind {
  fixed,  ///< nothing
  hinge,  ///< turn about an axis: 1 degree of freedom
  ball,   ///< turn about a point: 3
  free,   ///< move: 6; only against the world
};

/// A rigid body and the joint that holds it.
struct Link {
  std::string name;
  Index parent = -1;  ///< an earlier link, or -1: the world
  JointKind joint = JointKind::free;
  Vec3 pivot = Vec3::Zero();  ///< where the joint is at rest, m
  Vec3 axis = Vec3::UnitZ();  ///< of a hinge at rest, unit
  std::vector<Index> nodes;   ///< what moves with it: its own points and attached nodes of bodies
};

/// Chains of links in reduced coordinates: a velocity for each degree of freedom of the joints. The state of a chain is
/// that of its nodes, in x and v as for everything else: from them the joints' coordinates are read when a step begins,
/// and nodes are put back exactly where these have them when it ends, so joints neither drift nor need memory.
///
/// Rotations of balls and free links are about the world's axes.
class Articulation {
 public:
  /// Throws InputError for links that come before their parents, nodes that belong to two links, free joints that are
  /// not against the world, and links whose nodes lie on a line, of which no rotation can be read.
  Articulation(std::vector<Link> links, const VecX& rest);

  const std::vector<Link>& links() const { return links_; }
  Index degrees() const { return degrees_; }
  /// The first degree of freedom of each link's joint.
  Index first_degree(std::size_t link) const { return first_[link]; }
  /// Per node: the link it moves with, or -1.
  const std::vector<Index>& link_of() const { return link_of_; }

  using Poses = std::vector<RigidPose>;
  /// The poses of all links, from the positions of their nodes; what joints forbid is left out.
  Poses poses(const VecX& x) const;
  /// Where they are after h seconds with the joint velocities `z`.
  Poses advance(const Poses& poses, const VecX& z, double h) const;
  /// Puts the nodes of all links where they belong.
  void place(const Poses& poses, VecX& x) const;
  /// Velocities of all nodes for each joint velocity being one: 3 n x degrees, zero for nodes of no link.
  void columns(const Poses& poses, const VecX& x, Eigen::MatrixXd& B) const;
  /// Accelerations of the nodes when they move with v and the joints do not accelerate (centripetal, Coriolis).
  void bias(const Poses& poses, const VecX& x, const VecX& v, VecX& a) const;

 private:
  Vec3 pivot(const Poses& poses, std::size_t link) const;
  Vec3 axis(const Poses& poses, std::size_t link) const;

  std::vector<Link> links_;
  VecX rest_;
  std::vector<Index> link_of_, first_;
  Index degrees_ = 0;
};

}  // namespace pliant
