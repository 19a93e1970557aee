// The format is that of the GIF89a specification: a header, a block that asks to repeat for ever, and for each picture
// a graphic control block (its delay), an image descriptor with a local colour table, and the pixels in LZW codes of
// growing width.
#include "pliant/render/gif.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <vector>

namespace pliant {

namespace {

using Rgb = std::array<std::uint8_t, 3>;
constexpr std::size_t kBins = 32768;  ///< five bits of each colour
constexpr std::size_t kColours = 256;

std::size_t bin_of(const std::uint8_t* rgb) {
  return (std::size_t{rgb[0]} >> 3) << 10 | (std::size_t{rgb[1]} >> 3) << 5 | std::size_t{rgb[2]} >> 3;
}

void put_short(std::string& bytes, int value) {
  bytes.push_back(static_cast<char>(value & 255));
  bytes.push_back(static_cast<char>(value >> 8 & 255));
}

/// Colours that occur, by bins, with the sums that their mean is made of.
struct Bin {
  std::size_t index;
  std::array<double, 3> sum{};
  double count = 0;
  double mean(int channel) const { return sum[static_cast<std::size_t>(channel)] / count; }
};

struct Palette {
  std::vector<Rgb> colours;
  std::vector<std::uint8_t> of_bin;  ///< which colour stands for a bin
};

/// A run of bins whose colours become one of the palette.
struct Box {
  std::size_t begin, end;
  int widest = 0;     ///< the channel in which it is widest
  double spread = 0;  ///< its width there, weighted by how many pixels it has
};

Box measured(const std::vector<Bin>& bins, std::size_t begin, std::size_t end) {
  Box box{begin, end};
  double pixels = 0;
  for (std::size_t b = begin; b < end; ++b) pixels += bins[b].count;
  for (int channel = 0; channel < 3; ++channel) {
    double low = 255, high = 0;
    for (std::size_t b = begin; b < end; ++b) {
      low = std::min(low, bins[b].mean(channel));
      high = std::max(high, bins[b].mean(channel));
    }
    const double spread = (high - low) * std::sqrt(pixels);
    if (spread > box.spread) box.spread = spread, box.widest = channel;
  }
  return box;
}

/// Heckbert's median cut: the widest box is cut where it has half of its pixels on either side, until there are enough.
Palette palette_of(const std::vector<std::uint8_t>& rgb) {
  std::vector<Bin> all(kBins);
  for (std::size_t p = 0; p < rgb.size(); p += 3) {
    Bin& bin = all[bin_of(&rgb[p])];
    for (std::size_t c = 0; c < 3; ++c) bin.sum[c] += rgb[p + c];
    ++bin.count;
  }
  std::vector<Bin> bins;
  for (std::size_t b = 0; b < kBins; ++b)
    if (all[b].count > 0) {
      all[b].index = b;
      bins.push_back(all[b]);
    }
  std::vector<Box> boxes = {measured(bins, 0, bins.size())};
  while (boxes.size() < kColours) {
    const auto widest =
        std::max_element(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.spread < b.spread; });
    if (!(widest->spread > 0)) break;  // every colour has a box to itself
    const Box box = *widest;
    const auto at = [&](std::size_t b) { return bins.begin() + static_cast<std::ptrdiff_t>(b); };
    std::sort(at(box.begin), at(box.end), [&](const Bin& a, const Bin& b) {
      const double first = a.mean(box.widest), second = b.mean(box.widest);
      return first != second ? first < second : a.index < b.index;
    });
    double pixels = 0, passed = 0;
    for (std::size_t b = box.begin; b < box.end; ++b) pixels += bins[b].count;
    std::size_t middle = box.begin + 1;
    for (passed = bins[box.begin].count; middle + 1 < box.end && 2 * passed < pixels; ++middle)
      passed += bins[middle].count;
    *widest = measured(bins, box.begin, middle);
    boxes.push_back(measured(bins, middle, box.end));
  }
  Palette palette;
  palette.of_bin.assign(kBins, 0);
  for (const Box& box : boxes) {
    std::array<double, 3> sum{};
    double count = 0;
    for (std::size_t b = box.begin; b < box.end; ++b) {
      for (std::size_t c = 0; c < 3; ++c) sum[c] += bins[b].sum[c];
      count += bins[b].count;
      palette.of_bin[bins[b].index] = static_cast<std::uint8_t>(palette.colours.size());
    }
    Rgb colour{};
    for (std::size_t c = 0; c < 3; ++c) colour[c] = static_cast<std::uint8_t>(std::lround(sum[c] / count));
    palette.colours.push_back(colour);
  }
  palette.colours.resize(kColours);
  return palette;
}

/// Codes of eight-bit pixels, in blocks of up to 255 bytes.
class LzwWriter {
 public:
  explicit LzwWriter(std::string& bytes) : bytes_(bytes), keys_(kSlots, -1), codes_(kSlots) {
    bytes_.push_back(8);
    begin_table();
  }
  void put(std::uint8_t pixel) {
    if (prefix_ < 0) {
      prefix_ = pixel;
      return;
    }
    const std::int32_t key = prefix_ << 8 | pixel;
    std::size_t slot = static_cast<std::size_t>(key) * 2654435761U % kSlots;
    while (keys_[slot] >= 0 && keys_[slot] != key) slot = (slot + 1) % kSlots;
    if (keys_[slot] == key) {
      prefix_ = codes_[slot];
      return;
    }
    put_code(prefix_);
    prefix_ = pixel;
    if (next_ == kMostCodes) return begin_table();
    if (next_ == 1 << width_) ++width_;
    keys_[slot] = key;
    codes_[slot] = next_++;
  }
  void finish() {
    if (prefix_ >= 0) put_code(prefix_);
    // The reader has added a code for what came last, and may read the end in a wider one.
    if (next_ == 1 << width_ && width_ < 12) ++width_;
    put_code(kEnd);
    if (filled_ > 0) put_byte();
    flush();
    bytes_.push_back(0);
  }

