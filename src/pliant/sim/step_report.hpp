#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// How a step ended. `converged`, `budget_spent`, `stagnated`, `iteration_limit` and a failed line search leave a new
/// state behind; all others leave the state as it was.
enum class Outcome {
  converged,
  budget_spent,          ///< ran the iterations it was given, as real-time methods are asked to
  stagnated,             ///< the tolerance is below what rounding lets it reach; the state is as accurate as can be
  iteration_limit,       ///< the state is the last iterate
  line_search_failed,    ///< no acceptable step length above the smallest; the state is the last iterate
  diverged,              ///< the step ran away (docs/architecture.md, "Steps that run away"); the state is unchanged
  factorisation_failed,  ///< the matrix could not be factorised (singular, not positive definite); the state is
                         ///< unchanged
  out_of_memory,         ///< there is not enough memory for the step; the state is unchanged
  inverted_start,        ///< infinite energy where the step begins; the state is unchanged
  intersecting_start,    ///< surfaces cut each other where the step begins; the state is unchanged
  not_finite,            ///< a NaN or infinity in positions, velocities, forces or matrix; the state is unchanged
  interrupted,           ///< asked to end (StepControl); the state is unchanged
};
inline constexpr Outcome kOutcomes[] = {Outcome::converged,
                                        Outcome::budget_spent,
                                        Outcome::stagnated,
                                        Outcome::iteration_limit,
                                        Outcome::line_search_failed,
                                        Outcome::diverged,
                                        Outcome::factorisation_failed,
                                        Outcome::out_of_memory,
                                        Outcome::inverted_start,
                                        Outcome::intersecting_start,
                                        Outcome::not_finite,
                                        Outcome::interrupted};
std::string_view to_string(Outcome outcome);
/// What helps against Outcome::out_of_memory, for people.
inline constexpr std::string_view kLessMemory =
    "a solver without a factor (fp-pxpbd, or pod-newton with linear = \"pcg\"), a coarser mesh, or a lower order";

/// The same measures for every family, of the state a step leaves behind, over the free unknowns: what is missing to
/// the equation of the step (sim/step_problem.hpp), whatever the family solved.
struct Residuals {
  double force = 0;         ///< 2-norm of the gradient of the incremental potential, N
  double acceleration = 0;  ///< largest component of it over the mass of its node, m/s^2
  double step_length = 0;   ///< largest component of the last correction over the time step, m/s
  double primal = 0;        ///< position-based solvers, with `history`: balance of inertia and multipliers, N
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

/// A number about a step that only some families report.
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
  bool succeeded() const { return converged() || outcome == Outcome::budget_spent || outcome == Outcome::stagnated; }
  /// Adds the work of a solution that was part of the step.
  void count(const StepReport& part);
  void end(Outcome how, std::string why) {
    outcome = how;
    detail = std::move(why);
  }
  /// Whether the state was advanced.
  bool advanced() const {
    return succeeded() || outcome == Outcome::iteration_limit || outcome == Outcome::line_search_failed;
  }
};

}  // namespace pliant
