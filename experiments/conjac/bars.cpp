#include "experiments/conjac/bars.hpp"

namespace pliant::experiments {

std::shared_ptr<const Model> conjac_bar(const BarOptions& options) {
  ModelBuilder builder;
  builder.set_gravity(options.gravity);
  BodyOptions body;
  body.name = "bar";
  body.mesh = std::make_shared<TetMesh>(box({.size = options.size, .cells = options.cells, .split = BoxSplit::six}));
  body.material = {find_law("stable-neo-hookean"), lame_from_young(1e4, 0.4)};
  options.change(body);
  builder.add_body(body);
  for (const std::string& side : options.pinned) builder.add_pin({side, body.mesh->sets().at(side)});
  options.add(builder);
  return builder.build();
}

Index nearest_node(const Model& model, const Vec3& place) {
  Index best = 0;
  for (Index i = 1; i < model.nodes(); ++i)
    if ((node(model.rest(), i) - place).squaredNorm() < (node(model.rest(), best) - place).squaredNorm()) best = i;
  return best;
}

Settled settle(const std::shared_ptr<const Model>& model, const std::string& solver, const ParameterMap& parameters,
               const State& rest, double size, double h, const std::function<bool()>& stop,
               const std::function<void(const State&)>& each) {
  constexpr int kMostSteps = 20000;
  EnergyMeter meter(model);
  const auto stepper = make_stepper(model, solver, as_published(solver, parameters));
  Settled settled{model->rest_state()};
  const double resting = meter.potential(rest), start = meter.total(settled.state) - resting;
  for (; settled.steps < kMostSteps && !stop(); ++settled.steps) {
    const VecX before = settled.state.x;
    if (!stepper->step(settled.state, h).succeeded()) break;
    each(settled.state);
    if (settled.steps % 10 == 0)
      settled.growth = std::max(settled.growth, (meter.total(settled.state) - resting) / start);
    const double moved = farthest_node(settled.state.x, before);
    settled.rests = moved < 1e-12 * size;
    if (settled.rests || moved > size) break;  // at rest, or gone
  }
  return settled;
}

double farthest_node(const VecX& a, const VecX& b) {
  double most = 0;
  for (Eigen::Index i = 0; i + 2 < a.size(); i += 3) most = std::max(most, (a.segment<3>(i) - b.segment<3>(i)).norm());
  return most;
}

}  // namespace pliant::experiments
