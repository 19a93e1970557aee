#pragma once

#include <string>
#include <vector>

#include "pliant/settings/value.hpp"

namespace pliant {

/// Applies "path=value" changes to an unchecked scene tree. Steps of a path are keys, and for lists numbers (from 0) or
/// names. A key that excludes others (dt and fps) replaces them. Throws InputError whose origin is "--set path".
void apply_overrides(Value& scene, const std::vector<std::string>& overrides);

}  // namespace pliant
