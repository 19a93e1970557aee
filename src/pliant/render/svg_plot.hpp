#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pliant {

/// A line of a plot. Points that are not finite, or not positive on a logarithmic axis, are left out.
struct PlotLine {
  std::string name;
  std::string colour;  ///< as CSS writes it
  std::vector<double> x, y;
  bool dashed = false;
  bool markers = false;
};

struct Plot {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<PlotLine> lines;
};

inline constexpr std::size_t kPlotWidth = 640, kPlotHeight = 360;

/// An SVG element of this size in its own units, with axes, ticks, and lines whose names show under the mouse. Where
/// nothing can be drawn it says so.
std::string to_svg(const Plot& plot);

/// Text with what HTML reserves replaced.
std::string escape_html(const std::string& text);

}  // namespace pliant
