#pragma once

#include <array>
#include <cmath>

namespace pliant::testing {

/// The tip of a cantilever of length 1 under a dead force across its end, by the equation of the elastica,
/// theta'' = -alpha cos theta with theta(0) = 0 and theta'(1) = 0, alpha = P L^2/(E I): {along, across}.
inline std::array<double, 2> elastica_tip(double alpha) {
  const auto shoot = [&](double slope, std::array<double, 2>& tip) {
    const int n = 4000;
    const double h = 1.0 / n;
    double theta = 0, bend = slope;
    tip = {0, 0};
    for (int i = 0; i < n; ++i) {
      const double middle = theta + h / 2 * bend, bend_middle = bend - h / 2 * alpha * std::cos(theta);
      tip[0] += h * std::cos(middle);
      tip[1] += h * std::sin(middle);
      theta += h * bend_middle;
      bend -= h * alpha * std::cos(middle);
    }
    return bend;
  };
  std::array<double, 2> tip;
  double low = 0, high = alpha;
  for (int k = 0; k < 60; ++k) {
    const double slope = (low + high) / 2;
    (shoot(slope, tip) > 0 ? high : low) = slope;
  }
  return tip;
}

}  // namespace pliant::testing
