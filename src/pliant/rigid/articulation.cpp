#include "pliant/rigid/articulation.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>

#include "pliant/base/error.hpp"
#include "pliant/math/decompositions.hpp"

namespace pliant {

namespace {

constexpr int kDegrees[] = {0, 1, 3, 6};

Mat3 turn(const Vec3& rotation) {
  const double angle = rotation.norm();
  return angle > 0 ? Eigen::AngleAxisd(angle, rotation / angle).toRotationMatrix() : Mat3(Mat3::Identity());
}

/// The rotation nearest to the map from rest to x of the nodes (Kabsch), and where it takes the mean.
struct Fit {
  Mat3 rotation;
  Vec3 rest_mean = Vec3::Zero(), mean = Vec3::Zero();
};

Fit fit(const std::vector<Index>& nodes, const VecX& rest, const VecX& x) {
  Fit result;
  const double share = 1.0 / static_cast<double>(nodes.size());
  for (Index i : nodes) {
    result.rest_mean += share * node(rest, i);
    result.mean += share * node(x, i);
  }
  Mat3 A = Mat3::Zero();
  for (Index i : nodes) A += (node(x, i) - result.mean) * (node(rest, i) - result.rest_mean).transpose();
  result.rotation = nearest_rotation(A);
  return result;
}

/// Angular velocity of nodes that move as one.
Vec3 angular_velocity(const std::vector<Index>& nodes, const VecX& x, const VecX& v) {
  Vec3 mean = Vec3::Zero(), velocity = Vec3::Zero();
  const double share = 1.0 / static_cast<double>(nodes.size());
  for (Index i : nodes) {
    mean += share * node(x, i);
    velocity += share * node(v, i);
  }
  Mat3 A = Mat3::Zero();
  Vec3 b = Vec3::Zero();
  for (Index i : nodes) {
    const Vec3 r = node(x, i) - mean, w = node(v, i) - velocity;
    A += r.squaredNorm() * Mat3::Identity() - r * r.transpose();
    b += r.cross(w);
  }
  return A.inverse() * b;
}

}  // namespace

Articulation::Articulation(std::vector<Link> links, const VecX& rest)
    : links_(std::move(links)), rest_(rest), link_of_(static_cast<std::size_t>(rest.size() / 3), -1) {
  for (std::size_t l = 0; l < links_.size(); ++l) {
    Link& link = links_[l];
    const auto fail = [&](const std::string& what) { throw InputError(fmt::format("link '{}': {}", link.name, what)); };
    if (link.parent >= static_cast<Index>(l)) fail("its parent must come before it");
    if (link.joint == JointKind::free && link.parent >= 0)
      fail("only a link without a parent can be free; use a ball or a hinge");
    if (!link.pivot.allFinite() || !link.axis.allFinite() || !(link.axis.norm() > 0))
      fail("its joint needs a finite pivot and an axis that is not zero");
    link.axis.normalize();
    Vec3 mean = Vec3::Zero();
    for (Index i : link.nodes) {
      if (link_of_[at(i)] >= 0)
        fail(fmt::format("node {} is attached to link '{}' already", i, links_[at(link_of_[at(i)])].name));
      link_of_[at(i)] = static_cast<Index>(l);
      mean += node(rest_, i) / static_cast<double>(link.nodes.size());
    }
    Mat3 spread = Mat3::Zero();
    for (Index i : link.nodes) spread += (node(rest_, i) - mean) * (node(rest_, i) - mean).transpose();
    const Vec3 extent = symmetric_eigenvalues<3>(spread);
    if (link.nodes.size() < 3 || !(extent[1] > 1e-12 * extent[2]))
      fail("its nodes lie on a line, so that its rotation cannot be determined; give it some thickness");
    first_.push_back(degrees_);
    degrees_ += kDegrees[static_cast<int>(link.joint)];
  }
}

Vec3 Articulation::pivot(const Poses& poses, std::size_t link) const {
  const Link& l = links_[link];
  if (l.joint == JointKind::free) return l.pivot + poses[link].translation;
  return l.parent < 0 ? l.pivot : poses[at(l.parent)].from_rest(l.pivot);
}

Vec3 Articulation::axis(const Poses& poses, std::size_t link) const {
  const Link& l = links_[link];
  return l.parent < 0 ? l.axis : Vec3(poses[at(l.parent)].rotation * l.axis);
}

Articulation::Poses Articulation::poses(const VecX& x) const {
  Poses poses(links_.size());
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const Link& link = links_[l];
    const Mat3 parent = link.parent < 0 ? Mat3(Mat3::Identity()) : poses[at(link.parent)].rotation;
    RigidPose& pose = poses[l];
    pose.centre = link.pivot;
    pose.rotation = parent;
    const Fit found = fit(link.nodes, rest_, x);
    if (link.joint == JointKind::ball || link.joint == JointKind::free) pose.rotation = found.rotation;
    if (link.joint == JointKind::hinge) {
      // The angle of the relative rotation about the axis, from what it does across the axis.
      const Mat3 relative = parent.transpose() * found.rotation;
      const Vec3 across = link.axis.unitOrthogonal(), other = link.axis.cross(across);
      const Vec3 turned = relative * across, turned_other = relative * other;
      const double angle =
          std::atan2(turned.dot(other) - turned_other.dot(across), turned.dot(across) + turned_other.dot(other));
      pose.rotation = parent * turn(angle * link.axis);
    }
    const Vec3 where = link.joint == JointKind::free
                           ? Vec3(found.mean + found.rotation * (link.pivot - found.rest_mean))
                           : pivot(poses, l);
    pose.translation = where - link.pivot;
  }
  return poses;
}

