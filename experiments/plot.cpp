#include "experiments/plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/chart.hpp"

namespace pliant::experiments {

namespace {

std::string label_of(const Json& row) {
  for (const auto& entry : row.items())
    if (entry.value().is_string()) return entry.value().get<std::string>();
  return "";
}

/// Whether values ask for a logarithm: none is negative, and the positive ones span more than two decades.
bool span_decades(const std::vector<Series>& series) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const Series& s : series)
    for (double v : s.y) {
      if (!std::isfinite(v)) continue;
      if (v < 0) return false;
      most = std::max(most, v);
      if (v > 0) least = std::min(least, v);
    }
  return most > 100 * least;
}

}  // namespace

std::string svg(const std::string& title, const std::string& name, const std::vector<Json>& rows,
                const std::vector<Json>& curves) {
  Chart chart{title + ": " + name, "", name, false, {}};
  for (const Json& curve : curves) {
    if (curve.at("name") != name) continue;
    Series series;
    series.label = label_of(rows[curve.at("row").get<std::size_t>()]);
    for (const Json& value : curve.at("values")) {
      series.x.push_back(static_cast<double>(series.x.size()));
      series.y.push_back(value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
    }
    chart.series.push_back(std::move(series));
  }
  chart.log_y = span_decades(chart.series);
  return svg(chart);
}

}  // namespace pliant::experiments
