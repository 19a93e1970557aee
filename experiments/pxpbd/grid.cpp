// Figs. 9, 10 and 12 of pxpbd, on a background grid: the residual over the iterations of a step in which bodies press
// on each other; four bars whose ends are twisted together; bodies of different shapes dropped into a box.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/chart.hpp"
#include "experiments/pxpbd/pxpbd.hpp"
#include "experiments/pxpbd/scenes.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

constexpr double kGridStep = 1.0 / 60, kYoung = 1e3;

MeshData shape(int kind, const Vec3& centre, Index cells) {
  switch (kind % 3) {
    case 0: {
      BoxOptions options;
      options.size = Vec3::Constant(0.4);
      options.origin = centre - 0.5 * options.size;
      options.cells = {cells, cells, cells};
      return box(options);
    }
    case 1: {
      SphereOptions options;
      options.centre = centre;
      options.radius = 0.22;
      options.cells = std::max<Index>(4, cells);
      return sphere(options);
    }
    default: {
      TorusOptions options;
      options.centre = centre;
      options.radius = 0.17;
      options.ring_radius = 0.08;
      options.axis = Axis::y;
      options.cells = 4;
      return torus(options);
    }
  }
}

BodyOptions soft_body(MeshData mesh, const std::string& name) {
  BodyOptions body;
  body.name = name;
  body.mesh = std::make_shared<TetMesh>(std::move(mesh));
  body.material = {find_law("fixed-corotated"), lame_from_young(kYoung, 0.3)};
  body.density = 10;
  return body;
}

/// Layers of two by two bodies above each other, slightly out of line, in a box of 1 m x 1 m.
std::shared_ptr<const Model> dropped_objects(int count, Index cells) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  for (int k = 0; k < count; ++k) {
    const int layer = k / 4, place = k % 4;
    const Vec3 centre(0.26 + 0.48 * (place % 2) + 0.015 * ((layer * 7) % 3 - 1), 0.4 + 0.6 * layer,
                      0.26 + 0.48 * (place / 2) + 0.015 * ((layer * 5) % 3 - 1));
    builder.add_body(soft_body(shape(k + layer, centre, cells), fmt::format("body {}", k)));
  }
  const auto wall = [&](const char* name, const Vec3& point, const Vec3& normal) {
    builder.set_collider_law(ColliderLaw::penalty);
    builder.add_collider({name, PlaneShape{point, normal}, {}, 1e5, 0.2});
  };
  wall("floor", {0, 0, 0}, {0, 1, 0});
  wall("left", {0, 0, 0}, {1, 0, 0});
  wall("right", {1, 0, 0}, {-1, 0, 0});
  wall("back", {0, 0, 0}, {0, 0, 1});
  wall("front", {0, 0, 1}, {0, 0, -1});
  return builder.build();
}

/// Four bars side by side; the ends on the left turn one way, those on the right the other, all about one axis.
std::shared_ptr<const Model> four_bars(Index cells, double turns, double seconds) {
  ModelBuilder builder;
  const double width = 0.2, gap = 0.1, length = 2;
  for (int k = 0; k < 4; ++k) {
    BoxOptions options;
    options.size = {length, width, width};
    options.cells = {10 * cells, cells, cells};
    options.origin = {0, (k % 2) * (width + gap), (k / 2) * (width + gap)};
    const BodyOptions body = soft_body(box(options), fmt::format("bar {}", k));
    builder.add_body(body);
    const Index first = builder.body(static_cast<std::size_t>(k)).nodes.begin;
    for (const char* side : {"x-min", "x-max"}) {
      std::vector<Index> nodes = body.mesh->sets().at(side);
      for (Index& i : nodes) i += first;
      Script script{fmt::format("bar {} {}", k, side), nodes, {}, Imposition::direct};
      script.motion.centre = {0, width + 0.5 * gap, width + 0.5 * gap};
      const double sign = side[2] == 'm' && side[3] == 'i' ? 1 : -1;
      script.motion.angle.keys = {{0, 0.0}, {seconds, sign * turns * 2 * std::numbers::pi}};
      builder.add_script(script);
    }
  }
  return builder.build();
}

struct Outcomes {
  double worst_inside = 0, seconds = 0, gap = 0, speed = 0;
  int steps = 0, iterations = 0;
};

