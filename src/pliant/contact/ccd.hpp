#pragma once

#include <limits>
#include <optional>

#include "pliant/contact/closest.hpp"

namespace pliant {

struct CcdOptions {
  double until = 1;    ///< motions are looked at up to this time
  double gap = 0.001;  ///< how much of the first distance is still there at the time that is returned
  double most_gap = std::numeric_limits<double>::infinity();  ///< but not more than this, m
  double tolerance = 0.5;     ///< stops when the gap is at most this fraction larger than asked for
  int max_iterations = 1000;  ///< then the time reached so far is returned, which is too early but safe
};

/// Continuous collision detection of corners that move along lines from x to x + dx (at time 1): a time before which
/// the primitives keep a distance of `gap` times their first one, and at which they have come as near as that; none
/// when they do not come as near until `until`. Zero for primitives that touch where they start.
///
/// Additive CCD (Li et al. 2021, "Codimensional incremental potential contact", Algorithm 1), with a better bound on
/// how far one may advance. There it is distance over the sum of the fastest corners' speeds. Here it is how long a
/// slab keeps the primitives apart: its normal n is the direction between their nearest points, both are convex, so
/// every corner of the one is at least d before every corner of the other along n; these gaps are linear in time, and
/// until the first of them has shrunk to the asked one the primitives cannot be nearer than it. Never a shorter advance
/// than the original; sliding at a constant gap, where the original needs as many steps as the path is gaps long, takes
/// one.
std::optional<double> time_of_impact(PairKind kind, const Corners& x, const Corners& dx,
                                     const CcdOptions& options = {});

}  // namespace pliant
