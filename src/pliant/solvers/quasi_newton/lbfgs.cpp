#include "pliant/solvers/quasi_newton/lbfgs.hpp"

namespace pliant {

void Lbfgs::remember(const VecX& x_new, const VecX& x, const VecX& g_new, const VecX& g) {
  if (window_ == 0) return;
  if (pairs_.empty()) pairs_.resize(window_);
  const std::size_t slot = (first_ + count_) % window_;
  Pair& pair = pairs_[slot];  // where the window is full, the oldest
  if (count_ == window_) {
    first_ = (first_ + 1) % window_;
    --count_;
  }
  pair.s = x_new - x;
  pair.y = g_new - g;
  const double curvature = pair.s.dot(pair.y);
  if (!(curvature > 1e-14 * pair.s.norm() * pair.y.norm())) return;
  pair.rho = 1 / curvature;
  ++count_;
}

}  // namespace pliant
