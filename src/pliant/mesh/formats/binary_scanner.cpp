#include "pliant/mesh/formats/binary_scanner.hpp"

#include <fmt/format.h>

#include <cmath>

#include "pliant/base/error.hpp"

namespace pliant {

std::size_t size_of(Scalar type) {
  switch (type) {
    case Scalar::int8:
    case Scalar::uint8:
      return 1;
    case Scalar::int16:
    case Scalar::uint16:
      return 2;
    case Scalar::int32:
    case Scalar::uint32:
    case Scalar::float32:
      return 4;
    case Scalar::int64:
    case Scalar::uint64:
    case Scalar::float64:
      break;
  }
  return 8;
}

bool is_integer(Scalar type) { return type != Scalar::float32 && type != Scalar::float64; }

BinaryScanner::BinaryScanner(std::string_view bytes, std::string file, ByteOrder order, std::size_t position)
    : bytes_(bytes), file_(std::move(file)), order_(order), position_(position), last_(position) {}

void BinaryScanner::fail(const std::string& message) const {
  throw InputError(fmt::format("{}: byte {}: {}", file_, last_, message));
}

void BinaryScanner::seek(std::uint64_t position, const char* what) {
  last_ = position_;
  if (position > bytes_.size()) {
    fail(fmt::format("{} should begin at byte {}, but the file has {}; it may be truncated.", what, position,
                     bytes_.size()));
  }
  position_ = last_ = static_cast<std::size_t>(position);
}

std::string_view BinaryScanner::take(std::size_t count, const char* what) {
  last_ = position_;
  if (count > remaining()) {
    fail(fmt::format("the file ends where {} should follow ({} of {} bytes are left); it may be truncated.", what,
                     remaining(), count));
  }
  position_ += count;
  return bytes_.substr(last_, count);
}

double BinaryScanner::real(Scalar type, const char* what) {
  double result = 0;
  if (type == Scalar::float64) {
    result = value<double>(what);
  } else if (type == Scalar::float32) {
    result = static_cast<double>(value<float>(what));
  } else {
    result = static_cast<double>(integer(type, what));
  }
  if (!std::isfinite(result)) fail(fmt::format("{} is {}; every number must be finite.", what, result));
  return result;
}

std::int64_t BinaryScanner::integer(Scalar type, const char* what, std::int64_t lowest, std::int64_t highest) {
  std::int64_t result = 0;
  switch (type) {
    case Scalar::int8:
      result = value<std::int8_t>(what);
      break;
    case Scalar::uint8:
      result = value<std::uint8_t>(what);
      break;
    case Scalar::int16:
      result = value<std::int16_t>(what);
      break;
    case Scalar::uint16:
      result = value<std::uint16_t>(what);
      break;
    case Scalar::int32:
      result = value<std::int32_t>(what);
      break;
    case Scalar::uint32:
      result = value<std::uint32_t>(what);
      break;
    case Scalar::int64:
      result = value<std::int64_t>(what);
      break;
    case Scalar::uint64: {
      const auto wide = value<std::uint64_t>(what);
      if (wide > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        fail(fmt::format("{} is {}, which is out of range.", what, wide));
      }
      result = static_cast<std::int64_t>(wide);
      break;
    }
    case Scalar::float32:
    case Scalar::float64: {
      const double number = real(type, what);
      constexpr double exact = 9007199254740992.0;  // 2^53
      if (number != std::floor(number) || std::abs(number) > exact) {
        fail(fmt::format("{} is {}; it must be an integer.", what, number));
      }
      result = static_cast<std::int64_t>(number);
      break;
    }
  }
  if (result < lowest || result > highest) {
    fail(fmt::format("{} is {}, outside {} to {}.", what, result, lowest, highest));
  }
  return result;
}

Index BinaryScanner::checked_count(std::uint64_t value, std::size_t bytes, const char* what) {
  const std::uint64_t room = remaining() / bytes;
  if (value > room || value > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) {
    fail(
        fmt::format("{} is {}, but the rest of the file can hold {} at most; it may be truncated.", what, value, room));
  }
  return static_cast<Index>(value);
}

}  // namespace pliant
