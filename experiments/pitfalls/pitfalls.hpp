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
  int most_iterations = 0;            ///< in one step
  std::string outcome = "completed";  ///< or how the step that ended it went
  std::string detail;                 ///< in words
  StageSeconds seconds;
  std::vector<int> per_step;
  double minimum_gap = std::numeric_limits<double>::infinity();  ///< of all states, m
  int intersecting_steps = 0;                                    ///< whose state an exact test found to intersect
  State last;

  double per_step_mean() const { return steps == 0 ? 0 : double(iterations) / steps; }
  bool completed() const { return outcome == "completed"; }
};
/// Steps until the end or the first step that does not converge. `progress` gets the share of steps done. With contact
/// every state is looked at by an exact test of intersection, which shares nothing with the solver's distances.
Totals simulate(const Simulation& simulation, const std::function<void(double)>& progress,
                const std::function<bool()>& stop);

/// The option "split" of experiments on boxes: "five" or "six".
BoxSplit split_option(const Context& context);

/// The paper's abbreviation: N, PN, PDN, KN.
std::string abbreviation(const std::string& solver);
const std::vector<std::string>& newton_names();

/// A row with what every experiment of this paper reports.
Json totals_row(const Simulation& simulation, const Totals& totals, double eps_a);

/// The measured value of the row that has all these entries, or nothing.
std::optional<double> lookup(const std::vector<Json>& rows, const Json& where, const std::string& what);

}  // namespace pliant::experiments
