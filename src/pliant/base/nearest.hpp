#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// The candidate with the smallest edit distance to `word`, or an empty string when none is close enough to be what was
/// meant.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace pliant