Articulation::Poses Articulation::advance(const Poses& poses, const VecX& z, double h) const {
  Poses next(links_.size());
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const Link& link = links_[l];
    const Eigen::Index d = first_[l];
    // How the parent has turned carries the link along; its joint turns it on top of that.
    const Mat3 carried = link.parent < 0
                             ? Mat3(Mat3::Identity())
                             : Mat3(next[at(link.parent)].rotation * poses[at(link.parent)].rotation.transpose());
    Mat3 own = Mat3::Identity();
    if (link.joint == JointKind::hinge) own = turn(h * z[d] * axis(poses, l));
    if (link.joint == JointKind::ball) own = turn(h * z.segment<3>(d));
    if (link.joint == JointKind::free) own = turn(h * z.segment<3>(d + 3));
    next[l].centre = link.pivot;
    next[l].rotation = carried * own * poses[l].rotation;
    if (link.joint == JointKind::free)
      next[l].translation = poses[l].translation + h * z.segment<3>(d);
    else
      next[l].translation = pivot(next, l) - link.pivot;
  }
  return next;
}

void Articulation::place(const Poses& poses, VecX& x) const {
  for (std::size_t l = 0; l < links_.size(); ++l)
    for (Index i : links_[l].nodes) node(x, i) = poses[l].from_rest(node(rest_, i));
}

void Articulation::columns(const Poses& poses, const VecX& x, Eigen::MatrixXd& B) const {
  B.setZero(x.size(), degrees_);
  for (std::size_t l = 0; l < links_.size(); ++l)
    for (std::size_t a = l;; a = at(links_[a].parent)) {  // the joints between the link and the world
      const Vec3 c = pivot(poses, a), hinge = axis(poses, a);
      const Eigen::Index d = first_[a];
      for (Index i : links_[l].nodes) {
        const Vec3 r = node(x, i) - c;
        const Eigen::Index row = 3 * Eigen::Index(i);
        switch (links_[a].joint) {
          case JointKind::fixed:
            break;
          case JointKind::hinge:
            B.col(d).segment<3>(row) = hinge.cross(r);
            break;
          case JointKind::ball:
            for (int k = 0; k < 3; ++k) B.col(d + k).segment<3>(row) = Vec3::Unit(k).cross(r);
            break;
          case JointKind::free:
            for (int k = 0; k < 3; ++k) {
              B.col(d + k).segment<3>(row) = Vec3::Unit(k);
              B.col(d + 3 + k).segment<3>(row) = Vec3::Unit(k).cross(r);
            }
            break;
        }
      }
      if (links_[a].parent < 0) break;
    }
}

void Articulation::bias(const Poses& poses, const VecX& x, const VecX& v, VecX& a) const {
  a.setZero(x.size());
  struct Twist {
    Vec3 pivot, omega, alpha, acceleration;  ///< of the point of the link at its pivot
  };
  std::vector<Twist> motion(links_.size());
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const Link& link = links_[l];
    Twist& m = motion[l];
    m = {pivot(poses, l), angular_velocity(link.nodes, x, v), Vec3::Zero(), Vec3::Zero()};
    if (link.parent >= 0) {
      const Twist& p = motion[at(link.parent)];
      const Vec3 r = m.pivot - p.pivot;
      m.acceleration = p.acceleration + p.alpha.cross(r) + p.omega.cross(p.omega.cross(r));
      // A hinge's axis turns with the parent; the axes of balls are the world's.
      m.alpha = p.alpha;
      if (link.joint == JointKind::hinge) m.alpha += p.omega.cross(m.omega - p.omega);
    }
    for (Index i : link.nodes) {
      const Vec3 r = node(x, i) - m.pivot;
      node(a, i) = m.acceleration + m.alpha.cross(r) + m.omega.cross(m.omega.cross(r));
    }
  }
}

}  // namespace pliant
