#include "pliant/io/animation/animation.hpp"

#include <array>
#include <cmath>

namespace pliant {

double Animation::rate() const {
  if (times.size() < 2 || !(times.back() > times.front())) return 24;
  return static_cast<double>(times.size() - 1) / (times.back() - times.front());
}

Colour Animation::colour_of(const AnimatedSurface& surface, std::size_t frame, std::size_t vertex) const {
  if (surface.values.empty()) return surface.colour;
  const double value = surface.values[frame][vertex];
  return map_colour(map, high > low ? (value - low) / (high - low) : 0.0);
}

Colour body_colour(std::size_t n) {
  // Eight of like lightness, neighbours far apart in hue; the first is what a single body has.
  static constexpr std::array<Colour, 8> colours = {{{0.30, 0.55, 0.80},
                                                     {0.90, 0.56, 0.28},
                                                     {0.38, 0.68, 0.48},
                                                     {0.80, 0.44, 0.52},
                                                     {0.58, 0.51, 0.78},
                                                     {0.74, 0.66, 0.30},
                                                     {0.30, 0.66, 0.68},
                                                     {0.68, 0.50, 0.42}}};
  return colours[n % colours.size()];
}

std::string field_label(const std::string& field) {
  if (field == "von_mises") return "von Mises stress, Pa";
  if (field == "stretch") return "largest stretch";
  if (field == "speed" || field == "velocity") return "speed, m/s";
  if (field == "displacement") return "displacement, m";
  if (field == "contact_pressure") return "contact pressure, Pa";
  return field;
}

}  // namespace pliant
