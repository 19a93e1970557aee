#pragma once

#include <Eigen/Geometry>

#include "pliant/math/types.hpp"

namespace pliant {

/// The least turn that takes the direction of `from` to that of `to`; half a turn where they are opposite, within
/// a millionth of a radian. In place of Eigen's FromTwoVectors, which compiles a singular value decomposition for that
/// one case, in as long as a dozen files take.
Eigen::Quaterniond turn_between(const Vec3& from, const Vec3& to);

}  // namespace pliant
