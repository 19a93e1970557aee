#pragma once

#include <stdexcept>
#include <string>

namespace pliant {

/// Bad input. The message names the file, the line or key, and the remedy; the command line prints it and exits with 2.
/// Messages quote what was given, which may be of any length; beyond what a person would read, the middle is left out.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& message) : std::runtime_error(shortened(message, 6000)) {}

  /// `text` with its middle left out where it is longer than `most` bytes. UTF-8 stays UTF-8.
  static std::string shortened(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    std::size_t begin = most / 2, end = text.size() - most / 2;
    const auto is_inside = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U; };
    while (begin > 0 && is_inside(begin)) --begin;
    while (end < text.size() && is_inside(end)) ++end;
    return text.substr(0, begin) + " [...] " + text.substr(end);
  }
};

}  // namespace pliant
