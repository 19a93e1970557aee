#include "experiments/conjac/trial.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/measure.hpp"

namespace pliant::experiments {

namespace {

constexpr double kMostGrowth = 1.1;

Script pull(const std::string& name, std::vector<Index> nodes, const Vec3& by, double release) {
  Script script{name, std::move(nodes), {}, Imposition::direct};
  script.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, by}};
  script.release = release;
  return script;
}

/// The used vertex that `value` is largest for, -1 values excepted.
template <class Value>
Index best_vertex(const std::vector<Vec3>& vertices, Value&& value) {
  Index best = 0;
  double most = -1e300;
  for (std::size_t i = 0; i < vertices.size(); ++i)
    if (const double v = value(vertices[i]); v > most) most = v, best = static_cast<Index>(i);
  return best;
}

}  // namespace

ParameterMap as_published(const std::string& solver, ParameterMap parameters) {
  const auto set = [&](const char* name, const SettingValue& value) {
    if (find_solver(solver).parameters.find(name)) parameters.try_emplace(name, value);
  };
  set("safeguard", std::string("none"));
  set("turning", std::string("linear"));
  set("gamma_search", false);
  return parameters;
}

MeshData table_top(MeshData data, double size) {
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

State resting_state(const std::shared_ptr<const Model>& model) {
  State state = model->rest_state();
  state.time = 1e3;
  make_stepper(model, "pod-newton", {{"integrator", "quasistatic"}, {"criterion", "residual"}, {"tolerance", 1e-11}})
      ->step(state, 1);
  state.v.setZero();
  return state;
}

PullAndRelease pulled_body(const MeshData& mesh, const std::string& label, double poisson) {
  PullAndRelease scene;
  scene.label = label;
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(table_top(mesh, scene.size));
  body.material = {find_law("stable-neo-hookean"), lame_from_young(3e4, poisson)};
  const std::vector<Vec3> vertices(body.mesh->vertices().begin(), body.mesh->vertices().end());
  Vec3 high = Vec3::Zero(), centre = Vec3::Zero();
  for (const Vec3& p : vertices) high = high.cwiseMax(p), centre += p / static_cast<double>(vertices.size());
  const double foot = 0.1 * high.y(), around = 0.15 * scene.size;
  const Vec3 head = vertices[at(best_vertex(vertices, [](const Vec3& p) { return p.y(); }))];
  const Vec3 hand = vertices[at(best_vertex(
      vertices, [&](const Vec3& p) { return p.y() > 2 * foot && (p - head).norm() > 2 * around ? p.x() : -1e300; }))];
  const Vec3 tail = vertices[at(best_vertex(vertices, [&](const Vec3& p) {
    return p.y() > 2 * foot ? std::min((p - head).norm(), (p - hand).norm()) : -1e300;
  }))];
  std::vector<Index> feet;
  std::array<std::vector<Index>, 3> parts;
  const std::array<Vec3, 3> places = {head, hand, tail};
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (vertices[i].y() < foot) {
      feet.push_back(static_cast<Index>(i));
      continue;
    }
    for (std::size_t k = 0; k < 3; ++k)
      if ((vertices[i] - places[k]).norm() < around) {
        parts[k].push_back(static_cast<Index>(i));
        break;
      }
  }
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(body);
  builder.add_pin({"feet", feet});
  const char* const names[] = {"head", "hand", "tail"};
  for (std::size_t k = 0; k < 3; ++k)
    builder.add_script(pull(names[k], parts[k], scene.size / 3 * (places[k] - centre).normalized(), scene.release));
  scene.head = parts[0];
  scene.pull = scene.size / 3 * (head - centre).normalized();
  scene.model = builder.build();
  scene.rest = resting_state(scene.model);
  return scene;
}

ReleaseTrial try_out(const PullAndRelease& scene, const std::string& solver, const ParameterMap& parameters, double h,
                     const std::function<bool()>& stop, Patience patience,
                     const std::function<void(const State&)>& each) {
  EnergyMeter meter(scene.model);
  const double resting = meter.potential(scene.rest);
  const auto stepper = make_stepper(scene.model, solver, as_published(solver, parameters));
  ReleaseTrial trial;
  State state = scene.model->rest_state();
  double released = -1, last = 0;
  int samples = 0;
  const auto steps = static_cast<int>(std::lround(scene.duration / h));
  const ProcessorTime time(ProcessorTime::Of::program);
  for (int s = 0; s < steps; ++s) {
    if (stop()) {
      trial.outcome = "stopped";
      break;
    }
    const StepReport report = stepper->step(state, h);
    trial.projected += report.projected_iterations;
    trial.factorisations += report.factorisations;
    if (!report.succeeded()) {
      trial.outcome = to_string(report.outcome);
      break;
    }
    ++trial.steps;
    each(state);
    const double kinetic = meter.kinetic(state), energy = kinetic + meter.potential(state) - resting;
    const double since = state.time - scene.release;
    if (since < 0.5 * h) {
      released = energy;
      continue;
    }
    trial.growth = std::max(trial.growth, energy / released);
    last = energy / released;
    if (!(last <= 10)) {
      trial.outcome = "exploded";
      break;
    }
    if (patience == Patience::until_unstable && last > kMostGrowth) {
      trial.outcome = "unstable";
      break;
    }
    if (since > 0.1 - 0.5 * h && since < 0.4 + 0.5 * h) trial.liveliness += kinetic / released, ++samples;
    double head = 0;
    for (Index i : scene.head) head += (node(state.x, i) - node(scene.rest.x, i)).dot(scene.pull);
    trial.head.push_back(head / static_cast<double>(scene.head.size()) / scene.pull.squaredNorm());
  }
  trial.cpu = time.seconds();
  if (samples > 0) trial.liveliness /= samples;
  trial.stable = trial.outcome == "completed" && trial.growth <= kMostGrowth && last < 1.0;
  trial.end = std::move(state);
  return trial;
}

BetaRow smallest_beta(const PullAndRelease& scene, const std::string& solver, const ParameterMap& parameters, double h,
                      double from, double to, const std::function<bool()>& stop) {
  BetaRow row;
  int in_a_row = 0;
  ReleaseTrial first;
  const auto last = static_cast<int>(std::lround(10 * to));
  for (int k = static_cast<int>(std::lround(10 * from)); k <= last && !stop(); ++k) {
    ParameterMap with = parameters;
    with["beta"] = 0.1 * k;
    ReleaseTrial trial = try_out(scene, solver, with, h, stop, Patience::until_unstable);
    row.beta.push_back(0.1 * k);
    row.stable.push_back(trial.stable);
    in_a_row = trial.stable ? in_a_row + 1 : 0;
    if (in_a_row == 1) first = std::move(trial);
    if (in_a_row < 3) continue;
    row.smallest = 0.1 * (k - 2);
    row.trial = std::move(first);
    break;
  }
  return row;
}

int turning_points(const std::vector<double>& curve, std::size_t within, double least) {
  int count = 0;
  for (std::size_t k = 1; k + 1 < curve.size() && k < within; ++k)
    if ((curve[k] - curve[k - 1]) * (curve[k + 1] - curve[k]) < 0 && std::abs(curve[k]) > least) ++count;
  return count;
}

}  // namespace pliant::experiments
