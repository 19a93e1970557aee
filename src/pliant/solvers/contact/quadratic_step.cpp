#include "pliant/solvers/contact/quadratic_step.hpp"

namespace pliant {

void QuadraticStep::begin(const VecX& y, const std::vector<std::uint8_t>& held) {
  problem_ = potential_.problem();
  y_ = y;
  b_.resize(0);
  problem_.boundary.fixed = held;
  problem_.fixed.clear();
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!held[i]) continue;
    problem_.fixed.push_back(static_cast<Index>(i));
    problem_.boundary.positions[static_cast<Eigen::Index>(i)] = y[static_cast<Eigen::Index>(i)];
  }
}

double QuadraticStep::gradient(const VecX& x, VecX& g) {
  offset_ = x - y_;
  A_.multiply(offset_, g);
  double value = 0.5 * offset_.dot(g);
  if (b_.size() > 0) {
    value += offset_.dot(b_);
    g += b_;
  }
  value += contact()->add_gradient(problem_.pose(x), g);
  for (Index i : problem_.fixed) g[i] = 0;
  return value;
}

void QuadraticStep::hessian(const VecX& x, Projection projection, double, BlockMatrix& A, Drive* drive) {
  potential_.complete_hessian(A_, x, projection, problem_, A, drive);
}

}  // namespace pliant
