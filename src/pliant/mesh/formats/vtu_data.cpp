#include "pliant/mesh/formats/vtu_data.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <vector>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

/// Bytes taken one stretch after another, from raw bytes or from base64. Some programs encode header and data in one
/// stretch, others each in its own with padding in between; both read the same here, because each group of four
/// characters is decoded on its own.
class ByteStream {
 public:
  ByteStream(std::string_view stored, bool base64, const std::string& what)
      : stored_(stored), base64_(base64), what_(what) {}

  [[noreturn]] void fail(const std::string& message) const { throw InputError(what_ + ": " + message); }

  /// How many bytes there can be at most.
  std::size_t room() const {
    const std::size_t rest = stored_.size() - position_;
    return base64_ ? rest / 4 * 3 + 3 + left_.size() : rest;
  }

  std::string take(std::size_t count) {
    if (count > room()) {
      fail(fmt::format("{} bytes should follow, but the file holds {} at most; it may be truncated.", count, room()));
    }
    if (!base64_) {
      position_ += count;
      return std::string(stored_.substr(position_ - count, count));
    }
    std::string result = std::move(left_);
    left_.clear();
    result.reserve(count + 3);
    while (result.size() < count) decode_four(result);
    left_ = result.substr(count);
    result.resize(count);
    return result;
  }

 private:
  void decode_four(std::string& to) {
    std::array<int, 4> values{};
    std::size_t count = 0;
    std::size_t padding = 0;
    while (count < 4) {
      if (position_ >= stored_.size()) fail("its base64 text ends too soon; the file may be truncated.");
      const char c = stored_[position_++];
      if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
      if (c == '=') {
        ++padding;
        values[count++] = 0;
        continue;
      }
      const int value = base64_value(c);
      if (value < 0 || padding > 0) fail("its text is not base64.");
      values[count++] = value;
    }
    if (padding > 2) fail("its text is not base64.");
    const auto bits = static_cast<unsigned>(values[0] << 18 | values[1] << 12 | values[2] << 6 | values[3]);
    const std::array<char, 3> bytes = {static_cast<char>(bits >> 16U), static_cast<char>(bits >> 8U),
                                       static_cast<char>(bits)};
    to.append(bytes.data(), 3 - padding);
  }

  std::string_view stored_;
  bool base64_;
  const std::string& what_;
  std::size_t position_ = 0;
  std::string left_;  ///< decoded, but not yet taken
};

std::vector<std::uint64_t> header(ByteStream& in, std::size_t count, const VtuEncoding& encoding,
                                  const std::string& what) {
  const std::string bytes = in.take(count * size_of(encoding.header));
  BinaryScanner reader(bytes, what, encoding.order);
  std::vector<std::uint64_t> values(count);
  for (std::uint64_t& value : values) {
    value = static_cast<std::uint64_t>(reader.integer(encoding.header, "a size in its header"));
  }
  return values;
}

}  // namespace

std::string decode_vtu_data(std::string_view stored, bool base64, const VtuEncoding& encoding, const std::string& what,
                            std::size_t most) {
  ByteStream in(stored, base64, what);
  const auto check_size = [&](std::uint64_t size) {
    if (size > most) in.fail(fmt::format("it claims {} bytes, far more than a file of this size holds.", size));
  };
  if (!encoding.compressed) {
    const std::uint64_t size = header(in, 1, encoding, what)[0];
    check_size(size);
    return in.take(static_cast<std::size_t>(size));
  }
  const std::vector<std::uint64_t> sizes = header(in, 3, encoding, what);
  const std::uint64_t blocks = sizes[0];
  if (blocks == 0) return {};
  if (blocks > in.room() / size_of(encoding.header))
    in.fail(fmt::format("{} blocks, more than the file holds.", blocks));
  const std::vector<std::uint64_t> stored_sizes = header(in, static_cast<std::size_t>(blocks), encoding, what);
  std::string result;
  for (std::uint64_t b = 0; b < blocks; ++b) {
    const std::uint64_t size = b + 1 == blocks && sizes[2] != 0 ? sizes[2] : sizes[1];
    const std::uint64_t stored_size = stored_sizes[static_cast<std::size_t>(b)];
    // No byte of a zlib stream makes more than 1032.
    if (stored_size > in.room() || size > 1032 * stored_size + 64) {
      in.fail(fmt::format("its block {} of {} bytes claims to hold {}.", b, stored_size, size));
    }
    check_size(result.size() + size);
    const std::string block = in.take(static_cast<std::size_t>(stored_size));
    const std::size_t begin = result.size();
    result.resize(begin + static_cast<std::size_t>(size));
    auto length = static_cast<uLongf>(size);
    const int status = uncompress(reinterpret_cast<Bytef*>(result.data() + begin), &length,
                                  reinterpret_cast<const Bytef*>(block.data()), static_cast<uLong>(block.size()));
    if (status != Z_OK || length != size) in.fail(fmt::format("its block {} cannot be decompressed.", b));
  }
  return result;
}

}  // namespace pliant
