// Figs. 1 and 3 of pxpbd: the residual of backward Euler's equation over the sweeps of hard steps, at a scan of the
// stiffness number kappa, which the paper leaves open: XPBD, B-PXPBD with zeta = 0.5, FP-PXPBD, XPBD with the primal
// residual kept, and Newton.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/chart.hpp"
#include "experiments/measure.hpp"
#include "experiments/pxpbd/plain_xpbd.hpp"
#include "experiments/pxpbd/pxpbd.hpp"
#include "experiments/pxpbd/sweeps.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

struct StepCurves {
  std::string label;
  SweepCurve xpbd, blended, fp;
};
/// All three steps at one kappa.
struct KappaCurves {
  double kappa;
  std::vector<HardStep> steps;
  std::vector<StepCurves> curves;

  template <class Test>
  bool all(Test&& test) const {
    return std::all_of(curves.begin(), curves.end(), test);
  }
};

bool is_early(const StepCurves& c, int before) {
  bool rapid = true;
  for (std::size_t k : {1u, 2u, 3u}) rapid = rapid && c.xpbd.at(k) <= 1.2 * std::min(c.blended.at(k), c.fp.at(k));
  const auto sweep = static_cast<std::size_t>(before - 1);
  return rapid && c.blended.at(sweep) < c.xpbd.at(sweep) && c.fp.at(sweep) < c.xpbd.at(sweep);
}

bool secondary_falls(const SweepCurve& c) {
  const double primal = c.primal.back(), earlier = c.primal[std::min<std::size_t>(100, c.primal.size() - 1)];
  return c.secondary.back() <= 1e-6 && c.secondary.back() <= c.secondary[c.secondary.size() / 2] &&
         std::abs(primal / earlier - 1) < 0.05 && std::abs(primal / c.last() - 1) <= 0.2;
}

/// What each claim makes of a kappa.
struct Judged {
  bool xpbd, blended, fp, early, secondary;
  int count() const { return xpbd + blended + fp + early + secondary; }
};
Judged judge_kappa(const KappaCurves& k) {
  return {k.all([](const StepCurves& c) { return stagnates(c.xpbd, c.fp); }),
          k.all([](const StepCurves& c) { return reduces(c.blended, c.xpbd); }),
          k.all([](const StepCurves& c) { return reduces(c.fp, c.xpbd); }),
          k.all([](const StepCurves& c) { return is_early(c, 40); }), secondary_falls(k.curves[0].xpbd)};
}

/// Whether a simulation with the whole primal residual kept, ten sweeps a step, leaves ten sizes of the body.
bool explodes_with_primal(Context& context, const HardStep& step, int steps) {
  PlainXpbd included(*step.model, {.primal = PlainXpbd::Primal::whole});
  State state = step.start;
  const double size = step.model->rest().cwiseAbs().maxCoeff();
  for (int k = 0; k < steps && !context.stopped(); ++k) {
    included.begin_step(state, kPaperStep);
    for (int s = 0; s < 10; ++s) included.sweep();
    included.end_step(state);
    if (!state.x.allFinite() || (state.x - step.model->rest()).cwiseAbs().maxCoeff() > 10 * size) return true;
  }
  return false;
}

