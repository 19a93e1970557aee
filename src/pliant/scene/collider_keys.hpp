#pragma once

#include "pliant/scene/keys.hpp"

namespace pliant {

/// The part of the table in keys.cpp on contact.
const Section& contact_section();
/// The part on obstacles. `rotate` and `keyframes` are those of scripts.
const Section& collider_section(const Section& rotate, const Section& keyframes);

/// [[rigid]]; `rotate` is that of bodies.
const Section& rigid_section(const Section& rotate);

/// [[link]], whose shapes are those of colliders.
const Section& link_section();

}  // namespace pliant
