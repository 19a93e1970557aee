#include "experiments/contact/contact.hpp"

#include "pliant/mesh/generators.hpp"

namespace pliant::experiments {

std::vector<Experiment> contact_experiments() {
  return {contact_stack(), contact_ring(), contact_wedge_spike(), contact_slope(), contact_everything()};
}

BodyOptions block(const BlockOptions& options) {
  MeshData data = box({.size = options.size, .cells = options.cells, .split = BoxSplit::six});
  for (Vec3& p : data.vertices) p += options.at - 0.5 * options.size;
  BodyOptions body;
  body.name = options.name;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("neo-hookean"), lame_from_young(options.young, options.poisson)};
  body.density = options.density;
  body.velocity = options.velocity;
  return body;
}

void check_apart(Context& context) {
  int completed = 0, intersecting = 0, touching = 0;
  const auto rows = static_cast<int>(context.rows().size());
  for (const Json& row : context.rows()) {
    completed += row["outcome"] == "completed";
    intersecting += row["intersecting_steps"].get<int>();
    touching += row["minimum_gap"].is_number() && !(row["minimum_gap"].get<double>() > 0);
  }
  context.check({"every run completes", rows, completed, completed == rows});
  context.check({"no state of any run intersects, by an exact test", 0, intersecting, intersecting == 0});
  context.check({"the least gap of every run is above zero", 0, touching, touching == 0});
}

}  // namespace pliant::experiments
