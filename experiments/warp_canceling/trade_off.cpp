// How warp-canceling exchanges accuracy for speed (section 4 of warp-canceling): exact with a threshold of zero, and
// controlled by it from there on, on the dropped sculpture.

#include <fmt/format.h>

#include <algorithm>

#include "experiments/measure.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

namespace {

constexpr double kTradeStep = 0.01;

/// Step by step from common states, so that bounces do not amplify rounding. True when the claim can still hold.
bool compare_tau_zero(Context& context, Decision& decision, const std::shared_ptr<const Model>& model, int steps) {
  const auto stepper = [&](const std::string& solver, ParameterMap parameters) {
    for (const auto& [key, value] : {std::pair{"turning", "linear"}, {"safeguard", "none"}, {"colliders", "explicit"}})
      parameters[key] = std::string(value);
    return make_stepper(model, solver, parameters);
  };
  const auto full = stepper("corotational", {});
  const auto wc = stepper("warp-canceling", {{"tau", 0.0}, {"unknown", "velocity"}});
  State state = model->rest_state();
  double worst = 0, full_seconds = 0, wc_seconds = 0;
  bool completed = true;
  for (int s = 0; s < steps && completed && !context.stopped(); ++s) {
    State other = state;
    const ProcessorTime first(ProcessorTime::Of::program);
    completed = full->step(state, kTradeStep).advanced();
    const double seconds = first.seconds();
    const ProcessorTime second(ProcessorTime::Of::program);
    completed = completed && wc->step(other, kTradeStep).advanced();
    if (s > 0) full_seconds += seconds, wc_seconds += second.seconds();
    worst = std::max(worst, (state.x - other.x).cwiseAbs().maxCoeff() / diameter(*model));
  }
  const std::string which = fmt::format("{} tets: ", model->bodies()[0].mesh->tets().size());
  context.row(
      {{"tau", 0}, {"body", which}, {"deviation_a_step", worst}, {"time_over_full", wc_seconds / full_seconds}});
  decision.needs(completed, which + "all frames complete")
      .at_most(which + "deviation from full Cholesky in a step, over the diameter", worst, 1e-9)
      .between(which + "processor time over full Cholesky's", wc_seconds / full_seconds, 1.0, 1.3)
      .because(fmt::format("{}{:.2f} and {:.2f} ms a frame", which, 1e3 * wc_seconds / std::max(1, steps - 1),
                           1e3 * full_seconds / std::max(1, steps - 1)));
  return decision.verdict() == Verdict::holds;
}

void decide_trade_off(Context& context, const std::shared_ptr<const Model>& model, int steps) {
  const Frames full = record(context, model, {"full", "corotational"}, kTradeStep, steps);
  Decision decision("warp-canceling/section-4/trade-off-controlled");
  decision.needs(full.completed, "full Cholesky completes");
  std::vector<double> times, deviations;
  for (double tau : {5e-5, 5e-4, 5e-3, 5e-2, 5e-1}) {
    context.progress(0.3 + 0.1 * double(times.size()), fmt::format("tau {:g} N s", tau));
    const Frames run = record(context, model, paper_wc(tau), kTradeStep, steps, &full);
    decision.part(fmt::format("tau {:g}: frames", tau), double(run.x.size()), "all, bounded",
                  run.completed && run.deviation < 10);
    times.push_back(run.measured.cpu_ms());
    deviations.push_back(std::min(run.deviation, 1e9));
    Json row = {{"tau", tau}, {"deviation", run.deviation}};
    row.update(measured_row(run.measured));
    context.row(row);
  }
  bool falls = true, rises = true;
  for (std::size_t k = 1; k < times.size(); ++k)
    falls = falls && times[k] <= 1.05 * times[k - 1], rises = rises && deviations[k] >= 0.95 * deviations[k - 1];
  context.decide(
      decision
          .part("time at 5e-5 over that at 5e-1", times.front() / times.back(), "at least 1.5, falling all the way",
                falls && times.front() >= 1.5 * times.back())
          .part("deviation at 5e-1 over that at 5e-5", deviations.back() / deviations.front(),
                "at least 100, rising all the way", rises && deviations.back() >= 100 * deviations.front())
          .because(fmt::format(
              "milliseconds {:.2f}, {:.2f}, {:.2f}, {:.2f}, {:.2f}; deviations {:.2g}, {:.2g}, {:.2g}, {:.2g}, {:.2g}",
              times[0], times[1], times[2], times[3], times[4], deviations[0], deviations[1], deviations[2],
              deviations[3], deviations[4])));
}

}  // namespace

void decide_trade_offs(Context& context) {
  const auto model = sculpture(static_cast<Index>(context.number("sculpture")), 5e6);
  const int steps = static_cast<int>(context.number("steps"));
  Decision zero("warp-canceling/section-4/tau-zero-is-corotational");
  const bool goes_on = compare_tau_zero(context, zero, sculpture(2, 5e6), steps);
  if (!context.quick() && goes_on) compare_tau_zero(context, zero, model, steps);
  context.decide(zero.awaits(context.quick() || goes_on, "the larger mesh"));
  decide_trade_off(context, model, steps);
}

}  // namespace pliant::experiments
