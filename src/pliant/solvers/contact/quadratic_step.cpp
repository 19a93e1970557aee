#include "pliant/solvers/contact/quadratic_step.hpp"
#include "pliant/sim/contact/contact_step.hpp"

namespace pliant {

void QuadraticStep::begin(const VecX& y, const std::vector<std::uint8_t>& held) {
  problem_ = potential_.problem();
  y_ = y;
  b_.resize(0);
  ones_.clear();
  free_ones_.clear();
  problem_.boundary.fixed = held;
  problem_.fixed.clear();
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!held[i]) continue;
    problem_.fixed.push_back(static_cast<Index>(i));
    problem_.boundary.positions[static_cast<Eigen::Index>(i)] = y[static_cast<Eigen::Index>(i)];
  }
}

void QuadraticStep::set_rank_ones(std::span<const RankOne> ones) {
  ones_.assign(ones.begin(), ones.end());
  free_ones_ = ones_;
  for (RankOne& one : free_ones_)
    for (Index i : problem_.fixed) one.vector[i] = 0;
}

double QuadraticStep::gradient(const VecX& x, VecX& g) {
  offset_ = x - y_;
  A_.multiply(offset_, g);
  for (const RankOne& one : ones_) g += one.scale * one.vector.dot(offset_) * one.vector;
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
  if (!drive) return;
  for (std::size_t k = 0; k < ones_.size(); ++k)
    drive->coupling += ones_[k].scale * ones_[k].vector.dot(drive->remaining) * free_ones_[k].vector;
}

}  // namespace pliant
