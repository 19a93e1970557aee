// Which parts of the factor a step refreshes (section 4.4 of warp-canceling): what target quality and target time keep,
// how well costs are predicted, and what a budget leaves undone.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"

namespace pliant::experiments {

namespace {

const WarpCancelingStepper& stepper_of(const MethodRun& run) {
  return dynamic_cast<const WarpCancelingStepper&>(run.stepper());
}

double figure_of(const MethodRun& run, std::string_view name) {
  for (const Figure& figure : run.last().figures)
    if (figure.name == name) return figure.value;
  return std::numeric_limits<double>::quiet_NaN();
}

/// The largest error among supernodes that were left alone.
double left_over(const WarpCancelingStepper& stepper) {
  double worst = 0;
  for (std::size_t s = 0; s < stepper.badness().size(); ++s)
    if (!stepper.refreshed()[s]) worst = std::max(worst, stepper.badness()[s]);
  return worst;
}

constexpr double kQuality = 5e-3;  ///< tau, N s

void decide_quality(Context& context) {
  const auto model = sculpture(static_cast<Index>(context.number("across")), 5e6);
  int missed = 0, orphans = 0, partly = 0, frame = 0;
  const auto look = [&](const MethodRun& run) {
    const WarpCancelingStepper& stepper = stepper_of(run);
    const auto marked = stepper.refreshed();
    const auto count = std::count(marked.begin(), marked.end(), std::uint8_t{1});
    if (frame++ == 0) return;
    for (std::size_t s = 0; s < marked.size(); ++s) {
      if (!marked[s] && stepper.badness()[s] > kQuality) ++missed;
      const Index parent = stepper.partition().parent[s];
      if (marked[s] && parent >= 0 && !marked[at(parent)]) ++orphans;
    }
    partly += count > 0 && count < static_cast<std::ptrdiff_t>(marked.size());
  };
  const int steps = static_cast<int>(context.number("steps"));
  const Frames quality = record(context, model, paper_wc(kQuality), 0.01, steps, nullptr, 1e300, look);
  context.row({{"tau", kQuality}, {"missed", missed}, {"orphans", orphans}, {"frames_with_some", partly}});
  context.decide(
      Decision("warp-canceling/section-4.4/target-quality-bound")
          .needs(quality.completed, "all frames complete")
          .needs(partly >= 50, fmt::format("50 frames in which some but not all is marked ({} there were)", partly))
          .equal("supernodes with an element worse than tau that are left alone", missed, 0)
          .equal("marked supernodes whose parent is not", orphans, 0));
}

void decide_costs(Context& context) {
  const auto model = sculpture(static_cast<Index>(context.number("across")), 5e6);
  // A budget that never binds makes the schedule learn costs.
  Method method = paper_wc(kQuality);
  method.parameters["schedule"] = std::string("target-time");
  method.parameters["budget_share"] = 1.0;
  std::optional<Schedule> before;
  std::vector<double> ratios;
  std::map<std::size_t, std::vector<double>> seconds;
  const auto look = [&](const MethodRun& run) {
    const WarpCancelingStepper& stepper = stepper_of(run);
    const auto marked = stepper.refreshed();
    const double spent = figure_of(run, "seconds_cholesky_update");
    const bool any = std::find(marked.begin(), marked.end(), std::uint8_t{1}) != marked.end();
    if (before && any && spent > 0) ratios.push_back(before->predicted(marked) / spent);
    before = stepper.schedule();
    const auto all = stepper.factor().supernode_costs();
    for (std::size_t s = 0; s < all.size(); ++s)
      if (marked[s]) seconds[s].push_back(all[s].seconds);
  };
  const int steps = static_cast<int>(context.number("steps"));
  const Frames timed = record(context, model, method, 0.01, steps, nullptr, 1e300, look);
  double variation = 0, weight = 0;
  for (const auto& [s, times] : seconds) {
    double mean = 0, square = 0;
    for (double t : times) mean += t / double(times.size());
    for (double t : times) square += (t - mean) * (t - mean) / double(times.size());
    if (mean < 1e-4 || times.size() < 10) continue;
    variation += std::sqrt(square), weight += mean;
  }
  const double within =
      ratios.empty()
          ? 0
          : double(std::count_if(ratios.begin(), ratios.end(), [](double r) { return r >= 0.8 && r <= 1.25; })) /
                double(ratios.size());
  Decision predictable("warp-canceling/section-4.4/cost-predictable");
  context.decide(needs_a_core(predictable, timed.measured)
                     .needs(ratios.size() >= 100, fmt::format("100 updates ({} there were)", ratios.size()))
                     .at_most("variation of a supernode's time over its mean, weighted by time",
                              weight > 0 ? variation / weight : std::numeric_limits<double>::quiet_NaN(), 0.25)
                     .at_least("share of updates predicted to within 0.8 and 1.25", within, 0.9)
                     .because(timed_by()));
}

void decide_budgets_kept(Context& context, const std::shared_ptr<const Model>& torus, int steps) {
  Decision decision("warp-canceling/section-4.4/target-time-budget");
  constexpr double kTight = 1e-4;
  for (double share : {0.66, 0.33}) {
    Method method = paper_wc(kTight);
    method.parameters["schedule"] = std::string("target-time");
    method.parameters["budget_share"] = share;
    int kept = 0, used = 0, frames = 0, exceeds = 0;
    const Frames run = record(context, torus, method, 0.01, steps, nullptr, 1e300, [&](const MethodRun& r) {
      const double budget = figure_of(r, "seconds_budget"), spent = figure_of(r, "seconds_cholesky_update");
      if (r.state().step <= 2 || !(budget > 0)) return;
      ++frames;
      kept += spent <= 1.1 * budget, used += spent >= 0.5 * budget;
      // What the unlimited schedule would have cost.
      const WarpCancelingStepper& stepper = stepper_of(r);
      std::vector<std::uint8_t> wanted(stepper.badness().size(), 0);
      for (std::size_t s = 0; s < wanted.size(); ++s)
        if (stepper.badness()[s] > kTight) stepper.schedule().mark_path(static_cast<Index>(s), wanted);
      exceeds += stepper.schedule().predicted(wanted) > stepper.schedule().budget();
    });
    const std::string which = fmt::format("{:.0f}%: ", 100 * share);
    context.row({{"budget", share},
                 {"frames", frames},
                 {"kept", double(kept) / frames},
                 {"used", double(used) / frames},
                 {"unlimited_exceeds", double(exceeds) / frames}});
    needs_a_core(decision, run.measured)
        .needs(run.completed && frames > 0, which + "all frames complete")
        .needs(2 * exceeds >= frames, which + "the unlimited schedule exceeds the budget in half of the frames")
        .at_least(which + "frames within 1.1 of the budget", double(kept) / std::max(1, frames), 0.95)
        .at_least(which + "frames that use half of it", double(used) / std::max(1, frames), 0.5)
        .because(fmt::format("{}{} of {} frames kept it; {}", which, kept, frames, timed_by()));
  }
  context.decide(decision);
}

void decide_worst_error(Context& context, const std::shared_ptr<const Model>& torus, int steps) {
  constexpr double kTau = 5e-3;
  const auto run = [&](const std::string& schedule) {
    Method method = paper_wc(kTau);
    method.parameters["schedule"] = schedule;
    method.parameters["budget_share"] = 0.1;
    method.parameters["must"] = 10 * kTau;
    double worst = 0, reach = 0;
    const Frames frames = record(context, torus, method, 0.01, steps, nullptr, 1e300, [&](const MethodRun& r) {
      if (r.state().step > 1) worst = std::max(worst, left_over(stepper_of(r)));
      reach = std::max(reach, (r.state().x - torus->rest()).cwiseAbs().maxCoeff() / diameter(*torus));
    });
    context.row(
        {{"schedule", schedule}, {"left_over_tau", worst / kTau}, {"reach", reach}, {"completed", frames.completed}});
    return std::tuple{worst, reach, frames.completed};
  };
  const auto [worst, reach, completed] = run("target-time");
  const auto [bounded, hybrid_reach, hybrid_completed] = run("hybrid");
  context.decide(
      Decision("warp-canceling/section-4.4/target-time-worst-error")
          .above("target-time with 10%: largest error left over tau", worst / kTau, 10)
          .at_most("hybrid with must = 10 tau: largest error left over tau", bounded / kTau, 10)
          .part("hybrid: reach over the diameter", hybrid_reach, "all frames, bounded",
                hybrid_completed && hybrid_reach < 10)
          .note("target-time completed", completed)
          .because(fmt::format("errors of {:.3g} and {:.3g} tau are left; target-time reaches {:.2g} diameters",
                               worst / kTau, bounded / kTau, reach)));
}

void run_schedules(Context& context) {
  const auto torus = three_torus(static_cast<Index>(context.number("cells")), 1e6);
  const int steps = static_cast<int>(context.number("torus_steps"));
  context.progress(0, "budgets");
  if (context.wants({"warp-canceling/section-4.4/target-time-budget"})) decide_budgets_kept(context, torus, steps);
  if (context.wants({"warp-canceling/section-4.4/target-time-worst-error"})) decide_worst_error(context, torus, steps);
  context.progress(0.3, "target quality and costs");
  if (context.wants({"warp-canceling/section-4.4/target-quality-bound"})) decide_quality(context);
  if (context.wants({"warp-canceling/section-4.4/cost-predictable"})) decide_costs(context);
  context.decide(
      Decision("warp-canceling/section-4.4/damping-variants")
          .leave_undecided(
              "damping by scaled velocities is there to compare with; the solver damps towards rigid motion alone"));
}

}  // namespace

Experiment schedules_experiment() {
  return {"warp-canceling/schedules",
          "Target quality, target time, hybrids and damping (section 4.4)",
          {{"across", "5", "2", "cells across a strut of the sculpture"},
           {"steps", "300", "300", "its frames"},
           {"cells", "6", "3", "through the three-torus"},
           {"torus_steps", "300", "120", "its frames"}},
          run_schedules};
}

}  // namespace pliant::experiments
