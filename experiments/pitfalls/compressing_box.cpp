// The compressing box of pitfalls (section 10.2.3, fig. 11): all six sides of a box are driven by penalties, one stays,
// the opposite one comes down unevenly until the box is nearly flat, the four others follow. Only the interior is free.
// The paper does not print the motion; ours is in scenes.cpp, one for all solvers, searches and tolerances.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/pitfalls/statistics.hpp"
#include "experiments/pitfalls/trial.hpp"

namespace pliant::experiments {

namespace {

constexpr double kBoxStep = 0.01, kMostFlat = 0.05;
constexpr int kEasyStep = 100;  ///< iterations that N and KN may take in any step

using BoxRuns = std::map<std::tuple<std::string, double, std::string>, TrialTotals>;

void decide_fig_11(Context& context, const BoxRuns& runs, double height) {
  const std::vector<double> tolerances = context.numbers("eps_a");
  const int limit = static_cast<int>(context.number("max_iterations"));
  Decision alike("pitfalls/fig-11/n-kn-finish-alike"), exceed("pitfalls/fig-11/pn-pdn-exceed"),
      standard("pitfalls/fig-11/standard-search-fails");
  for (Decision* d : {&alike, &exceed, &standard})
    d->needs(height <= kMostFlat, fmt::format("N flattens the box to 5% of its height ({:.3g} of it)", height));
  for (double eps_a : tolerances) {
    const auto run = [&](const char* solver, const char* search) -> const TrialTotals& {
      return runs.at({solver, eps_a, search});
    };
    const std::string where = fmt::format(", eps_a {}", eps_a);
    const TrialTotals &N = run("N", "robust"), &KN = run("KN", "robust");
    for (const TrialTotals* t : {&N, &KN}) {
      alike.part("steps of " + t->solver + where, t->steps, "all completed", t->completed());
      alike.at_most("most iterations of " + t->solver + " in a step" + where, t->most_iterations, kEasyStep);
    }
    alike.at_most("|KN/N - 1|" + where, std::abs(KN.per_step_mean() / N.per_step_mean() - 1), 0.1);
    for (const char* solver : {"PN", "PDN"}) {
      const TrialTotals& t = run(solver, "robust");
      exceed.part(fmt::format("step at which {} ends{}", solver, where), t.steps,
                  fmt::format("the limit of {} iterations", limit), t.outcome == "iteration-limit");
      const auto easy = [&](const TrialTotals& other) {
        const auto s = static_cast<std::size_t>(t.steps);
        return s < other.per_step.size() ? double(other.per_step[s]) : kUnknown;
      };
      if (t.outcome != "iteration-limit") {
        exceed.because(fmt::format("{} at eps_a {} ends as {} with at most {} iterations in a step", solver, eps_a,
                                   t.outcome, t.most_iterations));
        continue;
      }
      exceed.at_most(fmt::format("N's iterations in that step of {}{}", solver, where), easy(N), kEasyStep);
      exceed.at_most(fmt::format("KN's iterations in that step of {}{}", solver, where), easy(KN), kEasyStep);
    }
    for (const std::string& solver : four_solvers()) {
      const TrialTotals &s = run(solver.c_str(), "standard"), &r = run(solver.c_str(), "robust");
      standard.part("steps of " + solver + " with the standard search" + where, s.steps, "ended by its failure",
                    s.outcome == "line-search-failed");
      standard.part("steps of " + solver + " with the robust search" + where, r.steps, "not ended by its failure",
                    r.outcome != "line-search-failed");
      if (s.outcome != "line-search-failed")
        standard.because(fmt::format("{} at eps_a {}: {}", solver, eps_a, s.outcome));
    }
  }
  for (Decision* d : {&alike, &exceed, &standard}) {
    d->note("height left in N's run, as a share", height);
    d->note("motions tried before this one was fixed", context.number("motions_tried"));
    context.decide(*d);
  }
}

void run_compressing_box(Context& context) {
  const double seconds = context.number("seconds");
  const auto model = compressing_box_model(static_cast<int>(context.number("cells")), seconds);
  const std::vector<double> tolerances = context.numbers("eps_a");
  BoxRuns runs;
  double height = 1, done = 0;
  const double planned = 8.0 * double(tolerances.size());
  for (const auto kind : {LineSearchKind::robust, LineSearchKind::armijo})
    for (double eps_a : tolerances)
      for (const std::string& solver : four_solvers()) {
        NewtonTrial trial;
        trial.model = model;
        trial.options = elastic_options(solver, eps_a);
        trial.options.line_search.kind = kind;
        trial.options.max_iterations = static_cast<int>(context.number("max_iterations"));
        trial.h = kBoxStep;
        trial.steps = static_cast<int>(std::lround(seconds / kBoxStep));
        const TrialTotals t = run_trial(context, trial, Json::object(), done / planned, (done + 1) / planned);
        ++done;
        if (context.stopped()) return;
        if (solver == "N" && kind == LineSearchKind::robust && t.completed()) {
          double top = 0;
          for (Index i = 0; i < model->nodes(); ++i) top = std::max(top, node(t.last.x, i).z());
          height = std::min(height, top);
        }
        runs[{solver, eps_a, t.line_search}] = t;
      }
  decide_fig_11(context, runs, height);
}

}  // namespace

Experiment compressing_box() {
  return {"pitfalls/compressing-box",
          "A box driven to nearly flat from all sides; which solvers and line searches get there (fig. 11)",
          {{"cells", "24", "6", "cells along each edge, twelve tets each"},
           {"seconds", "6", "1", "that the motion takes, in steps of 10 ms"},
           {"max_iterations", "1000", "1000", "iterations in one step at which a solver has failed"},
           {"eps_a", "1.0,0.01", "1.0,0.01", "tolerances of the acceleration criterion, m/s^2"},
           {"motions_tried", "3", "3", "how many motions were looked at before this one was fixed, for the record"}},
          run_compressing_box};
}

}  // namespace pliant::experiments
