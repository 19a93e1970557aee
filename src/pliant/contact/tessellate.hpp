#pragma once

#include "pliant/contact/collider.hpp"
#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

/// A collider's surface as triangles, at rest. Round ones are inscribed, with `segments` around: the largest distance
/// to the true surface is radius (1 - cos(pi/segments)), 0.12% at 64. Not for planes, which have no end. The block
/// around a bowl reaches to three times its radius.
TriangleMesh tessellate(const Shape& shape, int segments = 64);

}  // namespace pliant
