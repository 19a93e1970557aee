#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pliant/simulation/simulation.hpp"

namespace pliant {

/// What is measured after every step of a trial: arrays as long as the steps taken, in SI units.
struct TrialSeries {
  std::vector<double> time;          ///< s, at the end of the step
  std::vector<double> milliseconds;  ///< that the step took
  std::vector<double> iterations;
  std::vector<double> force;         ///< common residual: 2-norm of what is unbalanced, N
  std::vector<double> acceleration;  ///< common residual: largest component over its node's mass, m/s^2
  std::vector<double> distance;  ///< to the reference: root mean square over the nodes, m; NaN where it ended before
  std::vector<double> largest_distance;                   ///< the same, of the farthest node
  std::vector<double> kinetic, elastic, external, total;  ///< energies, J; external: minus the work of loads since rest
                                                          ///< (kinetic and momenta: NaN in quasistatics)
  std::vector<double> momentum;                           ///< length of the linear momentum, kg m/s
  std::vector<double> angular_momentum;                   ///< about the origin, kg m^2/s
  std::vector<double> gap;  ///< smallest to a surface nearby, m; infinity where there is none
};

/// Positions at a moment.
struct TrialMoment {
  double time = 0;
  VecX x;
};

/// A scene run once, under one solver with one setting.
struct Trial {
  std::string solver;
  std::string setting;            ///< what was changed ("iterations = 5"); empty: nothing
  std::optional<double> effort;   ///< the value of the swept parameter, where it is a number
  bool finished = false;          ///< took all steps
  std::string detail;             ///< why not
  std::int64_t steps = 0;         ///< asked for
  std::int64_t newton_steps = 0;  ///< ended by Newton's method, where the solver alone did not do
  TrialSeries series;
  std::vector<TrialMoment> moments;
  std::shared_ptr<const Model> model;  ///< at the end, after all cuts

  std::int64_t taken() const { return static_cast<std::int64_t>(series.time.size()); }
  double median_milliseconds() const;
  double mean_iterations() const;
  /// Root mean square of the distance over time, m; infinity unless it finished, for then it has no error to compare.
  double error() const;
};

/// Positions at the start and after every step: what distances are taken to, at the same time. Between two steps of
/// the reference its positions are interpolated.
using Trajectory = std::vector<TrialMoment>;

struct TrialOptions {
  std::int64_t steps = 0;
  const Trajectory* reference = nullptr;  ///< null: no distances
  Trajectory* record = nullptr;           ///< gets the positions
  int moments = 0;                        ///< to keep, evenly spread, first and last included
  std::function<bool()> wants_stop = nullptr;
};

/// Runs a scene that is built, under its own solver. A step that fails ends the trial, whatever the scene says of
/// failures, and is not in the series.
Trial run_trial(BuiltScene built, const TrialOptions& options);

}  // namespace pliant
