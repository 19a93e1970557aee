#include "pliant/io/animation/animation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace pliant {

namespace {

constexpr double kUnclipped = 0.99;      // share of the values that have a colour of their own
constexpr double kWorthClipping = 0.75;  // of the whole range: what they take, at most, where the rest is clipped
constexpr double kLeastStretch = 1.02;

}  // namespace

double Animation::rate() const {
  if (times.size() < 2 || !(times.back() > times.front())) return 24;
  return static_cast<double>(times.size() - 1) / (times.back() - times.front());
}

Colour Animation::colour_of(const AnimatedSurface& surface, std::size_t frame, std::size_t vertex) const {
  if (surface.values.empty()) return surface.colour;
  const double value = surface.values[frame][vertex];
  return map_colour(map, high > low ? (value - low) / (high - low) : 0.0);
}

void Animation::fit_range() {
  std::vector<float> all;
  for (const AnimatedSurface& surface : surfaces)
    for (const auto& values : surface.values) all.insert(all.end(), values.begin(), values.end());
  std::erase_if(all, [](float value) { return !std::isfinite(value); });
  if (all.empty()) return;
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  low = static_cast<double>(*least);
  high = static_cast<double>(*most);
  if (field == "stretch") low = std::min(low, 1.0);
  const auto nearly_all = all.begin() + static_cast<std::ptrdiff_t>(kUnclipped * static_cast<double>(all.size() - 1));
  std::nth_element(all.begin(), nearly_all, all.end());
  const double usual = static_cast<double>(*nearly_all);
  is_clipped = usual > low && usual - low < kWorthClipping * (high - low);
  if (is_clipped) high = usual;
  if (field != "stretch" || high >= kLeastStretch) return;
  high = kLeastStretch;
  is_clipped = false;
}

void Animation::uncolour_rigid() {
  if (field != "stretch" && field != "von_mises") return;
  for (AnimatedSurface& surface : surfaces)
    if (surface.is_rigid && !surface.values.empty()) {
      surface.values.clear();
      surface.colour = kRigidColour;
    }
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
  if (field == "von_mises" || field == "von-mises") return "von Mises stress, Pa";
  if (field == "stretch") return "largest stretch";
  if (field == "speed" || field == "velocity") return "speed, m/s";
  if (field == "displacement") return "displacement, m";
  if (field == "contact_pressure") return "contact pressure, Pa";
  return field;
}

}  // namespace pliant
