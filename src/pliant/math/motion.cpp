#include "pliant/math/motion.hpp"

#include <Eigen/Geometry>

namespace pliant {

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