 private:
  static constexpr int kClear = 256, kEnd = 257, kMostCodes = 4096;
  static constexpr std::size_t kSlots = 10007;

  void begin_table() {
    put_code(kClear);
    std::fill(keys_.begin(), keys_.end(), -1);
    next_ = 258;
    width_ = 9;
  }
  void put_code(int code) {
    bits_ |= static_cast<std::uint32_t>(code) << filled_;
    filled_ += width_;
    while (filled_ >= 8) put_byte();
  }
  void put_byte() {
    block_.push_back(static_cast<char>(bits_ & 255));
    bits_ >>= 8;
    filled_ = std::max(0, filled_ - 8);
    if (block_.size() == 255) flush();
  }
  void flush() {
    if (block_.empty()) return;
    bytes_.push_back(static_cast<char>(block_.size()));
    bytes_ += block_;
    block_.clear();
  }

  std::string& bytes_;
  std::string block_;
  std::vector<std::int32_t> keys_;  ///< of a code and the pixel after it; -1: free
  std::vector<std::int32_t> codes_;
  std::int32_t prefix_ = -1;  ///< the code of the pixels that were not written yet
  std::uint32_t bits_ = 0;
  int filled_ = 0, width_ = 9, next_ = 258;
};

struct Part {
  int left, top, width, height;
};

/// The smallest rectangle outside which nothing has changed; one pixel where nothing has.
Part changed_part(const Picture& now, const std::vector<std::uint8_t>& before) {
  if (before.empty()) return {0, 0, now.width, now.height};
  int left = now.width, right = -1, top = now.height, bottom = -1;
  for (int y = 0; y < now.height; ++y)
    for (int x = 0; x < now.width; ++x) {
      const std::size_t p =
          3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(now.width) + static_cast<std::size_t>(x));
      if (std::equal(now.rgb.begin() + static_cast<std::ptrdiff_t>(p),
                     now.rgb.begin() + static_cast<std::ptrdiff_t>(p + 3),
                     before.begin() + static_cast<std::ptrdiff_t>(p)))
        continue;
      left = std::min(left, x), right = std::max(right, x), top = std::min(top, y), bottom = std::max(bottom, y);
    }
  if (right < 0) return {0, 0, 1, 1};
  return {left, top, right - left + 1, bottom - top + 1};
}

}  // namespace

GifFilm::GifFilm(int width, int height, double rate) : width_(width), height_(height), rate_(rate) {
  assert(rate > 0 && rate <= kLargestRate);
  bytes_ = "GIF89a";
  put_short(bytes_, width);
  put_short(bytes_, height);
  bytes_ += std::string("\x70\x00\x00", 3);                                  // no colours for all, no background
  bytes_ += std::string("\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00", 19);  // over and over
}

void GifFilm::add(const Picture& picture) {
  assert(picture.width == width_ && picture.height == height_);
  const Part part = changed_part(picture, before_);
  std::vector<std::uint8_t> rgb;
  for (int y = part.top; y < part.top + part.height; ++y) {
    const auto row = picture.rgb.begin() + 3 * (std::ptrdiff_t{y} * width_ + part.left);
    rgb.insert(rgb.end(), row, row + 3 * std::ptrdiff_t{part.width});
  }
  const auto until = [&](int pictures) { return std::lround(100 * pictures / rate_); };  // 1/100 s
  bytes_ += std::string("\x21\xf9\x04\x04", 4);  // stays when the next one comes
  put_short(bytes_, static_cast<int>(until(count_ + 1) - until(count_)));
  bytes_ += std::string("\x00\x00\x2c", 3);
  for (int value : {part.left, part.top, part.width, part.height}) put_short(bytes_, value);
  bytes_.push_back(static_cast<char>(0x87));  // 256 colours of its own
  const Palette palette = palette_of(rgb);
  for (const Rgb& colour : palette.colours) bytes_.append(reinterpret_cast<const char*>(colour.data()), 3);
  LzwWriter pixels(bytes_);
  for (std::size_t p = 0; p < rgb.size(); p += 3) pixels.put(palette.of_bin[bin_of(&rgb[p])]);
  pixels.finish();
  before_ = picture.rgb;
  ++count_;
}

std::string GifFilm::finish() {
  bytes_.push_back(0x3b);
  return std::move(bytes_);
}

}  // namespace pliant
