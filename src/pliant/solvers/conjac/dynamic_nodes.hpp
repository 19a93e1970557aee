#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pliant/sim/model.hpp"

namespace pliant {

/// Which nodes conjac keeps dynamic. The paper picks them by hand and finds (section 5.1) that they must not be close
/// to each other; inside, deep under the surface, they carry the most of the body with them and are the most stable.
struct DynamicNodeOptions {
  /// Names of the meshes' vertex sets, node numbers, "all" or "none", separated by commas; empty: `count` nodes are
  /// placed.
  std::string named = {};
  int count = 8;
  std::int64_t seed = 0;  ///< another one, another placement
};

/// Ascending. Throws InputError for names that no mesh has, with the nearest, and for numbers out of range.
std::vector<Index> dynamic_nodes(const Model& model, const DynamicNodeOptions& options);

/// The nodes of all rigid bodies, ascending. They are always dynamic: among quasistatic ones they would hang in the air
/// from what they are tied to, since a soft body that carries them as a load has no inertia to give them. They carry
/// the rigid body's mass and inertia exactly, and are only four.
std::vector<Index> frame_nodes(const Model& model);

/// More nodes that must be dynamic because a connected piece of the model could otherwise move as a whole without any
/// force: for each piece, until what is held (`held`, per unknown) and what is dynamic leave it no rigid motion.
/// Ascending; empty where pins hold every piece. `dynamic` is without nodes of rigid bodies: these hold nothing but
/// themselves, since what is tied to one in a single place may still turn about it.
std::vector<Index> supporting_nodes(const Model& model, std::span<const std::uint8_t> held,
                                    std::span<const Index> dynamic);

/// For each node the number of the connected piece it belongs to, among those of which nothing is held; -1 in others.
std::vector<Index> floating_pieces(const Model& model, std::span<const std::uint8_t> held);

}  // namespace pliant
