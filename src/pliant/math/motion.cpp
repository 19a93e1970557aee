#include "pliant/math/motion.hpp"

#include <Eigen/Geometry>

namespace pliant {

Vec3 RigidPose::from_rest(const Vec3& X) const { return centre + rotation * (X - centre) + translation; }

Vec3 RigidPose::to_rest(const Vec3& x) const { return centre + rotation.transpose() * (x - translation - centre); }

Vec3 Motion::position(std::size_t k, const Vec3& rest, double time) const {
  return pose(time).from_rest(field.empty() ? rest : Vec3(rest + field_scale.at(time, 0.0) * field[k]));
}

RigidPose Motion::pose(double time) const {
  RigidPose pose;
  pose.centre = centre;
  if (!angle.keys.empty()) pose.rotation = Eigen::AngleAxisd(angle.at(time, 0.0), axis).toRotationMatrix();
  pose.translation = translation.at(time, Vec3::Zero());
  return pose;
}

}  // namespace pliant
