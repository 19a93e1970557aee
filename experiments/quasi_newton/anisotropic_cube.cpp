// Fig. 5 of quasi-newton: a cube of linear corotated material (mu : lambda : kappa = 10 : 100 : 50), dropped on the
// ground, without and with fibres that resist along one direction.

#include <algorithm>
#include <cmath>

#include "experiments/quasi_newton/quasi_newton.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

std::shared_ptr<const Model> cube(Index cells, double kappa) {
  BoxOptions options;
  options.size = {1, 1, 1};
  options.cells = {cells, cells, cells};
  MeshData data = box(options);
  for (Vec3& p : data.vertices) p.y() += 0.5;
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("linear-corotated"), {1e4, 1e5}};
  if (kappa > 0) body.fibres = {{find_fibre_law("reinforcement"), {{kappa, 1, 0}}, {Vec3(1, 0, 0)}, -1}};
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(body);
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"ground", PlaneShape{}, {}, 1e5, 0});
  return builder.build();
}

struct Bulge {
  double along = 0, across = 0;
};

void run_anisotropic_cube(Context& context) {
  std::vector<Bulge> bulges;
  for (double kappa : {0.0, context.number("kappa")}) {
    const auto model = cube(static_cast<Index>(context.number("cells")), kappa);
    const auto stepper = make_stepper(model, "quasi-newton");
    State state = model->rest_state();
    Bulge bulge;
    std::vector<double> width;
    double ms = 0;
    const int frames = static_cast<int>(context.number("frames"));
    for (int frame = 0; frame < frames && !context.stopped(); ++frame) {
      const StepReport report = stepper->step(state, kFrame);
      if (!report.advanced()) break;
      ms += 1e3 * report.seconds.total / frames;
      Vec3 low = node(state.x, 0), high = low;
      for (Index i = 0; i < model->nodes(); ++i) {
        low = low.cwiseMin(node(state.x, i));
        high = high.cwiseMax(node(state.x, i));
      }
      bulge.along = std::max(bulge.along, high.x() - low.x() - 1);
      bulge.across = std::max(bulge.across, high.z() - low.z() - 1);
      width.push_back(high.x() - low.x());
    }
    bulges.push_back(bulge);
    context.row({{"material", kappa > 0 ? "with fibres along x" : "isotropic"},
                 {"kappa", kappa},
                 {"vertices", model->nodes()},
                 {"ms", ms},
                 {"bulge_along_fibres", bulge.along},
                 {"bulge_across", bulge.across},
                 {"width", width}});
  }
  context.check({"the cube bulges less along its fibres, and more across, than without them (m)", "fig. 5",
                 Json::array({bulges[0].along, bulges[1].along, bulges[0].across, bulges[1].across}),
                 bulges[1].along < 0.8 * bulges[0].along && bulges[1].across > bulges[1].along});
}

}  // namespace

Experiment anisotropic_cube() {
  return {"quasi-newton/anisotropic-cube",
          "A cube dropped on the ground, without and with fibres (fig. 5)",
          {{"cells", "10", "6", "along an edge"},
           {"kappa", "5e4", "5e4", "Pa; the paper's 50 against mu = 10, here 1e4 Pa"},
           {"frames", "60", "40", "of 1/30 s"}},
          run_anisotropic_cube};
}

}  // namespace pliant::experiments
