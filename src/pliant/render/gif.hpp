#pragma once

#include <string>

#include "pliant/render/picture.hpp"

namespace pliant {

/// Writes an animated GIF (89a) picture by picture, into memory: films where no other program is at hand. Every picture
/// has a palette of its own, so that none needs to know the others; of each only the part that has changed is kept.
class GifFilm {
 public:
  /// The highest rate that players keep: most take delays below 20 ms for 100 ms.
  static constexpr double kLargestRate = 50;

  /// `rate`: pictures a second, at most kLargestRate.
  GifFilm(int width, int height, double rate);
  /// A picture of that size.
  void add(const Picture& picture);
  /// The whole file. Nothing can be added after it.
  std::string finish();

 private:
  std::string bytes_;
  int width_, height_;
  double rate_;
  int count_ = 0;
  std::vector<std::uint8_t> before_;  ///< the colours of the last picture
};

}  // namespace pliant
