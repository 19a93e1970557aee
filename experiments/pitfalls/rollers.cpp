// The armadillo rollers of pitfalls (section 10.3.3, fig. 15): a soft figure falls onto turning cylinders that draw it
// in by friction and press it through the gaps between them.

#include <cmath>
#include <numbers>

#include "experiments/contact/contact.hpp"
#include "experiments/pitfalls/contact_table.hpp"
#include "experiments/pitfalls/figure.hpp"
#include "pliant/mesh/read_mesh.hpp"

namespace pliant::experiments {

namespace {

/// Scaled to 1 m height, its lowest point 1 cm above the upper rollers.
std::shared_ptr<const Model> rollers_model(MeshData data) {
  Vec3 low = data.vertices.front(), high = low;
  for (const Vec3& v : data.vertices) low = low.cwiseMin(v), high = high.cwiseMax(v);
  const double scale = 1 / (high.y() - low.y());
  const Vec3 middle = 0.5 * (low + high);
  for (Vec3& v : data.vertices) v = scale * (v - Vec3(middle.x(), low.y(), middle.z())) + Vec3(0, 0.16, 0);
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_mass(MassKind::consistent);
  BodyOptions body;
  body.name = "figure";
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("neo-hookean"), lame_from_young(5e4, 0.2)};
  builder.add_body(body);
  // Two pairs, the lower one turned by a right angle; each draws in between its two.
  const double radius = 0.15, apart = 0.2, speed = 2 * std::numbers::pi * 0.25, seconds = 100;
  for (int level = 0; level < 2; ++level)
    for (double side : {-1.0, 1.0}) {
      Collider roller;
      const Vec3 across = level == 0 ? Vec3::UnitX() : Vec3::UnitZ(),
                 along = level == 0 ? Vec3::UnitZ() : Vec3::UnitX();
      const Vec3 centre = side * apart * across - 0.45 * level * Vec3::UnitY();
      roller.name = std::string(level == 0 ? "upper " : "lower ") + (side < 0 ? "left" : "right");
      roller.shape = CylinderShape{centre, along, radius, 0.6};
      roller.motion.centre = centre;
      roller.motion.axis = along;
      // Both turn so that their near sides go down.
      const double sense = level == 0 ? side : -side;
      roller.motion.angle.keys = {{0, 0.0}, {seconds, sense * speed * seconds}};
      builder.add_collider(roller);
    }
  builder.set_contact({.dhat = 1e-3, .friction = 0.5, .eps_v = 1e-3});
  return builder.build();
}

void run_rollers(Context& context) {
  const std::string& path = context.text("mesh");
  const auto model =
      rollers_model(path.empty() ? figure(static_cast<int>(context.number("cells"))) : read_mesh_data(path));
  if (!run_contact_table(context, contact_table(context, model))) return;
  int intersecting = 0;
  for (const Json& row : context.rows()) intersecting += row["intersecting_steps"].get<int>();
  context.check({"no state of any run intersects, by an exact test", 0, intersecting, intersecting == 0});
  check_pod_newton_is_best(context, "PDN fewest at both tolerances; PN and N behind; KN exceeds 6000 iterations");
}

}  // namespace

Experiment rollers() {
  std::vector<Option> options = {
      {"mesh", "", "", "path of a tetrahedral mesh, y up; empty: a generated figure"},
      {"cells", "28", "8", "cells per metre of the generated figure before it is scaled to 1 m"},
      {"duration", "8", "0.8", "simulated seconds"}};
  for (Option& option : contact_table_options()) options.push_back(std::move(option));
  return {"pitfalls/rollers", "A soft figure is drawn through turning rollers by friction (fig. 15)", options,
          run_rollers};
}

}  // namespace pliant::experiments
