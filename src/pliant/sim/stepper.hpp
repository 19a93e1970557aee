#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/sim/model.hpp"

namespace pliant {

/// How a step ended. `converged`, `budget_spent`, `iteration_limit` and a failed line search leave a new state behind.
enum class Outcome {
  converged,
  budget_spent,          ///< ran the iterations it was given, as real-time methods are asked to
  iteration_limit,       ///< the state is the last iterate
  line_search_failed,    ///< no acceptable step length above the smallest; the state is the last iterate
  factorisation_failed,  ///< the matrix could not be factorised (singular, out of memory); the state is unchanged
  inverted_start,        ///< infinite energy where the step begins; the state is unchanged
  intersecting_start,    ///< surfaces cut each other where the step begins; the state is unchanged
  not_finite,            ///< a NaN or infinity in positions, velocities, forces or matrix; the state is unchanged
};
std::string_view to_string(Outcome outcome);

/// The same measures for every family, of the state a step leaves behind, over the free unknowns.
struct Residuals {
  double force = 0;         ///< 2-norm of the gradient of the incremental potential, N
  double acceleration = 0;  ///< largest component of M^{-1} times it, m/s^2
  double step_length = 0;   ///< largest component of the last correction over the time step, m/s
  double primal = 0;        ///< of position-based solvers, with `history`: balance of inertia and multipliers, N
  double secondary = 0;     ///< and what is missing to the multipliers, as a stress over all elements, Pa
};

/// One iteration of a step, recorded on request.
struct IterationRecord {
  double energy = 0;  ///< incremental potential at its start, J
  double force = 0;   ///< as in Residuals, at its start
  double acceleration = 0;
  double step_length = 0;
  double alpha = 0;        ///< accepted step length
  bool projected = false;  ///< matrix projected to positive definite
  double primal = 0;       ///< as in Residuals, at its start
  double secondary = 0;
};

struct StageSeconds {
  double assembly = 0;
  double factorisation = 0;
  double solve = 0;
  double line_search = 0;
  double contact = 0;  ///< detection, evaluation and continuous collision detection; also part of the stages above
  double total = 0;
};

/// A number that only some families have to tell of a step.
struct Figure {
  std::string_view name;  ///< a literal: what it is, with its unit's name in front where it has one
  double value = 0;
};

struct StepReport {
  Outcome outcome = Outcome::converged;
  std::string detail;  ///< for people: why, with numbers and units; empty when converged
  int iterations = 0;
  int factorisations = 0;
  int failed_factorisations = 0;  ///< or systems in which conjugate gradients met negative curvature
  int linear_iterations = 0;      ///< of conjugate gradients
  int projected_iterations = 0;
  int line_search_evaluations = 0;
  double smallest_alpha = 1;
  double energy = 0;  ///< incremental potential of the state left behind, J
  Residuals residuals;
  /// To a collider, m; negative inside; infinity without any. With contact, of any two surfaces; infinity where none
  /// are nearer than dhat.
  double minimum_gap = std::numeric_limits<double>::infinity();
  Index contacts = 0;  ///< pairs of primitives nearer than dhat
  StageSeconds seconds;
  std::vector<IterationRecord> history;
  std::vector<Figure> figures;

  bool converged() const { return outcome == Outcome::converged; }
  /// Whether it did what it was asked to.
  bool succeeded() const { return converged() || outcome == Outcome::budget_spent; }
  /// Whether the state was advanced.
  bool advanced() const {
    return succeeded() || outcome == Outcome::iteration_limit || outcome == Outcome::line_search_failed;
  }
};

/// One number for each element of all bodies, body by body, of the last step: a field of its frame.
struct ElementValues {
  std::string_view name;
  std::span<const double> values;
};

/// The same for nodes, `components` numbers each.
struct NodeValues {
  std::string_view name;
  int components = 1;
  std::span<const double> values;
};

/// Advances a state. A stepper holds factorisations and scratch memory for its model, nothing that a state needs: any
/// state of the model may be passed at any time. The result depends on state and step size alone, and on memory() where
/// there is any.
class Stepper {
 public:
  virtual ~Stepper() = default;
  virtual std::string_view name() const = 0;
  virtual StepReport step(State& state, double h) = 0;
  /// Valid until the next step.
  virtual std::vector<ElementValues> element_values() const { return {}; }
  virtual std::vector<NodeValues> node_values() const { return {}; }
  /// What the next step depends on besides the state, for methods that keep a matrix from step to step: a checkpoint
  /// with it goes on with the same bits. A stepper that is not given it back begins anew.
  virtual std::vector<double> memory() const { return {}; }
  virtual void recall(std::span<const double> /*memory*/) {}
};

}  // namespace pliant
