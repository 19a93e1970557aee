#pragma once

#include <limits>
#include <vector>

namespace pliant::experiments {

/// Where there is nothing to compute from: a comparison with it is never decided.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double mean(const std::vector<double>& values);
/// Spearman's rank correlation; equal values share their mean rank.
double spearman(const std::vector<double>& a, const std::vector<double>& b);
/// Mean of `values` over the quarter of entries with the largest `keys`, over that of the quarter with the smallest.
double upper_over_lower_quarter(const std::vector<double>& values, const std::vector<double>& keys);
/// Slope of log y over log x by least squares.
double log_slope(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace pliant::experiments
