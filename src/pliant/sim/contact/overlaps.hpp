#pragma once

#include <span>
#include <string>

#include "pliant/contact/broad_phase.hpp"
#include "pliant/energies/contact_pair.hpp"

namespace pliant {

/// What overlaps, for people: which bodies, where, and by how much. `found` and `crossings` are what ContactSearch
/// found; `positions` are those of nodes and obstacles.
std::string describe_overlaps(const ContactModel& model, const ObstacleState& obstacles,
                              std::span<const CandidatePair> found, std::span<const CandidatePair> crossings,
                              const VecX& positions);

}  // namespace pliant
