#pragma once

#include "pliant/solvers/incremental_potential.hpp"

namespace pliant {

/// `armijo` compares energies alone. `robust` (pitfalls, Algorithm 3) falls back on gradients where the difference of
/// two energies drowns in rounding, as it does for stiff bodies.
enum class LineSearchKind { armijo, robust };

struct LineSearchOptions {
  LineSearchKind kind = LineSearchKind::robust;
  double decrease = 1e-4;       ///< c in the Armijo condition
  double smallest_step = 1e-7;  ///< failure below
  double energy_noise = 0.1;    ///< robust: energies closer than this fraction of |E| may be compared by gradients
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
};

/// Finds a step length along dx by halving from `largest`, the largest permissible step (at most 1). On success `trial`
/// is the new iterate.
LineSearchResult line_search(IncrementalPotential& potential, const Iterate& current, const VecX& dx, double largest,
                             const LineSearchOptions& options, Iterate& trial);

}  // namespace pliant
