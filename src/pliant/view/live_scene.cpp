#include "pliant/view/live_scene.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/scene/dynamic_selection.hpp"
#include "pliant/simulation/carry_over.hpp"
#include "pliant/solvers/conjac/conjac_catalogue.hpp"

namespace pliant::view {

namespace {

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

/// The vertices of hand-made pins as scripts that hold them where they are.
void add_pin_scripts(Scene& scene, std::size_t body, const std::vector<Index>& vertices, std::size_t number) {
  SceneScript script;
  script.name = fmt::format("pinned by hand {}", number + 1);
  script.body = body;
  script.where = {{{VertexList{vertices, VertexNumbering::mesh}}}, script.name};
  script.driven = std::make_shared<DrivenPositions>();
  script.imposition = Imposition::direct;
  scene.scripts.push_back(std::move(script));
}

}  // namespace

LiveScene::LiveScene(Scene scene, std::string path) : path_(std::move(path)), opened_(std::move(scene)) {
  const SolverEntry& solver = find_solver(opened_.solver.name);
  if (solver.has_cheap_history) opened_.solver.parameters.erase("history");
  record_history(solver, opened_.solver.parameters);
  stiffness_.assign(opened_.bodies.size(), 1.0);
  Built built = build(opened_, {}, {opened_.solver});
  // The meshes are made once; changes of the scene begin with them.
  for (std::size_t b = 0; b < opened_.bodies.size(); ++b)
    if (const Body& body = built.model->bodies()[b]; body.is_solid()) {
      opened_.bodies[b].mesh = {};
      opened_.bodies[b].mesh.given = body.mesh;
    }
  built.scene = opened_;
  views_.emplace_back().solver = opened_.solver;
  std::vector<State> states = {built.model->rest_state()};
  adopt(std::move(built), std::move(states));
}

LiveScene::Built LiveScene::build(Scene scene, std::vector<HandPin> pins,
                                  const std::vector<SceneSolver>& solvers) const {
  Scene whole = scene;
  for (std::size_t k = 0; k < pins.size(); ++k) add_pin_scripts(whole, pins[k].body, pins[k].vertices, k);
  Built built{std::move(scene), std::move(pins), build_model(whole), {}};
  for (std::size_t k = 0; k < built.pins.size(); ++k) {
    const SceneScript& script = whole.scripts[built.scene.scripts.size() + k];
    script.driven->positions = built.pins[k].positions;
  }
  for (const SceneSolver& solver : solvers) {
    whole.solver = solver;
    built.steppers.push_back(make_stepper(whole, built.model));
  }
  return built;
}

void LiveScene::adopt(Built built, std::vector<State> states) {
  scene_ = std::move(built.scene);
  pins_ = std::move(built.pins);
  model_ = std::move(built.model);
  for (std::size_t v = 0; v < views_.size(); ++v) {
    views_[v].stepper = std::move(built.steppers[v]);
    views_[v].state = std::move(states[v]);
    views_[v].trouble.clear();
    views_[v].energy_time = {};
  }
  surface_ = surface_of(*model_);
  ++revision_;
  hold();
}

void LiveScene::change(Scene scene, std::vector<HandPin> pins) {
  Built built = build(std::move(scene), std::move(pins), solvers());
  std::vector<State> states;
  for (const View& view : views_) states.push_back(carry_over(*model_, view.state, *built.model));
  adopt(std::move(built), std::move(states));
}

std::vector<SceneSolver> LiveScene::solvers() const {
  std::vector<SceneSolver> all;
  for (const View& view : views_) all.push_back(view.solver);
  return all;
}

void LiveScene::reset() {
  Scene scene = opened_;
  scene.dt = scene_.dt;
  scene.gravity = scene_.gravity;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    // Of the present bodies all but the mesh, which may have been cut.
    SceneMesh mesh = scene.bodies[b].mesh;
    scene.bodies[b] = scene_.bodies[b];
    scene.bodies[b].mesh = std::move(mesh);
    scene.bodies[b].regions = opened_.bodies[b].regions;
    for (std::size_t r = 0; r < scene.bodies[b].regions.size(); ++r)
      scene.bodies[b].regions[r].lame = scene_.bodies[b].regions[r].lame;
  }
  std::vector<SceneSolver> wanted = solvers();
  // After a cut, conjac's nodes are named by numbers of the cut model.
  for (SceneSolver& solver : wanted)
    if (!cuts_.empty() && solver.parameters.contains("dynamic"))
      solver = chosen(solver.name, solver.name == opened_.solver.name ? std::optional<ParameterMap>() : ParameterMap{});
  Built built = build(std::move(scene), {}, wanted);
  for (std::size_t v = 0; v < views_.size(); ++v) views_[v].solver = wanted[v];
  std::vector<State> states(views_.size(), built.model->rest_state());
  cuts_.clear();
  due_ = 0;
  hands_.clear();
  for (View& view : views_) view.report = {};
  adopt(std::move(built), std::move(states));
}

