#include "pliant/render/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace pliant {

namespace {

constexpr double kLeft = 72, kRight = 14, kTop = 12, kBottom = 46;

/// A power of ten as it is written by hand.
std::string power_of_ten(int exponent) {
  constexpr std::array<const char*, 10> digits = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                                  "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text = exponent < 0 ? "10\u207b" : "10";
  for (char c : std::to_string(std::abs(exponent))) text += digits[static_cast<std::size_t>(c - '0')];
  return text;
}

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
  /// Plain where a person reads it at once, and otherwise by a power of ten.
  std::string label(double tick) const {
    const double size = std::abs(tick);
    if (tick == 0 || (size >= 0.999e-3 && size < 1e5)) return fmt::format("{:.6g}", tick);
    const int exponent = static_cast<int>(std::floor(std::log10(size) + 1e-9));
    const double factor = tick / std::pow(10.0, exponent);
    const std::string power = power_of_ten(exponent);
    return std::abs(factor - 1) < 1e-6 ? power : fmt::format("{:.3g}\u00b7{}", factor, power);
  }
  std::vector<double> ticks() const {
    if (!log_) return even_ticks(low_, high_);
    std::vector<double> decades;
    const int every = std::max(1, static_cast<int>(std::ceil((high_ - low_) / 6)));
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
  const double right = plot.width - kRight, bottom = plot.height - kBottom;
  PlotAxis x(plot.log_x, kLeft, right), y(plot.log_y, bottom, kTop);
  for (const PlotLine& line : plot.lines)
    for (std::size_t k = 0; k < std::min(line.x.size(), line.y.size()); ++k)
      if (x.takes(line.x[k]) && y.takes(line.y[k])) {
        x.include(line.x[k]);
        y.include(line.y[k]);
      }
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", plot.width, plot.height,
                                escape_html(plot.title));
  if (x.is_empty())
    return svg + fmt::format("<text x=\"{}\" y=\"{}\">nothing to draw: every value is zero or unknown</text></svg>\n",
                             kLeft, plot.height / 2);
  if (plot.limit) x.include(*plot.limit);
  x.round();
  y.round();
  for (double tick : x.ticks())
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text class=\"tick\" x=\"{0:.1f}\" "
        "y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        x.place(tick), kTop, bottom, bottom + 17, x.label(tick));
  for (double tick : y.ticks())
    svg += fmt::format(
        "<line class=\"grid\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" x1=\"{1}\" x2=\"{2}\"/><text class=\"tick\" y=\"{3:.1f}\" "
        "x=\"{4}\" text-anchor=\"end\">{5}</text>\n",
        y.place(tick), kLeft, right, y.place(tick) + 4, kLeft - 7, y.label(tick));
  svg += fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     0.5 * (kLeft + right), plot.height - 8, escape_html(plot.x_label));
  svg +=
      fmt::format("<text class=\"label\" transform=\"translate(13 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                  0.5 * (kTop + bottom), escape_html(plot.y_label));
  if (plot.limit)
    svg += fmt::format("<line class=\"limit\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                       x.place(*plot.limit), kTop, bottom);
  for (const PlotLine& line : plot.lines) {
    std::string points, marks;
    for (std::size_t k = 0; k < std::min(line.x.size(), line.y.size()); ++k) {
      if (!x.takes(line.x[k]) || !y.takes(line.y[k])) continue;
      points += fmt::format("{:.1f},{:.1f} ", x.place(line.x[k]), y.place(line.y[k]));
      if (line.markers)
        marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\">{}</circle>", x.place(line.x[k]),
                             y.place(line.y[k]),
                             k < line.notes.size() ? "<title>" + escape_html(line.notes[k]) + "</title>" : "");
    }
    svg += fmt::format(
        "<g class=\"line\" data-name=\"{0}\" style=\"color:{2}\"><title>{0}</title><polyline "
        "points=\"{1}\"{3}/>{4}</g>\n",
        escape_html(line.name), points, line.colour, line.dashed ? " stroke-dasharray=\"6 4\"" : "", marks);
  }
  return svg + "</svg>\n";
}

}  // namespace pliant
