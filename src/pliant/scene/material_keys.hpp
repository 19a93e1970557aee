#pragma once

#include "pliant/scene/keys.hpp"

namespace pliant {

/// The part of the table in keys.cpp on what bodies are made of.

/// Stiffness of a solid, of a body or a region; the alternatives are `stiffness_alternatives`.
std::vector<Setting> stiffness_keys();
Alternatives stiffness_alternatives();

/// Keys of [[body]] beyond these: curves, fibres, damping, springs, parameters from the mesh file.
std::vector<Setting> material_keys();

Setting cloth_key();
const Section& rod_section(const Section& rotate);
const Section& muscle_section();

}  // namespace pliant
