#pragma once

#include <optional>
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
  std::vector<std::string> notes = {};  ///< of the markers, shown under the mouse; none: its name alone
};

struct Plot {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<PlotLine> lines;
  std::optional<double> limit = std::nullopt;  ///< along x, drawn as a line across
  double width = 460, height = 300;            ///< in units of the letters' size, 12
};

/// An SVG element with axes, ticks, and lines whose names show under the mouse; its title is for those who do not see
/// it. Where nothing can be drawn it says so. Letters and axes are styled by the page.
std::string to_svg(const Plot& plot);

/// Text with what HTML reserves replaced.
std::string escape_html(const std::string& text);

}  // namespace pliant
