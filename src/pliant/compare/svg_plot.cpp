#include "pliant/compare/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {

namespace {

constexpr double kWidth = 640, kHeight = 360, kLeft = 70, kRight = 20, kTop = 34, kBottom = 50;

/// Values to places along one axis.
class PlotAxis {
 public:
  PlotAxis(bool is_log, double begin, double end) : log_(is_log), begin_(begin), end_(end) {}

  bool takes(double value) const { return std::isfinite(value) && (!log_ || value > 0); }
  void include(double value) {
    if (!takes(value)) return;
    low_ = std::min(low_, measure(value));
    high_ = std::max(high_, measure(value));
  }
  bool is_empty() const { return !(low_ <= high_); }
  /// A little room at both ends, and whole decades where there are few.
  void round() {
    const double room = high_ > low_ ? 0.04 * (high_ - low_) : log_ ? 0.5 : std::max(0.5 * std::abs(low_), 1e-12);
    low_ -= room;
    high_ += room;
  }
  double place(double value) const { return begin_ + (measure(value) - low_) / (high_ - low_) * (end_ - begin_); }
  std::vector<double> ticks() const {
    std::vector<double> ticks;
    if (log_) {
      const int every = std::max(1, static_cast<int>(std::ceil((high_ - low_) / 7)));
      for (int k = static_cast<int>(std::ceil(low_)); k <= high_; k += every) ticks.push_back(std::pow(10.0, k));
      if (ticks.size() < 2)
        for (double m : {2.0, 5.0, 0.2, 0.5})
          if (const double v = m * std::pow(10.0, std::floor(low_ + 0.5));
              takes(v) && measure(v) > low_ && measure(v) < high_)
            ticks.push_back(v);
      return ticks;
    }
    const double raw = (high_ - low_) / 5, power = std::pow(10.0, std::floor(std::log10(raw)));
    const double step = raw / power < 1.5   ? power
                        : raw / power < 3.5 ? 2 * power
                        : raw / power < 7.5 ? 5 * power
                                            : 10 * power;
    for (double k = std::ceil(low_ / step); k * step <= high_; ++k) ticks.push_back(k * step);
    return ticks;
  }

 private:
  double measure(double value) const { return log_ ? std::log10(value) : value; }
  bool log_;
  double begin_, end_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

}  // namespace

std::string escape_html(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string to_svg(const Plot& plot) {
  PlotAxis x(plot.log_x, kLeft, kWidth - kRight), y(plot.log_y, kHeight - kBottom, kTop);
  for (const PlotLine& line : plot.lines)
    for (std::size_t k = 0; k < std::min(line.x.size(), line.y.size()); ++k)
      if (x.takes(line.x[k]) && y.takes(line.y[k])) {
        x.include(line.x[k]);
        y.include(line.y[k]);
      }
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"><text class=\"title\" x=\"{}\" y=\"20\">{}</text>\n",
      kWidth, kHeight, escape_html(plot.title), kLeft, escape_html(plot.title));
  if (x.is_empty())
    return svg + fmt::format("<text x=\"{}\" y=\"{}\">nothing to draw: every value is zero or unknown</text></svg>\n",
                             kLeft, kHeight / 2);
  x.round();
  y.round();
  for (double tick : x.ticks())
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text class=\"tick\" x=\"{0:.1f}\" "
        "y=\"{3}\" text-anchor=\"middle\">{4:.4g}</text>\n",
        x.place(tick), kTop, kHeight - kBottom, kHeight - kBottom + 16, std::abs(tick) < 1e-14 ? 0.0 : tick);
  for (double tick : y.ticks())
    svg += fmt::format(
        "<line class=\"grid\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" x1=\"{1}\" x2=\"{2}\"/><text class=\"tick\" y=\"{3:.1f}\" "
        "x=\"{4}\" text-anchor=\"end\">{5:.4g}</text>\n",
        y.place(tick), kLeft, kWidth - kRight, y.place(tick) + 4, kLeft - 6, std::abs(tick) < 1e-14 ? 0.0 : tick);
  svg += fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     0.5 * (kLeft + kWidth - kRight), kHeight - 12, escape_html(plot.x_label));
  svg +=
      fmt::format("<text class=\"label\" transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                  0.5 * (kTop + kHeight - kBottom), escape_html(plot.y_label));
  for (const PlotLine& line : plot.lines) {
    std::string points, marks;
    for (std::size_t k = 0; k < std::min(line.x.size(), line.y.size()); ++k) {
      if (!x.takes(line.x[k]) || !y.takes(line.y[k])) continue;
      points += fmt::format("{:.1f},{:.1f} ", x.place(line.x[k]), y.place(line.y[k]));
      if (line.markers)
        marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>", x.place(line.x[k]),
                             y.place(line.y[k]), line.colour);
    }
    svg += fmt::format(
        "<g class=\"line\" data-name=\"{0}\"><title>{0}</title><polyline points=\"{1}\" stroke=\"{2}\"{3}/>{4}</g>\n",
        escape_html(line.name), points, line.colour, line.dashed ? " stroke-dasharray=\"6 4\"" : "", marks);
  }
  return svg + "</svg>\n";
}

}  // namespace pliant
