#include "pliant/solvers/wolfe_search.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

/// A step length with what was found there.
struct Point {
  double alpha, energy, slope;
};

class Search {
 public:
  Search(StepFunction& function, const Iterate& current, const Ray& ray, const LineSearchOptions& options,
         Iterate& trial)
      : function_(function), current_(current), ray_(ray), options_(options), trial_(trial) {}

  /// Algorithm 3.5: lengthens the step until it, or an interval that must hold a good one, is found.
  LineSearchResult run() {
    constexpr double kLongest = 16;
    Point last{0, current_.energy, ray_.slope};
    for (double alpha = ray_.largest;; alpha *= 2) {
      const Point point = evaluate(alpha);
      if (!falls(point) || (last.alpha > 0 && is_above(point, last))) return zoom(last, point);
      if (is_flat(point)) return accept(point);
      if (point.slope >= 0) return zoom(point, last);
      // With contact nobody has looked beyond the largest step.
      if (alpha >= kLongest || ray_.largest < 1 || function_.contact()) return accept(point);
      last = point;
    }
  }

 private:
  Point evaluate(double alpha) {
    trial_.x = current_.x + alpha * ray_.dx;
    trial_.energy = function_.gradient(trial_.x, trial_.gradient);
    ++result_.evaluations;
    return {alpha, trial_.energy, trial_.gradient.dot(ray_.dx)};
  }
  /// Whether a difference of energies is lost in rounding.
  bool is_noise(double difference) const {
    constexpr double kRounding = 1e-10;  // sums of thousands of terms of either sign
    return std::abs(difference) <= kRounding * std::abs(current_.energy);
  }
  /// Sufficient decrease. Where rounding hides it, slopes tell: the approximate condition of Hager and Zhang 2005.
  bool falls(const Point& p) const {
    if (p.energy <= current_.energy + options_.decrease * p.alpha * ray_.slope) return true;
    return is_noise(p.energy - current_.energy) && p.slope <= (2 * options_.decrease - 1) * ray_.slope;
  }
  bool is_above(const Point& p, const Point& other) const {
    return !(p.energy < other.energy) && !is_noise(p.energy - other.energy);
  }
  bool is_flat(const Point& p) const { return std::abs(p.slope) <= -options_.curvature * ray_.slope; }

  /// Where the cubic through values and slopes of both ends is least (3.59), kept away from the ends; the middle where
  /// an end is infinite.
  static double between(const Point& a, const Point& b) {
    const double middle = 0.5 * (a.alpha + b.alpha), span = std::abs(b.alpha - a.alpha);
    if (!std::isfinite(b.energy) || !std::isfinite(b.slope)) return middle;
    const double d1 = a.slope + b.slope - 3 * (a.energy - b.energy) / (a.alpha - b.alpha);
    const double root = d1 * d1 - a.slope * b.slope;
    if (!(root >= 0)) return middle;
    const double d2 = std::copysign(std::sqrt(root), b.alpha - a.alpha);
    const double alpha = b.alpha - (b.alpha - a.alpha) * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
    return std::abs(alpha - middle) <= 0.4 * span ? alpha : middle;
  }

  /// Algorithm 3.6: `low` falls enough and points into the interval.
  LineSearchResult zoom(Point low, Point high) {
    constexpr int kTrials = 30;
    for (int k = 0; k < kTrials && std::abs(high.alpha - low.alpha) > options_.smallest_step; ++k) {
      const Point point = evaluate(between(low, high));
      if (!falls(point) || is_above(point, low)) {
        high = point;
        continue;
      }
      if (is_flat(point)) return accept(point);
      if (point.slope * (high.alpha - low.alpha) >= 0) high = low;
      low = point;
    }
    if (low.alpha == 0) return result_;
    return accept(evaluate(low.alpha));
  }

  LineSearchResult accept(const Point& p) {
    result_.accepted = true;
    result_.alpha = p.alpha;
    return result_;
  }

  StepFunction& function_;
  const Iterate& current_;
  const Ray& ray_;
  const LineSearchOptions& options_;
  Iterate& trial_;
  LineSearchResult result_;
};

}  // namespace

LineSearchResult wolfe_search(StepFunction& function, const Iterate& current, const Ray& ray,
                              const LineSearchOptions& options, Iterate& trial) {
  return Search(function, current, ray, options, trial).run();
}

}  // namespace pliant
