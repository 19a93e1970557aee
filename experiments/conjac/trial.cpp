#include "experiments/conjac/trial.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/read_mesh.hpp"

namespace pliant::experiments {

namespace {

constexpr double kYoung = 3e4, kPoisson = 0.49, kMostGrowth = 1.2;

BodyOptions rubber(MeshData data) {
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("stable-neo-hookean"), lame_from_young(kYoung, kPoisson)};
  return body;
}

Script pull(const std::string& name, std::vector<Index> nodes, const Vec3& by, double release) {
  Script script{name, std::move(nodes), {}, Imposition::direct};
  script.motion.translation.keys = {{0, Vec3::Zero()}, {0.8 * release, by}};
  script.release = release;
  return script;
}

/// A trunk on two feet with arms to both sides, in units of its height.
MeshData figure(int cells) {
  MeshData mesh = box({.size = {1, 1, 0.3}, .cells = {cells, cells, std::max(2, cells * 3 / 10)}});
  std::erase_if(mesh.tets, [&](const Tet& tet) {
    Vec3 c = Vec3::Zero();
    for (Index v : tet) c += mesh.vertices[static_cast<std::size_t>(v)] / 4;
    const double x = std::abs(c.x() - 0.5), y = c.y();
    return !(y < 0.3 ? x > 0.05 && x < 0.25 : y < 0.5 ? x < 0.25 : y < 0.75 ? x < 0.5 : x < 0.17);
  });
  mesh.sets.clear();
  mesh.source = "generated figure";
  return mesh;
}

}  // namespace

EnergyMeter::EnergyMeter(std::shared_ptr<const Model> model)
    : model_(std::move(model)), assembler_(model_->nodes(), {model_->energies().begin(), model_->energies().end()}) {}

double EnergyMeter::kinetic(const State& state) const {
  VecX momentum;
  model_->mass().multiply(state.v, momentum);
  return 0.5 * state.v.dot(momentum);
}

double EnergyMeter::potential(const State& state) {
  return assembler_.value({state.x, state.activation, state.time}) -
         model_->external_force().dot(state.x - model_->rest());
}

ParameterMap as_published(const std::string& solver, ParameterMap parameters) {
  const auto set = [&](const char* name, const SettingValue& value) {
    if (find_solver(solver).parameters.find(name)) parameters.try_emplace(name, value);
  };
  set("safeguard", std::string("none"));
  set("turning", std::string("linear"));
  set("gamma_search", false);
  return parameters;
}

PullAndRelease pulled_bar(std::array<Index, 3> cells) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = rubber(box({.size = {0.1, 0.03, 0.03}, .cells = cells}));
  builder.add_body(body);
  builder.add_pin({"clamp", body.mesh->sets().at("x-min")});
  PullAndRelease scene{nullptr, "bar"};
  builder.add_script(pull("end", body.mesh->sets().at("x-max"), {0.05, 0.04, 0}, scene.release));
  scene.model = builder.build();
  return scene;
}

MeshData table_top_mesh(const std::string& path, int cells, double size) {
  MeshData data = path.empty() ? figure(cells) : read_mesh_data(path);
  Vec3 low = Vec3::Constant(1e300), high = -low;
  std::vector<std::uint8_t> used(data.vertices.size(), 0);
  for (const Tet& tet : data.tets)
    for (Index v : tet) used[static_cast<std::size_t>(v)] = 1;
  for (std::size_t v = 0; v < used.size(); ++v)
    if (used[v]) low = low.cwiseMin(data.vertices[v]), high = high.cwiseMax(data.vertices[v]);
  const double scale = size / (high - low).maxCoeff();
  for (std::size_t v = 0; v < used.size(); ++v)
    data.vertices[v] = used[v] ? Vec3(scale * (data.vertices[v] - low)) : Vec3(Vec3::Zero());
  return data;
}

PullAndRelease pulled_figure(const std::string& path, int cells) {
  PullAndRelease scene;
  scene.size = 0.12;
  MeshData data = table_top_mesh(path, cells, scene.size);
  scene.label = data.source;
  Vec3 size = Vec3::Zero();
  for (const Vec3& v : data.vertices) size = size.cwiseMax(v);
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = rubber(std::move(data));
  builder.add_body(body);
  std::vector<Index> feet, top, side;
  const auto vertices = body.mesh->vertices();
  for (Index i = 0; i < static_cast<Index>(vertices.size()); ++i) {
    const Vec3& p = vertices[static_cast<std::size_t>(i)];
    if (p.y() < 0.1 * size.y())
      feet.push_back(i);
    else if (p.y() > 0.9 * size.y())
      top.push_back(i);
    else if (p.x() > 0.92 * size.x())
      side.push_back(i);
  }
  builder.add_pin({"feet", feet});
  builder.add_script(pull("top", top, {-0.02, 0.04, 0}, scene.release));
  if (!side.empty()) builder.add_script(pull("side", side, {0.04, 0.01, 0.02}, scene.release));
  scene.model = builder.build();
  return scene;
}

Trial try_out(const PullAndRelease& scene, const std::string& solver, const ParameterMap& parameters, double h,
              const std::function<bool()>& stop) {
  EnergyMeter meter(scene.model);
  const auto stepper = make_stepper(scene.model, solver, as_published(solver, parameters));
  State state = scene.model->rest_state();
  Trial trial;
  double released = -1, seconds = 0;
  // What can become motion: above the energy of hanging at rest, which no release goes below by much.
  int samples = 0;
  const auto steps = static_cast<int>(std::lround(scene.duration / h));
  for (int s = 0; s < steps; ++s) {
    if (stop()) {
      trial.outcome = "stopped";
      return trial;
    }
    const StepReport report = stepper->step(state, h);
    seconds += report.seconds.total;
    trial.projected += report.projected_iterations;
    if (!report.succeeded()) {
      trial.outcome = to_string(report.outcome);
      break;
    }
    ++trial.steps;
    trial.seconds_per_step = seconds / trial.steps;
    const double kinetic = meter.kinetic(state), energy = kinetic + meter.potential(state);
    if (state.time < scene.release + 0.5 * h) released = std::max(released, energy);
    if (state.time > scene.release) {
      trial.growth = std::max(trial.growth, energy / released);
      if (!(energy <= 1e3 * released)) {
        trial.outcome = "exploded";
        break;
      }
      const double since = state.time - scene.release;
      if (since > 0.15 - 0.5 * h && since < 0.25 + 0.5 * h) {
        trial.kinetic += kinetic;
        ++samples;
      }
      if (std::abs(since - 0.2) < 0.5 * h) trial.kinetic_at_02 = kinetic;
    }
  }
  if (samples > 0) trial.kinetic /= samples;
  trial.stable = trial.outcome == "completed" && trial.growth <= kMostGrowth;
  return trial;
}

}  // namespace pliant::experiments
