#pragma once

#include <map>

#include "experiments/pitfalls/trial.hpp"

namespace pliant::experiments {

/// A scene with contact run by the four solvers at several tolerances of the step-length criterion, on each solver's
/// own raw step (pitfalls, section 10.3).
struct ContactScene {
  std::shared_ptr<const Model> model;
  int steps = 1;
  int max_iterations = 6000;
  int repeats = 0;  ///< further runs of each solver from starts perturbed by 1e-12 m, for TrialTotals::mean_iterations
  std::function<void(const State&, const StepReport&)> watch = nullptr;  ///< of PDN's run at the coarse tolerance
};
inline constexpr double kContactCoarse = 1e-2, kContactFine = 1e-4;  ///< m/s

/// By solver and tolerance.
using ContactRuns = std::map<std::pair<std::string, double>, TrialTotals>;
/// Runs all of them; empty when the user stopped it.
ContactRuns run_contact_scene(Context& context, const ContactScene& scene, const std::vector<double>& tolerances,
                              double begin, double end);
/// Needs every one of these to have completed without an intersection.
void needs_contact_runs(Decision& decision, const ContactRuns& runs, const std::vector<std::string>& solvers,
                        const std::vector<double>& tolerances);
/// Rows of the four solvers' iterations, for claims to note.
void note_totals(Decision& decision, const ContactRuns& runs);
/// The coarse tolerance in a quick run, both else.
std::vector<double> contact_tolerances(const Context& context);

/// The scenes of figs. 14 and 16, for experiments that vary them.
struct MatOptions {
  int cells = 80;
  double turns = 4.4;   ///< between the two edges when they are let go
  double release = 11;  ///< s
};
std::shared_ptr<const Model> mat_model(const MatOptions& options);
struct FrictionTwistOptions {
  int cells = 4;                    ///< across a support, an even number
  double press = 0.03, turn = 180;  ///< of the plate, m and degrees
  double release = 7;               ///< s
};
std::shared_ptr<const Model> friction_twist_model(const FrictionTwistOptions& options);
MatOptions quick_mat();
FrictionTwistOptions quick_friction_twist();

}  // namespace pliant::experiments
