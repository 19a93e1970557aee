#include "experiments/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace pliant::experiments {

namespace {

constexpr double kWidth = 860, kHeight = 460, kLeft = 70, kRight = 250, kTop = 40, kBottom = 40;
constexpr std::array<const char*, 10> kColours = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
                                                  "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22"};

std::string escape(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else
      out += c;
  }
  return out;
}

std::string label_of(const Json& row) {
  for (const auto& entry : row.items())
    if (entry.value().is_string()) return entry.value().get<std::string>();
  return "";
}

/// The range of all finite values, and whether it asks for a logarithm.
struct Axis {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool logarithmic = false;

  double share(double v) const {
    if (logarithmic) v = std::log10(std::max(v, low)), v -= std::log10(low);
    const double span = logarithmic ? std::log10(high / low) : high - low;
    return logarithmic ? v / span : (v - low) / span;
  }
};

}  // namespace

std::string svg(const std::string& title, const std::string& name, const std::vector<Json>& rows,
                const std::vector<Json>& curves) {
  Axis axis;
  double least_positive = axis.low;
  std::size_t longest = 2;
  bool all_positive = true;
  for (const Json& curve : curves) {
    if (curve.at("name") != name) continue;
    longest = std::max(longest, curve.at("values").size());
    for (const Json& value : curve.at("values")) {
      if (!value.is_number()) continue;
      const double v = value.get<double>();
      if (!std::isfinite(v)) continue;
      axis.low = std::min(axis.low, v);
      axis.high = std::max(axis.high, v);
      all_positive = all_positive && v >= 0;
      if (v > 0) least_positive = std::min(least_positive, v);
    }
  }
  if (!(axis.low <= axis.high)) axis.low = 0, axis.high = 1;
  if (all_positive && axis.high > 100 * least_positive) {
    axis.logarithmic = true;
    axis.low = std::max(least_positive, 1e-16 * axis.high);
  }
  if (axis.high == axis.low) axis.high = axis.low + 1;

  const double plot_width = kWidth - kLeft - kRight, plot_height = kHeight - kTop - kBottom;
  const auto x_of = [&](std::size_t k) { return kLeft + plot_width * static_cast<double>(k) / double(longest - 1); };
  const auto y_of = [&](double v) { return kTop + plot_height * (1 - axis.share(v)); };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"24\" font-size=\"14\">{3}: {4}</text>\n"
      "<rect x=\"{2}\" y=\"{5}\" width=\"{6}\" height=\"{7}\" fill=\"none\" stroke=\"#999\"/>\n",
      kWidth, kHeight, kLeft, escape(title), escape(name), kTop, plot_width, plot_height);
  const auto tick = [&](double v) {
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.3g}</text>\n",
        kLeft, kLeft + plot_width, y_of(v), kLeft - 6, y_of(v) + 4, v);
  };
  if (axis.logarithmic) {
    const int first = static_cast<int>(std::ceil(std::log10(axis.low))),
              last = static_cast<int>(std::floor(std::log10(axis.high)));
    for (int e = first; e <= last; e += std::max(1, (last - first) / 8)) tick(std::pow(10.0, e));
  } else {
    for (int k = 0; k <= 5; ++k) tick(axis.low + k * (axis.high - axis.low) / 5);
  }
  for (int k = 0; k <= 5; ++k) {
    const auto at = static_cast<std::size_t>(std::lround(static_cast<double>(longest - 1) * k / 5));
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x_of(at),
                       kHeight - kBottom + 18, at);
  }
  std::size_t drawn = 0;
  for (const Json& curve : curves) {
    if (curve.at("name") != name) continue;
    const char* colour = kColours[drawn % kColours.size()];
    std::string points;
    for (std::size_t k = 0; k < curve.at("values").size(); ++k) {
      const Json& value = curve.at("values")[k];
      if (!value.is_number() || !std::isfinite(value.get<double>())) continue;
      points += fmt::format("{:.1f},{:.1f} ", x_of(k), y_of(value.get<double>()));
    }
    const double y = kTop + 14 + 17 * static_cast<double>(drawn);
    out += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" points=\"{}\"/>\n", colour, points);
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"2\"/>"
        "<text x=\"{4}\" y=\"{5}\">{6}</text>\n",
        kWidth - kRight + 12, kWidth - kRight + 34, y, colour, kWidth - kRight + 40, y + 4,
        escape(label_of(rows[curve.at("row").get<std::size_t>()])));
    ++drawn;
  }
  return out + "</svg>\n";
}

}  // namespace pliant::experiments
