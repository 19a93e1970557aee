#pragma once

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "pliant/mesh/formats/binary_scanner.hpp"

namespace pliant {

/// Appends formatted text. A double printed by "{}" has as many digits as it takes to be read back bit for bit.
template <class... Arguments>
void append(std::string& to, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(to), format, std::forward<Arguments>(arguments)...);
}

/// Appends the bytes of a number.
template <class T>
void append_bytes(std::string& to, T value, ByteOrder order = native_order) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  if (order != native_order) {
    for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
  }
  to.append(bytes.data(), bytes.size());
}

}  // namespace pliant
