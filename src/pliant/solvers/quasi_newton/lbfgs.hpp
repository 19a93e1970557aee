#pragma once

#include <functional>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// The last pairs of steps and changes of gradient, and the product of the inverse Hessian they suggest with a vector
/// (quasi-newton, Algorithm 2; Nocedal and Wright, Algorithm 7.4). A window of zero is the initial Hessian alone.
class Lbfgs {
 public:
  explicit Lbfgs(int window) : window_(static_cast<std::size_t>(window)) {}

  void forget() { count_ = 0; }
  /// s = x_new - x, y = g_new - g. A pair without positive curvature says nothing and is left out.
  void remember(const VecX& x_new, const VecX& x, const VecX& g_new, const VecX& g);

  /// d = -H g, with `initial(q, r)` setting r = A^{-1} q.
  template <class Initial>
  void direction(const VecX& g, Initial&& initial, VecX& d) {
    q_ = g;
    for (std::size_t k = count_; k-- > 0;) {
      Pair& pair = at(k);
      pair.weight = pair.s.dot(q_) * pair.rho;
      q_ -= pair.weight * pair.y;
    }
    initial(q_, d);
    for (std::size_t k = 0; k < count_; ++k) {
      const Pair& pair = at(k);
      d += (pair.weight - pair.y.dot(d) * pair.rho) * pair.s;
    }
    d = -d;
  }

 private:
  struct Pair {
    VecX s, y;
    double rho = 0, weight = 0;
  };
  /// The k-th oldest.
  Pair& at(std::size_t k) { return pairs_[(first_ + k) % pairs_.size()]; }

  std::size_t window_;
  std::vector<Pair> pairs_;
  std::size_t first_ = 0, count_ = 0;
  VecX q_;
};

}  // namespace pliant
