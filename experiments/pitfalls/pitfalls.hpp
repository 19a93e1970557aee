#pragma once

#include <memory>
#include <optional>

#include "experiments/experiment.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

/// The experiments of Longva et al. 2023.
std::vector<Experiment> pitfalls_experiments();

Experiment swinging_beam();
Experiment projection();
Experiment newton_theory();
Experiment line_search_study();
Experiment criteria();
Experiment contact_limits();
Experiment overview();
Experiment twisting_beam();
Experiment compressing_box();
Experiment slingshot();
Experiment spinning_block();
Experiment basic_impact();
Experiment twisting_mat();
Experiment rollers();
Experiment friction_twist();

/// One simulation, summed up.
struct Simulation {
  std::shared_ptr<const Model> model;
  std::string solver;
  ParameterMap parameters;
  double h = 1.0 / 60;
  int steps = 1;
};
struct Totals {
  int steps = 0;  ///< completed
  int iterations = 0;
  int projected_iterations = 0;
  int failed_factorisations = 0;
  int factorisations = 0;             ///< tried
  int most_iterations = 0;            ///< in one step
  std::string outcome = "completed";  ///< or how the step that ended it went
  std::string detail;                 ///< in words
  StageSeconds seconds;               ///< by the clock
  double processor_seconds = 0;       ///< of all threads: what other programs on the machine do not change
  std::vector<int> per_step;
  double minimum_gap = std::numeric_limits<double>::infinity();  ///< of all states, m
  int intersecting_steps = 0;                                    ///< whose state an exact test found to intersect
  int touching_steps = 0;                                        ///< with pairs nearer than dhat
  State last;

  double per_step_mean() const { return steps == 0 ? 0 : double(iterations) / steps; }
  bool completed() const { return outcome == "completed"; }
};
/// Hooks of a run; each may be left empty.
struct Watch {
  std::function<void(double share)> progress = nullptr;
  std::function<bool()> stop = nullptr;
  std::function<void(const State&, const StepReport&)> step = nullptr;  ///< after every step that converged
};
/// Steps from `state` on.
Totals take_steps(Stepper& stepper, const Model& model, State state, double h, int steps, const Watch& watch);
/// Steps until the end or the first step that does not converge. `progress` gets the share of steps done. With contact
/// every state is looked at by an exact test of intersection, which shares nothing with the solver's distances.
Totals simulate(const Simulation& simulation, const std::function<void(double)>& progress,
                const std::function<bool()>& stop);

/// The paper's abbreviation: N, PN, PDN, KN.
std::string abbreviation(const std::string& solver);
const std::vector<std::string>& newton_names();

/// A row with what every experiment of this paper reports.
Json totals_row(const Simulation& simulation, const Totals& totals, double eps_a);

/// The measured value of the row that has all these entries, or nothing.
std::optional<double> lookup(const std::vector<Json>& rows, const Json& where, const std::string& what);

}  // namespace pliant::experiments
