// Fig. 13 and section 4.2 of quasi-newton: how long a history serves L-BFGS best, what its loops cost, and that without
// one the method is Projective Dynamics.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/descent.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"

namespace pliant::experiments {

namespace {

DescentOptions deep(int window, int iterations) {
  DescentOptions options;
  options.window = window;
  options.iterations = iterations;
  options.search.kind = LineSearchKind::robust;  // the same condition, where rounding hides the energy's decrease
  return options;
}

void best_window(Context& context, const TwistedBar& bar) {
  Decision best("quasi-newton/fig-13/best-window"), large("quasi-newton/fig-13/large-window");
  const std::vector<int> windows = {0, 1, 2, 3, 5, 8, 10, 20, 50, 100};
  std::map<int, double> loose, tight;
  for (const State& begin : bar.begins) {
    if (context.stopped()) return;
    State end = begin;
    double least = exact_newton(bar.scene)->step(end, kFrame).energy;
    std::map<int, DescentFrame> frames;
    for (int window : windows) {
      frames[window] = Descent(bar.scene.model, deep(window, window < 2 ? 400 : 150)).solve(begin, kFrame);
      least = std::min(least, frames[window].energy);
    }
    for (int window : windows) {
      const auto count = [&](double error) {
        const DescentFrame& frame = frames[window];
        for (std::size_t k = 0; k <= frame.steps.size(); ++k)
          if (relative_error(frame.energy_after(k), frame.first, least) <= error) return static_cast<double>(k);
        return std::numeric_limits<double>::infinity();
      };
      loose[window] += count(1e-8);
      tight[window] += count(1e-12);
    }
  }
  double fewest = 1e300;
  Json counts = Json::object();
  for (int window : windows) {
    fewest = std::min(fewest, loose[window]);
    counts[fmt::format("m = {}", window)] = {loose[window], tight[window]};
    context.row({{"window", window}, {"iterations_to_1e-8", loose[window]}, {"iterations_to_1e-12", tight[window]}});
  }
  best.needs(!bar.begins.empty(), "the bar is twisted")
      .at_most("iterations of m = 5 over the least", loose[5] / fewest, 1.05)
      .above("iterations of m = 0", std::isfinite(loose[0]) ? loose[0] : 400.0, loose[5])
      .above("iterations of m = 1", std::isfinite(loose[1]) ? loose[1] : 400.0, loose[5])
      .note("iterations to 1e-8 and 1e-12", counts);
  large.needs(!bar.begins.empty(), "the bar is twisted")
      .above("iterations of m = 100 to 1e-12", tight[100], tight[5])
      .at_most("iterations of m = 100 over m = 5", tight[100] / tight[5], 1.3)
      .note("iterations to 1e-8 and 1e-12", counts);
  if (best.verdict() == Verdict::fails)
    best.because(fmt::format("m = 5 needs {} iterations in all, the best window {}", loose[5], fewest));
  if (large.verdict() == Verdict::fails)
    large.because(fmt::format("m = 100 needs {} iterations in all, m = 5 {}: on this problem older pairs do not harm",
                              tight[100], tight[5]));
  context.decide(best);
  context.decide(large);
}

void cost_of_loops(Context& context, const std::vector<std::pair<std::string, FrameScene>>& scenes,
                   const std::vector<State>& begins) {
  Decision decision("quasi-newton/section-4.2/loops-negligible");
  const OneThread one;
  for (std::size_t s = 0; s < scenes.size(); ++s)
    for (auto [window, bound] : {std::pair{5, 0.1}, std::pair{20, 0.25}, std::pair{100, 0.25}}) {
      // The share once the history is full: a long frame less its first `window` iterations.
      Descent all(scenes[s].second.model, deep(window, window + 30)),
          filling(scenes[s].second.model, deep(window, window));
      std::vector<double> ratios;
      for (int turn = 0; turn < 8; ++turn) {
        const DescentFrame longer = all.solve(begins[s], kFrame), first = filling.solve(begins[s], kFrame);
        if (turn > 0 && longer.steps.size() > first.steps.size() + 10)
          ratios.push_back((longer.history_seconds - first.history_seconds) /
                           (longer.solve_seconds - first.solve_seconds));
      }
      decision.at_most(fmt::format("{}: loops over solve, m = {}", scenes[s].first, window), median(ratios), bound);
      context.row({{"mesh", scenes[s].first}, {"window", window}, {"loops_over_solve", median(ratios)}});
    }
  if (decision.verdict() == Verdict::fails)
    decision.because(
        "the loops read 2 m vectors, the solve a factor of some hundred numbers a row: at this size their bytes "
        "are of the same order");
  context.decide(decision);
}

void empty_window(Context& context) {
  Decision decision("quasi-newton/section-4.2/window-zero");
  const std::string mesh = context.quick() ? "longbar" : "longbar2";
  const auto bar = twisted_bar(context, mesh, {60});
  decision.needs(bar && bar->begins.size() == 1, "the bar is twisted");
  double apart = 0;
  if (bar && !bar->begins.empty()) {
    const ParameterMap common = {{"iterations", std::int64_t{10}}, {"factor", "double"}, {"linear", "direct"}};
    ParameterMap zero = common;
    zero["window"] = std::int64_t{0};
    const auto a = make_stepper(bar->scene.model, "quasi-newton", zero);
    const auto b = make_stepper(bar->scene.model, "projective-dynamics", common);
    State x = bar->begins[0], y = x;
    for (int frame = 0; frame < 10; ++frame) {
      a->step(x, kFrame);
      b->step(y, kFrame);
      apart = std::max(apart, (x.x - y.x).cwiseAbs().maxCoeff() / bar->scene.size);
      begin_frame(bar->scene, x);
      begin_frame(bar->scene, y);
    }
  }
  decision.at_most("largest difference in sizes of the body", apart, 1e-13).note("mesh", mesh);
  context.decide(decision);
}

void run_history(Context& context) {
  std::vector<double> degrees = context.numbers("degrees");
  const auto bar = twisted_bar(context, "longbar2", degrees);
  if (!bar) return decide_without_meshes(context, "quasi-newton/history");
  best_window(context, *bar);
  if (context.stopped()) return;
  std::vector<std::pair<std::string, FrameScene>> scenes = {{"longbar2", bar->scene}};
  std::vector<State> begins = {bar->begins.back()};
  if (!context.quick()) {
    const Table1Row& row = table1_row("squirrel");
    const FrameScene scene = table1_frame_scene(row, *find_mesh(context, row.mesh), row.factor);
    scenes.emplace_back("squirrel", scene);
    begins.push_back(converged_run(scene, 10).begins.back());
  }
  cost_of_loops(context, scenes, begins);
  empty_window(context);
}

}  // namespace

Experiment history_experiment() {
  return {"quasi-newton/history",
          "The window of L-BFGS: cost of its loops and best length (fig. 13, section 4.2)",
          {meshes_option("longbar2.mesh, longbar.mesh and squirrel_modified.mesh"),
           {"degrees", "36,72,108,144,180,216,252,288,324,360", "180", "of twist, where frames are taken apart"}},
          run_history};
}

}  // namespace pliant::experiments
