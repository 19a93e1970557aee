#pragma once

#include <compare>
#include <map>

#include "experiments/pitfalls/trial.hpp"

namespace pliant::experiments {

inline constexpr double kTwistFine = 0.01, kTwistCoarse = 1.0;             ///< eps_a, m/s^2
inline constexpr double kTwistModerate = 1.0 / 30, kTwistLarge = 1.0 / 3;  ///< time steps, s

/// A run of the twisting beam.
struct TwistKey {
  int cells;
  double dt, eps_a;
  std::string solver;
  std::string variant;  ///< "" as printed; else what differs
  auto operator<=>(const TwistKey&) const = default;
};

/// The runs of the twisting beam (section 10.2.2), each made once.
class Twists {
 public:
  explicit Twists(Context& context) : context_(context), cells_(context.integers("resolutions")) {}

  const TrialTotals& run(const TwistKey& key, const TwistOptions& scene,
                         const std::function<void(NewtonOptions&)>& change = nullptr) {
    if (const auto done = runs_.find(key); done != runs_.end()) return done->second;
    NewtonTrial trial;
    trial.model = twisting_beam_model(scene);
    trial.options = elastic_options(key.solver, key.eps_a);
    if (change) change(trial.options);
    trial.h = key.dt;
    trial.steps = static_cast<int>(std::lround(scene.seconds / key.dt));
    std::vector<double>& violation = violation_[key];
    std::vector<VecX>& states = states_[key];
    trial.watch = [&](const State& state, const StepReport&) {
      violation.push_back(largest_violation(*trial.model, state));
      if (key.variant.empty() && key.cells == cells_.front()) states.push_back(state.x);
    };
    ++done_;
    const double share = std::min(0.99, done_ / planned_);
    const TrialTotals totals =
        run_trial(context_, trial, {{"cells", key.cells}, {"variant", key.variant}}, share - 1 / planned_, share);
    return runs_[key] = totals;
  }
  const TrialTotals& get(const TwistKey& key) const { return runs_.at(key); }
  bool has(const std::vector<TwistKey>& keys) const {
    return std::all_of(keys.begin(), keys.end(), [&](const TwistKey& key) { return runs_.contains(key); });
  }
  double mean_violation(const TwistKey& key) const { return mean(violation_.at(key)); }
  const std::vector<VecX>& states(const TwistKey& key) const { return states_.at(key); }
  const std::vector<int>& cells() const { return cells_; }
  void expect(int runs) { planned_ = runs; }

  /// The test compares these runs: those that are there must have completed, the others are awaited.
  void compares(Decision& decision, const std::vector<TwistKey>& keys) const {
    for (const TwistKey& key : keys) {
      const std::string name =
          fmt::format("{}{} with {} cells across, dt {:.3g} s, eps_a {}", key.solver,
                      key.variant.empty() ? "" : " (" + key.variant + ")", key.cells, key.dt, key.eps_a);
      decision.awaits(has({key}), name);
      if (has({key})) needs_completed(decision, {{name, &get(key)}});
    }
  }

 private:
  Context& context_;
  std::vector<int> cells_;
  std::map<TwistKey, TrialTotals> runs_;
  std::map<TwistKey, std::vector<double>> violation_;
  std::map<TwistKey, std::vector<VecX>> states_;  ///< of Table 2, on the coarser beam
  double done_ = 0, planned_ = 40;
};

/// The runs of Table 2 at these steps and tolerances, on all meshes.
std::vector<TwistKey> table_keys(const Twists& twists, const std::vector<double>& steps,
                                 const std::vector<double>& tolerances);

/// Table 2, and what it says of smaller steps (section 6, fig. 10). To be called after every run: what fails in one row
/// fails, while to hold it takes all of them.
void settle_table_2(Context& context, const Twists& twists);

}  // namespace pliant::experiments
