#pragma once

#include <cmath>
#include <functional>
#include <vector>

namespace pliant::testing {

/// Errors of central differences with steps h, h/2, h/4, ... against an exact derivative, relative to its size.
struct DifferenceErrors {
  std::vector<double> errors;

  /// The smallest error, and the order of convergence between the steps before rounding takes over.
  double smallest() const {
    double value = errors.front();
    for (double e : errors) value = std::min(value, e);
    return value;
  }
  double order() const {
    double best = 0;
    for (std::size_t k = 1; k < errors.size(); ++k) {
      if (errors[k] < 1e-9) break;
      best = std::log2(errors[k - 1] / errors[k]);
    }
    return best;
  }
  /// Second order, or exact to rounding from the first step on (quadratic functions).
  bool second_order() const { return errors.front() < 1e-8 || (std::abs(order() - 2) < 0.1 && smallest() < 1e-5); }
};

/// error(h) is the relative error of the central difference with step h.
inline DifferenceErrors difference_errors(double h, const std::function<double(double)>& error, int halvings = 7) {
  DifferenceErrors result;
  for (int k = 0; k <= halvings; ++k, h /= 2) result.errors.push_back(error(h));
  return result;
}

}  // namespace pliant::testing