void LiveScene::encourage() {
  for (View& view : views_) view.trouble.clear();
}

void LiveScene::set_gravity(const Vec3& gravity) {
  Scene scene = scene_;
  scene.gravity = gravity;
  change(std::move(scene), pins_);
}

void LiveScene::set_stiffness(int body, double scale) {
  if (at(body) >= scene_.bodies.size())
    throw InputError(fmt::format("there is no body {}; they are numbered 0 to {}", body, scene_.bodies.size() - 1));
  const SceneBody& from = opened_.bodies[at(body)];
  if (!from.young_field.empty())
    throw InputError(fmt::format(
        "the stiffness of body '{}' comes element by element from its mesh; it cannot be scaled", from.name));
  Scene scene = scene_;
  SceneBody& to = scene.bodies[at(body)];
  const auto scaled = [&](const Lame& lame) { return Lame{scale * lame.mu, scale * lame.lambda}; };
  to.lame = scaled(from.lame);
  for (std::size_t r = 0; r < to.regions.size(); ++r) to.regions[r].lame = scaled(from.regions[r].lame);
  for (std::size_t f = 0; f < to.fibres.size(); ++f)
    to.fibres[f].parameters.stiffness = scale * from.fibres[f].parameters.stiffness;
  if (from.springs)
    to.springs =
        SpringStiffness{scale * from.springs->structural, scale * from.springs->shear, scale * from.springs->bending};
  change(std::move(scene), pins_);
  stiffness_[at(body)] = scale;
}

/// A solver is chosen with its default parameters, whatever the scene's own integrates by.
std::vector<SolverFit> LiveScene::fits() const {
  SceneDemands demands = demands_of(opened_);
  demands.integrator = Integrator::implicit_euler;
  return solver_fits(*model_, demands);
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
  return solver;
}

void LiveScene::check_view(int view) const {
  if (at(view) >= views_.size()) throw InputError("there is no second view; switch the comparison on first");
}

void LiveScene::set_solver(int view, const std::string& name, const std::optional<ParameterMap>& parameters) {
  check_view(view);
  const SceneSolver solver = chosen(name, parameters);
  Scene whole = scene_;
  whole.solver = solver;
  View& to = views_[at(view)];
  to.stepper = make_stepper(whole, model_);
  to.solver = solver;
  to.trouble.clear();
  to.report = {};
}

void LiveScene::set_compare(bool on, const std::string& name, const std::optional<ParameterMap>& parameters) {
  if (!on) {
    if (views_.size() > 1) {
      second_ = views_[1].solver;
      views_.pop_back();
    }
    return;
  }
  View view;
  SceneSolver solver;
  const auto choose = [&](SceneSolver wanted) {
    Scene whole = scene_;
    whole.solver = solver = std::move(wanted);
    view.stepper = make_stepper(whole, model_);
  };
  if (!name.empty()) {
    choose(chosen(name, parameters));
  } else if (views_.size() > 1 || !second_.parameters.empty()) {
    choose(views_.size() > 1 ? views_[1].solver : second_);
  } else {
    const SolverEntry& first = find_solver(views_[0].solver.name);
    const SolverEntry& second = counterpart(first, fits());
    choose(&second == &first ? views_[0].solver : chosen(second.name, std::nullopt));
  }
  view.solver = std::move(solver);
  view.state = views_[0].state;
  views_.resize(1);
  views_.push_back(std::move(view));
}

bool LiveScene::advance() {
  try {
    make_due_cuts();
  } catch (const std::exception& error) {
    for (View& view : views_) view.trouble = error.what();
    ++due_;
  }
  bool moved = false;
  for (View& view : views_) {
    if (!view.trouble.empty()) continue;
    step(view);
    moved = moved || view.trouble.empty();
  }
  return moved;
}

