#include "experiments/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/chart.hpp"

namespace pliant::experiments {

namespace {

std::string in_words(const Json& value) {
  return value.is_string()   ? value.get<std::string>()
         : value.is_number() ? fmt::format("{:.4g}", value.get<double>())
                             : value.dump();
}

/// A name for each row: its first text, and where several share it, what tells them apart.
std::vector<std::string> labels_of(const std::vector<const Json*>& rows) {
  std::vector<std::string> labels;
  for (const Json* row : rows) {
    labels.emplace_back();
    for (const auto& entry : row->items())
      if (labels.back().empty() && entry.value().is_string()) labels.back() = entry.value().get<std::string>();
  }
  const std::vector<std::string> first = labels;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::vector<const Json*> alike;
    for (std::size_t j = 0; j < rows.size(); ++j)
      if (j != k && first[j] == first[k]) alike.push_back(rows[j]);
    for (const auto& [key, value] : rows[k]->items()) {
      if (alike.empty()) break;
      const auto same = [&, &name = key, &mine = value](const Json* row) {
        return row->contains(name) && row->at(name) == mine;
      };
      const auto other = std::partition(alike.begin(), alike.end(), same);
      if (other == alike.end()) continue;
      labels[k] += fmt::format("{}{} {}", labels[k].empty() ? "" : ", ", key, in_words(value));
      alike.erase(other, alike.end());
    }
  }
  return labels;
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
  std::vector<const Json*> owners;
  for (const Json& curve : curves) {
    if (curve.at("name") != name) continue;
    Series series;
    owners.push_back(&rows[curve.at("row").get<std::size_t>()]);
    for (const Json& value : curve.at("values")) {
      series.x.push_back(static_cast<double>(series.x.size()));
      series.y.push_back(value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
    }
    chart.series.push_back(std::move(series));
  }
  const std::vector<std::string> labels = labels_of(owners);
  for (std::size_t k = 0; k < labels.size(); ++k) chart.series[k].label = labels[k];
  chart.log_y = span_decades(chart.series);
  return svg(chart);
}

}  // namespace pliant::experiments
