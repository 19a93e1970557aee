#pragma once

#include <functional>
#include <memory>

#include "pliant/sim/incremental_potential.hpp"
#include "pliant/solvers/line_search.hpp"
#include "pliant/solvers/quasi_newton/initial_hessian.hpp"

namespace pliant::experiments {

/// The paper's Algorithms 1 to 3 as they are printed. The engine's solver adds a rescue by Newton's method, restarts of
/// Chebyshev's acceleration and a rule that forgets pairs when contacts change; claims about the method itself are
/// judged without them.
struct DescentOptions {
  int window = 5;
  int iterations = 10;
  LineSearchOptions search{LineSearchKind::armijo, 0.3, 1e-7, 0.1};
  InitialHessianOptions hessian;
  /// What the matrix is made from, where it is to know less than the energy does: the same nodes and elements.
  std::shared_ptr<const Model> matrix_model = {};
  double spectral_radius = 0;  ///< of Chebyshev's method, which is taken when this is positive
  int chebyshev_start = 10;
  /// Of the older pairs, how many stay when so many nodes touched or left a collider; empty: all.
  std::function<std::size_t(std::size_t pairs, Index changed)> keeps;
};

/// One iteration as it went.
struct DescentStep {
  double energy = 0;  ///< where it begins, J
  double slope = 0;   ///< gradient . direction
  double alpha = 0;
  int evaluations = 0;
  double seconds = 0;  ///< of processor time of this thread, from the start of the frame to its end
};

struct DescentFrame {
  std::vector<DescentStep> steps;
  VecX x;
  double first = 0, energy = 0;  ///< at the prediction and at the end, J
  int factorisations = 0;
  double history_seconds = 0;  ///< Algorithm 2 without its seventh line
  double solve_seconds = 0;    ///< that line
  double seconds = 0;
  bool search_failed = false;

  int evaluations() const;
  double energy_after(std::size_t iterations) const {
    return iterations < steps.size() ? steps[iterations].energy : energy;
  }
};

class Descent {
 public:
  Descent(std::shared_ptr<const Model> model, DescentOptions options);

  /// What an iteration is about to do: the iterate, its direction and the slope along it.
  using Observer = std::function<void(const Iterate& current, const VecX& direction, double slope)>;
  /// Solves the step that begins at `state` and leaves the state alone.
  DescentFrame solve(const State& state, double h, const Observer& observer = {});
  /// Takes the step. False when the state would not be finite, and then it is left as it was.
  bool advance(State& state, double h, DescentFrame* frame = nullptr);

  DescentOptions& options() { return options_; }
  IncrementalPotential& potential() { return potential_; }

 private:
  history::Descent chebyshev_direction(int iteration);

  std::shared_ptr<const Model> model_;
  DescentOptions options_;
  IncrementalPotential potential_;
  std::unique_ptr<InitialHessian> hessian_;
  Lbfgs lbfgs_;
  Iterate current_, trial_;
  VecX dx_, before_;
  double omega_ = 1;
};

}  // namespace pliant::experiments
