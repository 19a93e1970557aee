// The twisting beam of pitfalls (section 10.2.2, Table 2, figs. 9 and 10): the two ends are pulled apart and turned
// against each other. At a moderate time step exact Hessians are enough; at a large one Newton wanders through
// indefinite states, projection on demand does not. What Algorithms 1 and 2 set by rules of thumb (sections 5, 6) is
// varied on the same beam.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/pitfalls/statistics.hpp"
#include "experiments/pitfalls/twists.hpp"

namespace pliant::experiments {

namespace {

/// Section 8.3: the same runs at both tolerances, beside the swinging beam.
void decide_alike(Context& context, const Twists& twists) {
  constexpr double kLongestSide = 2;
  Decision alike("pitfalls/section-8.3/tolerances-look-alike");
  int pairs = 0, same = 0;
  const auto compare = [&](const std::string& name, const std::vector<VecX>& coarse, const std::vector<VecX>& fine) {
    double most = 0;
    for (std::size_t s = 0; s < coarse.size(); ++s) most = std::max(most, distance(coarse[s], fine[s]) / kLongestSide);
    alike.note("largest distance, " + name + ", in sides", most);
    ++pairs;
    same += most <= 0.01;
  };
  const int cells = twists.cells().front();
  for (const std::string& solver : four_solvers()) {
    for (const double dt : {kTwistModerate, kTwistLarge}) {
      const TwistKey coarse = {cells, dt, kTwistCoarse, solver, ""}, fine = {cells, dt, kTwistFine, solver, ""};
      if (twists.get(coarse).completed() && twists.get(fine).completed())
        compare(fmt::format("twisting beam at {:.3g} s, {}", dt, solver), twists.states(coarse), twists.states(fine));
    }
    std::vector<VecX> states[2];
    bool completed = true;
    for (const double eps_a : {kTwistCoarse, kTwistFine}) {
      NewtonTrial trial;
      trial.model = swinging_beam_model(cells);
      trial.options = elastic_options(solver, eps_a);
      trial.steps = static_cast<int>(context.number("swing_steps"));
      trial.watch = [&](const State& state, const StepReport&) { states[eps_a == kTwistFine].push_back(state.x); };
      completed =
          run_trial(context, trial, {{"cells", cells}, {"variant", "swinging beam"}}, 0.9, 1).completed() && completed;
      if (context.stopped()) return;
    }
    if (completed) compare("swinging beam, " + solver, states[0], states[1]);
  }
  alike.awaits(context.quick(), "the compressing box at both tolerances, in the same run (about 3 hours)");
  alike.needs(pairs > 0, "a pair of runs that complete");
  alike.at_least("share of pairs within 1%", double(same) / pairs, 0.75);
  alike.note("pairs", pairs);
  context.decide(alike);
}

/// Sections 5 and 6 and appendix C: what the algorithms set by rules of thumb, on the coarser beam at the large step.
void run_variants(Context& context, Twists& twists) {
  const int cells = twists.cells().front();
  const auto key = [&](const std::string& solver, const std::string& variant, double eps_a = kTwistFine) {
    return TwistKey{cells, kTwistLarge, eps_a, solver, variant};
  };
  Decision countdown("pitfalls/section-5/countdown");
  double best = 1e300;
  for (int steps : {1, 2, 4, 8, 16}) {
    const TwistKey k = key("PDN", fmt::format("{} projected steps", steps));
    const TrialTotals& t =
        twists.run(k, {.cells = cells}, [&](NewtonOptions& o) { o.on_demand.projected_steps = steps; });
    twists.compares(countdown, {k});
    countdown.note(fmt::format("seconds of processor time with {}", steps), t.processor_seconds);
    countdown.note(fmt::format("failed factorisations with {}", steps), t.failed_factorisations);
    best = std::min(best, t.processor_seconds);
  }
  const TrialTotals &one = twists.get(key("PDN", "1 projected steps")),
                    &four = twists.get(key("PDN", "4 projected steps"));
  int after_whole = 0;
  for (std::size_t i = 1; i < one.iterations_seen.size(); ++i) {
    const Iteration &now = one.iterations_seen[i], &before = one.iterations_seen[i - 1];
    after_whole += now.indefinite && before.step == now.step && before.projected && before.alpha == 1;
  }
  countdown.needs(one.failed_factorisations > 0, "a failed factorisation");
  countdown.at_most("failed factorisations with 4 over those with 1",
                    double(four.failed_factorisations) / one.failed_factorisations, 0.6);
  countdown.at_most("time with 4 over the best of five", four.processor_seconds / best, 1.1);
  countdown.at_least("share of failures after a whole projected step", double(after_whole) / one.failed_factorisations,
                     0.3);
  countdown.awaits(context.quick(), "the slingshot with the five settings (about 4 hours on two cores)");
  if (countdown.verdict() == Verdict::fails)
    countdown.because(fmt::format(
        "with one projected step {} of {} iterations meet an indefinite matrix, with four {} of {}",
        one.count(&Iteration::indefinite), one.iterations, four.count(&Iteration::indefinite), four.iterations));
  context.decide(countdown);

  Decision rule("pitfalls/section-5/alpha-heuristic");
  for (double eps_a : {kTwistFine, kTwistCoarse}) {
    const TwistKey with = {cells, kTwistLarge, eps_a, "PDN", ""}, without = key("PDN", "ignores short steps", eps_a);
    twists.run(with, {.cells = cells});
    twists.run(without, {.cells = cells}, [](NewtonOptions& o) { o.on_demand.after_short_steps = false; });
    twists.compares(rule, {with, without});
    rule.at_most(fmt::format("iterations with the rule, eps_a {}", eps_a), twists.get(with).iterations,
                 twists.get(without).iterations);
  }
  rule.awaits(context.quick(),
              "the fine beam and the three contact scenes without the rule (about 40 hours on two cores)");
  if (rule.verdict() == Verdict::fails)
    rule.because(
        fmt::format("on the beam of {} cells across {} of the rule's {} iterations are projected, {} without it", cells,
                    twists.get({cells, kTwistLarge, kTwistFine, "PDN", ""}).projected_iterations,
                    twists.get({cells, kTwistLarge, kTwistFine, "PDN", ""}).iterations,
                    twists.get(key("PDN", "ignores short steps")).projected_iterations));
  context.decide(rule);

  Decision thresholds("pitfalls/section-6/thresholds-matter-little");
  const std::vector<std::pair<double, double>> pairs = {{0.3, 0.9}, {0.2, 0.9}, {0.3, 0.6}, {0.1, 0.95}, {0.6, 0.9}};
  double printed = 0;
  int halves = 0, followed = 0;
  for (const auto& [low, high] : pairs) {
    const TwistKey k = key("KN", fmt::format("thresholds {} and {}", low, high));
    const TrialTotals& t = twists.run(k, {.cells = cells}, [&](NewtonOptions& o) { o.kinetic = {low, high}; });
    twists.compares(thresholds, {k});
    if (low == 0.3 && high == 0.9) {
      printed = t.iterations;
      for (std::size_t i = 0; i + 1 < t.iterations_seen.size(); ++i) {
        const Iteration &now = t.iterations_seen[i], &next = t.iterations_seen[i + 1];
        if (now.beta != 1 || now.alpha != 0.5 || next.step != now.step) continue;
        ++halves;
        followed += next.alpha == 1;
      }
    } else if (low == 0.6) {
      thresholds.at_least("iterations with 0.6 and 0.9", t.iterations, printed);
    } else {
      thresholds.at_most(fmt::format("change with {} and {}", low, high), std::abs(t.iterations / printed - 1), 0.15);
    }
  }
  if (context.quick()) {
    thresholds.needs(halves >= 20, fmt::format("20 iterations with beta 1 and alpha 1/2 (there were {})", halves));
    thresholds.at_least("share of them followed by alpha 1", halves == 0 ? kUnknown : double(followed) / halves, 0.5);
  } else {
    // These iterations are counted over both scenes.
    thresholds.note("iterations with beta 1 and alpha 1/2", halves).note("followed by alpha 1", followed);
    thresholds.awaits(false, "the slingshot with the five pairs (about 4 hours on two cores)");
  }
  thresholds.note("iterations with 0.3 and 0.9", printed);
  if (thresholds.verdict() == Verdict::fails)
    thresholds.because(
        fmt::format("{:.0f} iterations with the printed thresholds, {} of them halved at beta 1, {} of "
                    "these followed by a whole step",
                    printed, halves, followed));
  context.decide(thresholds);
}

void decide_penalty(Context& context, Twists& twists) {
  const std::vector<int> meshes = context.integers("penalty_resolutions");
  Decision consistent("pitfalls/section-C/penalty-consistent");
  double weighted[2], constant[2];
  const double per_node = mean_penalty(*twisting_beam_model({.cells = meshes.front()}));
  for (std::size_t m = 0; m < 2; ++m) {
    const int cells = meshes.at(m);
    const TwistKey by_mass = {cells, kTwistModerate, kTwistFine, "PDN", ""};
    const TwistKey by_node = {cells, kTwistModerate, kTwistFine, "PDN", "the same for every node"};
    twists.run(by_mass, {.cells = cells});
    twists.run(by_node, {.cells = cells, .per_node = per_node});
    twists.compares(consistent, {by_mass, by_node});
    weighted[m] = twists.mean_violation(by_mass);
    constant[m] = twists.mean_violation(by_node);
    consistent.note(fmt::format("mean violation with M_ii, {} cells across, m", cells), weighted[m]);
    consistent.note(fmt::format("without, {} cells across, m", cells), constant[m]);
  }
  const auto ratio = [](const double* v) { return std::max(v[0] / v[1], v[1] / v[0]); };
  consistent.at_most("ratio between the meshes", ratio(weighted), 2);
  consistent.above("ratio without M_ii", ratio(constant), ratio(weighted));
  context.decide(consistent);
}

/// Fig. 9. In a quick run the ends move twice as fast, by the same share of a cell in each step as on the paper's mesh;
/// at full size the runs with penalties are those of Table 2.
class Fig9 {
 public:
  Fig9(const Context& context, Twists& twists)
      : twists_(twists),
        cells_(twists.cells().front()),
        seconds_(3.0 * cells_ / 16),
        tolerances_(context.quick() ? std::vector{kTwistFine} : std::vector{kTwistFine, kTwistCoarse}) {}

