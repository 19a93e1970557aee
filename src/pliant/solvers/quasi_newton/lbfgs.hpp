#pragma once

#include <vector>

#include "pliant/math/types.hpp"
#include "pliant/solvers/quasi_newton/history_kernels.hpp"

namespace pliant {

/// The last pairs of steps and changes of gradient, and the product of the inverse Hessian they suggest with a vector
/// (quasi-newton, Algorithm 2; Nocedal and Wright, Algorithm 7.4). A window of zero is the initial Hessian alone.
///
/// The two loops of the recursion update a vector with one pair after the other. Since all they need of it are inner
/// products, which are linear, they are run on numbers instead: one pass takes all s_i . g, one forms what the initial
/// Hessian is applied to, one takes all y_i . r, one forms the direction. The products s_i . y_j that this needs are
/// differences of the s_i . g of successive gradients.
class Lbfgs {
 public:
  explicit Lbfgs(int window);

  void forget() { count_ = 0; }
  /// Forgets all but the newest pairs.
  void keep(std::size_t newest);
  std::size_t pairs() const { return count_; }

  /// The step alpha dx that led from gradient g, for which direction() was called last, to g_new. A pair without
  /// positive curvature says nothing and is left out.
  void remember(double alpha, const VecX& dx, const VecX& g_new, const VecX& g);

  /// d = -H g, with `initial(q, r)` setting r = A^{-1} q. q may be g itself.
  template <class Initial>
  history::Descent direction(const VecX& g, Initial&& initial, VecX& d) {
    if (count_ == 0) {
      initial(g, d);
    } else {
      initial(first_loop(g), d);
      second_loop(d);
    }
    return turn(g, d);
  }

  /// s.y / y.y of the newest pair, or 0 without any: the scale of the identity in Nocedal and Wright's (7.20).
  double identity_scale() const { return count_ > 0 ? at(count_ - 1).scale : 0; }

 private:
  struct Pair {
    std::vector<float> s, y;
    double inverse_curvature = 0;  ///< 1 / s.y
    double scale = 0;
    double s_dot_g = 0;  ///< with the gradient of the last direction
  };
  /// The k-th oldest.
  Pair& at(std::size_t k) { return pairs_[(first_ + k) % pairs_.size()]; }
  const Pair& at(std::size_t k) const { return pairs_[(first_ + k) % pairs_.size()]; }
  /// s.y of the i-th and j-th oldest, i < j.
  double& product(std::size_t i, std::size_t j) {
    return products_[(first_ + i) % window_ * window_ + (first_ + j) % window_];
  }
  const VecX& first_loop(const VecX& g);
  void second_loop(VecX& r);
  history::Descent turn(const VecX& g, VecX& d);
  void dots(const VecX& g, std::vector<float> Pair::*which);
  void combine(std::vector<float> Pair::*which, const VecX& in, VecX& out);

  std::size_t window_;
  std::vector<Pair> pairs_;
  std::size_t first_ = 0, count_ = 0;
  bool newest_is_new_ = false;    ///< its products with the older ones are yet to be taken
  std::vector<double> products_;  ///< window x window
  std::vector<double> sums_, weights_, zeta_, partial_;
  std::vector<history::Descent> descents_;
  std::vector<history::Curvature> curvatures_;
  VecX q_;
};

}  // namespace pliant
