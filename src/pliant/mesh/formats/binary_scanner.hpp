#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

enum class ByteOrder { little, big };
inline constexpr ByteOrder native_order =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

/// The types numbers have in binary files.
enum class Scalar { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };
std::size_t size_of(Scalar type);
bool is_integer(Scalar type);

/// Walks through the bytes of a binary file and turns whatever is wrong into an InputError "file: byte N: ...". `bytes`
/// must outlive it. Positions count from the beginning of `bytes`.
class BinaryScanner {
 public:
  BinaryScanner(std::string_view bytes, std::string file, ByteOrder order, std::size_t position = 0);

  /// Throws InputError "file: byte N: message", where N is where the last value began.
  [[noreturn]] void fail(const std::string& message) const;

  const std::string& file() const { return file_; }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  ByteOrder order() const { return order_; }
  /// Goes to a position; `what` names it when it is outside the file.
  void seek(std::uint64_t position, const char* what);

  /// The next bytes; `what` names them in messages.
  std::string_view take(std::size_t count, const char* what);

  template <class T>
  T value(const char* what) {
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), take(sizeof(T), what).data(), sizeof(T));
    return decode<T>(raw.data());
  }
  /// A number of the type, which must be finite.
  double real(Scalar type, const char* what);
  /// An integer of the type; of a floating-point type only if it is whole.
  std::int64_t integer(Scalar type, const char* what, std::int64_t lowest = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t highest = std::numeric_limits<std::int64_t>::max());

  /// Refuses a count of records of at least `bytes` bytes each that the rest of the file cannot hold, so that a corrupt
  /// count cannot ask for more memory than a small multiple of the file's size.
  Index checked_count(std::uint64_t value, std::size_t bytes, const char* what);

 private:
  template <class T>
  T decode(const char* raw) const {
    std::array<char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), raw, sizeof(T));
    if (order_ != native_order) {
      for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
    }
    return std::bit_cast<T>(bytes);
  }

  std::string_view bytes_;
  std::string file_;
  ByteOrder order_;
  std::size_t position_;
  std::size_t last_ = 0;
};

}  // namespace pliant
