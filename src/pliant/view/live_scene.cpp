#include "pliant/view/live_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "pliant/base/error.hpp"
#include "pliant/simulation/carry_over.hpp"

namespace pliant::view {

namespace {

/// In real time a step that has not converged is better than none.
constexpr OnFailure kOnFailure = OnFailure::proceed;

/// Residuals by iteration are there for the plot wherever recording them costs next to nothing. Others record when
/// asked to.
void record_history(const SolverEntry& solver, ParameterMap& parameters) {
  if (solver.has_cheap_history) parameters.try_emplace("history", true);
}

/// What to compare a solver with: one of another family that takes the scene, or another of the same, or itself.
const SolverEntry& counterpart(const SolverEntry& solver, const std::vector<SolverFit>& fits) {
  const SolverEntry* best = &solver;
  for (const SolverFit& fit : fits) {
    if (!fit.fits() || fit.solver == &solver) continue;
    if (fit.solver->paper != solver.paper) return *fit.solver;
    if (best == &solver) best = fit.solver;
  }
  return *best;
}

}  // namespace

LiveScene::LiveScene(Scene scene, std::string path)
    : path_(std::move(path)), opened_(std::move(scene)), scheduled_(std::exchange(opened_.cuts, {})) {
  const SolverEntry& solver = find_solver(opened_.solver.name);
  if (solver.has_cheap_history) opened_.solver.parameters.erase("history");
  record_history(solver, opened_.solver.parameters);
  opened_.solver.on_failure = kOnFailure;
  stiffness_.assign(opened_.bodies.size(), 1.0);
  BuiltScene built = build_scene(opened_);
  // The meshes are made once; changes of the scene begin with them.
  for (std::size_t b = 0; b < opened_.bodies.size(); ++b)
    if (const Body& body = built.model->bodies()[b]; body.is_solid() && !body.rigid) {
      opened_.bodies[b].mesh = {};
      opened_.bodies[b].mesh.given = body.mesh;
    }
  built.scene = opened_;
  views_.emplace_back(Simulation(std::move(built)));
  show_new_model();
}

void LiveScene::adopt(std::vector<Simulation> simulations) {
  for (std::size_t v = 0; v < views_.size(); ++v) {
    views_[v].simulation = std::move(simulations[v]);
    views_[v].trouble.clear();
    views_[v].energy_time = {};
  }
  show_new_model();
}

void LiveScene::show_new_model() {
  surface_ = surface_of(model());
  find_skin();
  probes_.emplace(scene(), views_[0].simulation.model());
  ++revision_;
  hold();
}

/// Places in elements are looked for when these are others: at the start, and after a cut.
void LiveScene::find_skin() {
  std::vector<std::shared_ptr<const TetMesh>> meshes;
  for (const Body& body : model().bodies()) meshes.push_back(body.mesh);
  if (meshes == dressed_) return;
  const bool is_first = dressed_.empty();
  dressed_ = std::move(meshes);
  visual_.clear();
  skin_ = {};
  try {
    visual_ = visual_meshes(scene(), model());
  } catch (const InputError&) {
    if (is_first) throw;  // later, a file that is gone is no reason to stop: bodies are shown as they are
  }
  for (const VisualMesh& mesh : visual_) {
    std::vector<Vec3> rest(at(mesh.vertices()));
    mesh.positions(model().rest(), std::span(rest.data()->data(), 3 * rest.size()));
    skin_.add(static_cast<Index>(mesh.body()), mesh.triangles(), rest);
  }
}

void LiveScene::change(Scene scene, std::vector<Hold> pins) {
  BuiltScene built = build_scene(std::move(scene), std::move(pins));
  std::vector<Simulation> next;
  for (const View& view : views_) {
    built.scene.solver = view.solver();
    next.push_back(view.simulation.with_scene(built));
  }
  adopt(std::move(next));
}

void LiveScene::reset() {
  const Scene& now = this->scene();
  Scene scene = opened_;
  scene.dt = now.dt;
  scene.gravity = now.gravity;
  scene.gravity_keyframes = now.gravity_keyframes;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    // Everything of the present bodies but the mesh, which may have been cut.
    SceneMesh mesh = scene.bodies[b].mesh;
    scene.bodies[b] = now.bodies[b];
    scene.bodies[b].mesh = std::move(mesh);
    scene.bodies[b].regions = opened_.bodies[b].regions;
    for (std::size_t r = 0; r < scene.bodies[b].regions.size(); ++r)
      scene.bodies[b].regions[r].lame = now.bodies[b].regions[r].lame;
  }
  BuiltScene built = build_scene(std::move(scene));
  std::vector<Simulation> next;
  for (const View& view : views_) {
    SceneSolver& solver = built.scene.solver = view.solver();
    // After a cut, conjac's nodes are named by numbers of the cut model.
    if (!cuts_.empty() && solver.parameters.contains("dynamic"))
      solver = chosen(solver.name, solver.name == opened_.solver.name ? std::optional<ParameterMap>() : ParameterMap{});
    next.emplace_back(built);
  }
  cuts_.clear();
  next_scheduled_ = 0;
  hands_.clear();
  for (View& view : views_) view.report = {};
  adopt(std::move(next));
}

void LiveScene::play_again() {
  for (View& view : views_) view.trouble.clear();
}

void LiveScene::set_time_step(double seconds) {
  for (View& view : views_) view.simulation.set_time_step(seconds);
}

void LiveScene::set_gravity(const Vec3& gravity) {
  Scene changed = scene();
  changed.gravity = gravity;
  changed.gravity_keyframes = {};
  change(std::move(changed), pins());
}

