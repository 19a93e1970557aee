#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/pitfalls/statistics.hpp"
#include "experiments/pitfalls/twists.hpp"

namespace pliant::experiments {

namespace {

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

void settle_rows(Context& context, const Twists& twists) {
  // Quick runs are judged at the fine tolerance, against the rows of 17.7 thousand vertices.
  const std::vector<double> both = {kTwistFine, kTwistCoarse};
  const std::vector<double> judged = context.quick() ? std::vector{kTwistFine} : both;
  Decision moderate("pitfalls/table-2/h-1-30"), large("pitfalls/table-2/h-1-3");
  for (Decision* decision : {&moderate, &large}) {
    const double dt = decision == &moderate ? kTwistModerate : kTwistLarge;
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
  twists.compares(equal, table_keys(twists, {kTwistModerate}, both));
  twists.compares(over_n, table_keys(twists, {kTwistModerate}, judged));
  for (Decision* d : {&order, &kn_over, &pn_over, &magnitude})
    twists.compares(*d, table_keys(twists, {kTwistLarge}, judged));
  twists.compares(tolerance, table_keys(twists, {kTwistModerate, kTwistLarge}, both));
  twists.compares(trend, table_keys(twists, {kTwistModerate, kTwistLarge}, judged));
  trend.needs(twists.cells().size() == 2, "two meshes");
  for (const char* solver : {"PDN", "KN"})
    for_rows(twists, kTwistModerate, both, {solver, "N"}, [&](int cells, double eps_a, const auto& row) {
      equal.at_most(in_row(fmt::format("|{}/N - 1|", solver), cells, kTwistModerate, eps_a),
                    std::abs(row(solver) / row("N") - 1), 0.01);
    });
  for_rows(twists, kTwistModerate, judged, {"PN", "N"}, [&](int cells, double eps_a, const auto& row) {
    over_n.at_least(in_row("PN/N", cells, kTwistModerate, eps_a), row("PN") / row("N"), 3.6);
  });
  const std::pair<const char*, const char*> rising[] = {{"PDN", "KN"}, {"KN", "PN"}, {"PN", "N"}};
  for (const auto& [less, more] : rising)
    for_rows(twists, kTwistLarge, judged, {less, more}, [&](int cells, double eps_a, const auto& row) {
      order.below(in_row(less, cells, kTwistLarge, eps_a), row(less), row(more));
    });
  for_rows(twists, kTwistLarge, judged, {"PDN", "KN"}, [&](int cells, double eps_a, const auto& row) {
    kn_over.between(in_row("KN/PDN", cells, kTwistLarge, eps_a), row("KN") / row("PDN"), 1.2, 1.5);
  });
  for_rows(twists, kTwistLarge, judged, {"PN", "PDN"}, [&](int cells, double eps_a, const auto& row) {
    pn_over.at_least(in_row("PN/PDN", cells, kTwistLarge, eps_a), row("PN") / row("PDN"), 2.6);
  });
  for (const char* solver : {"PDN", "KN"})
    for_rows(twists, kTwistLarge, judged, {"N", solver}, [&](int cells, double eps_a, const auto& row) {
      magnitude.at_least(in_row(fmt::format("N/{}", solver), cells, kTwistLarge, eps_a), row("N") / row(solver),
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
      return value(kTwistModerate, kTwistFine, solver) - value(kTwistModerate, kTwistCoarse, solver);
    };
    for (const char* solver : {"N", "PDN", "KN"})
      if (is_there(kTwistModerate, solver))
        equal.at_most(fmt::format("{}, fine minus coarse, {} cells across", solver, cells), extra(solver), 1.5);
    for (double dt : {kTwistModerate, kTwistLarge}) {
      if (!is_there(dt, "PN")) continue;
      const double PN = value(dt, kTwistFine, "PN") / value(dt, kTwistCoarse, "PN");
      tolerance.at_least(fmt::format("PN, fine over coarse, {} cells across, dt {:.3g}", cells, dt), PN, 1.35);
      for (const char* solver : {"N", "PDN", "KN"})
        if (is_there(dt, solver))
          tolerance.above(fmt::format("PN's ratio against {}'s, {} cells across, dt {:.3g}", solver, cells, dt), PN,
                          value(dt, kTwistFine, solver) / value(dt, kTwistCoarse, solver));
    }
    if (is_there(kTwistModerate, "PN") && is_there(kTwistModerate, "N"))
      tolerance.at_least(fmt::format("PN's extra iterations, {} cells across, dt 1/30", cells), extra("PN"),
                         5 * extra("N"));
  }
  for (double dt : {kTwistModerate, kTwistLarge})
    for (double eps_a : judged)
      for (const std::string& solver : four_solvers()) {
        const TwistKey fine = {twists.cells().back(), dt, eps_a, solver, ""},
                       coarse = {twists.cells().front(), dt, eps_a, solver, ""};
        if (!twists.has({fine, coarse}) || (solver == "N" && dt == kTwistModerate)) continue;
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
  twists.compares(smaller, table_keys(twists, {kTwistModerate, kTwistLarge}, {kTwistFine}));
  for (int cells : twists.cells())
    for (const std::string& solver : four_solvers()) {
      const TwistKey small = {cells, kTwistModerate, kTwistFine, solver, ""},
                     large = {cells, kTwistLarge, kTwistFine, solver, ""};
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
  const auto run = [&](const std::string& solver) { return TwistKey{finest, kTwistModerate, kTwistFine, solver, ""}; };
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

}  // namespace

std::vector<TwistKey> table_keys(const Twists& twists, const std::vector<double>& steps,
                                 const std::vector<double>& tolerances) {
  std::vector<TwistKey> keys;
  for (int cells : twists.cells())
    for (double dt : steps)
      for (double eps_a : tolerances)
        for (const std::string& solver : four_solvers()) keys.push_back({cells, dt, eps_a, solver, ""});
  return keys;
}

void settle_table_2(Context& context, const Twists& twists) {
  settle_rows(context, twists);
  settle_steps(context, twists);
}

}  // namespace pliant::experiments
