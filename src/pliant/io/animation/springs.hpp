#pragma once

#include "pliant/io/animation/animation.hpp"

namespace pliant {

/// The springs between two places, as coils of wire that lengthen with them. For pictures: nothing else moves by them.
void add_springs(const RecordedRun& run, const std::vector<std::size_t>& frames, Animation& animation);

}  // namespace pliant
