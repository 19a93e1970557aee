#pragma once

#include <algorithm>
#include <array>

#include "contact/pair_test_support.hpp"
#include "pliant/contact/ccd.hpp"

// Continuous collision detection against brute force, for tests and for the campaign of a million queries.
namespace pliant::testing {

struct CcdCampaign {
  int queries = 0;
  int collisions = 0;      ///< queries built to collide, or found to by sampling
  int missed = 0;          ///< of these, not reported, or reported too late
  int overshot = 0;        ///< crossed before the time reported
  int touching = 0;        ///< distance zero at the time reported
  int ordinary = 0;        ///< collisions of well-shaped pairs whose true time is known to rounding
  int near_misses = 0;     ///< of those, past each other within the asked gap at the time reported, and meeting later
  double worst_early = 0;  ///< of the others, the largest relative earliness
};

/// The volume spanned by the four corners, whose zeros are the coplanar instants.
inline double volume(const Corners& x) { return (x[1] - x[0]).cross(x[2] - x[0]).dot(x[3] - x[0]); }

/// Time of the first instant in (0, 1) at which the corners are coplanar and the primitives meet, by sampling and
/// bisection; 2 when there is none. Good for motions whose coplanar instants are simple and further apart than
/// 1/samples.
inline double brute_force_time(PairKind kind, const Corners& x, const Corners& dx, int samples) {
  double before = volume(x);
  for (int k = 1; k <= samples; ++k) {
    double low = (k - 1.0) / samples, high = static_cast<double>(k) / samples;
    const double after = volume(moved(x, dx, high));
    if ((before < 0) != (after < 0)) {
      const bool sign = before < 0;
      for (int step = 0; step < 60; ++step) {
        const double middle = 0.5 * (low + high);
        ((volume(moved(x, dx, middle)) < 0) == sign ? low : high) = middle;
      }
      const Corners y = moved(x, dx, low);
      double size = 0;
      for (std::size_t i = 1; i < 4; ++i) size = std::max(size, (y[i] - y[0]).squaredNorm());
      if (closest(kind, y).d2 < 1e-20 * size) return low;
    }
    before = after;
  }
  return 2;
}

/// A motion that brings a random point of the first primitive onto one of the second at time `t`.
inline Corners colliding_motion(PairKind kind, const Corners& x, double t, PairSampler& sample, bool at_border) {
  Corners dx = sample.corners(2);
  std::array<double, 4> w{};
  const auto place = [&] { return at_border && sample.integer(0, 1) ? sample.integer(0, 1) : sample.uniform(0, 1); };
  if (kind == PairKind::point_triangle) {
    double u = place(), v = place();
    if (u + v > 1) u = 1 - u, v = 1 - v;
    w = {1, -(1 - u - v), -u, -v};
  } else {
    const double s = place(), r = place();
    w = {1 - s, s, -(1 - r), -r};
  }
  // Sum of w_i (x_i + t dx_i) = 0: correct the motion of the first primitive's corners.
  Vec3 miss = Vec3::Zero();
  for (std::size_t i = 0; i < 4; ++i) miss += w[i] * (x[i] + t * dx[i]);
  const std::size_t first = kind == PairKind::point_triangle ? 1 : 2;
  for (std::size_t i = 0; i < first; ++i) dx[i] -= miss / t;
  return dx;
}

/// Whether the pair is within the asked gap at `from` and then leaves it, tenfold, before it meets at `to`: where it
/// only goes on approaching, the search has stopped too early.
inline bool comes_apart(PairKind kind, const Corners& x, const Corners& dx, double from, double to) {
  constexpr int kSamples = 256;
  const CcdOptions options;
  const double near = (1 + options.tolerance) * options.gap * std::sqrt(closest(kind, x).d2);
  const auto distance = [&](double t) { return std::sqrt(closest(kind, moved(x, dx, t)).d2); };
  if (distance(from) > near) return false;
  for (int k = 1; k < kSamples; ++k)
    if (distance(from + (to - from) * k / kSamples) > 10 * near) return true;
  return false;
}

inline CcdCampaign run_ccd_campaign(int queries, unsigned seed) {
  PairSampler sample(seed);
  CcdCampaign result;
  for (int k = 0; k < queries; ++k) {
    const bool degenerate = k % 2 == 1, collides = k % 4 < 2;
    const PairKind kind = k % 8 < 4 ? PairKind::point_triangle : PairKind::edge_edge;
    const Corners x = degenerate ? sample.awkward() : sample.corners();
    if (!(closest(kind, x).d2 > 0)) continue;
    const double t = sample.uniform(0.01, 1);
    const Corners dx = collides     ? colliding_motion(kind, x, t, sample, degenerate)
                       : degenerate ? sample.awkward()
                                    : sample.corners(2);
    ++result.queries;
    const auto found = time_of_impact(kind, x, dx);
    const double earliest = brute_force_time(kind, x, dx, degenerate ? 32 : 64);
    const double known = std::min(earliest, collides ? t : 2.0);
    if (known <= 1) {
      ++result.collisions;
      if (!found || *found > known) ++result.missed;
    }
    const double until = found ? *found : 1;
    if (found && !(closest(kind, moved(x, dx, *found)).d2 > 0)) ++result.touching;
    if (earliest < until) ++result.overshot;
    // Well shaped: no slivers, met by a crossing that is not grazing.
    if (degenerate || earliest > 1 || !found) continue;
    const Corners y = moved(x, dx, earliest);
    const Vec3 n =
        kind == PairKind::point_triangle ? (y[2] - y[1]).cross(y[3] - y[1]) : (y[1] - y[0]).cross(y[3] - y[2]);
    Vec3 approach = Vec3::Zero();
    const Closest c = closest(kind, y);
    double fastest = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      approach += c.weight[i] * dx[i];
      fastest = std::max(fastest, (dx[i] - dx[0]).norm());
    }
    if (n.norm() < 0.1 || std::abs(approach.dot(n.normalized())) < 0.3 * fastest || closest(kind, x).d2 > 4) continue;
    ++result.ordinary;
    const double early = (earliest - *found) / earliest;
    if (early > 0.01 && comes_apart(kind, x, dx, *found, earliest))
      ++result.near_misses;
    else
      result.worst_early = std::max(result.worst_early, early);
  }
  return result;
}

}  // namespace pliant::testing
