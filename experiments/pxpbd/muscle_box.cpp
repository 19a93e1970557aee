// Fig. 4 of pxpbd: a bar of muscle, held at both ends, sags under its weight; after two seconds its fibres contract.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/chart.hpp"
#include "experiments/pxpbd/pxpbd.hpp"
#include "experiments/pxpbd/scenes.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

constexpr double kMuscleBoxStep = 1.0 / 120;

void run_muscle_box(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  const int steps = static_cast<int>(std::lround(context.number("seconds") / kMuscleBoxStep));
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const Index muscle = builder.add_muscle({"muscle", {{{0, 0.0}, {2, 0.0}, {2.5, 1.0}}}});
  BodyOptions body = pxpbd_box({5 * cells, cells, cells}, 1.0 / static_cast<double>(cells), "fixed-corotated", 1e4);
  body.fibres = {{find_fibre_law("muscle"), {{context.number("stress"), 1.4, 0}}, {Vec3::UnitX()}, muscle}};
  builder.add_body(body);
  std::vector<Index> ends = body.mesh->sets().at("x-min");
  ends.insert(ends.end(), body.mesh->sets().at("x-max").begin(), body.mesh->sets().at("x-max").end());
  builder.add_pin({"walls", ends});
  const auto model = builder.build();
  Index middle = 0;
  for (Index i = 0; i < model->nodes(); ++i)
    if ((node(model->rest(), i) - Vec3(2.5, 0, 0.5)).norm() < (node(model->rest(), middle) - Vec3(2.5, 0, 0.5)).norm())
      middle = i;

  Chart chart{"height of the middle", "s", "m", false, {}};
  std::map<std::string, std::vector<double>> sag;
  struct Method {
    std::string label, solver;
    ParameterMap parameters;
  };
  for (const Method& method :
       {Method{"FP-PXPBD", "fp-pxpbd",
               sweeps_alone({{"iterations", static_cast<std::int64_t>(context.number("iterations"))}})},
        Method{"Newton", "pod-newton", {{"criterion", "acceleration"}, {"tolerance", 1e-3}}}}) {
    const auto stepper = make_stepper(model, method.solver, method.parameters);
    State state = model->rest_state();
    Series curve{method.label, {}, {}};
    double seconds = 0;
    int failures = 0;
    for (int s = 0; s < steps && !context.stopped(); ++s) {
      if (s % 10 == 0) context.progress(0.5 * s / steps, method.label);
      const StepReport report = stepper->step(state, kMuscleBoxStep);
      failures += !report.advanced();
      seconds += report.seconds.total;
      curve.x.push_back((s + 1) * kMuscleBoxStep);
      curve.y.push_back(node(state.x, middle)[1]);
    }
    if (context.stopped()) return;
    sag[method.label] = curve.y;
    const auto at = [&](double t) {
      const auto s = static_cast<std::size_t>(std::lround(t / kMuscleBoxStep)) - 1;
      return s < curve.y.size() ? Json(curve.y[s]) : Json();
    };
    context.row({{"method", method.label},
                 {"vertices", model->nodes()},
                 {"elements", static_cast<Index>(body.mesh->tets().size())},
                 {"failed_steps", failures},
                 {"height_0.033s", at(0.0333)},
                 {"height_1.2s", at(1.2)},
                 {"height_2.9s", at(2.9)},
                 {"ms_per_frame_of_4_steps", 4e3 * seconds / steps},
                 {"published_ms", method.solver == "fp-pxpbd" ? Json(160) : Json()}});
    chart.series.push_back(std::move(curve));
  }
  double low = 0, difference = 0;
  for (std::size_t s = 0; s < sag["Newton"].size(); ++s) {
    low = std::min(low, sag["Newton"][s]);
    difference = std::max(difference, std::abs(sag["Newton"][s] - sag["FP-PXPBD"][s]));
  }
  context.check({"FP-PXPBD follows Newton: largest difference of the height, relative to the sag", "plausible, fig. 4",
                 difference / -low, difference < -0.1 * low});
  const std::vector<double>& heights = sag["FP-PXPBD"];
  const auto relaxed = static_cast<std::size_t>(std::lround(2 / kMuscleBoxStep)) - 1;
  if (heights.size() > relaxed + 60)
    context.check({"the contraction lifts the bar (height before and at the end, m)", "contracts, fig. 4",
                   Json::array({heights[relaxed], heights.back()}), heights.back() > 0.5 * heights[relaxed]});
  context.file("height.svg", svg(chart));
}

}  // namespace

Experiment pxpbd_muscle_box() {
  return {"pxpbd/muscle-box",
          "A bar of muscle sags between two walls and is activated after two seconds: FP-PXPBD (fig. 4)",
          {{"cells", "9", "4", "cells across the bar, which is five times as long as wide (1 m)"},
           {"iterations", "4", "4", "of each step of 1/120 s"},
           {"stress", "2e4", "2e4", "greatest active stress, Pa"},
           {"seconds", "3", "3", "of the whole"}},
          run_muscle_box};
}

}  // namespace pliant::experiments