/// XPBD with g kept: the largest r, or where it stopped being finite.
void decide_inclusion(Context& context, const HardStep& step, const SweepCurve& xpbd, int sweeps) {
  Decision decision("pxpbd/fig-3b/inclusion-unstable");
  decision.needs(std::isfinite(xpbd.last()), "XPBD without it is stable at this kappa");
  for (auto [label, primal] : {std::pair{"whole", PlainXpbd::Primal::whole},
                               std::pair{"shared among a node's constraints", PlainXpbd::Primal::shared}}) {
    PlainXpbd included(*step.model, {.primal = primal});
    included.begin_step(step.start, kPaperStep);
    const double first = included.true_residual();
    double largest = 1;
    int at = 0;
    for (int k = 1; k <= sweeps && largest <= 10 && !context.stopped(); ++k) {
      included.sweep();
      const double r = included.true_residual() / first;
      largest = std::isfinite(r) ? std::max(largest, r) : 1e300;
      at = k;
    }
    context.row({{"step", "primal residual kept, " + std::string(label)},
                 {"kappa", xpbd.kappa},
                 {"largest_r", largest},
                 {"sweeps", at}});
    if (primal == PlainXpbd::Primal::whole) {
      decision.above("largest r with the whole primal residual kept", std::min(largest, 1e12), 10)
          .note("sweeps until then", at);
      if (largest <= 10) {  // then the claim may still hold by a simulation that explodes
        const int steps = static_cast<int>(context.number("inclusion_steps"));
        const bool explodes = explodes_with_primal(context, step, steps);
        decision = Decision("pxpbd/fig-3b/inclusion-unstable");
        decision.needs(steps >= 100 || explodes, "100 steps with it, minutes of this plain code")
            .part("largest r in one step", largest, "above 10, or an explosion within 100 steps", explodes)
            .note("sweeps", at)
            .note("steps simulated", steps);
        if (decision.verdict() != Verdict::holds)
          decision.because(
              fmt::format("r stays at or below {:.2g} over {} sweeps at kappa {:.2g}", largest, at, xpbd.kappa));
      }
    } else {
      decision.note("largest r with it shared among a node's constraints", std::min(largest, 1e12));
    }
  }
  context.decide(decision);
}

void decide_newton(Context& context, const KappaCurves& chosen) {
  Decision rivals("pxpbd/abstract/rivals-newton"), fewest("pxpbd/section-1/newton-fewest-iterations");
  const HardStep& hard = chosen.steps[0];
  const std::int64_t many = 2000;
  const SweepCurve newton = follow_newton(hard.model, hard.start, kPaperStep, {{"linear", "direct"}}, 60);
  const SweepCurve fp = follow_sweeps(hard.model, hard.start, kPaperStep, "fp-pxpbd", {}, many),
                   blended = follow_sweeps(hard.model, hard.start, kPaperStep, "b-pxpbd", {{"zeta", 0.5}}, many),
                   xpbd = follow_sweeps(hard.model, hard.start, kPaperStep, "xpbd", {}, many);
  const double moved = (newton.x - hard.start.x).norm();
  const auto least = [](const SweepCurve& c) { return *std::min_element(c.r.begin(), c.r.end()); };
  for (const auto* c : {&fp, &blended})
    rivals.at_most(c->label + ": least r", least(*c), 1e-8)
        .at_most(c->label + ": distance to Newton's state over the displacement", (c->x - newton.x).norm() / moved,
                 1e-6);
  rivals.at_least("xpbd: least r in as many sweeps", least(xpbd), 0.02)
      .note("kappa", chosen.kappa)
      .note("ms to 1e-8: FP-PXPBD, B-PXPBD, Newton",
            Json::array({fp.sweeps_to(1e-8) * fp.ms_per_sweep, blended.sweeps_to(1e-8) * blended.ms_per_sweep,
                         newton.sweeps_to(1e-8) * newton.ms_per_sweep}));
  if (rivals.verdict() == Verdict::fails)
    rivals.because(
        fmt::format("after {} sweeps r is {:.1e} (FP-PXPBD), {:.1e} (B-PXPBD), {:.2f} (XPBD) at kappa {:.2g}", many,
                    fp.last(), blended.last(), xpbd.last(), chosen.kappa));
  context.decide(rivals);

  // An iteration of Newton beside a sweep, by processor time on one thread.
  const OneThread one;
  const auto seconds = [&](const std::string& solver, ParameterMap parameters, const char* count, std::int64_t n) {
    parameters[count] = n;
    const auto stepper = make_stepper(hard.model, solver, parameters);
    std::vector<double> all;
    for (int k = 0; k < 8; ++k) {
      State state = hard.start;
      const ProcessorTime clock;
      stepper->step(state, kPaperStep);
      if (k > 0) all.push_back(clock.seconds());
    }
    return median(all);
  };
  const ParameterMap newton_parameters = {{"linear", "direct"}, {"tolerance", 0.0}};
  const double iteration = seconds("pod-newton", newton_parameters, "max_iterations", 3) -
                           seconds("pod-newton", newton_parameters, "max_iterations", 2);
  const double sweep = (seconds("fp-pxpbd", sweeps_alone({}), "iterations", 40) -
                        seconds("fp-pxpbd", sweeps_alone({}), "iterations", 20)) /
                       20;
  const auto quasi = make_stepper(hard.model, "quasi-newton", {{"iterations", std::int64_t{300}}, {"history", true}});
  State state = hard.start;
  const StepReport report = quasi->step(state, kPaperStep);
  double quasi_iterations = std::numeric_limits<double>::infinity();
  for (std::size_t k = report.history.size(); k-- > 0;)
    if (report.history[k].force <= 1e-6 * report.history.front().force) quasi_iterations = static_cast<double>(k);
  double worst = 0;
  for (const HardStep& step : chosen.steps) {
    const SweepCurve with = follow_newton(step.model, step.start, kPaperStep, {{"linear", "direct"}}, 60),
                     without = follow_newton(step.model, step.start, kPaperStep,
                                             {{"linear", "direct"}, {"line_search", "none"}}, 60);
    worst = std::max(worst, std::min(1e6, without.sweeps_to(1e-6) / with.sweeps_to(1e-6)));
  }
  const double count = newton.sweeps_to(1e-6);
  fewest
      .below("Newton's iterations to 1e-6", count,
             std::min({fp.sweeps_to(1e-6), blended.sweeps_to(1e-6), quasi_iterations}))
      .at_least("time of a Newton iteration in sweeps", iteration / sweep, 10)
      .at_least("iterations without a line search over those with one, at worst of 3 steps", worst, 2)
      .note("iterations to 1e-6: Newton, FP-PXPBD, B-PXPBD, quasi-Newton",
            Json::array({count, fp.sweeps_to(1e-6), blended.sweeps_to(1e-6), quasi_iterations}));
  if (fewest.verdict() == Verdict::fails)
    fewest.because(fmt::format(
        "an iteration takes {:.1f} sweeps' time; without a line search Newton needs at most {:.2g} times the "
        "iterations in these steps",
        iteration / sweep, worst));
  context.decide(fewest);
}

