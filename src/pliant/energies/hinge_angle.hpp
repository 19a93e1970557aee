#pragma once

#include <array>

#include "pliant/math/types.hpp"

namespace pliant {

/// The angle between two triangles x0 x1 x2 and x1 x0 x3 that share the edge x0 x1: zero where they are one plane,
/// positive where their normals lean apart from each other. With derivatives by the four corners.
struct HingeAngle {
  double theta = 0;
  Eigen::Matrix<double, 12, 1> gradient;
};
double hinge_angle(const std::array<Vec3, 4>& x);
HingeAngle hinge_gradient(const std::array<Vec3, 4>& x);
/// Returns the Hessian, and the rest in `angle`.
Eigen::Matrix<double, 12, 12> hinge_hessian(const std::array<Vec3, 4>& x, HingeAngle& angle);

}  // namespace pliant
