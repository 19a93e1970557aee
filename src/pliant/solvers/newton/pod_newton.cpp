#include <algorithm>

#include "pliant/solvers/newton/direction.hpp"

namespace pliant {

namespace {

/// pitfalls, Algorithm 1. A failed Cholesky switches projection on for this and the next three iterations; after that
/// it stays on only while steps are cut short.
class OnDemandDirection final : public Direction {
 public:
  OnDemandDirection(Projection projection, const OnDemandOptions& options)
      : projected_system_(projection), options_(options) {}

  void begin_step() override {
    projected_system_.begin_step();
    project_ = false;
    countdown_ = 0;
  }

  FactorStatus compute(LinearSystem& system, const Iterate& current, VecX& dx) override {
    FactorStatus status = FactorStatus::not_positive_definite;
    met_indefinite_ = false;
    if (!project_) {
      system.assemble(current.x, Projection::none);
      status = system.solve(Factorisation::llt, current.gradient, dx);
      if (status == FactorStatus::not_positive_definite) {
        project_ = met_indefinite_ = true;
        countdown_ = options_.projected_steps - 1;
      }
    }
    if (project_) status = projected_system_.solve(system, current, dx);
    projected_ = project_;
    return status;
  }

  void after_line_search(double alpha) override {
    projected_system_.after_line_search(alpha);
    project_ = (options_.after_short_steps && alpha < 1) || countdown_ > 0;
    countdown_ = std::max(0, countdown_ - 1);
  }

  bool projected() const override { return projected_; }
  bool met_indefinite() const override { return met_indefinite_; }

 private:
  ProjectedSystem projected_system_;
  OnDemandOptions options_;
  bool project_ = false;
  bool projected_ = false;
  bool met_indefinite_ = false;
  int countdown_ = 0;
};

}  // namespace

std::unique_ptr<Direction> make_on_demand_direction(Projection projection, const OnDemandOptions& options) {
  return std::make_unique<OnDemandDirection>(projection, options);
}

}  // namespace pliant
