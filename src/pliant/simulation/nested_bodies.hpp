#pragma once

#include "pliant/sim/model.hpp"

namespace pliant {

/// Throws InputError where a body begins inside another solid one that it may touch: their surfaces are apart, so that
/// contact has nothing against it, and would keep it there.
void check_nested(const Model& model);

}  // namespace pliant
