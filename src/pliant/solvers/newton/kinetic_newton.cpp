#include <algorithm>

#include "pliant/solvers/newton/direction.hpp"

namespace pliant {

namespace {

/// pitfalls, Algorithm 2: H_beta = M / (beta h)^2 + H_f, as if the step were beta times as long.
class KineticDirection final : public Direction {
 public:
  explicit KineticDirection(const KineticOptions& options) : options_(options) {}
  void begin_step() override { beta_ = 1; }

  FactorStatus compute(LinearSystem& system, const Iterate& current, VecX& dx) override {
    met_indefinite_ = false;
    for (;;) {
      system.assemble(current.x, Projection::none, 1 / (beta_ * beta_));
      const FactorStatus status = system.solve(Factorisation::llt, current.gradient, dx);
      if (status != FactorStatus::not_positive_definite || beta_ < kSmallest) return status;
      met_indefinite_ = true;
      beta_ /= 2;
    }
  }

  /// M/(beta h)^2 + H_f is at most M/h^2 + H_f over beta^2, for H_f >= 0.
  double shortening() const override { return 1 / (beta_ * beta_); }

  bool met_indefinite() const override { return met_indefinite_; }

  void after_line_search(double alpha) override {
    if (alpha < options_.halve_below) beta_ /= 2;
    if (alpha > options_.double_above) beta_ = std::min(1.0, 2 * beta_);
  }

 private:
  /// Below this the matrix is the mass matrix to all digits; if it still cannot be factorised, less will not help.
  static constexpr double kSmallest = 1e-12;

  KineticOptions options_;
  double beta_ = 1;
  bool met_indefinite_ = false;
};

}  // namespace

std::unique_ptr<Direction> make_kinetic_direction(const KineticOptions& options) {
  return std::make_unique<KineticDirection>(options);
}

}  // namespace pliant
