#pragma once

#include <cmath>

#include "pliant/sim/step_function.hpp"

namespace pliant {

/// `armijo` compares energies alone. `robust` (pitfalls, Algorithm 3) falls back on gradients where the difference of
/// two energies drowns in rounding, as it does for stiff bodies. `wolfe` also asks for a gradient that has fallen
/// enough, and lengthens steps for it. `none` takes every step whole, for showing what comes of it.
enum class LineSearchKind { armijo, robust, wolfe, none };

struct LineSearchOptions {
  LineSearchKind kind = LineSearchKind::robust;
  double decrease = 1e-4;       ///< c in the Armijo condition
  double smallest_step = 1e-7;  ///< failure below
  double energy_noise = 0.1;    ///< robust: energies closer than this fraction of |E| may be compared by gradients
  double error_weight = 1;  ///< robust: of the estimated error that is added to that comparison; 0: Hager, Zhang 2005
  double curvature = 0.9;   ///< wolfe: |slope| must fall to this fraction
};

/// A point with value and gradient of the incremental potential.
struct Iterate {
  VecX x;
  double energy = 0;  ///< J
  VecX gradient;      ///< N, zero where prescribed
};

struct LineSearchResult {
  bool accepted = false;
  double alpha = 0;
  int evaluations = 0;  ///< of energy and gradient, which share one pass over the elements
  int compared = 0;     ///< how many of them were judged by their gradients
};

/// A direction of descent.
struct Ray {
  const VecX& dx;
  double slope;        ///< gradient . dx, negative
  double largest = 1;  ///< the largest permissible step, at most 1
};

/// Whether a step of length alpha, from one energy to another, is taken. `trial_slope()`, the slope where it leads, is
/// only asked for where the energies do not tell. An infinite or undefined energy (an inverted element, an overflow)
/// means "too far": every comparison is false for it.
template <class Slope>
bool accepts(const LineSearchOptions& options, double alpha, double trial_energy, double energy, double slope,
             Slope&& trial_slope) {
  const double dE = trial_energy - energy;
  if (dE <= options.decrease * alpha * slope || options.kind == LineSearchKind::none) return true;
  if (options.kind != LineSearchKind::robust || !(std::abs(dE) <= options.energy_noise * std::abs(energy)))
    return false;
  // pitfalls Eqs. (16)-(18): the energy difference by the trapezoidal rule, and an estimate of that rule's error.
  const double slope_there = trial_slope();
  const double dE_approx = alpha / 2 * (slope_there + slope);
  const double error = alpha / 2 * (slope_there - slope);
  return dE_approx + options.error_weight * std::abs(error) <= options.decrease * alpha * slope;
}

/// Finds a step length along the ray by halving from the largest one. On success `trial` is the new iterate.
LineSearchResult line_search(StepFunction& function, const Iterate& current, const Ray& ray,
                             const LineSearchOptions& options, Iterate& trial);

}  // namespace pliant