void run_residual(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  const auto sweeps = static_cast<std::int64_t>(context.number("sweeps"));
  std::vector<KappaCurves> scan;
  for (double kappa : context.numbers("kappas")) {
    if (context.stopped()) return;
    context.progress(static_cast<double>(scan.size()) / 8, fmt::format("kappa {:g}", kappa));
    KappaCurves at{kappa, hard_steps(cells, kappa), {}};
    for (const HardStep& step : at.steps) {
      const auto follow = [&](const char* solver, const ParameterMap& parameters) {
        return follow_sweeps(step.model, step.start, kPaperStep, solver, parameters, sweeps);
      };
      StepCurves c{step.label, follow("xpbd", {}), follow("b-pxpbd", {{"zeta", 0.5}}), follow("fp-pxpbd", {})};
      const SweepCurve own = follow("b-pxpbd", {});
      context.row({{"step", step.label},
                   {"kappa", c.xpbd.kappa},
                   {"xpbd_100", c.xpbd.at(100)},
                   {"xpbd", std::isfinite(c.xpbd.last()) ? Json(c.xpbd.last()) : Json("diverges")},
                   {"b_pxpbd", std::isfinite(c.blended.last()) ? Json(c.blended.last()) : Json("diverges")},
                   {"b_pxpbd_own_zeta", std::isfinite(own.last()) ? Json(own.last()) : Json("diverges")},
                   {"fp_pxpbd", std::isfinite(c.fp.last()) ? Json(c.fp.last()) : Json("diverges")},
                   {"residual_xpbd", c.xpbd.r},
                   {"residual_fp", c.fp.r}});
      at.curves.push_back(std::move(c));
    }
    scan.push_back(std::move(at));
  }
  // The kappa at which most claims of the figure hold: the paper leaves it open and gets the benefit.
  std::size_t best = 0;
  std::vector<Judged> judged;
  for (std::size_t k = 0; k < scan.size(); ++k) {
    judged.push_back(judge_kappa(scan[k]));
    if (judged[k].count() > judged[best].count()) best = k;
  }
  const auto decide = [&](const std::string& id, bool Judged::*what, auto&& number, const std::string& asked) {
    if (!context.wants({("pxpbd/" + id).c_str()})) return;
    Decision decision("pxpbd/" + id);
    Json held = Json::array();
    for (std::size_t k = 0; k < scan.size(); ++k)
      if (judged[k].*what) held.push_back(scan[k].kappa);
    double worst = 0;
    for (const StepCurves& c : scan[best].curves) {
      const double value = number(c);
      decision.note(c.label + " step", value);
      worst = std::max(worst, std::isfinite(value) ? value : 1e300);
    }
    decision.part("largest of the three steps", worst, asked, judged[best].*what)
        .note("kappa", scan[best].kappa)
        .note("kappas at which it held", held);
    if (decision.verdict() == Verdict::fails) {
      decision.because(
          fmt::format("kappa is {:g}, where most claims of the figure hold; this one does at {} of {} kappas",
                      scan[best].kappa, held.size(), scan.size()));
      for (const StepCurves& c : scan[best].curves)
        decision.because(fmt::format(
            "{}: r after 1, 3, 10 and 40 sweeps is {:.2g}, {:.2g}, {:.2g}, {:.2g} of XPBD, "
            "{:.2g}, {:.2g}, {:.2g}, {:.2g} of B-PXPBD and {:.2g}, {:.2g}, {:.2g}, {:.2g} of "
            "FP-PXPBD",
            c.label, c.xpbd.at(1), c.xpbd.at(3), c.xpbd.at(10), c.xpbd.at(40), c.blended.at(1), c.blended.at(3),
            c.blended.at(10), c.blended.at(40), c.fp.at(1), c.fp.at(3), c.fp.at(10), c.fp.at(40)));
    }
    context.decide(decision);
  };
  decide(
      "fig-1/xpbd-stagnates", &Judged::xpbd, [](const StepCurves& c) { return c.xpbd.last(); },
      "above 0.02 and within 5% of sweep 100, 100 times FP-PXPBD's");
  decide(
      "fig-1/b-pxpbd-reduces", &Judged::blended, [](const StepCurves& c) { return c.blended.last(); },
      "at most 1e-3 and 0.01 of XPBD's, falling over every 50 sweeps");
  decide(
      "fig-1/fp-pxpbd-reduces", &Judged::fp, [](const StepCurves& c) { return c.fp.last(); },
      "at most 1e-3 and 0.01 of XPBD's, falling over every 50 sweeps");
  decide(
      "fig-1/xpbd-early", &Judged::early,
      [](const StepCurves& c) { return c.xpbd.at(3) / std::min(c.blended.at(3), c.fp.at(3)); },
      "r after 1, 2, 3 sweeps at most 1.2 times the smaller of the others, overtaken before sweep 40");
  decide(
      "fig-3a/secondary-falls", &Judged::secondary, [](const StepCurves& c) { return c.xpbd.secondary.back(); },
      "secondary at most 1e-6 and falling, primal within 5% of sweep 100 and within 20% of r");
  if (context.wants({"pxpbd/abstract/rivals-newton", "pxpbd/section-1/newton-fewest-iterations"}))
    decide_newton(context, scan[best]);
  if (!context.stopped() && context.wants({"pxpbd/fig-3b/inclusion-unstable"}))
    decide_inclusion(context, scan[best].steps[0], scan[best].curves[0].xpbd,
                     static_cast<int>(context.number("inclusion_sweeps")));
}

}  // namespace

Experiment pxpbd_residual() {
  return {"pxpbd/residual",
          "The residual of backward Euler over the sweeps of hard steps: XPBD, B-PXPBD, FP-PXPBD, Newton (figs. 1, 3)",
          {{"cells", "15", "6", "cells along an edge of the cube (the paper's has 16^3 vertices)"},
           {"kappas", "0.5,1,2,4,8,16,32", "0.5,1,2,4,8,16,32", "stiffness numbers, by the size of the cells"},
           {"inclusion_sweeps", "200", "200", "at most, with the primal residual kept"},
           {"inclusion_steps", "100", "0", "and of a simulation, where one step does not grow"},
           {"sweeps", "500", "200", "of each method"}},
          run_residual};
}

}  // namespace pliant::experiments
