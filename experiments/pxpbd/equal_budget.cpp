// Fig. 2 of pxpbd: what each method makes of the same wall time. A cube of 32^3 vertices, held on its left, under
// gravity; FP-PXPBD takes five iterations a step, the others and Newton get as long.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/chart.hpp"
#include "experiments/pxpbd/pxpbd.hpp"
#include "experiments/pxpbd/scenes.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

constexpr double kEqualBudgetStep = 0.01;

void run_equal_budget(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  const int steps = static_cast<int>(context.number("steps"));
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = pxpbd_box({cells, cells, cells}, context.number("edge"), "fixed-corotated", 1e3);
  builder.add_body(body);
  builder.add_pin({"left", body.mesh->sets().at("x-min")});
  const auto model = builder.build();
  const double size = context.number("edge") * static_cast<double>(cells);

  struct Method {
    std::string label, solver;
    std::int64_t iterations;
    double published_ms;
  };
  Chart chart{"true residual at the end of each step", "step", "force, N", true, {}};
  double budget = 0, residual = 0;
  State middle = model->rest_state();
  for (const Method& method :
       {Method{"FP-PXPBD", "fp-pxpbd", 5, 200}, Method{"B-PXPBD", "b-pxpbd", 7, 210}, Method{"XPBD", "xpbd", 7, 210}}) {
    const auto stepper = make_stepper(model, method.solver, sweeps_alone({{"iterations", method.iterations}}));
    State state = model->rest_state();
    Series curve{method.label, {}, {}};
    Json residuals = Json::array();
    double seconds = 0, furthest = 0;
    int done = 0;
    for (; done < steps && !context.stopped(); ++done) {
      if (done % 20 == 0) context.progress(0.25 * done / steps, method.label);
      if (method.solver == "fp-pxpbd" && done == steps / 10) middle = state;
      const StepReport report = stepper->step(state, kEqualBudgetStep);
      if (!report.advanced()) break;
      seconds += report.seconds.solve;
      furthest = std::max(furthest, (state.x - model->rest()).cwiseAbs().maxCoeff());
      curve.x.push_back(done);
      curve.y.push_back(report.residuals.force);
      residuals.push_back(report.residuals.force);
      if (method.solver == "fp-pxpbd" && done == steps / 10) residual = report.residuals.force;
    }
    if (method.solver == "fp-pxpbd") budget = seconds / std::max(done, 1);
    context.row({{"method", method.label},
                 {"vertices", model->nodes()},
                 {"elements", static_cast<Index>(body.mesh->tets().size())},
                 {"iterations", method.iterations},
                 {"steps", done},
                 {"ms_per_step", 1e3 * seconds / std::max(done, 1)},
                 {"furthest", furthest},
                 {"last_residual", curve.y.empty() ? 0 : curve.y.back()},
                 {"published_ms_per_frame", method.published_ms},
                 {"residual", residuals}});
    chart.series.push_back(std::move(curve));
    context.check({fmt::format("{} stays bounded over {} steps (furthest displacement, m)", method.label, steps),
                   "stable, fig. 2", furthest, done == steps && furthest < 3 * size});
    if (context.stopped()) return;
  }

  // Newton from the same state in the middle of the run, with the same time: as many whole iterations as fit.
  for (const char* linear : {"pcg", "direct"}) {
    const auto newton =
        make_stepper(model, "pod-newton",
                     {{"linear", linear}, {"max_iterations", std::int64_t{1}}, {"tolerance", 1e-6}, {"history", true}});
    State state = middle;
    newton->step(state, kEqualBudgetStep);  // the first builds its symbolic factorisation
    state = middle;
    const StepReport report = newton->step(state, kEqualBudgetStep);
    const bool fits = report.seconds.total <= budget;
    const double within = fits ? report.residuals.force : report.history.front().force;
    context.row({{"method", fmt::format("Newton, {}", linear)},
                 {"vertices", model->nodes()},
                 {"elements", static_cast<Index>(body.mesh->tets().size())},
                 {"iterations", report.iterations},
                 {"steps", 1},
                 {"ms_per_step", 1e3 * report.seconds.total},
                 {"furthest", nullptr},
                 {"last_residual", report.residuals.force},
                 {"published_ms_per_frame", 200},
                 {"residual_within_budget", within}});
    context.check({fmt::format("within the time of 5 FP-PXPBD iterations ({:.0f} ms), Newton with {} has a larger "
                               "residual (an iteration takes {:.0f} ms)",
                               1e3 * budget, linear, 1e3 * report.seconds.total),
                   "unstable, fig. 2", Json::array({within, residual}), within > residual});
  }
  context.file("residual.svg", svg(chart));
}

}  // namespace

Experiment pxpbd_equal_budget() {
  return {"pxpbd/equal-budget",
          "A cube of 32^3 vertices sags: FP-PXPBD, B-PXPBD, XPBD and Newton with the same time a step (fig. 2)",
          {{"cells", "31", "11", "cells along an edge"},
           {"edge", "0.1", "0.1", "of a cell, m"},
           {"steps", "300", "60", "of 0.01 s"}},
          run_equal_budget};
}

}  // namespace pliant::experiments
