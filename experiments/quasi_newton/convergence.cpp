// Figs. 7, 8, 14 and 15 of quasi-newton: how the relative error (12) of one frame of the twisting bar falls with the
// iterations and with time, for L-BFGS, Chebyshev's acceleration, plain Projective Dynamics and Newton; for initial
// Hessians; for line searches; for the stretches that the stiffness is fitted over.

#include "experiments/quasi_newton/convergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/descent.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"

namespace pliant::experiments {

namespace {

using Decisions = std::map<std::string, Decision>;

constexpr const char* kDecided[] = {"fig-7/newton-per-iteration",
                                    "fig-7/constant-matrix-in-time",
                                    "fig-7/order",
                                    "fig-7/window-2-like-chebyshev",
                                    "fig-7/chebyshev-late-start",
                                    "fig-7/chebyshev-rho",
                                    "fig-8/per-iteration",
                                    "fig-8/in-time",
                                    "fig-14/unit-steps",
                                    "section-5/wolfe-no-benefit",
                                    "fig-15/interval"};

/// 1 - rho of the sweep: 13 values from 1e-1 to 1e-4.
std::vector<double> radii() {
  std::vector<double> values;
  for (int k = 0; k <= 12; ++k) values.push_back(1 - std::pow(10.0, -1 - k / 4.0));
  return values;
}

struct Sweep {
  std::vector<ConvergenceCurve> late, early;  ///< S = 10 and S = 1, by radius
  std::size_t best_late = 0, best_early = 0;  ///< smallest error after 40 iterations
};

void find_best(const std::vector<ConvergenceCurve>& curves, std::size_t& best) {
  for (std::size_t k = 0; k < curves.size(); ++k)
    if (curves[k].at(40) < curves[best].at(40)) best = k;
}

void decide_chebyshev(const Sweep& sweep, const TwistedBar& bar, std::size_t b, const std::string& where,
                      Decisions& decisions) {
  for (std::size_t k : {20u, 40u})
    decisions.at("fig-7/chebyshev-late-start")
        .below(fmt::format("{}: error after {} iterations with S = 10", where, k), sweep.late[sweep.best_late].at(k),
               sweep.early[sweep.best_early].at(k));
  // Ascent directions, counted without the restarts that the engine protects itself by.
  Json counts = Json::array();
  int below = 0, at_best = 0, beyond = 0;
  const auto values = radii();
  for (std::size_t k = 0; k < values.size(); ++k) {
    DescentOptions options;
    options.iterations = 60;
    options.spectral_radius = values[k];
    options.search.kind = LineSearchKind::robust;
    int ascents = 0;
    Descent(bar.scene.model, options).solve(bar.begins[b], kFrame, [&](const Iterate&, const VecX&, double slope) {
      ascents += slope > 0;
    });
    counts.push_back({1 - values[k], ascents});
    if (1 - values[k] >= 2 * (1 - values[sweep.best_late])) below += ascents;
    if (k == sweep.best_late) at_best = ascents;
    if (values[k] > values[sweep.best_late]) beyond += ascents;
  }
  Decision& rho = decisions.at("fig-7/chebyshev-rho");
  rho.at_least(where + ": ascent directions where rho is too small", below, 1)
      .equal(where + ": ascent directions at the best rho", at_best, 0)
      .note(where + ": 1 - rho and ascent directions in 60 iterations", counts)
      .note(where + ": best 1 - rho", 1 - values[sweep.best_late]);
  if (rho.verdict() == Verdict::fails)
    rho.because(
        fmt::format("{}: best at 1 - rho = {:.1e}; {} ascent directions in all with smaller rho, which "
                    "extrapolate less, {} at it, {} with larger ones",
                    where, 1 - values[sweep.best_late], below, at_best, beyond));
}

void decide_fig7(const std::map<std::string, ConvergenceCurve>& curves, const std::string& where,
                 Decisions& decisions) {
  const ConvergenceCurve &newton = curves.at("Newton"), &pd = curves.at("PD"), &chebyshev = curves.at("Chebyshev"),
                         &two = curves.at("m = 2"), &five = curves.at("m = 5");
  Decision& per_iteration = decisions.at("fig-7/newton-per-iteration");
  for (std::size_t k : {3u, 5u, 10u}) {
    const double others = std::min({pd.at(k), chebyshev.at(k), two.at(k), five.at(k)});
    if (others < 1e-12 && newton.at(k) < 1e-12) continue;
    per_iteration.below(fmt::format("{}: Newton's error after {} iterations", where, k), newton.at(k), others);
  }
  if (per_iteration.verdict() == Verdict::fails)
    per_iteration.because(
        fmt::format("{}: Newton's errors after 1, 3, 5, 10 iterations are {:.1e}, {:.1e}, {:.1e}, {:.1e}, "
                    "those of L-BFGS {:.1e}, {:.1e}, {:.1e}, {:.1e}",
                    where, newton.at(1), newton.at(3), newton.at(5), newton.at(10), five.at(1), five.at(3), five.at(5),
                    five.at(10)));
  Decision& time = decisions.at("fig-7/constant-matrix-in-time");
  for (const ConvergenceCurve* curve : {&pd, &chebyshev, &two, &five})
    for (double error : {1e-2, 1e-4})
      time.at_most(fmt::format("{}: ms of {} to {:.0e}", where, curve->label, error), curve->ms_to(error),
                   newton.ms_to(error) / 2);
  if (time.verdict() == Verdict::fails)
    time.because(
        fmt::format("{}: Newton needs {:.1f} ms to 1e-4, {:.1f} an iteration; PD {:.1f} ms, Chebyshev {:.1f}, "
                    "m = 2 {:.1f}, m = 5 {:.1f}",
                    where, newton.ms_to(1e-4), newton.ms_per_iteration, pd.ms_to(1e-4), chebyshev.ms_to(1e-4),
                    two.ms_to(1e-4), five.ms_to(1e-4)));
  Decision& order = decisions.at("fig-7/order");
  const double e = 1e-6;
  order
      .above(where + ": iterations of PD to 1e-6", std::min(pd.iterations_to(e), static_cast<double>(pd.energy.size())),
             chebyshev.iterations_to(e))
      .at_least(where + ": iterations of Chebyshev to 1e-6", chebyshev.iterations_to(e), two.iterations_to(e))
      .above(where + ": iterations of m = 2 to 1e-6", two.iterations_to(e), five.iterations_to(e))
      .above(where + ": ms of PD to 1e-6", ms_or_undecided(pd, e, chebyshev.ms_to(e)), chebyshev.ms_to(e))
      .at_least(where + ": ms of Chebyshev to 1e-6", chebyshev.ms_to(e), two.ms_to(e))
      .above(where + ": ms of m = 2 to 1e-6", two.ms_to(e), five.ms_to(e));
  if (order.verdict() == Verdict::fails)
    order.because(fmt::format("{}: iterations to 1e-6: PD {}, Chebyshev {}, m = 2 {}, m = 5 {}", where,
                              pd.iterations_to(e), chebyshev.iterations_to(e), two.iterations_to(e),
                              five.iterations_to(e)));
  Decision& alike = decisions.at("fig-7/window-2-like-chebyshev");
  const double rates[] = {two.rate(1e-3, 1e-9), chebyshev.rate(1e-3, 1e-9)};
  alike.between(where + ": rate of m = 2 over Chebyshev's", rates[0] / rates[1], 0.9, 1.5);
  if (alike.verdict() == Verdict::fails)
    alike.because(
        fmt::format("{}: {:.2f} decades an iteration with m = 2, {:.2f} with Chebyshev", where, rates[0], rates[1]));
}

void decide_fig8(const std::map<std::string, ConvergenceCurve>& curves, const std::string& where,
                 Decisions& decisions) {
  const std::vector<std::string> order = {"scaled-identity", "rest-pose", "warped-rest-pose", "m = 5", "frame-start"};
  Decision& per_iteration = decisions.at("fig-8/per-iteration");
  for (std::size_t k : {10u, 20u}) {
    for (std::size_t m = 0; m + 1 < order.size(); ++m)
      per_iteration.above(fmt::format("{}: error of {} after {} iterations", where, order[m], k),
                          curves.at(order[m]).at(k), curves.at(order[m + 1]).at(k));
    for (const char* rival : {"scaled-identity", "rest-pose"})
      per_iteration.at_most(fmt::format("{}: ours over {} after {} iterations", where, rival, k),
                            curves.at("m = 5").at(k) / curves.at(rival).at(k), 0.1);
  }
  if (per_iteration.verdict() == Verdict::fails) {
    std::string errors;
    for (const std::string& label : order) errors += fmt::format(" {} {:.1e},", label, curves.at(label).at(10));
    per_iteration.because(where + ": errors after 10 iterations:" + errors);
  }
  Decision& time = decisions.at("fig-8/in-time");
  for (double error : {1e-2, 1e-4}) {
    const double ours = curves.at("m = 5").ms_to(error);
    int arrived = 0;
    for (const std::string& label : order) {
      if (label == "m = 5") continue;
      arrived += std::isfinite(curves.at(label).ms_to(error));
      time.above(fmt::format("{}: ms of {} to {:.0e}", where, label, error),
                 ms_or_undecided(curves.at(label), error, ours), ours);
    }
    time.needs(arrived >= 2, fmt::format("{}: two other initial Hessians get to {:.0e}", where, error));
  }
  if (time.verdict() == Verdict::fails)
    time.because(fmt::format("{}: to 1e-4 ours takes {:.1f} ms, frame start {:.1f}, rest pose {:.1f}", where,
                             curves.at("m = 5").ms_to(1e-4), curves.at("frame-start").ms_to(1e-4),
                             curves.at("rest-pose").ms_to(1e-4)));
}

void decide_searches(const std::map<std::string, ConvergenceCurve>& curves, const std::string& where,
                     Decisions& decisions) {
  const ConvergenceCurve &armijo = curves.at("armijo"), &wolfe = curves.at("wolfe");
  const std::size_t count = std::min({std::size_t{40}, armijo.alphas.size(), wolfe.alphas.size()});
  double whole[2] = {0, 0}, agree = 0, early = 0;
  for (std::size_t k = 0; k < count; ++k) {
    whole[0] += armijo.alphas[k] == 1;
    whole[1] += wolfe.alphas[k] == 1;
    agree += armijo.alphas[k] == wolfe.alphas[k];
    early += armijo.error[k] > 1e-5 && armijo.alphas[k] != wolfe.alphas[k];
  }
  const auto n = static_cast<double>(count);
  Decision& unit = decisions.at("fig-14/unit-steps");
  unit.needs(count >= 30 || armijo.at(count) < 1e-13, "40 iterations, unless converged before")
      .at_least(where + ": share of whole steps, backtracking", whole[0] / n, 0.8)
      .at_least(where + ": share of whole steps, Wolfe", whole[1] / n, 0.8)
      .at_least(where + ": share of iterations in which both agree", agree / n, 0.8)
      .equal(where + ": iterations with an error above 1e-5 in which they differ", early, 0)
      .note(where + ": iterations compared", count);
  if (unit.verdict() == Verdict::fails)
    unit.because(fmt::format("{}: {} of {} steps are whole with backtracking, {} with Wolfe's conditions", where,
                             whole[0], count, whole[1]));
  Decision& benefit = decisions.at("section-5/wolfe-no-benefit");
  for (std::size_t k : {10u, 20u}) {
    const double ratio = wolfe.at(k) / armijo.at(k);
    if (armijo.at(k) < 1e-13 && wolfe.at(k) < 1e-13) continue;
    benefit.between(fmt::format("{}: Wolfe's error over backtracking's after {} iterations", where, k), ratio, 0.5, 2);
  }
  const ConvergenceCurve &timed = curves.at("armijo, timed"), &timed_wolfe = curves.at("wolfe, timed");
  const double cost = timed_wolfe.ms_per_iteration / timed.ms_per_iteration;
  benefit.at_least(where + ": time of a Wolfe iteration over a backtracking one", cost, 1.0)
      .note(where + ": trial points an iteration",
            Json::array({timed.evaluations_per_iteration, timed_wolfe.evaluations_per_iteration}));
  if (benefit.verdict() == Verdict::fails)
    benefit.because(
        fmt::format("{}: {:.3f} and {:.3f} ms an iteration with {:.2f} and {:.2f} trial points (backtracking, "
                    "Wolfe); energy and gradient share one pass here",
                    where, timed.ms_per_iteration, timed_wolfe.ms_per_iteration, timed.evaluations_per_iteration,
                    timed_wolfe.evaluations_per_iteration));
}

void decide_interval(const std::map<std::string, ConvergenceCurve>& curves, const std::string& where,
                     Decisions& decisions) {
  double least = 1e300, most = 0;
  Json counts = Json::object();
  for (const char* label : {"0.9 to 1.1", "0.7 to 1.3", "m = 5", "0.3 to 1.7"}) {
    const double count = curves.at(label).iterations_to(1e-6);
    least = std::min(least, count);
    most = std::max(most, count);
    counts[label] = count;
  }
  Decision& decision = decisions.at("fig-15/interval");
  decision.at_most(where + ": most over least iterations to 1e-6", most / least, 1.5)
      .note(where + ": iterations", counts);
  if (decision.verdict() == Verdict::fails)
    decision.because(
        fmt::format("{}: from {} to {} iterations; k of Neo-Hookean grows fast near zero stretch", where, least, most));
}

void run_convergence(Context& context) {
  const auto bar = twisted_bar(context, context.text("mesh"), context.numbers("degrees"));
  if (!bar) return decide_without_meshes(context, "quasi-newton/convergence");
  Decisions decisions;
  for (const char* id : kDecided) decisions.emplace(id, Decision(std::string("quasi-newton/") + id));
  const std::int64_t few = 60, many = 400;
  std::vector<Contender> contenders = {{"m = 5", "quasi-newton", {}, few},
                                       {"m = 2", "quasi-newton", {{"window", std::int64_t{2}}}, few},
                                       {"PD", "projective-dynamics", {}, many},
                                       {"Newton", "projected-newton", {{"linear", "direct"}}, 15}};
  for (const char* hessian : {"scaled-identity", "rest-pose", "warped-rest-pose"})
    contenders.push_back({hessian, "quasi-newton", {{"hessian", hessian}}, hessian[0] == 's' ? 1000 : 150});
  contenders.push_back({"frame-start", "quasi-newton", {{"hessian", "frame-start"}}, few});
  for (const char* search : {"armijo", "wolfe"})
    for (std::int64_t iterations : {40, 15})  // the shorter ones for time: they end before rounding rejects steps
      contenders.push_back({iterations == 40 ? std::string(search) : fmt::format("{}, timed", search),
                            "quasi-newton",
                            {{"line_search", search}},
                            iterations});
  for (double half : {0.1, 0.3, 0.7})
    contenders.push_back({fmt::format("{:.1f} to {:.1f}", 1 - half, 1 + half),
                          "quasi-newton",
                          {{"smallest_stretch", 1 - half}, {"largest_stretch", 1 + half}},
                          few});
  for (Contender& contender : contenders) contender.parameters.emplace("armijo", 0.3);
  for (std::size_t b = 0; b < bar->begins.size() && !context.stopped(); ++b) {
    const std::string where = fmt::format("{:g} degrees", bar->degrees[b]);
    context.progress(static_cast<double>(b) / static_cast<double>(bar->begins.size()), where);
    Sweep sweep;
    std::vector<ConvergenceCurve> swept;
    for (std::int64_t start : {10, 1})
      for (double radius : radii())
        swept.push_back(run_contender(bar->scene, bar->begins[b],
                                      {"Chebyshev", "chebyshev", {{"start", start}, {"spectral_radius", radius}}, 60}));
    auto all = contenders;
    all.push_back({"Chebyshev, estimated radius", "chebyshev", {}, 60});
    auto curves = convergence_curves(context, bar->scene, bar->begins[b], all, &swept);
    sweep.late.assign(swept.begin(), swept.begin() + 13);
    sweep.early.assign(swept.begin() + 13, swept.end());
    find_best(sweep.late, sweep.best_late);
    find_best(sweep.early, sweep.best_early);
    // Chebyshev at its best, timed like the others.
    ConvergenceCurve best =
        convergence_curves(context, bar->scene, bar->begins[b],
                           {{"Chebyshev", "chebyshev", {{"spectral_radius", radii()[sweep.best_late]}}, 100},
                            {"m = 5", "quasi-newton", {}, few}},
                           &curves)[0];
    if (context.stopped()) return;
    std::map<std::string, ConvergenceCurve> by_label{{"Chebyshev", best}};
    for (const ConvergenceCurve& curve : curves) by_label[curve.label] = curve;
    for (const auto& [label, curve] : by_label) context.row(convergence_row(curve, where));
    decide_fig7(by_label, where, decisions);
    decide_chebyshev(sweep, *bar, b, where, decisions);
    decide_fig8(by_label, where, decisions);
    decide_searches(by_label, where, decisions);
    decide_interval(by_label, where, decisions);
  }
  Decision& late = decisions.at("fig-7/chebyshev-late-start");
  if (late.verdict() == Verdict::fails)
    late.because("with the radius at its best, plain iterations at the start only lose time");
  for (auto& [id, decision] : decisions) {
    decision.needs(bar->begins.size() == context.numbers("degrees").size(), "the bar reaches every angle");
    context.decide(decision);
  }
  decide_definiteness(context);
  decide_no_hessian(context);
}

}  // namespace

Experiment convergence() {
  return {"quasi-newton/convergence",
          "Relative error over iterations and time of one frame: Chebyshev, Newton, initial Hessians, line searches, "
          "stretches (figs. 7, 8, 14, 15)",
          {meshes_option("longbar2.mesh, longbar.mesh and hippo.mesh"),
           {"mesh", "longbar2", "longbar2", "the bar"},
           {"degrees", "90,180,360", "180", "of twist, where one frame is taken apart"}},
          run_convergence};
}

}  // namespace pliant::experiments
