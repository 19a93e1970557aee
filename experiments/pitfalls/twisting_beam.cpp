// The twisting beam of pitfalls (section 10.2.2, Table 2, figs. 9 and 10): the two ends are pulled apart and turned
// against each other. At a moderate time step exact Hessians are enough; at a large one Newton wanders through
// indefinite states, projection on demand does not. What Algorithms 1 and 2 set by rules of thumb (sections 5, 6) is
// varied on the same beam.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/pitfalls/statistics.hpp"
#include "experiments/pitfalls/trial.hpp"

namespace pliant::experiments {

namespace {

constexpr double kTwistFine = 0.01, kTwistCoarse = 1.0, kModerate = 1.0 / 30, kLarge = 1.0 / 3;

struct TwistKey {
  int cells;
  double dt, eps_a;
  std::string solver;
  std::string variant;  ///< "" as printed; else what differs
  auto operator<=>(const TwistKey&) const = default;
};

/// Table 2 of the paper, iterations per step; its two meshes have 17.7 and 58.2 thousand vertices.
double published(double dt, bool fine_mesh, double eps_a, const std::string& solver) {
  struct Row {
    bool large_step, fine_mesh, fine_tolerance;
    double N, PN, PDN, KN;
  };
  static const Row rows[] = {
      {false, false, true, 4.4, 21.9, 4.4, 4.4},    {false, false, false, 3.1, 13.8, 3.1, 3.1},
      {false, true, true, 4.1, 19.5, 4.1, 4.1},     {false, true, false, 3.4, 12.5, 3.4, 3.4},
      {true, false, true, 141.8, 52.0, 10.9, 15.2}, {true, false, false, 134.8, 34.9, 10.5, 14.4},
      {true, true, true, 210.9, 46.0, 13.2, 16.7},  {true, true, false, 209.1, 31.3, 11.7, 16.0}};
  for (const Row& row : rows) {
    if (row.large_step != (dt > 0.1) || row.fine_mesh != fine_mesh || row.fine_tolerance != (eps_a < 0.1)) continue;
    return solver == "N" ? row.N : solver == "PN" ? row.PN : solver == "PDN" ? row.PDN : row.KN;
  }
  return kUnknown;
}

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

std::string in_row(const std::string& what, int cells, double dt, double eps_a) {
  return fmt::format("{}, {} cells across, dt {:.3g}, eps_a {}", what, cells, dt, eps_a);
}

/// The rows of Table 2 in which these solvers have run; with a reader of their means.
void for_rows(const Twists& twists, double dt, const std::vector<double>& tolerances,
              const std::vector<std::string>& solvers,
              const std::function<void(int, double, const std::function<double(const std::string&)>&)>& body) {
  for (int cells : twists.cells())
    for (double eps_a : tolerances) {
      std::vector<TwistKey> keys;
      for (const std::string& solver : solvers) keys.push_back({cells, dt, eps_a, solver, ""});
      if (!twists.has(keys)) continue;
      body(cells, eps_a, [&](const std::string& solver) {
        return twists.get({cells, dt, eps_a, solver, ""}).per_step_mean();
      });
    }
}

std::vector<TwistKey> table_keys(const Twists& twists, const std::vector<double>& steps,
                                 const std::vector<double>& tolerances) {
  std::vector<TwistKey> keys;
  for (int cells : twists.cells())
    for (double dt : steps)
      for (double eps_a : tolerances)
        for (const std::string& solver : four_solvers()) keys.push_back({cells, dt, eps_a, solver, ""});
  return keys;
}

/// Looked at again after every run: what fails in one row fails, while to hold it takes all of them.
void settle_table_2(Context& context, const Twists& twists) {
  // Quick runs are judged at the fine tolerance, against the rows of 17.7 thousand vertices.
  const std::vector<double> both = {kTwistFine, kTwistCoarse};
  const std::vector<double> judged = context.quick() ? std::vector{kTwistFine} : both;
  Decision moderate("pitfalls/table-2/h-1-30"), large("pitfalls/table-2/h-1-3");
  for (Decision* decision : {&moderate, &large}) {
    const double dt = decision == &moderate ? kModerate : kLarge;
    twists.compares(*decision, table_keys(twists, {dt}, judged));
    for (const std::string& solver : four_solvers())
      for_rows(twists, dt, judged, {solver}, [&](int cells, double eps_a, const auto& row) {
        const bool fine_mesh = !context.quick() && cells != twists.cells().front();
        const double printed = published(dt, fine_mesh, eps_a, solver);
        const double within = dt < 0.1 && solver != "PN" ? 0.20 : 0.33;
        decision->between(in_row(solver, cells, dt, eps_a), row(solver), (1 - within) * printed,
                          (1 + within) * printed);
        if (decision->verdict() != Verdict::fails || solver != "N") return;
        const TrialTotals& newton = twists.get({cells, dt, eps_a, "N", ""});
        decision->because(
            fmt::format("the paper prints neither its motion nor its size; here N meets an indefinite matrix in {} of "
                        "{} iterations and turns {} directions round",
                        newton.count(&Iteration::indefinite), newton.iterations, newton.count(&Iteration::turned)));
      });
    context.settle(*decision);
  }

  Decision equal("pitfalls/table-2/h-1-30/equal"), over_n("pitfalls/table-2/h-1-30/pn-over-n"),
      order("pitfalls/table-2/h-1-3/order"), kn_over("pitfalls/table-2/h-1-3/kn-over-pdn"),
      pn_over("pitfalls/table-2/h-1-3/pn-over-pdn"), tolerance("pitfalls/table-2/tolerance-cost"),
      magnitude("pitfalls/table-2/h-1-3/newton-order-of-magnitude"), trend("pitfalls/table-2/mesh-trend");
  twists.compares(equal, table_keys(twists, {kModerate}, both));
  twists.compares(over_n, table_keys(twists, {kModerate}, judged));
  for (Decision* d : {&order, &kn_over, &pn_over, &magnitude})
    twists.compares(*d, table_keys(twists, {kLarge}, judged));
  twists.compares(tolerance, table_keys(twists, {kModerate, kLarge}, both));
  twists.compares(trend, table_keys(twists, {kModerate, kLarge}, judged));
  trend.needs(twists.cells().size() == 2, "two meshes");
  for (const char* solver : {"PDN", "KN"})
    for_rows(twists, kModerate, both, {solver, "N"}, [&](int cells, double eps_a, const auto& row) {
      equal.at_most(in_row(fmt::format("|{}/N - 1|", solver), cells, kModerate, eps_a),
                    std::abs(row(solver) / row("N") - 1), 0.01);
    });
  for_rows(twists, kModerate, judged, {"PN", "N"}, [&](int cells, double eps_a, const auto& row) {
    over_n.at_least(in_row("PN/N", cells, kModerate, eps_a), row("PN") / row("N"), 3.6);
  });
  const std::pair<const char*, const char*> rising[] = {{"PDN", "KN"}, {"KN", "PN"}, {"PN", "N"}};
  for (const auto& [less, more] : rising)
    for_rows(twists, kLarge, judged, {less, more}, [&](int cells, double eps_a, const auto& row) {
      order.below(in_row(less, cells, kLarge, eps_a), row(less), row(more));
    });
  for_rows(twists, kLarge, judged, {"PDN", "KN"}, [&](int cells, double eps_a, const auto& row) {
    kn_over.between(in_row("KN/PDN", cells, kLarge, eps_a), row("KN") / row("PDN"), 1.2, 1.5);
  });
  for_rows(twists, kLarge, judged, {"PN", "PDN"}, [&](int cells, double eps_a, const auto& row) {
    pn_over.at_least(in_row("PN/PDN", cells, kLarge, eps_a), row("PN") / row("PDN"), 2.6);
  });
  for (const char* solver : {"PDN", "KN"})
    for_rows(twists, kLarge, judged, {"N", solver}, [&](int cells, double eps_a, const auto& row) {
      magnitude.at_least(in_row(fmt::format("N/{}", solver), cells, kLarge, eps_a), row("N") / row(solver),
                         cells == twists.cells().front() && *solver == 'K' ? 9 : 10);
    });
  for (int cells : twists.cells()) {
    const auto is_there = [&](double dt, const std::string& solver) {
      return twists.has({{cells, dt, kTwistFine, solver, ""}, {cells, dt, kTwistCoarse, solver, ""}});
    };
    const auto value = [&](double dt, double eps_a, const std::string& solver) {
      return twists.get({cells, dt, eps_a, solver, ""}).per_step_mean();
    };
    const auto extra = [&](const std::string& solver) {
      return value(kModerate, kTwistFine, solver) - value(kModerate, kTwistCoarse, solver);
    };
    for (const char* solver : {"N", "PDN", "KN"})
      if (is_there(kModerate, solver))
        equal.at_most(fmt::format("{}, fine minus coarse, {} cells across", solver, cells), extra(solver), 1.5);
    for (double dt : {kModerate, kLarge}) {
      if (!is_there(dt, "PN")) continue;
      const double PN = value(dt, kTwistFine, "PN") / value(dt, kTwistCoarse, "PN");
      tolerance.at_least(fmt::format("PN, fine over coarse, {} cells across, dt {:.3g}", cells, dt), PN, 1.35);
      for (const char* solver : {"N", "PDN", "KN"})
        if (is_there(dt, solver))
          tolerance.above(fmt::format("PN's ratio against {}'s, {} cells across, dt {:.3g}", solver, cells, dt), PN,
                          value(dt, kTwistFine, solver) / value(dt, kTwistCoarse, solver));
    }
    if (is_there(kModerate, "PN") && is_there(kModerate, "N"))
      tolerance.at_least(fmt::format("PN's extra iterations, {} cells across, dt 1/30", cells), extra("PN"),
                         5 * extra("N"));
  }
  for (double dt : {kModerate, kLarge})
    for (double eps_a : judged)
      for (const std::string& solver : four_solvers()) {
        const TwistKey fine = {twists.cells().back(), dt, eps_a, solver, ""},
                       coarse = {twists.cells().front(), dt, eps_a, solver, ""};
        if (!twists.has({fine, coarse}) || (solver == "N" && dt == kModerate)) continue;
        const double growth = twists.get(fine).per_step_mean() / twists.get(coarse).per_step_mean();
        const std::string what = fmt::format("{}, fine over coarse mesh, dt {:.3g}, eps_a {}", solver, dt, eps_a);
        if (solver == "N")
          trend.at_least(what, growth, 1.2);
        else if (solver == "PN")
          trend.at_most(what, growth, 1.02);
        else
          trend.at_most(what, std::abs(growth - 1), 0.25);
      }
  for (Decision* d : {&equal, &over_n, &order, &kn_over, &pn_over, &tolerance, &magnitude, &trend}) context.settle(*d);
}

void settle_steps(Context& context, const Twists& twists) {
  Decision smaller("pitfalls/section-6/smaller-step-costs-more"), moderate("pitfalls/fig-10/moderate");
  twists.compares(smaller, table_keys(twists, {kModerate, kLarge}, {kTwistFine}));
  for (int cells : twists.cells())
    for (const std::string& solver : four_solvers()) {
      const TwistKey small = {cells, kModerate, kTwistFine, solver, ""},
                     large = {cells, kLarge, kTwistFine, solver, ""};
      if (!twists.has({small, large})) continue;
      const double ratio = double(twists.get(small).iterations) / twists.get(large).iterations;
      const std::string what = fmt::format("{}, iterations at 1/30 over 1/3 s, {} cells across", solver, cells);
      if (solver == "N")
        smaller.below(what, ratio, 1);
      else
        smaller.at_least(what, ratio, solver == "KN" ? 2 : 2.5);
      if (solver == "N" && ratio >= 1)
        smaller.because(
            fmt::format("N takes {} iterations in steps of 1/30 s and {} in steps of 1/3 s, of which {} "
                        "meet an indefinite matrix: the large steps are not hard for it here",
                        twists.get(small).iterations, twists.get(large).iterations,
                        twists.get(large).count(&Iteration::indefinite)));
    }
  context.settle(smaller);

  const int finest = twists.cells().back();
  const auto run = [&](const std::string& solver) { return TwistKey{finest, kModerate, kTwistFine, solver, ""}; };
  for (const std::string& solver : four_solvers()) twists.compares(moderate, {run(solver)});
  const auto counts = [&](const std::string& solver) {
    const bool is_whole = twists.has({run(solver)}) && twists.get(run(solver)).completed();
    return is_whole ? twists.get(run(solver)).per_step : std::vector<int>{};
  };
  const std::vector<int> N = counts("N"), PN = counts("PN");
  if (!N.empty()) {
    for (const char* solver : {"PDN", "KN"}) {
      const std::vector<int> other = counts(solver);
      if (other.empty()) continue;
      int same = 0;
      for (std::size_t s = 0; s < N.size(); ++s) same += other[s] == N[s];
      moderate.at_least(fmt::format("share of steps in which {} equals N", solver), double(same) / double(N.size()),
                        0.95);
    }
    const auto [least, most] = std::minmax_element(N.begin() + 4, N.end());
    moderate.at_most("N's band over steps 5 to 90", *most - *least, 2);
  }
  if (!PN.empty()) {
    std::vector<double> climbing(PN.begin(), PN.end()), number;
    for (std::size_t s = 0; s < PN.size(); ++s) number.push_back(double(s));
    moderate.at_least("rank correlation of PN's count with the step", spearman(climbing, number), 0.7);
    moderate.at_least("PN, last 20 steps over steps 5 to 24",
                      mean({climbing.end() - 20, climbing.end()}) / mean({climbing.begin() + 4, climbing.begin() + 24}),
                      2);
  }
  context.settle(moderate);
}

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
    for (const double dt : {kModerate, kLarge}) {
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
    return TwistKey{cells, kLarge, eps_a, solver, variant};
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
    const TwistKey with = {cells, kLarge, eps_a, "PDN", ""}, without = key("PDN", "ignores short steps", eps_a);
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
                    twists.get({cells, kLarge, kTwistFine, "PDN", ""}).projected_iterations,
                    twists.get({cells, kLarge, kTwistFine, "PDN", ""}).iterations,
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
    const TwistKey by_mass = {cells, kModerate, kTwistFine, "PDN", ""};
    const TwistKey by_node = {cells, kModerate, kTwistFine, "PDN", "the same for every node"};
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
    return {cells_, kModerate, eps_a, solver, seconds_ == 3 ? "direct" : "direct, in less time"};
  }
  TwistKey penalty(const std::string& solver, double eps_a) const {
    return {cells_, kModerate, eps_a, solver, seconds_ == 3 ? "" : "in less time"};
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
    for (double dt : {kModerate, kLarge}) {
      const bool goes_through = cells == twists.cells().front() && dt == kModerate;
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
  twists.compares(inverts, table_keys(twists, {kModerate, kLarge}, {kTwistFine}));
  context.settle(inverts);
}

void run_twisting_beam(Context& context) {
  Twists twists(context);
  twists.expect(context.quick() ? 38 : 80);
  Fig9 fig_9(context, twists);
  const auto settle = [&] {
    settle_table_2(context, twists);
    settle_steps(context, twists);
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
  for (const char* solver : {"PDN", "N", "KN", "PN"}) run({coarse, kLarge, kTwistFine, solver, ""});
  if (!context.quick()) run({coarse, kLarge, kTwistFine, "N", "direct"});
  run_fig_9(context.quick() ? std::vector<std::string>{"N", "PN"} : std::vector<std::string>{"N", "PDN", "KN"},
            kTwistFine);
  if (context.stopped()) return;
  run_variants(context, twists);
  for (const double dt : {kLarge, kModerate})
    for (const char* solver : {"N", "PDN", "KN"}) run({coarse, dt, kTwistCoarse, solver, ""});
  for (const double dt : {kLarge, kModerate})
    for (const double eps_a : {kTwistCoarse, kTwistFine}) run({coarse, dt, eps_a, "PN", ""});
  if (!context.quick()) {
    run_fig_9({"N", "PDN", "KN", "PN"}, kTwistCoarse);
    run_fig_9({"PN"}, kTwistFine);
  }
  for (const TwistKey& key : table_keys(twists, {kLarge, kModerate}, {kTwistFine, kTwistCoarse})) run(key);
  if (context.stopped()) return;
  decide_penalty(context, twists);
  if (!context.quick())
    for (TwistKey key : table_keys(twists, {kLarge, kModerate}, {kTwistFine})) {
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
