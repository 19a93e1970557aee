// A soft ball is pressed through a ring narrower than itself by a moving plate: strong compression, moving obstacles.

#include <cmath>

#include "experiments/contact/contact.hpp"
#include "experiments/pitfalls/pitfalls.hpp"
#include "pliant/mesh/generators.hpp"

namespace pliant::experiments {

namespace {

std::shared_ptr<const Model> ring_model(int cells, double seconds) {
  ModelBuilder builder;
  BodyOptions ball;
  ball.name = "ball";
  MeshData data = generate(SphereOptions{.radius = 0.1, .cells = cells});
  for (Vec3& p : data.vertices) p += Vec3(0, 0.12, 0);
  ball.mesh = std::make_shared<TetMesh>(std::move(data));
  ball.material = {find_law("neo-hookean"), lame_from_young(1e5, 0.4)};
  builder.add_body(ball);
  Collider ring;
  ring.name = "ring";
  ring.shape = TorusShape{Vec3::Zero(), Vec3::UnitY(), 0.11, 0.03};  // the opening is 0.08 wide, the ball 0.1
  builder.add_collider(ring);
  Collider plate;
  plate.name = "plate";
  plate.shape = CylinderShape{Vec3(0, 0.26, 0), Vec3::UnitY(), 0.06, 0.02};
  plate.motion.translation.keys = {{0, Vec3::Zero()}, {seconds, Vec3(0, -0.35, 0)}};
  builder.add_collider(plate);
  builder.set_contact({.dhat = 1e-3, .friction = 0.1});
  return builder.build();
}

void run_ring(Context& context) {
  const double h = 1.0 / 100, seconds = context.number("duration");
  const auto model = ring_model(static_cast<int>(context.number("cells")), seconds);
  Simulation simulation{model,
                        "pod-newton",
                        {{"criterion", "step-length"}, {"tolerance", 1e-2}},
                        h,
                        static_cast<int>(std::lround(seconds / h))};
  const Totals totals = simulate(
      simulation, [&](double share) { context.progress(share, "pressing"); }, [&] { return context.stopped(); });
  Json row = totals_row(simulation, totals, 1e-2);
  double highest = -1;
  for (Index i = 0; i < model->nodes(); ++i) highest = std::max(highest, node(totals.last.x, i).y());
  row["highest_m"] = highest;
  context.row(row);
  check_apart(context);
  context.check({"the whole ball has passed the middle of the ring", 0, highest, highest < 0});
}

}  // namespace

Experiment contact_ring() {
  return {"contact/ring",
          "A soft ball is pressed through a ring four fifths as wide as itself",
          {{"cells", "10", "4", "cells across the ball"}, {"duration", "2", "2", "simulated seconds"}},
          run_ring};
}

}  // namespace pliant::experiments
