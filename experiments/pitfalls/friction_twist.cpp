// The friction twist of pitfalls (section 10.3.4, figs. 1 and 16): a rubber structure on four legs stands on the floor;
// a steel plate, held at its top face, comes down and turns; friction twists the structure until it buckles; the plate
// is let go.

#include <cmath>
#include <numbers>

#include "experiments/contact/contact.hpp"
#include "experiments/pitfalls/contact_table.hpp"

namespace pliant::experiments {

namespace {

/// A 0.4 m table 0.05 m thick on four legs 0.25 m long, on a grid with `cells` cells per 0.1 m.
BodyOptions structure(int cells) {
  BodyOptions body = block({.name = "structure",
                            .size = {0.4, 0.3, 0.4},
                            .at = {0, 0.1505, 0},
                            .cells = {4 * cells, 3 * cells, 4 * cells},
                            .young = 1e7,
                            .poisson = 0.49,
                            .density = 1300});
  MeshData data = body.mesh->data();
  std::erase_if(data.tets, [&](const Tet& tet) {
    Vec3 c = Vec3::Zero();
    for (Index v : tet) c += data.vertices[static_cast<std::size_t>(v)] / 4;
    if (c.y() > 0.2505) return false;  // the table
    const double x = std::abs(c.x()), z = std::abs(c.z());
    return x < 0.1 || z < 0.1;
  });
  data.regions.clear();
  data.sets.clear();
  data.source = "structure";
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  return body;
}

std::shared_ptr<const Model> twist_model(int cells, double press, double turn, double release) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_mass(MassKind::consistent);
  builder.add_body(structure(cells));
  builder.add_body(block({.name = "plate",
                          .size = {0.36, 0.04, 0.36},
                          .at = {0.005, 0.3225, 0.003},
                          .cells = {2 * cells, 1, 2 * cells},
                          .young = 220e9,
                          .poisson = 0.3,
                          .density = 7850}));
  Script script;
  script.name = "drive";
  const Body& plate = builder.body(1);
  for (std::size_t i = 0; i < plate.vertices().size(); ++i)
    if (plate.vertices()[i].y() > 0.3425 - 1e-9) script.nodes.push_back(plate.nodes.begin + static_cast<Index>(i));
  script.motion.axis = Vec3::UnitY();
  script.motion.translation.keys = {{0, Vec3::Zero()}, {0.5 * release, Vec3(0, -press, 0)}};
  script.motion.angle.keys = {{0, 0.0}, {release, turn}};
  script.sigma = 1e9;
  script.release = release;
  builder.add_script(script);
  Collider floor;
  floor.name = "floor";
  floor.shape = PlaneShape{};
  builder.add_collider(floor);
  builder.set_contact({.dhat = 1e-3, .friction = 1.0, .eps_v = 1e-3});
  return builder.build();
}

void run_friction_twist(Context& context) {
  const auto model = twist_model(static_cast<int>(context.number("cells")), context.number("press"),
                                 context.number("turn") * std::numbers::pi / 180, context.number("release"));
  if (!run_contact_table(context, contact_table(context, model))) return;
  check_apart(context);
  check_pod_newton_is_best(context, "PDN fewest; PN behind N and PDN; KN keeps up at the fine tolerance");
}

}  // namespace

Experiment friction_twist() {
  std::vector<Option> options = {{"cells", "6", "1", "cells per 0.1 m"},
                                 {"press", "0.03", "0.015", "how far the plate comes down, m"},
                                 {"turn", "180", "45", "how far it turns, degrees"},
                                 {"release", "7", "1", "when the plate is let go, s"},
                                 {"duration", "10", "1.3", "simulated seconds"}};
  for (Option& option : contact_table_options()) options.push_back(std::move(option));
  return {"pitfalls/friction-twist",
          "A turning steel plate twists a rubber structure by friction until it buckles (fig. 16)", options,
          run_friction_twist};
}

}  // namespace pliant::experiments
