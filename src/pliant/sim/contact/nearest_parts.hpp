#pragma once

#include <vector>

#include "pliant/energies/contact_pair.hpp"

namespace pliant {

/// The parts of a pair that are nearest to each other, as a pair of their own: two points, a point and an edge, or all
/// of it. They have the pair's energy and derivatives, but not its corners that have no weight.
///
/// Where two meshes meet vertex on vertex, some fifty pairs of triangles, edges and points around a vertex have the
/// same two points nearest: one pair, with the areas of all, in place of them (Li et al. 2020, "Incremental potential
/// contact", supplement, does so too). Nearly parallel edges, whose energy is that of both edges, stay what they are.
ContactPair nearest_part(const ContactPair& pair, const Corners& x, const Closest& closest);

/// Pairs with the same parts become one, with the sum of their areas. The order depends on the pairs alone.
void merge_equal(std::vector<ContactPair>& pairs);

}  // namespace pliant
