#pragma once

#include <cmath>
#include <limits>

namespace pliant {

/// The barrier of IPC in squared distances, b = -(d2 - dhat2)^2 ln(d2/dhat2) for d2 < dhat2 and 0 beyond (C2), m^4,
/// with its derivatives with respect to d2. Infinite at d2 = 0.
struct Barrier {
  double value = 0, first = 0, second = 0;
};

inline Barrier barrier(double d2, double dhat2) {
  if (!(d2 < dhat2)) return {};
  if (!(d2 > 0)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return {infinity, -infinity, infinity};
  }
  const double y = d2 - dhat2, log = std::log(d2 / dhat2);
  return {-y * y * log, -y * (2 * log + y / d2), -2 * log - 4 * y / d2 + y * y / (d2 * d2)};
}

/// The distance d at which a barrier holds what would be at `without` (m, negative: behind) if there were none and
/// gives way to its force by `give` (1/m^2) times it: d + give db/dd = without, by safeguarded Newton to rounding.
/// Positive; `without` itself where that is dhat or more. `guess` is where the iteration begins, if it may.
double distance_at_barrier(double without, double give, double dhat, double guess);

}  // namespace pliant
