#include "experiments/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace pliant::experiments {

namespace {

constexpr double kChartWidth = 760, kLeastHeight = 420, kLegendLine = 18, kLeft = 78, kRight = 290, kTop = 36,
                 kBottom = 48;
// Distinguishable also by those who see colours differently (Okabe and Ito).
constexpr std::array<const char*, 8> kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                 "#E69F00", "#56B4E9", "#000000", "#F0E442"};

struct ChartAxis {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void include(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  void widen() {
    if (!(low <= high)) low = 0, high = 1;
    if (low == high) low -= 0.5, high += 0.5;
  }
  double share(double v) const { return (v - low) / (high - low); }
};

/// 1, 2 or 5 times a power of ten, for about five intervals.
double tick_step(double range) {
  const double raw = range / 5, power = std::pow(10, std::floor(std::log10(raw)));
  const double m = raw / power;
  return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

std::string escaped(const std::string& text) {
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

}  // namespace

std::string svg(const Chart& chart) {
  const auto value = [&](double y) {
    return chart.log_y ? (y > 0 ? std::log10(y) : std::numeric_limits<double>::quiet_NaN()) : y;
  };
  ChartAxis horizontal, vertical;
  for (const Series& s : chart.series)
    for (std::size_t k = 0; k < std::min(s.x.size(), s.y.size()); ++k)
      if (const double v = value(s.y[k]); std::isfinite(v)) {
        horizontal.include(s.x[k]);
        vertical.include(v);
      }
  horizontal.widen();
  vertical.widen();
  if (chart.log_y) {
    vertical.low = std::floor(vertical.low);
    vertical.high = std::max(std::ceil(vertical.high), vertical.low + 1);
  }
  // High enough for the names of all curves.
  const double height = std::max(kLeastHeight, kTop + kBottom + kLegendLine * static_cast<double>(chart.series.size()));
  const double plot_width = kChartWidth - kLeft - kRight, plot_height = height - kTop - kBottom;
  const auto at_x = [&](double x) { return kLeft + plot_width * horizontal.share(x); };
  const auto at_y = [&](double v) { return kTop + plot_height * (1 - vertical.share(v)); };

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kChartWidth, height);
  out += fmt::format("<text x=\"{}\" y=\"20\" font-size=\"14\">{}</text>\n", kLeft, escaped(chart.title));
  const auto line = [&](double x1, double y1, double x2, double y2, const char* colour, const char* style = "") {
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n", x1, y1, x2,
                       y2, colour, style);
  };
  const auto text = [&](double x, double y, const char* anchor, const std::string& label) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(label));
  };
  const double x_step = tick_step(horizontal.high - horizontal.low);
  for (double x = std::ceil(horizontal.low / x_step) * x_step; x <= horizontal.high * (1 + 1e-12); x += x_step) {
    line(at_x(x), kTop, at_x(x), kTop + plot_height, "#e0e0e0");
    text(at_x(x), kTop + plot_height + 16, "middle", fmt::format("{:g}", std::abs(x) < 1e-12 * x_step ? 0 : x));
  }
  const double y_step = chart.log_y ? std::max(1.0, std::ceil((vertical.high - vertical.low) / 10))
                                    : tick_step(vertical.high - vertical.low);
  for (double v = std::ceil(vertical.low / y_step) * y_step; v <= vertical.high + 1e-9 * y_step; v += y_step) {
    line(kLeft, at_y(v), kLeft + plot_width, at_y(v), "#e0e0e0");
    text(kLeft - 6, at_y(v) + 4, "end", chart.log_y ? fmt::format("1e{:g}", v) : fmt::format("{:g}", v));
  }
  line(kLeft, kTop + plot_height, kLeft + plot_width, kTop + plot_height, "black");
  line(kLeft, kTop, kLeft, kTop + plot_height, "black");
  text(kLeft + plot_width / 2, height - 12, "middle", chart.x_label);
  out += fmt::format("<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     kTop + plot_height / 2, escaped(chart.y_label));

  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const Series& series = chart.series[s];
    const char* colour = kColours[s % kColours.size()];
    std::string path;
    bool drawing = false;
    for (std::size_t k = 0; k < std::min(series.x.size(), series.y.size()); ++k) {
      const double v = value(series.y[k]);
      if (!std::isfinite(v)) {
        drawing = false;
        continue;
      }
      path += fmt::format("{}{:.1f} {:.1f} ", drawing ? "L" : "M", at_x(series.x[k]), at_y(v));
      drawing = true;
    }
    // Curves of one colour differ by their dashes.
    constexpr std::array<const char*, 4> kDashes = {"", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 2\"",
                                                    " stroke-dasharray=\"8 3 2 3\""};
    const char* dashes = kDashes[s / kColours.size() % kDashes.size()];
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{}/>\n", path, colour, dashes);
    const double y = kTop + 14 + kLegendLine * static_cast<double>(s), x = kLeft + plot_width + 12;
    line(x, y - 4, x + 20, y - 4, colour, dashes);
    text(x + 26, y, "start", series.label);
  }
  return out + "</svg>\n";
}

}  // namespace pliant::experiments
