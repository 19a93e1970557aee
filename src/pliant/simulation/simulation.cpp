#include "pliant/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/scene/dynamic_selection.hpp"
#include "pliant/simulation/carry_over.hpp"
#include "pliant/solvers/conjac/conjac_catalogue.hpp"

namespace pliant {

namespace {

Integrator integrator_of(const SceneSolver& solver) {
  const auto found = solver.parameters.find("integrator");
  return found != solver.parameters.end() && found->second == ParameterValue("quasistatic")
             ? Integrator::quasistatic
             : Integrator::implicit_euler;
}

}  // namespace

Simulation::Simulation(Scene scene)
    : scene_(std::move(scene)),
      model_(build_model(scene_)),
      stepper_(make_stepper(scene_, model_)),
      state_(std::make_shared<State>(model_->rest_state())),
      uncut_(scene_),
      fingerprint_(pliant::fingerprint(scene_, *model_)) {
  // A cut that misses its body is found now rather than in the middle of a long run.
  std::vector<Index> origin;
  Scene probe = scene_;
  std::shared_ptr<const Model> model = model_;
  for (const SceneCut& cut : uncut_.cuts) {
    probe = cut_scene(probe, *model, cut, origin);
    model = build_model(probe);
  }
}

std::vector<Index> Simulation::make_due_cuts() {
  std::vector<Index> origin;
  while (cuts_made_ < uncut_.cuts.size() && state_->time >= uncut_.cuts[cuts_made_].time - 1e-6 * scene_.dt) {
    const std::vector<Index> next = make_next_cut();
    if (origin.empty()) {
      origin = next;
    } else {
      std::vector<Index> both;
      for (Index i : next) both.push_back(origin[static_cast<std::size_t>(i)]);
      origin = std::move(both);
    }
  }
  return origin;
}

std::vector<Index> Simulation::make_next_cut() {
  const SceneCut& cut = uncut_.cuts[cuts_made_];
  std::vector<Index> vertices;
  Scene scene = cut_scene(scene_, *model_, cut, vertices);
  std::vector<std::vector<Vec3>> driven;  // building a model puts them to rest
  for (const SceneScript& script : scene.scripts)
    driven.push_back(script.driven ? script.driven->positions : std::vector<Vec3>{});
  std::shared_ptr<const Model> model = build_model(scene);
  for (std::size_t k = 0; k < driven.size(); ++k)
    if (scene.scripts[k].driven) scene.scripts[k].driven->positions = driven[k];
  const std::vector<Index> origin = node_origins(*model_, *model, cut.body);
  if (const auto dynamic = scene.solver.parameters.find("dynamic"); dynamic != scene.solver.parameters.end())
    dynamic->second = resolve_dynamic_nodes(std::get<std::string>(dynamic->second), *model_);
  carry_dynamic_nodes(*model_, origin, scene.solver.parameters);
  std::unique_ptr<Stepper> stepper = make_stepper(scene, model);
  state_ = std::make_shared<State>(carry_over_cut(*state_, origin));
  scene_ = std::move(scene);
  model_ = std::move(model);
  stepper_ = std::move(stepper);
  potential_.reset();
  before_ = {};
  ++cuts_made_;
  return origin;
}

void Simulation::begin_uncut() {
  scene_ = uncut_;
  model_ = build_model(scene_);
  stepper_ = make_stepper(scene_, model_);
  state_ = std::make_shared<State>(model_->rest_state());
  potential_.reset();
  before_ = {};
  cuts_made_ = 0;
}

void Simulation::rebuild(Scene scene) {
  if (cuts_made_ > 0) throw InputError("bodies have been cut; make other changes to a simulation before its first cut");
  std::shared_ptr<const Model> model = build_model(scene);
  std::unique_ptr<Stepper> stepper = make_stepper(scene, model);
  State state = carry_over(*model_, *state_, *model);
  if (state.x.size() == state_->x.size())
    *state_ = state;
  else
    state_ = std::make_shared<State>(std::move(state));
  scene_ = std::move(scene);
  uncut_ = scene_;
  model_ = std::move(model);
  stepper_ = std::move(stepper);
  fingerprint_ = pliant::fingerprint(scene_, *model_);
  potential_.reset();
  before_ = {};
}

void Simulation::set_state(const State& state) {
  // The cuts that the steps which led to this state had made before them: those due when the last step began.
  const auto due = [&](std::size_t k) { return state.time - scene_.dt >= uncut_.cuts[k].time - 1e-6 * scene_.dt; };
  if (cuts_made_ > 0 && !due(cuts_made_ - 1)) begin_uncut();
  while (cuts_made_ < uncut_.cuts.size() && due(cuts_made_)) make_next_cut();
  if (state.x.size() != model_->rest().size() || state.v.size() != model_->rest().size())
    throw InputError(fmt::format("the state has {} positions and {} velocities, but the model has {} nodes",
                                 state.x.size() / 3, state.v.size() / 3, model_->nodes()));
  if (state.activation.size() != model_->muscles().size())
    throw InputError(fmt::format("the state has {} activations, but the model has {} muscles", state.activation.size(),
                                 model_->muscles().size()));
  *state_ = state;
}

StepReport Simulation::step() {
  make_due_cuts();
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
  if (potential_->contact()) potential_->contact()->place_obstacles(1);
  VecX gradient;
  potential_->gradient(state_->x, gradient);
  return gradient;
}

Snapshot Simulation::snapshot() const { return {fingerprint_, *state_, stepper_->memory()}; }

void Simulation::restore(const Snapshot& snapshot) {
  if (snapshot.fingerprint != fingerprint_)
    throw InputError(fmt::format("the snapshot belongs to another scene: {} differ; undo the change",
                                 snapshot.fingerprint.difference(fingerprint_)));
  set_state(snapshot.state);
  stepper_->recall(snapshot.memory);
  before_ = {};
}

}  // namespace pliant
