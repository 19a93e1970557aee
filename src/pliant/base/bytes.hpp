#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "pliant/base/error.hpp"

namespace pliant {

/// Puts numbers and arrays one after the other, as the machine has them (little-endian IEEE).
class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  /// With the number of items in front.
  template <class T>
  void put_array(const T* data, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<std::uint64_t>(count));
    bytes_.append(reinterpret_cast<const char*>(data), count * sizeof(T));
  }
  void put_text(std::string_view text) { put_array(text.data(), text.size()); }
  void put_raw(std::string_view bytes) { bytes_ += bytes; }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Takes them out again; throws InputError where there are fewer bytes than there should be.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    T value;
    take(&value, sizeof value);
    return value;
  }
  /// Calls make_room(count), which returns where the items go.
  template <class T, class MakeRoom>
  void get_array(MakeRoom&& make_room) {
    const auto count = get<std::uint64_t>();
    if (count > bytes_.size() / sizeof(T)) throw InputError("is cut short");
    take(make_room(count), count * sizeof(T));
  }
  /// A view of the bytes that are read.
  std::string_view get_text() {
    const auto count = get<std::uint64_t>();
    if (count > bytes_.size()) throw InputError("is cut short");
    const std::string_view text = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return text;
  }
  void get_raw(void* to, std::size_t count) { take(to, count); }
  bool empty() const { return bytes_.empty(); }

 private:
  void take(void* to, std::size_t count) {
    if (count > bytes_.size()) throw InputError("is cut short");
    if (count > 0) std::memcpy(to, bytes_.data(), count);
    bytes_.remove_prefix(count);
  }
  std::string_view bytes_;
};

/// FNV-1a, 64 bits: fixed for ever, since files carry it. `begin`: the checksum of bytes that come before.
inline std::uint64_t checksum(std::string_view bytes, std::uint64_t begin = 14695981039346656037ULL) {
  for (char c : bytes) begin = (begin ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return begin;
}

/// `content` behind a magic word that names format and version, with a checksum over both behind it.
std::string seal(std::string_view magic, std::string_view content);
/// The content again. Throws InputError, whose text follows a name: "is not a <what> of this version of pliant" where
/// the magic word is another, "is damaged or cut short" where anything has changed.
std::string_view unseal(std::string_view magic, std::string_view bytes, std::string_view what);

}  // namespace pliant
