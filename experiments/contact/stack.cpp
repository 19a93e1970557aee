// A stack of boxes: soft ones settle on each other with friction and must stay where they are, none above a hand's
// breadth off, none through another.

#include <fmt/format.h>

#include <cmath>

#include "experiments/contact/contact.hpp"
#include "experiments/pitfalls/pitfalls.hpp"

namespace pliant::experiments {

namespace {

std::shared_ptr<const Model> stack_model(int boxes, int cells) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const double size = 0.2, gap = 2e-3;
  for (int b = 0; b < boxes; ++b)
    builder.add_body(block({.name = fmt::format("box {}", b),
                            .size = Vec3::Constant(size),
                            .at = {0.01 * (b % 2), (b + 0.5) * (size + gap) + gap, 0.01 * (b % 3)},
                            .cells = {cells, cells, cells},
                            .young = 2e5}));
  Collider floor;
  floor.name = "floor";
  floor.shape = PlaneShape{};
  builder.add_collider(floor);
  builder.set_contact({.dhat = 1e-3, .friction = 0.5});
  return builder.build();
}

void run_stack(Context& context) {
  const auto model = stack_model(static_cast<int>(context.number("boxes")), static_cast<int>(context.number("cells")));
  const double h = 1.0 / 100;
  Simulation simulation{model,
                        "pod-newton",
                        {{"criterion", "step-length"}, {"tolerance", 1e-3}},
                        h,
                        static_cast<int>(std::lround(context.number("duration") / h))};
  const Totals totals = simulate(
      simulation, [&](double share) { context.progress(share, "settling"); }, [&] { return context.stopped(); });
  Json row = totals_row(simulation, totals, 1e-3);
  const double speed = totals.last.v.cwiseAbs().maxCoeff();
  double shift = 0;
  for (Index i = 0; i < model->nodes(); ++i) {
    const Vec3 d = node(totals.last.x, i) - node(model->rest(), i);
    shift = std::max(shift, std::hypot(d.x(), d.z()));
  }
  row["last_speed"] = speed;
  row["sideways_m"] = shift;
  context.row(row);
  check_apart(context);
  context.check({"the stack stands: no part has moved sideways by more than 2 cm", 0.02, shift, shift < 0.02});
}

}  // namespace

Experiment contact_stack() {
  return {"contact/stack",
          "A stack of soft boxes settles under friction without sliding apart",
          {{"boxes", "10", "4", "boxes"},
           {"cells", "8", "3", "cells of a box along each edge"},
           {"duration", "2", "0.5", "simulated seconds"}},
          run_stack};
}

}  // namespace pliant::experiments
