#include "pliant/io/probe_table.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <utility>

#include "pliant/base/atomic_file.hpp"
#include "pliant/render/svg_plot.hpp"

namespace pliant {

namespace {

std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      if (!quoted && !cells.back().empty()) cells.back() += '"';  // the second of a pair
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

double csv_number(const std::string& cell) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc() && end == cell.data() + cell.size() ? value : std::numeric_limits<double>::quiet_NaN();
}

/// A column's name, parted: "tip.displacement_y (m)" is the y of "tip.displacement (m)".
std::pair<std::string, std::string> quantity_and_component(const std::string& column) {
  const std::size_t unit = std::min(column.rfind(" ("), column.size());
  for (const char* component : {"_x", "_y", "_z", "_xx", "_yy", "_zz", "_xy", "_yz", "_zx"}) {
    const std::string name = column.substr(0, unit), ending = component;
    if (name.size() > ending.size() && name.ends_with(ending))
      return {name.substr(0, name.size() - ending.size()) + column.substr(unit), ending.substr(1)};
  }
  return {column, ""};
}

}  // namespace

ProbeTable read_probe_table(const std::filesystem::path& csv) {
  constexpr std::size_t kMost = 200'000;
  ProbeTable table;
  std::ifstream in(csv);
  std::string line;
  if (!std::getline(in, line)) return table;
  const std::vector<std::string> names = csv_cells(line);
  if (names.size() < 3) return table;
  table.columns.assign(names.begin() + 2, names.end());
  while (table.times.size() < kMost && std::getline(in, line)) {
    const std::vector<std::string> cells = csv_cells(line);
    if (cells.size() != names.size()) continue;
    const double time = csv_number(cells[1]);
    if (!(time == time)) continue;
    table.times.push_back(time);
    std::vector<double>& row = table.values.emplace_back();
    for (std::size_t k = 2; k < cells.size(); ++k) row.push_back(csv_number(cells[k]));
  }
  return table;
}

void plot_probes(const std::filesystem::path& csv, const std::filesystem::path& svg) {
  constexpr std::array kColours = {"#c8402f", "#2f8f4e", "#2f62c8", "#b07a1e", "#7d3fb0", "#2a9aa0", "#444444"};
  const ProbeTable table = read_probe_table(csv);
  std::vector<Plot> plots;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto [quantity, component] = quantity_and_component(table.columns[c]);
    if (plots.empty() || plots.back().title != quantity) {
      Plot& plot = plots.emplace_back();
      plot.title = quantity;
      plot.x_label = "time (s)";
      const std::size_t unit = quantity.rfind(" (");
      if (unit != std::string::npos) plot.y_label = quantity.substr(unit + 2, quantity.size() - unit - 3);
    }
    std::vector<PlotLine>& lines = plots.back().lines;
    PlotLine line;
    line.name = component;
    line.colour = kColours[lines.size() % kColours.size()];
    line.x = table.times;
    for (const auto& row : table.values) line.y.push_back(row[c]);
    lines.push_back(std::move(line));
  }
  constexpr double kWidth = 640, kHeight = 360, kTitle = 28;
  std::string image = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<style>"
      "text{{font:12px sans-serif;fill:#444}}.title{{font-size:14px;font-weight:600}}.grid{{stroke:#e4e6ea}}"
      "polyline{{fill:none;stroke:currentColor;stroke-width:1.8}}</style>\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#fff\"/>\n",
      kWidth, kHeight * static_cast<double>(plots.size()));
  for (std::size_t p = 0; p < plots.size(); ++p) {
    Plot& plot = plots[p];
    plot.width = kWidth;
    plot.height = kHeight - kTitle;
    image += fmt::format("<g transform=\"translate(0 {})\">\n<text class=\"title\" x=\"14\" y=\"20\">{}</text>\n",
                         kHeight * static_cast<double>(p), escape_html(plot.title));
    for (std::size_t l = 0; l < plot.lines.size(); ++l)
      image += fmt::format("<text x=\"{}\" y=\"20\" text-anchor=\"end\" style=\"fill:{}\">{}</text>\n",
                           kWidth - 16 - 54.0 * static_cast<double>(plot.lines.size() - 1 - l), plot.lines[l].colour,
                           escape_html(plot.lines[l].name));
    // As large as it is, not as the image around it.
    image += fmt::format("<svg y=\"{}\" width=\"{}\" height=\"{}\"{}</g>\n", kTitle, plot.width, plot.height,
                         to_svg(plot).substr(4));
  }
  write_atomically(svg, image + "</svg>\n");
}

}  // namespace pliant
