#include "pliant/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "pliant/base/error.hpp"
#include "pliant/sim/sharing.hpp"
#include "pliant/simulation/carry_over.hpp"
#include "pliant/simulation/nested_bodies.hpp"
#include "pliant/simulation/probe.hpp"

namespace pliant {

namespace {

void check_state(const State& state, const Model& model) {
  if (state.x.size() != model.rest().size() || state.v.size() != model.rest().size())
    throw InputError(fmt::format("the state has {} positions and {} velocities, but the model has {} nodes",
                                 state.x.size() / 3, state.v.size() / 3, model.nodes()));
  if (state.activation.size() != model.muscles().size())
    throw InputError(fmt::format("the state has {} activations, but the model has {} muscles", state.activation.size(),
                                 model.muscles().size()));
}

}  // namespace

Simulation::Simulation(BuiltScene built)
    : scene_(built.scene),
      holds_(built.holds),
      model_(built.model),
      stepper_(make_stepper(scene_, model_)),
      state_(std::make_shared<State>(model_->rest_state())),
      given_(std::move(built)),
      fingerprint_(pliant::fingerprint(scene_, *model_)) {}

Simulation::Simulation(Scene scene) : Simulation(build_scene(std::move(scene))) {
  check_nested(*model_);
  // A cut that misses its body is found now rather than in the middle of a long run, and so is a probe of nothing.
  BuiltScene probe = given_;
  ProbeSet{probe.scene, probe.model};
  for (const SceneCut& cut : given_.scene.cuts) probe = make_cut(probe, cut).built;
}

BuiltScene Simulation::built() const {
  BuiltScene built{scene_, holds_, model_};
  built.scene.cuts.erase(built.scene.cuts.begin(), built.scene.cuts.begin() + static_cast<std::ptrdiff_t>(cuts_made_));
  return built;
}

void Simulation::rebuild(Scene scene) {
  for (std::size_t k = 0; k < cuts_made_; ++k)
    for (const SceneCut& cut : scene.cuts)
      if (cut.name == given_.scene.cuts[k].name)
        throw InputError(
            fmt::format("cut '{}' has been made, and would be made again; begin with the scene as it is now, which has "
                        "the cut meshes (Simulation::built)",
                        cut.name));
  Simulation next = with_scene(build_scene(std::move(scene)));
  if (next.state_->x.size() == state_->x.size()) {
    *state_ = *next.state_;
    next.state_ = state_;
  }
  *this = std::move(next);
}

void Simulation::set_time_step(double seconds) {
  scene_.dt = given_.scene.dt = seconds;
  fingerprint_ = pliant::fingerprint(given_.scene, *given_.model);
}

Simulation Simulation::with_scene(BuiltScene built) const {
  Simulation next(std::move(built));
  *next.state_ = carry_over(*model_, *state_, *next.model_);
  return next;
}

Simulation Simulation::with_solver(SceneSolver solver) const {
  BuiltScene same = built();
  same.scene.solver = std::move(solver);
  Simulation next(std::move(same));
  *next.state_ = *state_;
  return next;
}

Simulation Simulation::after_cut(const CutScene& cut) const {
  BuiltScene built = cut.built;
  built.scene.dt = scene_.dt;
  built.scene.solver = scene_.solver;
  built.scene.solver.parameters = carry_over_cut(*model_, scene_.solver.parameters, cut.origin);
  Simulation next(std::move(built));
  *next.state_ = carry_over_cut(*model_, *state_, *next.model_, cut.origin);
  return next;
}

std::vector<Index> Simulation::cut(const SceneCut& cut, CutPlace place) {
  if (cut.body >= model_->bodies().size())
    throw InputError(
        fmt::format("cut '{}' names body {}, but there are {}", cut.name, cut.body, model_->bodies().size()));
  std::vector<Vec3> where;
  if (const Body& body = model_->bodies()[cut.body]; place == CutPlace::now)
    for (Index v = 0; v < static_cast<Index>(body.vertices().size()); ++v)
      where.push_back(node(state_->x, body.nodes.begin + v));
  CutScene made = make_cut(built(), cut, where);
  *this = after_cut(made);
  return std::move(made.origin);
}

std::vector<Index> Simulation::make_due_cuts() {
  std::vector<Index> origin;
  while (cuts_made_ < given_.scene.cuts.size() && is_due(given_.scene.cuts[cuts_made_], state_->time, scene_.dt)) {
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
  CutScene cut = make_cut({scene_, holds_, model_}, given_.scene.cuts[cuts_made_]);
  Simulation next = after_cut(cut);
  next.given_ = std::move(given_);
  next.fingerprint_ = fingerprint_;
  next.cuts_made_ = cuts_made_ + 1;
  *this = std::move(next);
  return std::move(cut.origin);
}

/// As it was given, at rest.
Simulation Simulation::uncut() const {
  Simulation next(given_);
  next.fingerprint_ = fingerprint_;
  return next;
}

void Simulation::set_state(const State& state) {
  const std::vector<SceneCut>& cuts = given_.scene.cuts;
  const auto due = [&](double time) {
    return static_cast<std::size_t>(
        std::count_if(cuts.begin(), cuts.end(), [&](const SceneCut& cut) { return is_due(cut, time, scene_.dt); }));
  };
  // The step that led to this state had made the cuts due when it began; those due now may have been made or not.
  const std::size_t least = due(state.time - scene_.dt), most = due(state.time);
  if (cuts_made_ >= least && cuts_made_ <= most && (least == most || state.x.size() == model_->rest().size())) {
    check_state(state, *model_);
  } else {
    Simulation next = uncut();
    while (next.cuts_made_ < least) next.make_next_cut();
    while (next.cuts_made_ < most && next.model_->rest().size() != state.x.size()) next.make_next_cut();
    check_state(state, *next.model_);
    *this = std::move(next);
  }
  *state_ = state;
}

void Simulation::replace_spoilt_stepper() {
  if (!stepper_->is_spoilt()) return;
  stepper_ = make_stepper(scene_, model_);
  has_stepped_ = false;
}

StepReport Simulation::step(StepControl* control) {
  make_due_cuts();
  StepReport report;
  try {
    replace_spoilt_stepper();
    // A stepper may leave a part-way state behind, and may exchange the arrays it is given for its own.
    next_ = *state_;
  } catch (const std::bad_alloc&) {
    report.end(Outcome::out_of_memory, fmt::format("there is not enough to begin a step; remedy: {}", kLessMemory));
    return report;
  }
  report = stepper_->step(next_, scene_.dt, control);
  if (took(report)) {
    *state_ = next_;
    has_stepped_ = true;
  }
  return report;
}

const VecX& Simulation::unbalanced_forces() const {
  if (!has_stepped_) throw InputError("no step has been taken yet, so there are no unbalanced forces");
  return stepper_->unbalanced_forces();
}

Snapshot Simulation::snapshot() const {
  Snapshot snapshot{fingerprint_, cuts_made_, *state_,
                    stepper_->is_spoilt() ? std::vector<double>() : stepper_->memory()};
  snapshot.state.grabs.clear();
  if (Sharing* sharing = model_->sharing())
    for (VecX* v : {&snapshot.state.x, &snapshot.state.v}) sharing->gather(VecX(std::move(*v)), *v);
  return snapshot;
}

void Simulation::restore(const Snapshot& given) {
  if (!model_->sharing()) return restore_here(given);
  Sharing& sharing = *model_->sharing();
  sharing.on_first([&] {
    if (given.fingerprint == fingerprint_ && given.state.x.size() != 3 * Eigen::Index(sharing.all_nodes()))
      throw InputError(fmt::format("the snapshot has {} nodes, but the model has {}", given.state.x.size() / 3,
                                   sharing.all_nodes()));
  });
  Snapshot part{given.fingerprint, 0, {}, {}};
  sharing.scatter(given.state.x, part.state.x);
  sharing.scatter(given.state.v, part.state.v);
  std::vector<double> numbers = {given.state.time, static_cast<double>(given.state.step)};
  part.state.activation = given.state.activation;
  part.state.activation.resize(model_->muscles().size(), 0.0);
  numbers.insert(numbers.end(), part.state.activation.begin(), part.state.activation.end());
  sharing.broadcast(numbers);
  part.state.time = numbers[0];
  part.state.step = static_cast<std::int64_t>(numbers[1]);
  part.state.activation.assign(numbers.begin() + 2, numbers.end());
  if (!sharing.is_first()) part.fingerprint = fingerprint_;
  restore_here(part);
}

void Simulation::restore(const Snapshot& snapshot, Scene scene) {
  Simulation next(std::move(scene));
  next.restore(snapshot);
  *this = std::move(next);
}

void Simulation::restore_here(const Snapshot& snapshot) {
  if (snapshot.fingerprint != fingerprint_)
    throw InputError(fmt::format("the snapshot belongs to another scene: {} differ; undo the change",
                                 snapshot.fingerprint.difference(fingerprint_)));
  if (snapshot.cuts > given_.scene.cuts.size())
    throw InputError(fmt::format("the snapshot was taken after {} cuts, but the scene has {}", snapshot.cuts,
                                 given_.scene.cuts.size()));
  const State& state = snapshot.state;
  if (!state.x.allFinite() || !state.v.allFinite() || !std::isfinite(state.time))
    throw InputError("the snapshot holds positions, velocities or a time that are not finite");
  if (state.step < 0 || state.step > kMostSteps)
    throw InputError(fmt::format("the snapshot is of step {}, which no run has", state.step));
  if (snapshot.cuts == cuts_made_) {
    check_state(state, *model_);
    replace_spoilt_stepper();
    stepper_->recall(snapshot.memory);
  } else {
    Simulation next = uncut();
    while (next.cuts_made_ < snapshot.cuts) next.make_next_cut();
    check_state(state, *next.model_);
    next.stepper_->recall(snapshot.memory);
    *this = std::move(next);
  }
  *state_ = state;
  has_stepped_ = false;
}

}  // namespace pliant
