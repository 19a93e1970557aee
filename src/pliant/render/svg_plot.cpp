#include "pliant/render/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {

namespace {

constexpr double kWidth = kPlotWidth, kHeight = kPlotHeight, kLeft = 70, kRight = 20, kTop = 34, kBottom = 50;

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
    if (!log_) return even_ticks(low_, high_);
    std::vector<double> decades;
    const int every = std::max(1, static_cast<int>(std::ceil((high_ - low_) / 7)));
    for (int k = static_cast<int>(std::ceil(low_)); k <= high_; k += every) decades.push_back(std::pow(10.0, k));
    return decades.size() > 1 ? decades : even_ticks(std::pow(10.0, low_), std::pow(10.0, high_));
  }

 private:
  /// Some five round numbers between two others.
  static std::vector<double> even_ticks(double low, double high) {
    const double raw = (high - low) / 5, power = std::pow(10.0, std::floor(std::log10(raw)));
    const double factor = raw / power, step = power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
    std::vector<double> ticks;
    for (double k = std::ceil(low / step); k * step <= high; ++k) ticks.push_back(k == 0 ? 0.0 : k * step);
    return ticks;
  }
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
        x.place(tick), kTop, kHeight - kBottom, kHeight - kBottom + 16, tick);
  for (double tick : y.ticks())
    svg += fmt::format(
        "<line class=\"grid\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" x1=\"{1}\" x2=\"{2}\"/><text class=\"tick\" y=\"{3:.1f}\" "
        "x=\"{4}\" text-anchor=\"end\">{5:.4g}</text>\n",
        y.place(tick), kLeft, kWidth - kRight, y.place(tick) + 4, kLeft - 6, tick);
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
