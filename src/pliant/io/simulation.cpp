#include "pliant/io/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pliant/io/checkpoint.hpp"
#include "pliant/math/error.hpp"

namespace pliant {

namespace {

Integrator integrator_of(const SceneSolver& solver) {
  const auto found = solver.parameters.find("integrator");
  return found != solver.parameters.end() && found->second == ParameterValue("quasistatic")
             ? Integrator::quasistatic
             : Integrator::implicit_euler;
}

/// The new model's rest state with the nodes of bodies that both models have as they are in `state`.
State carry_over(const Model& from, const State& state, const Model& to) {
  State result = to.rest_state();
  result.time = state.time;
  result.step = state.step;
  for (const Body& body : to.bodies()) {
    const auto old = std::find_if(from.bodies().begin(), from.bodies().end(), [&](const Body& b) {
      return b.name == body.name && b.nodes.size() == body.nodes.size();
    });
    if (old == from.bodies().end()) continue;
    const Eigen::Index count = 3 * Eigen::Index(body.nodes.size());
    const Eigen::Index source = 3 * Eigen::Index(old->nodes.begin), target = 3 * Eigen::Index(body.nodes.begin);
    result.x.segment(target, count) = state.x.segment(source, count);
    result.v.segment(target, count) = state.v.segment(source, count);
  }
  for (std::size_t m = 0; m < to.muscles().size(); ++m)
    for (std::size_t k = 0; k < from.muscles().size() && k < state.activation.size(); ++k)
      if (from.muscles()[k].name == to.muscles()[m].name) result.activation[m] = state.activation[k];
  return result;
}

}  // namespace

Simulation::Simulation(Scene scene)
    : scene_(std::move(scene)),
      model_(build_model(scene_)),
      stepper_(make_stepper(scene_, model_)),
      state_(std::make_shared<State>(model_->rest_state())) {}

void Simulation::rebuild(Scene scene) {
  std::shared_ptr<const Model> model = build_model(scene);
  std::unique_ptr<Stepper> stepper = make_stepper(scene, model);
  State state = carry_over(*model_, *state_, *model);
  if (state.x.size() == state_->x.size())
    *state_ = state;
  else
    state_ = std::make_shared<State>(std::move(state));
  scene_ = std::move(scene);
  model_ = std::move(model);
  stepper_ = std::move(stepper);
  potential_.reset();
  before_ = {};
}

void Simulation::set_state(const State& state) {
  if (state.x.size() != model_->rest().size() || state.v.size() != model_->rest().size())
    throw InputError(fmt::format("the state has {} positions and {} velocities, but the model has {} nodes",
                                 state.x.size() / 3, state.v.size() / 3, model_->nodes()));
  if (state.activation.size() != model_->muscles().size())
    throw InputError(fmt::format("the state has {} activations, but the model has {} muscles", state.activation.size(),
                                 model_->muscles().size()));
  *state_ = state;
}

StepReport Simulation::step() {
  // A stepper may leave a part-way state behind, and may exchange the arrays it is given for its own.
  next_ = *state_;
  StepReport report = stepper_->step(next_, scene_.dt);
  if (took(report)) {
    before_ = *state_;
    *state_ = next_;
  }
  return report;
}

VecX Simulation::unbalanced_forces() {
  if (before_.x.size() == 0)
    throw InputError("no step has been taken yet, so that there is nothing to be out of balance");
  if (!potential_) potential_ = std::make_unique<IncrementalPotential>(model_, integrator_of(scene_.solver));
  potential_->begin_step(before_, scene_.dt);
  VecX gradient;
  potential_->gradient(state_->x, gradient);
  return gradient;
}

void Simulation::save(const std::filesystem::path& file) const {
  write_checkpoint(file, {fingerprint(scene_, *model_), *state_, stepper_->memory(), {}});
}

void Simulation::load(const std::filesystem::path& file) {
  const Checkpoint checkpoint = read_checkpoint(file);
  const Fingerprint own = fingerprint(scene_, *model_);
  if (checkpoint.fingerprint != own)
    throw InputError(fmt::format("checkpoint {} belongs to another scene: {} differ; undo the change", file.string(),
                                 checkpoint.fingerprint.difference(own)));
  set_state(checkpoint.state);
  stepper_->recall(checkpoint.stepper);
  before_ = {};
}

}  // namespace pliant
