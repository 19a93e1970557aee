#include "pliant/sim/boundary.hpp"

namespace pliant {

void BoundaryState::impose_penalties() {
  for (std::size_t k = 0; k < penalised.size(); ++k) {
    node(positions, penalised[k]) = targets[k];
    for (std::size_t axis = 0; axis < 3; ++axis) fixed[3 * static_cast<std::size_t>(penalised[k]) + axis] = 1;
  }
  penalised.clear();
  targets.clear();
  sigma.clear();
}

BoundaryState boundary_state(const std::vector<Pin>& pins, const std::vector<Script>& scripts, const VecX& rest,
                             double time) {
  BoundaryState state;
  state.fixed.assign(rest.size(), 0);
  state.positions = rest;
  for (const Pin& pin : pins)
    for (Index i : pin.nodes)
      for (int axis = 0; axis < 3; ++axis)
        if (pin.axes[axis]) state.fixed[3 * i + axis] = 1;
  for (const Script& script : scripts) {
    if (time < script.start || time >= script.release) continue;
    for (std::size_t k = 0; k < script.nodes.size(); ++k) {
      const Index i = script.nodes[k];
      const Vec3 target = script.driven ? script.driven->positions[k] : script.motion.position(k, node(rest, i), time);
      if (script.imposition == Imposition::penalty) {
        state.penalised.push_back(i);
        state.targets.push_back(target);
        state.sigma.push_back(script.sigma);
      } else {
        node(state.positions, i) = target;
        for (int axis = 0; axis < 3; ++axis) state.fixed[3 * i + axis] = 1;
      }
    }
  }
  return state;
}

}  // namespace pliant
