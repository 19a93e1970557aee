#pragma once

#include <string>

#include "pliant/sim/model.hpp"

namespace pliant {

/// The dynamic nodes of conjac as a scene names them: besides what the solver knows itself, any selection text, such as
/// "x > 0.1 and y < 0", of all bodies. Returns node numbers separated by commas. Throws InputError.
std::string resolve_dynamic_nodes(const std::string& text, const Model& model);

}  // namespace pliant
