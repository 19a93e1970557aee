#pragma once

#include "pliant/scene/keys.hpp"

namespace pliant {

/// The part of the table in keys.cpp on what holds bodies to each other and to the world.
const Section& attachment_section();
const Section& spring_section();
const Section& joint_section();

}  // namespace pliant