void LiveScene::step(View& view) {
  State next = view.state;
  try {
    view.report = view.stepper->step(next, scene_.dt);
    if (view.report.advanced()) {
      view.state = std::move(next);
      return;
    }
    view.trouble = fmt::format("{} stands still: step {} failed, {}: {}", view.solver.name, view.state.step + 1,
                               to_string(view.report.outcome), view.report.detail);
  } catch (const std::exception& error) {
    view.trouble = fmt::format("{} stands still: {}", view.solver.name, error.what());
  }
}

void LiveScene::make_due_cuts() {
  const double time = views_[0].state.time;
  while (due_ < opened_.cuts.size() && time >= opened_.cuts[due_].time - 1e-6 * scene_.dt) {
    make_cut(opened_.cuts[due_], static_cast<int>(due_));
    ++due_;
  }
}

void LiveScene::make_cut(const SceneCut& cut, int of_scene) {
  std::vector<Index> vertices;
  Scene scene = cut_scene(scene_, *model_, cut, vertices);
  const Body& before = model_->bodies()[cut.body];
  std::vector<HandPin> pins = pins_;
  for (HandPin& pin : pins) {
    if (pin.body != cut.body) continue;
    const std::vector<Index> named = pin.vertices;
    for (std::size_t v = before.vertices().size(); v < vertices.size(); ++v)
      if (std::binary_search(named.begin(), named.end(), vertices[v])) pin.vertices.push_back(static_cast<Index>(v));
  }
  // The positions of pins go by nodes, which are known once the model is built.
  std::vector<SceneSolver> wanted = solvers();
  Scene whole = scene;
  for (std::size_t k = 0; k < pins.size(); ++k) add_pin_scripts(whole, pins[k].body, pins[k].vertices, k);
  const std::shared_ptr<const Model> model = build_model(whole);
  const std::vector<Index> origin = node_origins(*model_, *model, cut.body);
  for (std::size_t k = 0; k < pins.size(); ++k) {
    const std::vector<Index>& old_nodes = model_->scripts()[scene_.scripts.size() + k].nodes;
    const std::vector<Index>& new_nodes = model->scripts()[scene.scripts.size() + k].nodes;
    std::vector<Vec3> positions;
    for (Index i : new_nodes) {
      const Index o = origin[at(i)];
      const auto found = std::find(old_nodes.begin(), old_nodes.end(), o);
      positions.push_back(found == old_nodes.end() ? Vec3(node(views_[0].state.x, o))
                                                   : pins_[k].positions[at(found - old_nodes.begin())]);
    }
    pins[k].positions = positions;
    whole.scripts[scene.scripts.size() + k].driven->positions = std::move(positions);
  }
  Built built{std::move(scene), std::move(pins), model, {}};
  for (SceneSolver& solver : wanted) {
    if (const auto dynamic = solver.parameters.find("dynamic"); dynamic != solver.parameters.end())
      dynamic->second = resolve_dynamic_nodes(std::get<std::string>(dynamic->second), *model_);
    carry_dynamic_nodes(*model_, origin, solver.parameters);
    whole.solver = solver;
    built.steppers.push_back(make_stepper(whole, model));
  }
  std::vector<State> states;
  for (const View& view : views_) states.push_back(carry_over_cut(view.state, origin));
  // A hand keeps what it holds where its triangle is still one.
  for (auto it = hands_.begin(); it != hands_.end();) {
    Grab& grab = it->second.grab;
    for (Index& i : grab.nodes)
      for (std::size_t b = 0; b < model_->bodies().size(); ++b)
        if (const Range range = model_->bodies()[b].nodes; i >= range.begin && i < range.end) {
          i += model->bodies()[b].nodes.begin - range.begin;
          break;
        }
    try {
      check_grabs(*model, std::span(&grab, 1));
      ++it;
    } catch (const InputError&) {
      it = hands_.erase(it);
    }
  }
  for (std::size_t v = 0; v < views_.size(); ++v) views_[v].solver = wanted[v];
  cuts_.push_back({of_scene, cut});
  adopt(std::move(built), std::move(states));
}

}  // namespace pliant::view
