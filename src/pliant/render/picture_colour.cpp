#include "pliant/render/picture_colour.hpp"

#include <algorithm>
#include <cmath>
#include <span>

// The maps are polygons in Oklab (B. Ottosson, "A perceptual color space for image processing", 2020), where distance
// is close to perceived difference: a few control points with evenly rising lightness L, joined by straight lines.

namespace pliant {

namespace {

double linear_of(double srgb) { return srgb <= 0.04045 ? srgb / 12.92 : std::pow((srgb + 0.055) / 1.055, 2.4); }

double srgb_of(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  return x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
}

/// Lightness, chroma and hue in degrees: Oklab in polar form.
struct Oklch {
  double lightness, chroma, hue;
};

LinearColour linear_of_oklab(double lightness, double a, double b) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

constexpr std::array<Oklch, 6> lagoon = {{{0.52, 0.13, 262},
                                          {0.60, 0.12, 246},
                                          {0.68, 0.11, 218},
                                          {0.76, 0.12, 175},
                                          {0.84, 0.16, 135},
                                          {0.92, 0.175, 105}}};
constexpr std::array<Oklch, 6> ember = {
    {{0.36, 0.10, 285}, {0.46, 0.15, 318}, {0.56, 0.19, 5}, {0.67, 0.19, 38}, {0.79, 0.15, 70}, {0.92, 0.09, 95}}};

}  // namespace

LinearColour to_linear(const Colour& colour) {
  return {linear_of(colour.red), linear_of(colour.green), linear_of(colour.blue)};
}

Colour from_linear(const LinearColour& linear) { return {srgb_of(linear[0]), srgb_of(linear[1]), srgb_of(linear[2])}; }

SrgbBytes::SrgbBytes() {
  auto next = bytes_.begin();
  for (int byte = 0; byte < 255; ++byte) {  // ends halfway to the next
    const auto end = bytes_.begin() + static_cast<std::ptrdiff_t>(std::ceil(linear_of((byte + 0.5) / 255) * kEntries));
    std::fill(next, end, static_cast<std::uint8_t>(byte));
    next = end;
  }
  std::fill(next, bytes_.end(), std::uint8_t{255});
}

const SrgbBytes& SrgbBytes::table() {
  static const SrgbBytes bytes;
  return bytes;
}

Colour map_colour(ColourMap map, double value) {
  if (std::isnan(value)) return {0.5, 0.5, 0.5};
  const std::span<const Oklch> points = map == ColourMap::lagoon ? lagoon : ember;
  const double position = std::clamp(value, 0.0, 1.0) * static_cast<double>(points.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(position), points.size() - 2);
  const double t = position - static_cast<double>(low);
  const auto cartesian = [](const Oklch& c) {
    const double radians = c.hue * 3.14159265358979323846 / 180;
    return std::array<double, 3>{c.lightness, c.chroma * std::cos(radians), c.chroma * std::sin(radians)};
  };
  const auto from = cartesian(points[low]);
  const auto to = cartesian(points[low + 1]);
  const auto mix = [&](std::size_t k) { return (1 - t) * from[k] + t * to[k]; };
  return from_linear(linear_of_oklab(mix(0), mix(1), mix(2)));
}

}  // namespace pliant
