#pragma once

#include "pliant/math/types.hpp"

namespace pliant {

/// Orthonormal axes of a camera.
struct CameraFrame {
  Vec3 forward;
  Vec3 right;
  Vec3 up;
};

CameraFrame camera_frame(const Vec3& view, const Vec3& up);

}  // namespace pliant
