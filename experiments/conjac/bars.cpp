#include "experiments/conjac/bars.hpp"

#include "experiments/conjac/trial.hpp"

namespace pliant::experiments {

std::shared_ptr<const Model> conjac_bar(const BarOptions& options) {
  ModelBuilder builder;
  builder.set_gravity(options.gravity);
  BodyOptions body;
  body.name = "bar";
  body.mesh = std::make_shared<TetMesh>(box({.size = options.size, .cells = options.cells}));
  body.material = {find_law("stable-neo-hookean"), lame_from_young(1e4, 0.4)};
  options.change(body);
  builder.add_body(body);
  for (const std::string& side : options.pinned) builder.add_pin({side, body.mesh->sets().at(side)});
  options.add(builder);
  return builder.build();
}

State resting_state(const std::shared_ptr<const Model>& model) {
  State state = model->rest_state();
  make_stepper(model, "pod-newton", {{"integrator", "quasistatic"}, {"criterion", "residual"}, {"tolerance", 1e-11}})
      ->step(state, 1);
  return state;
}

Settled settle(const std::shared_ptr<const Model>& model, const ParameterMap& parameters, const State& rest,
               double size, double h, const std::function<bool()>& stop) {
  constexpr int kMostSteps = 4000;
  const auto stepper = make_stepper(model, "conjac", as_published("conjac", parameters));
  Settled settled{model->rest_state()};
  for (; settled.steps < kMostSteps && !stop(); ++settled.steps) {
    const VecX before = settled.state.x;
    if (!stepper->step(settled.state, h).succeeded()) {
      settled.succeeded = false;
      break;
    }
    const double moved = (settled.state.x - before).cwiseAbs().maxCoeff();
    if (moved < 1e-12 * size || moved > size) break;  // at rest, or gone
  }
  settled.error = (settled.state.x - rest.x).cwiseAbs().maxCoeff() / size;
  return settled;
}

}  // namespace pliant::experiments
