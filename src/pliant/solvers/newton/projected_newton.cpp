#include <algorithm>

#include "pliant/solvers/newton/direction.hpp"

namespace pliant {

namespace {

constexpr double kLeastInertia = 1e-6, kMostInertia = 1e12;  // of M/h^2
constexpr double kFarthest = 0.1;                            // of the smallest body's size, in one iteration

class ProjectedDirection final : public Direction {
 public:
  explicit ProjectedDirection(Projection projection) : projected_(projection) {}

  void begin_step() override { projected_.begin_step(); }
  FactorStatus compute(LinearSystem& system, const Iterate& current, VecX& dx) override {
    return projected_.solve(system, current, dx);
  }
  void after_line_search(double alpha) override { projected_.after_line_search(alpha); }
  bool projected() const override { return true; }

 private:
  ProjectedSystem projected_;
};

}  // namespace

FactorStatus ProjectedSystem::solve(LinearSystem& system, const Iterate& current, VecX& dx) {
  for (;;) {
    system.assemble(current.x, projection_, 1 + added_);
    const FactorStatus status = system.solve(Factorisation::llt, current.gradient, dx);
    const bool leads_too_far =
        status == FactorStatus::ok && added_ > 0 && dx.lpNorm<Eigen::Infinity>() > kFarthest * system.size();
    if ((status != FactorStatus::not_positive_definite && !leads_too_far) || added_ > kMostInertia) return status;
    if (added_ == 0 && !system.may_add_inertia()) return status;
    added_ = std::max(kLeastInertia, 10 * added_);
  }
}

void ProjectedSystem::after_line_search(double alpha) {
  added_ = alpha < 1 ? 4 * added_ : added_ / 10;
  if (added_ < kLeastInertia) added_ = 0;
}

std::unique_ptr<Direction> make_projected_direction(Projection projection) {
  return std::make_unique<ProjectedDirection>(projection);
}

}  // namespace pliant
