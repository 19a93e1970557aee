// Fig. 4 of quasi-newton: the big bunny (corotated, mu : lambda = 5 : 200) is pulled through a torus that is narrower
// than it. Collisions are in energy and gradient, not in the matrix.

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

std::shared_ptr<const TetMesh> bunny(Context& context) {
  MeshData data;
  if (context.text("meshes").empty()) {
    SphereOptions options;
    options.radius = 1;
    options.cells = std::max<Index>(4, static_cast<Index>(std::lround(20 * context.number("scale"))));
    data = sphere(options);
  } else {
    data = read_mesh_data(context.text("meshes") + "/bunny.mesh");
  }
  return std::make_shared<TetMesh>(std::move(data));
}

void run_bunny_through_torus(Context& context) {
  const auto mesh = bunny(context);
  const int axis = longest_axis(*mesh);
  Vec3 low = mesh->vertices()[0], high = low;
  for (const Vec3& p : mesh->vertices()) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const Vec3 middle = 0.5 * (low + high);
  double radius = 0;
  for (const Vec3& p : mesh->vertices()) {
    Vec3 across = p - middle;
    across[axis] = 0;
    radius = std::max(radius, across.norm());
  }
  const double length = high[axis] - low[axis], tube = 0.3 * radius;
  TorusShape torus;
  torus.axis = Vec3::Unit(axis);
  torus.tube = tube;
  torus.ring = context.number("hole") * radius + tube;
  torus.centre = middle;
  torus.centre[axis] = high[axis] + 1.2 * tube;

  BodyOptions body;
  body.mesh = mesh;
  body.material = {find_law(context.text("law")), {5e3, 2e5}};
  ModelBuilder builder;
  builder.add_body(body);
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"torus", torus, {}, 1e5, 0});
  Script pull{"pull", {}, {}, Imposition::direct};
  // The middle of what goes first, small enough for the hole.
  for (std::size_t i = 0; i < mesh->vertices().size(); ++i) {
    Vec3 across = mesh->vertices()[i] - middle;
    const double along = high[axis] - mesh->vertices()[i][axis];
    across[axis] = 0;
    if (along < 0.08 * length && across.norm() < 0.8 * context.number("hole") * radius)
      pull.nodes.push_back(static_cast<Index>(i));
  }
  if (pull.nodes.empty()) {  // what goes first is off the middle: the foremost vertices, wherever they are
    pull.nodes = end_of(*mesh, axis, true);
  }
  const double seconds = context.number("seconds");
  pull.motion.translation.keys = {{0, Vec3::Zero()}, {seconds, Vec3::Unit(axis) * (1.6 * length + 3 * tube)}};
  builder.add_script(pull);
  const auto model = builder.build();

  const auto stepper = make_stepper(model, context.text("solver"));
  State state = model->rest_state();
  std::vector<double> gaps;
  bool finite = true;
  int evaluations = 0, iterations = 0, inverted_before = 0;
  double ms = 0;
  const int frames = static_cast<int>(std::lround((seconds + 1) / kFrame));
  for (int frame = 0; frame < frames && finite && !context.stopped(); ++frame) {
    context.progress(frame / double(frames), "pulling");
    const StepReport report = stepper->step(state, kFrame);
    finite = report.advanced() && state.x.allFinite() && state.v.allFinite();
    if (gaps.empty() || *std::min_element(gaps.begin(), gaps.end()) > 0)
      inverted_before = static_cast<int>(model->bodies()[0].elastic->count_inverted(state.x));
    gaps.push_back(report.minimum_gap / radius);
    evaluations += report.line_search_evaluations;
    iterations += report.iterations;
    ms += 1e3 * report.seconds.total;
  }
  double behind = std::numeric_limits<double>::infinity();  // of the torus, how far all are through
  for (Index i = 0; i < model->nodes(); ++i)
    behind = std::min(behind, node(state.x, i)[axis] - (torus.centre[axis] + tube));
  const double deepest = gaps.empty() ? 0 : *std::min_element(gaps.begin(), gaps.end());
  context.row({{"body", context.text("meshes").empty() ? "sphere" : "bunny"},
               {"vertices", model->nodes()},
               {"frames", gaps.size()},
               {"finite", finite},
               {"ms", ms / std::max<double>(1, static_cast<double>(gaps.size()))},
               {"evaluations_per_iteration", static_cast<double>(evaluations) / std::max(1, iterations)},
               {"inverted_before_contact", inverted_before},
               {"deepest", deepest},
               {"gap_at_the_end", gaps.empty() ? 0 : gaps.back()},
               {"through", behind},
               {"gap", gaps}});
  context.claim({"finite at every frame", "robust, fig. 4", finite, finite});
  context.claim({"at the end no vertex is inside the torus, and all are through (gap, in radii of the body)",
                 "all collisions resolved", Json::array({gaps.empty() ? 0 : gaps.back(), behind}),
                 !gaps.empty() && gaps.back() >= 0 && behind > 0});
}

}  // namespace

Experiment bunny_through_torus() {
  return {"quasi-newton/bunny-through-torus",
          "A soft body pulled through a torus narrower than it (fig. 4)",
          {{"meshes", "", "", "folder with bunny.mesh; empty: a sphere"},
           {"scale", "1", "0.5", "resolution of the sphere"},
           {"solver", "quasi-newton", "quasi-newton", "which"},
           {"law", "linear-corotated", "linear-corotated", "of the body, with mu = 5 kPa and lambda = 200 kPa"},
           {"hole", "0.6", "0.6", "radius of the torus's hole over that of the body"},
           {"seconds", "4", "4", "that the pull takes"}},
          run_bunny_through_torus};
}

}  // namespace pliant::experiments