void LiveScene::set_stiffness(int body, double scale) {
  if (at(body) >= opened_.bodies.size())
    throw InputError(fmt::format("there is no body {}; they are numbered 0 to {}", body, opened_.bodies.size() - 1));
  const SceneBody& from = opened_.bodies[at(body)];
  if (from.rigid) throw InputError(fmt::format("body '{}' is rigid: it has no stiffness to scale", from.name));
  if (!from.young_field.empty())
    throw InputError(fmt::format(
        "the stiffness of body '{}' comes element by element from its mesh; it cannot be scaled", from.name));
  Scene changed = scene();
  SceneBody& to = changed.bodies[at(body)];
  const auto scaled = [&](const Lame& lame) { return Lame{scale * lame.mu, scale * lame.lambda}; };
  to.lame = scaled(from.lame);
  for (std::size_t r = 0; r < to.regions.size(); ++r) to.regions[r].lame = scaled(from.regions[r].lame);
  for (std::size_t f = 0; f < to.fibres.size(); ++f)
    to.fibres[f].parameters.stiffness = scale * from.fibres[f].parameters.stiffness;
  if (from.shell) to.shell->young = scale * from.shell->young;
  if (from.rod) to.rod->young = scale * from.rod->young;
  if (from.springs)
    to.springs =
        SpringStiffness{scale * from.springs->structural, scale * from.springs->shear, scale * from.springs->bending};
  change(std::move(changed), pins());
  stiffness_[at(body)] = scale;
}

/// A solver is chosen with its default parameters, whatever the scene's own integrates by.
std::vector<SolverFit> LiveScene::fits() const {
  Scene whole = opened_;
  whole.cuts = scheduled_;
  SceneDemands demands = demands_of(whole);
  demands.integrator = Integrator::implicit_euler;
  return solver_fits(model(), demands);
}

SceneSolver LiveScene::chosen(const std::string& name, const std::optional<ParameterMap>& parameters) const {
  const SolverEntry& entry = find_solver(name);
  ParameterMap given;
  if (name == opened_.solver.name) given = opened_.solver.parameters;
  if (parameters)
    for (const auto& [key, value] : *parameters) given[key] = value;
  record_history(entry, given);
  SceneSolver solver;
  solver.name = name;
  solver.parameters = complete_parameters(entry, given);
  solver.on_failure = kOnFailure;
  return solver;
}

void LiveScene::check_view(int view) const {
  if (at(view) >= views_.size()) throw InputError("there is no second view; switch the comparison on first");
}

void LiveScene::set_solver(int view, const std::string& name, const std::optional<ParameterMap>& parameters) {
  check_view(view);
  View& to = views_[at(view)];
  to.simulation = to.simulation.with_solver(chosen(name, parameters));
  to.trouble.clear();
  to.report = {};
}

void LiveScene::set_compare(bool on, const std::string& name, const std::optional<ParameterMap>& parameters) {
  if (!on) {
    if (views_.size() > 1) {
      second_ = views_[1].solver();
      views_.pop_back();
    }
    return;
  }
  const Simulation& first = views_[0].simulation;
  std::optional<Simulation> second;
  if (!name.empty()) {
    second = first.with_solver(chosen(name, parameters));
  } else if (views_.size() > 1 || !second_.parameters.empty()) {
    second = first.with_solver(views_.size() > 1 ? views_[1].solver() : second_);
  } else {
    const SolverEntry& shown = find_solver(views_[0].solver().name);
    const SolverEntry& other = counterpart(shown, fits());
    second = first.with_solver(&other == &shown ? views_[0].solver() : chosen(other.name, std::nullopt));
  }
  views_.erase(views_.begin() + 1, views_.end());
  views_.emplace_back(*std::move(second));
}

bool LiveScene::advance(StepControl* control) {
  try {
    make_due_cuts();
  } catch (const std::exception& error) {
    for (View& view : views_) view.trouble = error.what();
    ++next_scheduled_;
  }
  // A view whose step was interrupted is behind the other, and catches up.
  auto next = std::numeric_limits<std::int64_t>::max();
  for (const View& view : views_)
    if (view.trouble.empty()) next = std::min(next, view.state().step);
  bool moved = false;
  for (View& view : views_) {
    if (!view.trouble.empty()) continue;
    if (view.state().step == next) step(view, control);
    moved = moved || view.trouble.empty();
  }
  return moved;
}

void LiveScene::step(View& view, StepControl* control) {
  try {
    view.report = view.simulation.step(control);
    if (view.simulation.took(view.report) || view.report.outcome == Outcome::interrupted) return;
    view.trouble = fmt::format("{} has stopped: step {} failed, {}: {}", view.solver().name, view.state().step + 1,
                               to_string(view.report.outcome), view.report.detail);
  } catch (const std::exception& error) {
    view.trouble = fmt::format("{} has stopped: {}", view.solver().name, error.what());
  }
}

/// The views have one surface between them, so that a cut is made in all of them at once; the first one's time counts.
void LiveScene::make_due_cuts() {
  while (next_scheduled_ < scheduled_.size() && is_due(scheduled_[next_scheduled_], state(0).time, scene().dt)) {
    make_cut(scheduled_[next_scheduled_], static_cast<int>(next_scheduled_));
    ++next_scheduled_;
  }
}

void LiveScene::make_cut(const SceneCut& cut, int of_scene) {
  const CutScene made = pliant::make_cut(views_[0].simulation.built(), cut);
  std::vector<Simulation> next;
  for (const View& view : views_) next.push_back(view.simulation.after_cut(made));
  for (auto it = hands_.begin(); it != hands_.end();) {
    const std::optional<Grab> grab = carry_over_cut(model(), it->second.grab, *made.built.model);
    if (grab) it->second.grab = *grab;
    it = grab ? std::next(it) : hands_.erase(it);
  }
  cuts_.push_back({of_scene, cut});
  adopt(std::move(next));
}

}  // namespace pliant::view