Outcomes simulate(Context& context, const std::shared_ptr<const Model>& model, const std::string& label, int steps,
                  double spacing, State& state) {
  const auto stepper = make_stepper(model, "grid-b-pxpbd", sweeps_alone({{"spacing", spacing}}));
  state = model->rest_state();
  Outcomes out;
  for (; out.steps < steps && !context.stopped(); ++out.steps) {
    context.progress(static_cast<double>(out.steps) / steps, label);
    const StepReport report = stepper->step(state, kGridStep);
    if (!report.advanced()) break;
    out.seconds += report.seconds.total;
    out.iterations += report.iterations;
    out.gap = std::min(out.gap, report.minimum_gap);
    if (out.steps % 10 == 9 || out.steps + 1 == steps)
      out.worst_inside = std::max(out.worst_inside, interpenetration(*model, state.x));
  }
  out.speed = state.v.cwiseAbs().maxCoeff();
  context.row({{"scene", label},
               {"vertices", model->nodes()},
               {"bodies", static_cast<int>(model->bodies().size())},
               {"steps", out.steps},
               {"sweeps_per_step", static_cast<double>(out.iterations) / std::max(out.steps, 1)},
               {"s_per_frame_of_2_steps", 2 * out.seconds / std::max(out.steps, 1)},
               {"vertices_inside_others", out.worst_inside},
               {"deepest_in_a_wall", out.gap},
               {"published_s_per_frame", label == "dropped objects" ? Json(17.6) : Json()}});
  context.claim({fmt::format("{}: share of vertices inside another body, at worst", label), "no visible penetration",
                 out.worst_inside, out.steps == steps && out.worst_inside < 1e-3});
  return out;
}

void run_grid(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  const int objects = static_cast<int>(context.number("objects"));
  const double spacing = context.number("spacing");
  const auto pile = dropped_objects(objects, cells);
  State state;
  simulate(context, pile, "dropped objects", static_cast<int>(context.number("steps")), spacing, state);
  if (context.stopped()) return;

  // Fig. 9: one step from where the pile is now.
  Chart chart{"true residual of a substep on the grid", "iteration", "relative to the start", true, {}};
  std::map<std::string, double> last;
  for (const auto& [label, method] : {std::pair{"XPBD", "xpbd"}, {"B-PXPBD", "b-pxpbd"}, {"FP-PXPBD", "fp-pxpbd"}}) {
    const auto sweeps = static_cast<std::int64_t>(context.number("iterations"));
    const auto stepper = make_stepper(
        pile, "grid-b-pxpbd",
        sweeps_alone(
            {{"spacing", spacing}, {"iterations", sweeps}, {"history", true}, {"method", std::string(method)}}));
    State next = state;
    const StepReport report = stepper->step(next, 1e-3 * kGridStep + 0.25 * kGridStep);
    const std::size_t count = std::min(report.history.size(), static_cast<std::size_t>(sweeps));
    Series curve{label, {}, {}};
    for (std::size_t k = 0; k < count; ++k) {
      curve.x.push_back(static_cast<double>(k));
      curve.y.push_back(report.history[k].force / report.history.front().force);
    }
    last[label] = curve.y.empty() ? 1 : curve.y.back();
    context.row({{"scene", fmt::format("residual, {}", label)},
                 {"vertices", pile->nodes()},
                 {"bodies", static_cast<int>(pile->bodies().size())},
                 {"steps", 1},
                 {"sweeps_per_step", static_cast<double>(count)},
                 {"residual", last[label]}});
    chart.series.push_back(std::move(curve));
  }
  context.claim({"on the grid XPBD stagnates and B-PXPBD goes on (residuals after the same iterations)", "as in fig. 9",
                 Json::array({last["XPBD"], last["B-PXPBD"]}), last["B-PXPBD"] < 0.1 * last["XPBD"]});
  context.file("residual.svg", svg(chart));

  const double seconds = context.number("twist_seconds");
  const auto bars = four_bars(std::max<Index>(2, cells / 2), context.number("turns"), seconds);
  simulate(context, bars, "four bars twisting", static_cast<int>(std::lround(seconds / kGridStep)), spacing, state);
}

}  // namespace

Experiment pxpbd_grid() {
  return {"pxpbd/grid",
          "Bodies dropped into a box, four bars twisted together, and the residual on a background grid (figs. 9-12)",
          {{"objects", "12", "4", "bodies to drop: boxes, balls and rings"},
           {"cells", "6", "4", "cells across a body"},
           {"spacing", "0", "0", "of the grid, m; 0: the longest edge of a tetrahedron, on average"},
           {"steps", "120", "50", "of 1/60 s while the bodies fall and pile up"},
           {"iterations", "100", "60", "of the step whose residual is followed"},
           {"turns", "0.75", "0.5", "by which either end of the bars is twisted"},
           {"twist_seconds", "2", "1", "the time that takes"}},
          run_grid};
}

}  // namespace pliant::experiments