  void run(const std::string& solver, double eps_a) {
    twists_.run(penalty(solver, eps_a), {.cells = cells_, .seconds = seconds_});
    twists_.run(direct(solver, eps_a), {.cells = cells_, .imposition = Imposition::direct, .seconds = seconds_});
  }

  void settle(Context& context) const {
    Decision unmoved("pitfalls/fig-9/pn-unmoved"), nine("pitfalls/fig-9/newton-nine-times"),
        factor("pitfalls/fig-9/pdn-factor"), between("pitfalls/fig-9/kn-between");
    for (double eps_a : tolerances_) {
      for (const char* solver : {"N", "PN"}) twists_.compares(unmoved, both(solver, eps_a));
      twists_.compares(nine, both("N", eps_a));
      twists_.compares(factor, both("PDN", eps_a));
      for (const char* solver : {"N", "PDN", "KN"}) twists_.compares(between, {direct(solver, eps_a)});
      const std::string where = fmt::format(", direct over penalty, eps_a {}", eps_a);
      if (twists_.has(both("PN", eps_a))) unmoved.at_most("|PN - 1|" + where, std::abs(ratio("PN", eps_a) - 1), 0.10);
      if (twists_.has(both("N", eps_a))) {
        const double newton = ratio("N", eps_a);
        unmoved.needs(newton >= 2,
                      fmt::format("N needs twice as many with direct imposition ({:.3g} at eps_a {})", newton, eps_a));
        unmoved.note("N" + where, newton);
        nine.above("N" + where, newton, 9);
        if (newton <= 9) nine.because(met("N", eps_a));
      }
      if (twists_.has(both("PDN", eps_a))) {
        const TrialTotals &td = twists_.get(direct("PDN", eps_a)), &tp = twists_.get(penalty("PDN", eps_a));
        factor.above(fmt::format("projected iterations, direct, eps_a {}", eps_a), td.projected_iterations, 0);
        factor.equal(fmt::format("with the penalty, eps_a {}", eps_a), tp.projected_iterations, 0);
        factor.between("PDN" + where, ratio("PDN", eps_a), 1.5, 2.2);
        if (factor.verdict() == Verdict::fails) factor.because(met("PDN", eps_a));
      }
      const auto total = [&](const char* solver) { return double(twists_.get(direct(solver, eps_a)).iterations); };
      if (twists_.has({direct("KN", eps_a), direct("PDN", eps_a)}))
        between.between(fmt::format("KN/PDN, direct, eps_a {}", eps_a), total("KN") / total("PDN"), 1.4, 1.8);
      if (twists_.has({direct("KN", eps_a), direct("N", eps_a)}))
        between.at_most(fmt::format("KN/N, direct, eps_a {}", eps_a), total("KN") / total("N"), 0.5);
    }
    for (Decision* d : {&unmoved, &nine, &factor, &between}) context.settle(*d);
  }

