// The degenerate meetings of Erleben's tests ("Methodology for assessing mesh-based contact point methods", 2018): a
// sharp wedge falls on a sharp wedge and a spike on a spike, edge on edge and tip on tip, where contact points from
// proximity or penetration have no sensible normal. A barrier on distances needs none.

#include <cmath>

#include "experiments/contact/contact.hpp"
#include "experiments/pitfalls/pitfalls.hpp"
#include "pliant/mesh/generators.hpp"

namespace pliant::experiments {

namespace {

/// A block narrowed to an edge (wedge) or a tip (spike) at its lower end.
BodyOptions sharp(const std::string& name, bool is_spike, const Vec3& at, int cells) {
  BodyOptions body =
      block({.name = name, .size = {0.2, 0.2, 0.2}, .at = Vec3::Zero(), .cells = {cells, cells, cells}, .young = 1e6});
  MeshData data = body.mesh->data();
  for (Vec3& p : data.vertices) {
    const double width = std::max(0.02, (p.y() + 0.1) / 0.2);
    p.x() *= width;
    if (is_spike) p.z() *= width;
    p += at;
  }
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  return body;
}

/// What lies below: the same shape turned over, as an obstacle.
Obstacle sharp_obstacle(bool is_spike) {
  auto mesh = std::make_shared<TriangleMesh>();
  mesh->source = "wedge";
  const double s = 0.1;
  if (is_spike) {
    mesh->vertices = {{0, 0, 0}, {s, -0.2, s}, {s, -0.2, -s}, {-s, -0.2, -s}, {-s, -0.2, s}};
    mesh->triangles = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 1}};
  } else {
    mesh->vertices = {{0, 0, s}, {0, 0, -s}, {s, -0.2, s}, {s, -0.2, -s}, {-s, -0.2, s}, {-s, -0.2, -s}};
    mesh->triangles = {{0, 2, 3}, {0, 3, 1}, {0, 1, 5}, {0, 5, 4}};
  }
  return {"below", mesh, {}, -1};
}

void run_wedge_spike(Context& context) {
  const double h = 1.0 / 100;
  const auto cells = static_cast<int>(context.number("cells"));
  double done = 0;
  for (const char* name :
       {"wedge on wedge", "wedge across wedge", "spike on spike", "spike on wedge", "wedge on spike"}) {
    const std::string what = name;
    const bool falls_spike = what.starts_with("spike"), below_spike = what.ends_with("spike");
    ModelBuilder builder;
    builder.set_gravity({0, -9.81, 0});
    BodyOptions body = sharp("above", falls_spike, {0, 0.11, 0}, cells);
    if (what == "wedge across wedge") {
      MeshData data = body.mesh->data();
      for (Vec3& p : data.vertices) p = Vec3(p.z(), p.y(), -p.x());
      body.mesh = std::make_shared<TetMesh>(std::move(data));
    }
    body.velocity = {0, -1, 0};
    builder.add_body(body);
    builder.add_obstacle(sharp_obstacle(below_spike));
    Collider floor;
    floor.name = "floor";
    floor.shape = PlaneShape{Vec3(0, -0.21, 0), Vec3::UnitY()};
    builder.add_collider(floor);
    builder.set_contact({.dhat = 1e-3, .friction = 0.3});
    Simulation simulation{builder.build(),
                          "pod-newton",
                          {{"criterion", "step-length"}, {"tolerance", 1e-2}},
                          h,
                          static_cast<int>(std::lround(context.number("duration") / h))};
    const Totals totals = simulate(
        simulation, [&](double share) { context.progress((done + share) / 5, what); },
        [&] { return context.stopped(); });
    ++done;
    if (context.stopped()) return;
    Json row = {{"meeting", what}};
    row.update(totals_row(simulation, totals, 1e-2));
    context.row(row);
  }
  check_apart(context);
}

}  // namespace

Experiment contact_wedge_spike() {
  return {"contact/wedge-spike",
          "Edge on edge and tip on tip: soft wedges and spikes fall on hard ones (Erleben's degenerate cases)",
          {{"cells", "8", "3", "cells of a body along each edge"}, {"duration", "1", "0.4", "simulated seconds"}},
          run_wedge_spike};
}

}  // namespace pliant::experiments
