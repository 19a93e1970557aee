#include "pliant/solvers/newton/direction.hpp"

namespace pliant {

namespace {

class ProjectedDirection final : public Direction {
 public:
  explicit ProjectedDirection(Projection projection) : projection_(projection) {}

  FactorStatus compute(LinearSystem& system, const Iterate& current, VecX& dx) override {
    system.assemble(current.x, projection_);
    return system.solve(Factorisation::llt, current.gradient, dx);
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
