#include "experiments/conjac/twist_scene.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace pliant::experiments {

namespace {

std::shared_ptr<const Model> driven_bar(const std::array<Index, 3>& cells, double young, const Script& script) {
  BarOptions options;
  options.cells = cells;
  options.gravity = Vec3::Zero();
  options.change = [&](BodyOptions& body) { body.material.lame = lame_from_young(young, 0.4); };
  options.add = [&](ModelBuilder& builder) {
    Script own = script;
    own.nodes = builder.body(0).mesh->sets().at("x-max");
    own.motion.axis = Vec3::UnitX();
    own.motion.centre = Vec3(TwistScene::length, TwistScene::width / 2, TwistScene::width / 2);
    builder.add_script(own);
  };
  return conjac_bar(options);
}

}  // namespace

std::shared_ptr<const Model> TwistScene::model() const {
  Script script{"end", {}, {}, Imposition::direct};
  auto& places = script.motion.translation.keys;
  auto& angles = script.motion.angle.keys;
  places.push_back({0, Vec3::Zero()});
  angles.push_back({0, 0});
  const std::array<Vec3, 5> targets = {Vec3(-0.02, 0, 0), Vec3(0.03, 0, 0), Vec3(0, 0.04, 0), Vec3(0, 0, 0),
                                       Vec3(0, 0, 0)};
  for (int c = 0; c < cycles; ++c)
    for (int k = 0; k < 5; ++k) {
      const double begin = (c * cycle + 0.4 * k) / speed, end = begin + 0.1 / speed;
      places.push_back({begin + 1e-9, places.back().value});
      places.push_back({end, targets[at(k)]});
      const double before = angles.back().value;
      angles.push_back({begin + 1e-9, before});
      angles.push_back({end, k == 4 ? (before > 0.1 ? 0.0 : std::numbers::pi / 2) : before});
    }
  return driven_bar(cells, young, script);
}

std::vector<double> TwistScene::stops() const {
  std::vector<double> times;
  for (int c = 0; c < cycles; ++c)
    for (int k = 0; k < 5; ++k) times.push_back((c * cycle + 0.4 * k + 0.1) / speed);
  return times;
}

std::shared_ptr<const Model> turned_bar(const std::array<Index, 3>& cells) {
  Script script{"end", {}, {}, Imposition::direct};
  script.motion.angle.keys = {{0, 0}, {0.05, std::numbers::pi / 2}};
  return driven_bar(cells, 1e4, script);
}

std::string axis_nodes(const Model& model, int count) {
  std::string text;
  for (int s = 1; s <= count; ++s) {
    const Vec3 place(TwistScene::length * s / (count + 1), TwistScene::width / 2, TwistScene::width / 2);
    text += fmt::format("{}{}", text.empty() ? "" : ",", nearest_node(model, place));
  }
  return text;
}

std::string slice_nodes(const Model& model, int count) {
  std::string text;
  const int slices = count / 4;
  for (int s = 1; s <= slices; ++s)
    for (int corner = 0; corner < 4; ++corner) {
      const Vec3 place(TwistScene::length * s / (slices + 1), corner % 2 ? TwistScene::width : 0,
                       corner / 2 ? TwistScene::width : 0);
      text += fmt::format("{}{}", text.empty() ? "" : ",", nearest_node(model, place));
    }
  return text;
}

std::vector<State> full_motion(const std::shared_ptr<const Model>& model, State state, double h, int steps,
                               const std::function<bool()>& stop) {
  constexpr double kFinest = 2e-4;
  const auto fine = static_cast<int>(std::ceil(h / kFinest - 1e-9));
  const auto stepper = make_stepper(model, "pod-newton", {{"integrator", "implicit-midpoint"}, {"tolerance", 0.1}});
  std::vector<State> states;
  for (int s = 0; s < steps; ++s) {
    for (int k = 0; k < fine; ++k)
      if (stop() || !stepper->step(state, h / fine).succeeded()) return {};
    states.push_back(state);
  }
  return states;
}

BarRun run_bar(const std::shared_ptr<const Model>& model, const std::string& solver, const ParameterMap& parameters,
               double h, int steps, const std::function<bool()>& stop) {
  const auto stepper = make_stepper(model, solver, as_published(solver, parameters));
  BarRun run;
  State state = model->rest_state();
  for (int s = 0; s < steps && !stop(); ++s) {
    const StepReport report = stepper->step(state, h);
    if (!report.succeeded()) return run;
    run.projected += report.projected_iterations;
    run.states.push_back(state);
  }
  run.completed = static_cast<int>(run.states.size()) == steps;
  return run;
}

bool is_stable(const TwistScene& scene, const std::shared_ptr<const Model>& model, const BarRun& run, double h) {
  if (!run.completed) return false;
  EnergyMeter meter(model);
  for (double stop : scene.stops()) {
    const auto begin = static_cast<std::size_t>(std::ceil(stop / h - 1e-9)) - 1;
    const auto end = std::min(run.states.size(), static_cast<std::size_t>((stop + 0.3 / scene.speed) / h + 1e-9));
    if (begin + 1 >= end) continue;
    const double released = meter.total(run.states[begin]);
    double last = released;
    for (std::size_t k = begin + 1; k < end; ++k) {
      last = meter.total(run.states[k]);
      if (!(last <= 1.1 * released)) return false;
    }
    if (!(last < released)) return false;
  }
  return true;
}

Section section(const Model& model, const State& state, double x) {
  double nearest = 1e300;
  for (Index i = 0; i < model.nodes(); ++i) nearest = std::min(nearest, std::abs(node(model.rest(), i).x() - x));
  Vec3 centre = Vec3::Zero(), velocity = Vec3::Zero();
  std::vector<Index> nodes;
  double mass = 0;
  for (Index i = 0; i < model.nodes(); ++i)
    if (std::abs(node(model.rest(), i).x() - x) < nearest + 1e-9) {
      const double m = model.mass().lumped()[i];
      nodes.push_back(i);
      mass += m;
      centre += m * node(state.x, i);
      velocity += m * node(state.v, i);
    }
  centre /= mass;
  velocity /= mass;
  double sine = 0, cosine = 0, momentum = 0, inertia = 0;
  for (Index i : nodes) {
    const double m = model.mass().lumped()[i];
    const Vec3 X = node(model.rest(), i) - Vec3(x, TwistScene::width / 2, TwistScene::width / 2);
    const Vec3 p = node(state.x, i) - centre, v = node(state.v, i) - velocity;
    sine += m * (X.y() * p.z() - X.z() * p.y());
    cosine += m * (X.y() * p.y() + X.z() * p.z());
    momentum += m * (p.y() * v.z() - p.z() * v.y());
    inertia += m * (p.y() * p.y() + p.z() * p.z());
  }
  return {std::atan2(sine, cosine), 0.5 * momentum * momentum / inertia};
}

}  // namespace pliant::experiments
