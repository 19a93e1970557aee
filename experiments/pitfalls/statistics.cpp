#include "experiments/pitfalls/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pliant::experiments {

namespace {

std::vector<std::size_t> sorted_by(const std::vector<double>& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return order;
}

std::vector<double> ranks(const std::vector<double>& values) {
  const std::vector<std::size_t> order = sorted_by(values);
  std::vector<double> rank(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t k = begin; k < end; ++k) rank[order[k]] = 0.5 * static_cast<double>(begin + end - 1);
    begin = end;
  }
  return rank;
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const double ma = mean(a), mb = mean(b);
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - ma) * (b[k] - mb);
  return sum;
}

}  // namespace

double mean(const std::vector<double>& values) {
  if (values.empty()) return kUnknown;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || a.size() != b.size()) return kUnknown;
  const std::vector<double> ra = ranks(a), rb = ranks(b);
  return covariance(ra, rb) / std::sqrt(covariance(ra, ra) * covariance(rb, rb));
}

double upper_over_lower_quarter(const std::vector<double>& values, const std::vector<double>& keys) {
  const std::vector<std::size_t> order = sorted_by(keys);
  const std::size_t quarter = order.size() / 4;
  if (quarter == 0 || values.size() != keys.size()) return kUnknown;
  double low = 0, high = 0;
  for (std::size_t k = 0; k < quarter; ++k) low += values[order[k]], high += values[order[order.size() - 1 - k]];
  return high / low;
}

double log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() < 2 || x.size() != y.size()) return kUnknown;
  std::vector<double> lx, ly;
  for (std::size_t k = 0; k < x.size(); ++k) lx.push_back(std::log(x[k])), ly.push_back(std::log(y[k]));
  return covariance(lx, ly) / covariance(lx, lx);
}

}  // namespace pliant::experiments
