#include "pliant/solvers/newton/direction.hpp"

namespace pliant {

namespace {

class NewtonDirection final : public Direction {
 public:
  FactorStatus compute(LinearSystem& system, const Iterate& current, VecX& dx) override {
    system.assemble(current.x, Projection::none);
    FactorStatus status = system.solve(Factorisation::llt, current.gradient, dx);
    // Cholesky is the cheap test of definiteness; only where it fails is the pivoted factorisation paid for.
    met_indefinite_ = status == FactorStatus::not_positive_definite;
    turned_ = false;
    if (met_indefinite_) status = system.solve(Factorisation::ldlt, current.gradient, dx);
    if (status != FactorStatus::ok) return status;
    turned_ = !system.is_driven() && system.slope(current.gradient, dx) > 0;
    if (turned_) dx = -dx;
    return status;
  }

  bool met_indefinite() const override { return met_indefinite_; }
  bool turned() const override { return turned_; }

 private:
  bool met_indefinite_ = false, turned_ = false;
};

}  // namespace

std::unique_ptr<Direction> make_newton_direction() { return std::make_unique<NewtonDirection>(); }

}  // namespace pliant
