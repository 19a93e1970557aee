// Films are read back by a decoder that shares nothing with the encoder.
#include "pliant/render/gif.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace pliant {
namespace {

class GifReader {
 public:
  explicit GifReader(const std::string& bytes) : bytes_(bytes) {
    EXPECT_EQ(bytes_.substr(0, 6), "GIF89a");
    at_ = 6;
    width = word();
    height = word();
    EXPECT_EQ(byte() & 0x80, 0);
    at_ += 2;
    screen_.resize(std::size_t(3 * width * height));
    while (at_ < bytes_.size()) {
      const int kind = byte();
      if (kind == 0x3b) break;
      if (kind == 0x21) {
        if (byte() == 0xf9) {
          at_ += 2;
          delays.push_back(word());
          at_ += 1;
          EXPECT_EQ(byte(), 0);
        } else {
          while (const int size = byte()) at_ += std::size_t(size);
        }
        continue;
      }
      EXPECT_EQ(kind, 0x2c);
      read_image();
      pictures.push_back(screen_);
    }
    EXPECT_EQ(at_, bytes_.size());
  }

  int width = 0, height = 0;
  std::vector<int> delays;  ///< 1/100 s
  std::vector<std::vector<std::uint8_t>> pictures;

 private:
  int byte() { return at_ < bytes_.size() ? std::uint8_t(bytes_[at_++]) : (ADD_FAILURE() << "ends early", 0); }
  int word() {
    const int low = byte();
    return low + 256 * byte();
  }

  void read_image() {
    const int left = word(), top = word(), w = word(), h = word();
    EXPECT_EQ(byte(), 0x87);
    std::array<std::array<std::uint8_t, 3>, 256> palette;
    for (auto& colour : palette)
      for (auto& c : colour) c = std::uint8_t(byte());
    const int literals = byte();
    EXPECT_EQ(literals, 8);
    std::string codes;
    while (const int size = byte()) {
      codes += bytes_.substr(at_, std::size_t(size));
      at_ += std::size_t(size);
    }
    const std::vector<int> pixels = decode(codes);
    ASSERT_EQ(pixels.size(), std::size_t(w * h));
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        for (int c = 0; c < 3; ++c)
          screen_[std::size_t(3 * ((top + y) * width + left + x) + c)] =
              palette[std::size_t(pixels[std::size_t(y * w + x)])][std::size_t(c)];
  }

  /// The table holds whole strings: slow, and hard to get wrong.
  static std::vector<int> decode(const std::string& codes) {
    std::vector<std::vector<int>> table;
    const auto clear = [&] {
      table.assign(258, {});
      for (int i = 0; i < 256; ++i) table[std::size_t(i)] = {i};
    };
    std::vector<int> out, before;
    std::size_t bit = 0, width = 9;
    clear();
    for (;;) {
      if (bit + width > 8 * codes.size()) return ADD_FAILURE() << "no end code", out;
      std::size_t code = 0;
      for (std::size_t k = 0; k < width; ++k, ++bit)
        code |= std::size_t(std::uint8_t(codes[bit / 8]) >> bit % 8 & 1) << k;
      if (code == 257) return out;
      if (code == 256) {
        clear();
        before.clear();
        width = 9;
        continue;
      }
      if (code > table.size()) return ADD_FAILURE() << "code " << code << " of " << table.size(), out;
      std::vector<int> entry;
      if (code < table.size()) {
        entry = table[code];
      } else {
        entry = before;
        entry.push_back(before.front());
      }
      out.insert(out.end(), entry.begin(), entry.end());
      if (!before.empty() && table.size() < 4096) {
        before.push_back(entry.front());
        table.push_back(before);
      }
      if (table.size() == std::size_t(1) << width && width < 12) ++width;
      before = entry;
    }
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
  std::vector<std::uint8_t> screen_;
};

/// Of some 200 colours that five bits tell apart, so that nothing is lost.
Picture noise(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  Picture picture{width, height, {}};
  for (int p = 0; p < width * height; ++p) {
    const unsigned colour = unsigned(random() % 200);
    for (unsigned c : {colour % 6 * 40, colour / 6 % 6 * 40, colour / 36 * 40}) picture.rgb.push_back(std::uint8_t(c));
  }
  return picture;
}

TEST(Gif, GivesBackWhatWentIn) {
  GifFilm film(123, 77, 25);
  std::vector<Picture> pictures;
  for (unsigned k = 0; k < 3; ++k) film.add(pictures.emplace_back(noise(123, 77, k)));
  // The same again but for a corner, and the same.
  Picture corner = pictures.back();
  for (int k = 0; k < 30; ++k) corner.rgb[std::size_t(3 * (70 * 123 + 80) + k)] = 200;
  film.add(pictures.emplace_back(corner));
  film.add(pictures.emplace_back(corner));
  const std::string bytes = film.finish();
  const GifReader read(bytes);
  EXPECT_EQ(read.width, 123);
  EXPECT_EQ(read.height, 77);
  ASSERT_EQ(read.pictures.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(read.pictures[k], pictures[k].rgb) << k;
}

TEST(Gif, KeepsTimeWhereThePicturesDoNotFallOnHundredths) {
  GifFilm film(2, 2, 30);
  for (unsigned k = 0; k < 30; ++k) film.add(noise(2, 2, k));
  const std::string bytes = film.finish();
  const GifReader read(bytes);
  int sum = 0;
  for (int delay : read.delays) {
    EXPECT_GE(delay, 2);
    sum += delay;
  }
  EXPECT_EQ(sum, 100);
}

TEST(Gif, StaysCloseWhereAPictureHasMoreColoursThanAPalette) {
  Picture smooth{256, 128, {}};
  for (int y = 0; y < 128; ++y)
    for (int x = 0; x < 256; ++x)
      for (int c : {x, 2 * y, 255 - x}) smooth.rgb.push_back(std::uint8_t(c));
  GifFilm film(256, 128, 10);
  film.add(smooth);
  const std::string bytes = film.finish();
  const GifReader read(bytes);
  ASSERT_EQ(read.pictures.size(), 1u);
  double sum = 0;
  for (std::size_t k = 0; k < smooth.rgb.size(); ++k) sum += std::abs(int(smooth.rgb[k]) - int(read.pictures[0][k]));
  EXPECT_LT(sum / double(smooth.rgb.size()), 6);
}

}  // namespace
}  // namespace pliant
