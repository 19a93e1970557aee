#pragma once

#include <chrono>

#include "pliant/sim/rank_one.hpp"
#include "pliant/solvers/quasi_newton/contact_descent.hpp"
#include "pliant/solvers/quasi_newton/initial_hessian.hpp"

namespace pliant {

enum class QuasiNewtonMethod {
  lbfgs,      ///< quasi-newton: L-BFGS on the constant matrix; with a window of zero, Projective Dynamics
  chebyshev,  ///< Projective Dynamics with Chebyshev's semi-iterative acceleration (Wang 2015)
};

struct QuasiNewtonOptions {
  QuasiNewtonMethod method = QuasiNewtonMethod::lbfgs;
  std::string name = "quasi-newton";
  Integrator integrator = Integrator::implicit_euler;
  int window = 5;            ///< of L-BFGS
  int iterations = 10;       ///< of every step, unless the criterion is met before
  bool stops_early = false;  ///< whether there is a criterion at all
  double time_limit = 0;     ///< wall clock of a step, s; 0: none, and the same bits whatever the machine
  CriterionOptions criterion;
  LineSearchOptions line_search{LineSearchKind::robust, 0.3, 1e-7, 0.1};
  InitialHessianOptions hessian;
  int chebyshev_start = 10;    ///< S: plain iterations before acceleration
  double spectral_radius = 0;  ///< rho; 0: estimated once, at rest
  bool history = false;
};

/// Minimises the incremental potential of each step with a constant matrix (quasi-newton, Algorithms 1 to 3).
class QuasiNewtonStepper final : public Stepper {
 public:
  QuasiNewtonStepper(std::shared_ptr<const Model> model, const QuasiNewtonOptions& options);

  std::string_view name() const override { return options_.name; }
  /// As given or estimated; 0 before the first step of Chebyshev's method.
  double spectral_radius() const { return rho_; }
  std::vector<double> memory() const override { return hessian_->memory(); }
  void recall(std::span<const double> memory) override { hessian_->recall(memory); }

 protected:
  void advance(Solution& solution, StepReport& report) override;

 private:
  bool prepare(StepReport& report);
  bool find_start(StepReport& report);
  void iterate(StepReport& report);
  bool is_satisfied(bool is_last, StepReport& report);
  bool follow(StepReport& report);
  bool matrix_serves(StepReport& report);
  bool extend_budget(const StepReport& report);
  bool is_out_of_time();
  void end_by_newton(StepReport& report);
  LineSearchResult search(const history::Descent& descent, StepReport& report);
  void take_step(double alpha, StepReport& report);
  bool ends_by_step(double step_length) const;
  void begin_rescue();
  void accelerate();
  bool renew_friction(const StepReport& report);
  void forget_other_contacts();
  void estimate_spectral_radius();
  void take_in_gas();

  QuasiNewtonOptions options_;
  ConvergenceTest convergence_;
  std::unique_ptr<InitialHessian> hessian_;
  Lbfgs lbfgs_;
  std::optional<ContactDescent> contact_;
  Iterate current_, trial_;
  VecX dx_, previous_x_;
  int budget_ = 0;                ///< ends the loop: a number of iterations, counted over the step
  bool ended_by_newton_ = false;  ///< with contact
  bool rescue_ = false;           ///< for the rest of the step the matrix is made anew at every iterate
  double damping_ = 0;            ///< of these matrices
  double rho_ = 0, omega_ = 1;
  bool has_gas_;
  RankOneUpdate gas_;                                   ///< what gas adds to the matrix
  int friction_iterations_ = 0;                         ///< how often friction was renewed in this step
  int plain_iterations_ = 0;                            ///< since Chebyshev's acceleration began
  std::chrono::steady_clock::time_point begin_, last_;  ///< of the step and of its last iteration
};

}  // namespace pliant
