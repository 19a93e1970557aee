#include "pliant/solvers/newton/direction.hpp"

namespace pliant {

namespace {

class ProjectedDirection final : public Direction {
 public:
  explicit ProjectedDirection(Projection projection) : projection_(projection) {}

  FactorStatus compute(NewtonSystem& system, const Iterate& current, VecX& dx) override {
    system.assemble(current.x, projection_);
    const FactorStatus status = system.factor(Factorisation::llt);
    if (status == FactorStatus::ok) system.solve(current.gradient, dx);
    return status;
  }

  bool projected() const override { return true; }

 private:
  Projection projection_;
};

}  // namespace

std::unique_ptr<Direction> make_projected_direction(Projection projection) {
  return std::make_unique<ProjectedDirection>(projection);
}

}  // namespace pliant
