#pragma once

#include <array>

#include "pliant/contact/broad_phase.hpp"

namespace pliant {

/// Whether a closed segment and a closed triangle have a point in common: exact, also where they are coplanar or
/// degenerate to a point or a line.
bool intersects(const Vec3& e0, const Vec3& e1, const Vec3& t0, const Vec3& t1, const Vec3& t2);

/// The pairs (edge, triangle) of a surface that intersect at x, ascending; empty for an admissible state. Independent
/// of distances and of continuous collision detection, so that it can judge them.
std::vector<CandidatePair> find_intersections(BroadPhase& broad_phase, const VecX& x);

/// The pairs of edges that cross at x, at no distance but rounding, ascending. Edges of triangles that do are among the
/// intersections; looked for where a surface has others.
std::vector<CandidatePair> find_crossings(BroadPhase& broad_phase, const VecX& x);

}  // namespace pliant
