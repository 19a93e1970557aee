#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace pliant {

/// The finite number that the whole text is, with a decimal point whatever the locale: std::stod and streams take a
/// comma where the program that we are part of has asked for one.
inline std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace pliant
