#pragma once

#include <string>
#include <vector>

namespace pliant::experiments {

/// A curve of a chart. Points whose value cannot be drawn (not finite, or not positive on a logarithmic axis) break it.
struct Series {
  std::string label;
  std::vector<double> x, y;
};

/// A line chart, as a picture of its own: one file, no scripts, readable in a browser and in a paper.
struct Chart {
  std::string title, x_label, y_label;
  bool log_y = true;
  std::vector<Series> series;
};
std::string svg(const Chart& chart);

}  // namespace pliant::experiments
