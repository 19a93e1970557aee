#pragma once

#include "pliant/math/types.hpp"

namespace pliant {

// Signs of determinants, exact for all doubles short of overflow and underflow: first in floating point with an error
// bound, and where that cannot tell, with expansions (Shewchuk 1997).

using Vec2 = Eigen::Vector2d;

/// The sign of det [b-a, c-a]: 1 where a, b, c turn left, 0 where they are collinear.
int orientation(const Vec2& a, const Vec2& b, const Vec2& c);
/// The sign of det [b-a, c-a, d-a]: 0 where the four are coplanar.
int orientation(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

}  // namespace pliant
