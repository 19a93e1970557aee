// Figs. 1 and 3 of pxpbd: the true residual of one hard step over the iterations, with the primal and the secondary
// residual that XPBD looks at, for three stiffness numbers; and the cost of an iteration beside Table 1.

#include <fmt/format.h>

#include <cmath>

#include "experiments/chart.hpp"
#include "experiments/pxpbd/pxpbd.hpp"
#include "experiments/pxpbd/scenes.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/pxpbd/pxpbd_stepper.hpp"

namespace pliant::experiments {

namespace {

constexpr double kResidualStep = 0.01;

struct ResidualMethod {
  std::string label, solver;
  ParameterMap parameters;
  double published_ms;  ///< of a frame of 40 iterations, Table 1
};

/// Stretched by half, and moving unevenly.
State hard_state(const Model& model, double size) {
  State state = model.rest_state();
  for (Index i = 0; i < model.nodes(); ++i) {
    const Vec3 X = node(model.rest(), i) / size;
    node(state.x, i)[0] *= 1.5;
    node(state.v, i) = Vec3(1 + X[1], -X[0], X[0] * X[0]);
  }
  return state;
}

void run_residual(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  const auto iterations = static_cast<std::int64_t>(context.number("iterations"));
  const std::vector<ResidualMethod> methods = {{"XPBD", "xpbd", {}, 200},
                                               {"B-PXPBD", "b-pxpbd", {}, 200},
                                               {"B-PXPBD, zeta 0.5", "b-pxpbd", {{"zeta", 0.5}}, 200},
                                               {"B-PXPBD, zeta 0.9", "b-pxpbd", {{"zeta", 0.9}}, 200},
                                               {"FP-PXPBD", "fp-pxpbd", {}, 216}};
  const std::vector<double> edges = context.numbers("edges");
  std::map<std::string, double> last;
  for (std::size_t k = 0; k < edges.size(); ++k) {
    ModelBuilder builder;
    builder.add_body(pxpbd_box({cells, cells, cells}, edges[k], "fixed-corotated", 1e4));
    const auto model = builder.build();
    const State start = hard_state(*model, edges[k] * static_cast<double>(cells));
    Chart truth{fmt::format("true residual, edges of {} m", edges[k]), "iteration", "relative to the start", true, {}};
    Chart parts{fmt::format("XPBD: what it sees, edges of {} m", edges[k]), "iteration", "relative", true, {}};
    for (std::size_t m = 0; m < methods.size(); ++m) {
      if (context.stopped()) return;
      context.progress((static_cast<double>(k) + static_cast<double>(m) / static_cast<double>(methods.size())) /
                           static_cast<double>(edges.size()),
                       methods[m].label);
      ParameterMap parameters = sweeps_alone(methods[m].parameters);
      parameters["iterations"] = iterations;
      parameters["history"] = true;
      const auto stepper = make_stepper(model, methods[m].solver, parameters);
      State state = start;
      const StepReport report = stepper->step(state, kResidualStep);
      const auto& history = report.history;
      const double first = history.front().force;
      const auto at = [&](std::size_t i) {
        return (i < history.size() ? history[i].force : report.residuals.force) / first;
      };
      Series curve{methods[m].label, {}, {}}, primal{"primal", {}, {}}, secondary{"secondary", {}, {}};
      Json values = Json::array();
      for (std::size_t i = 0; i < history.size(); ++i) {
        curve.x.push_back(static_cast<double>(i));
        curve.y.push_back(at(i));
        values.push_back(std::isfinite(at(i)) ? Json(at(i)) : Json());
        primal.x.push_back(static_cast<double>(i));
        primal.y.push_back(history[i].primal / first);
        secondary.x.push_back(static_cast<double>(i));
        secondary.y.push_back(history[i].secondary / history.front().secondary);
      }
      if (methods[m].solver == "xpbd") {
        Series own = curve;
        own.label = "true";
        parts.series = {own, primal, secondary};
      }
      const double kappa = dynamic_cast<PxpbdStepper&>(*stepper).largest_kappa(kResidualStep);
      Json row = {{"method", methods[m].label},
                  {"vertices", model->nodes()},
                  {"elements", static_cast<Index>(model->bodies()[0].mesh->tets().size())},
                  {"kappa", kappa},
                  {"outcome", std::string(to_string(report.outcome))}};
      for (std::size_t i : {10u, 40u, 100u, 200u, 500u})
        if (i <= static_cast<std::size_t>(iterations)) row[fmt::format("residual_{}", i)] = at(i);
      row["secondary"] = report.residuals.secondary / history.front().secondary;
      row["primal"] = report.residuals.primal / first;
      row["ms_40_iterations"] = 40e3 * report.seconds.solve / report.iterations;
      row["published_ms"] = methods[m].published_ms;
      row["residual"] = std::move(values);
      last[fmt::format("{} {}", methods[m].label, k)] = at(static_cast<std::size_t>(iterations));
      context.row(std::move(row));
      truth.series.push_back(std::move(curve));
    }
    context.file(fmt::format("residual-{}.svg", edges[k]), svg(truth));
    context.file(fmt::format("xpbd-{}.svg", edges[k]), svg(parts));
  }
  const auto holds = [&](const std::string& label, auto&& test) {
    for (std::size_t k = 0; k < edges.size(); ++k)
      if (!test(last[fmt::format("{} {}", label, k)])) return false;
    return true;
  };
  const auto measured = [&](const std::string& label) {
    Json all = Json::array();
    for (std::size_t k = 0; k < edges.size(); ++k) all.push_back(last[fmt::format("{} {}", label, k)]);
    return all;
  };
  context.check({"XPBD stagnates: its true residual stays above a twentieth of the start", "stagnates, figs. 1 and 3",
                 measured("XPBD"), holds("XPBD", [](double r) { return r > 0.05; })});
  context.check({"FP-PXPBD goes on reducing it", "continually reduces, fig. 1", measured("FP-PXPBD"),
                 holds("FP-PXPBD", [](double r) { return r < 0.05; })});
  context.check({"B-PXPBD with a zeta per element goes on reducing it", "continually reduces, fig. 1",
                 measured("B-PXPBD"), holds("B-PXPBD", [](double r) { return r < 0.05; })});
}

}  // namespace

Experiment pxpbd_residual() {
  return {"pxpbd/residual",
          "The residual of backward Euler over the iterations of one hard step: XPBD, B-PXPBD, FP-PXPBD (figs. 1, 3)",
          {{"cells", "15", "6", "cells along an edge of the cube (the paper's has 16^3 vertices)"},
           {"edges", "0.25,0.1,0.05", "0.25,0.1", "edges of the cells, m: they decide the stiffness number"},
           {"iterations", "500", "200", "of each method"}},
          run_residual};
}

}  // namespace pliant::experiments