 private:
  TwistKey direct(const std::string& solver, double eps_a) const {
    return {cells_, kTwistModerate, eps_a, solver, seconds_ == 3 ? "direct" : "direct, in less time"};
  }
  TwistKey penalty(const std::string& solver, double eps_a) const {
    return {cells_, kTwistModerate, eps_a, solver, seconds_ == 3 ? "" : "in less time"};
  }
  std::vector<TwistKey> both(const std::string& solver, double eps_a) const {
    return {direct(solver, eps_a), penalty(solver, eps_a)};
  }
  double ratio(const std::string& solver, double eps_a) const {
    return double(twists_.get(direct(solver, eps_a)).iterations) / twists_.get(penalty(solver, eps_a)).iterations;
  }
  std::string met(const std::string& solver, double eps_a) const {
    const TrialTotals &d = twists_.get(direct(solver, eps_a)), &p = twists_.get(penalty(solver, eps_a));
    return fmt::format(
        "{} meets an indefinite matrix in {} of {} iterations with direct imposition and in {} of {} "
        "with the penalty",
        solver, d.count(&Iteration::indefinite), d.iterations, p.count(&Iteration::indefinite), p.iterations);
  }

  Twists& twists_;
  int cells_;
  double seconds_;
  std::vector<double> tolerances_;
};

/// Which combinations direct imposition inverts; it fixes the unprinted motion, and is no evidence of its own.
void settle_direct_inverts(Context& context, const Twists& twists) {
  if (context.quick()) return;
  Decision inverts("pitfalls/section-10.2.2/direct-inverts");
  inverts.note("calibrated", 1);
  for (int cells : twists.cells())
    for (double dt : {kTwistModerate, kTwistLarge}) {
      const bool goes_through = cells == twists.cells().front() && dt == kTwistModerate;
      for (const std::string& solver : four_solvers()) {
        const std::string name = fmt::format("{}, {} cells across, dt {:.3g}", solver, cells, dt);
        const TwistKey key = {cells, dt, kTwistFine, solver, "direct"};
        inverts.awaits(twists.has({key}), name);
        if (!twists.has({key})) continue;
        const TrialTotals& t = twists.get(key);
        inverts.needs(t.outcome != "stopped", name + " reaches its end");
        const bool as_asked = goes_through ? t.completed() : t.outcome == "inverted-start";
        inverts.part(name, t.steps, goes_through ? "completes" : "inverted at a start", as_asked);
        if (!as_asked) inverts.because(fmt::format("{} ends as {} after {} steps", name, t.outcome, t.steps));
      }
    }
  twists.compares(inverts, table_keys(twists, {kTwistModerate, kTwistLarge}, {kTwistFine}));
  context.settle(inverts);
}

void run_twisting_beam(Context& context) {
  Twists twists(context);
  twists.expect(context.quick() ? 38 : 80);
  Fig9 fig_9(context, twists);
  const auto settle = [&] {
    settle_table_2(context, twists);
    fig_9.settle(context);
    settle_direct_inverts(context, twists);
  };
  const auto run = [&](const TwistKey& key) {
    if (context.stopped()) return;
    const bool is_direct = key.variant == "direct";
    twists.run(key, {.cells = key.cells, .imposition = is_direct ? Imposition::direct : Imposition::penalty});
    settle();
  };
  const auto run_fig_9 = [&](const std::vector<std::string>& solvers, double eps_a) {
    for (const std::string& solver : solvers) {
      if (context.stopped()) return;
      fig_9.run(solver, eps_a);
      settle();
    }
  };
  // In the order in which counterexamples cost least, the coarser beam first.
  const int coarse = twists.cells().front();
  const bool large =
      context.wants({"pitfalls/table-2/h-1-3", "pitfalls/table-2/h-1-3/order", "pitfalls/table-2/h-1-3/kn-over-pdn",
                     "pitfalls/table-2/h-1-3/pn-over-pdn", "pitfalls/table-2/h-1-3/newton-order-of-magnitude"});
  for (const char* solver : {"N", "PDN", "KN", "PN"})
    if (large || *solver == 'N') run({coarse, kTwistLarge, kTwistFine, solver, ""});
  if (!context.quick() && context.wants({"pitfalls/section-10.2.2/direct-inverts"}))
    run({coarse, kTwistLarge, kTwistFine, "N", "direct"});
  run_fig_9(context.quick() ? std::vector<std::string>{"N", "PN"} : std::vector<std::string>{"N", "PDN", "KN"},
            kTwistFine);
  if (context.stopped()) return;
  if (context.wants({"pitfalls/section-5/countdown", "pitfalls/section-5/alpha-heuristic",
                     "pitfalls/section-6/thresholds-matter-little"}))
    run_variants(context, twists);
  for (const double dt : {kTwistLarge, kTwistModerate})
    for (const char* solver : {"N", "PDN", "KN"}) run({coarse, dt, kTwistCoarse, solver, ""});
  for (const double dt : {kTwistLarge, kTwistModerate})
    for (const double eps_a : {kTwistCoarse, kTwistFine}) run({coarse, dt, eps_a, "PN", ""});
  if (!context.quick()) {
    run_fig_9({"N", "PDN", "KN", "PN"}, kTwistCoarse);
    run_fig_9({"PN"}, kTwistFine);
  }
  for (const TwistKey& key : table_keys(twists, {kTwistLarge, kTwistModerate}, {kTwistFine, kTwistCoarse})) run(key);
  if (context.stopped()) return;
  decide_penalty(context, twists);
  if (!context.quick())
    for (TwistKey key : table_keys(twists, {kTwistLarge, kTwistModerate}, {kTwistFine})) {
      key.variant = "direct";
      run(key);
    }
  if (!context.stopped()) decide_alike(context, twists);
}

}  // namespace

Experiment twisting_beam() {
  return {"pitfalls/twisting-beam",
          "Iterations per step of a beam that is stretched and twisted, at a moderate and a large time step (Table 2, "
          "figs. 9, 10), and what the rules of Algorithms 1 and 2 matter (sections 5, 6)",
          {{"resolutions", "16,24", "8", "cells across the beam: 2m x m x m cells of twelve tets"},
           {"penalty_resolutions", "16,24", "4,8", "the two meshes on which penalties are compared"},
           {"swing_steps", "360", "90", "steps of the swinging beam whose tolerances are compared, too"}},
          run_twisting_beam};
}

}  // namespace pliant::experiments