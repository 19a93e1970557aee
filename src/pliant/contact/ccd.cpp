#include "pliant/contact/ccd.hpp"

#include <cmath>
#include <limits>

namespace pliant {

namespace {

/// How long a slab with normal n (pointing from the second to the first primitive) keeps the corners `gap` apart.
/// Where rounding has spoilt the normal, so that some corners are not even now that far apart along it, the bound is
/// that of the fastest approach of any two corners.
double safe_time(const Corners& x, const Corners& dx, std::size_t first_count, const Vec3& n, double distance,
                 double gap) {
  double time = std::numeric_limits<double>::infinity(), fastest2 = 0;
  bool is_slab = true;
  for (std::size_t i = 0; i < first_count; ++i)
    for (std::size_t j = first_count; j < 4; ++j) {
      const Vec3 relative = dx[j] - dx[i];
      const double apart = n.dot(x[i] - x[j]), closing = n.dot(relative);
      is_slab = is_slab && apart > gap;
      if (closing > 0) time = std::min(time, (apart - gap) / closing);
      fastest2 = std::max(fastest2, relative.squaredNorm());
    }
  return is_slab ? time : std::max(0.0, distance - gap) / std::sqrt(fastest2);
}

}  // namespace

std::optional<double> time_of_impact(PairKind kind, const Corners& x, const Corners& dx, const CcdOptions& options) {
  const std::size_t first_count = kind == PairKind::point_triangle ? 1 : 2;
  Closest c = closest(kind, x);
  const double start = std::sqrt(c.d2);
  double coordinates = 0;
  for (std::size_t i = 0; i < 4; ++i)
    coordinates = std::max(coordinates, x[i].cwiseAbs().maxCoeff() + dx[i].cwiseAbs().maxCoeff());
  // Nearer than what moving the corners rounds off nothing can be told.
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * coordinates;
  const double gap = std::max(std::min(options.gap * start, options.most_gap), rounding);
  const double near = gap * (1 + options.tolerance);
  if (!(start > gap)) return 0.0;
  Corners moved = x;
  double time = 0;
  for (int k = 0; k < options.max_iterations; ++k) {
    const double distance = std::sqrt(c.d2);
    if (distance <= near && k > 0) return time;
    const double advance = safe_time(moved, dx, first_count, c.r / distance, distance, gap);
    if (!(time + advance < options.until)) return std::nullopt;
    if (time + advance == time) return time;  // nothing left of it in rounding
    time += advance;
    for (std::size_t i = 0; i < 4; ++i) moved[i] = x[i] + time * dx[i];
    c = closest(kind, moved);
  }
  return time;
}

}  // namespace pliant
