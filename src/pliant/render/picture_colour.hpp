#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace pliant {

/// sRGB, each in [0, 1].
struct Colour {
  double red = 0;
  double green = 0;
  double blue = 0;
};

/// Proportional to light, as lighting must be computed.
using LinearColour = std::array<double, 3>;

LinearColour to_linear(const Colour& colour);
Colour from_linear(const LinearColour& linear);
/// One channel of it as a byte, by a table that is fine enough for the steep beginning: 20 entries a step.
class SrgbBytes {
 public:
  static const SrgbBytes& table();
  std::uint8_t operator()(double linear) const {
    return bytes_[static_cast<std::size_t>(std::clamp(linear, 0.0, 1.0) * kEntries + 0.5)];
  }

 private:
  SrgbBytes();
  static constexpr int kEntries = 1 << 16;
  std::array<std::uint8_t, kEntries + 1> bytes_;
};

/// Scales from values to colours. Both rise evenly in lightness, so that equal steps of the value look equal and a grey
/// print keeps their order.
enum class ColourMap {
  lagoon,  ///< blue, sky, teal, green, yellow: at rest a body looks as one without a field does
  ember,   ///< slate violet, purple, red, orange, cream
};

/// Values outside [0, 1] take the end colours; NaN takes a grey no map contains.
Colour map_colour(ColourMap map, double value);

}  // namespace pliant
