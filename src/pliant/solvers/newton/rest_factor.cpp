#include "pliant/solvers/newton/rest_factor.hpp"

namespace pliant {

RestFactor::RestFactor(StepFunction& function, std::vector<Index> order)
    : function_(function), rotations_(function.model(), NodeRotationKind::ring), turned_(cholesky_) {
  const auto& pattern = function.model().pattern();
  order.empty() ? cholesky_.analyze(pattern, 3) : cholesky_.analyze_in_order(pattern, 3, std::move(order));
}

bool RestFactor::prepare(const VecX& x) {
  const StepProblem& problem = function_.problem();
  if (!made_for_.fits(problem)) {
    BlockMatrix rest(function_.model().pattern(), 3);
    function_.rest_hessian(rest);
    is_made_ = cholesky_.factor(rest) == FactorStatus::ok;
    if (is_made_) cholesky_.store_in_float();
    made_for_ = MatrixKey(problem);
    const std::vector<std::uint8_t>& fixed = problem.boundary.fixed;
    held_.resize(at(function_.model().nodes()));
    for (std::size_t i = 0; i < held_.size(); ++i) held_[i] = fixed[3 * i] || fixed[3 * i + 1] || fixed[3 * i + 2];
  }
  if (!is_made_) return false;
  rotations_.compute(x, held_);
  turned_.set_rotations(rotations_.rotations());
  return true;
}

}  // namespace pliant
