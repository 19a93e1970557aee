#include "pliant/contact/barrier.hpp"

#include <algorithm>

namespace pliant {

double distance_at_barrier(double without, double give, double dhat, double guess) {
  if (!(without < dhat)) return without;
  const double dhat2 = dhat * dhat;
  // d + give db/dd - without is concave, rises from minus infinity at 0 and is positive at dhat.
  double low = std::max(0.0, without), high = dhat;
  double d = guess > low && guess < high ? guess : 0.5 * (low + high);
  for (int k = 0; k < 200; ++k) {
    const Barrier b = barrier(d * d, dhat2);
    const double value = d + give * 2 * d * b.first - without;
    const double slope = 1 + give * (2 * b.first + 4 * d * d * b.second);
    (value < 0 ? low : high) = d;
    double next = d - value / slope;
    if (!(next > low && next < high)) next = low > 0 ? 0.5 * (low + high) : 0.1 * high;
    if (std::abs(next - d) <= 2 * std::numeric_limits<double>::epsilon() * d) return next;
    d = next;
  }
  return d;
}

}  // namespace pliant
