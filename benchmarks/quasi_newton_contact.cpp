// Contact under quasi-newton against pod-newton with the step-length criterion (1e-4 and 0.01 m/s), scene by scene and
// for growing meshes, on one thread and with the same search: with its ten iterations, and with the same tolerance of
// 1e-4 m/s. Times are processor times of the thread per step. An error is the largest distance of any node, at any
// step, from where pod-newton has it, over the size of its body: the diagonal of its box.
//
//   quasi_newton_contact [SCENE [NODES [SOLVER]]]   SCENE may be `all`; SOLVER in place of quasi-newton

#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "thread_time.hpp"

namespace {

using namespace pliant;

BodyOptions body_of(const std::string& name, MeshData data, const Vec3& at, double young = 1e5) {
  for (Vec3& p : data.vertices) p += at;
  BodyOptions body;
  body.name = name;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("neo-hookean"), lame_from_young(young, 0.3)};
  return body;
}

MeshData block(const Vec3& size, std::array<Index, 3> cells) {
  return box({.origin = -0.5 * size, .size = size, .cells = cells});
}

Collider plane() {
  Collider collider;
  collider.name = "floor";
  collider.shape = PlaneShape{Vec3::Zero(), Vec3::UnitY()};
  return collider;
}

ModelBuilder under_gravity(const Vec3& gravity = {0, -9.81, 0}) {
  ModelBuilder builder;
  builder.set_gravity(gravity);
  return builder;
}

/// A ball falls 5 cm onto a block on the floor.
std::shared_ptr<const Model> ball(Index c) {
  ModelBuilder builder = under_gravity();
  builder.add_body(body_of("block", block({0.4, 0.1, 0.4}, {2 * c, c / 2, 2 * c}), {0, 0.0508, 0}));
  builder.add_body(body_of("ball", sphere({.radius = 0.1, .cells = std::max<Index>(4, c)}), {0.01, 0.2508, 0.02}));
  builder.add_collider(plane());
  builder.set_contact({.dhat = 1e-3, .friction = 0.3});
  return builder.build();
}

/// A block on a slope of 20 degrees.
std::shared_ptr<const Model> slope(Index c, double mu) {
  const double angle = 20 * M_PI / 180;
  ModelBuilder builder = under_gravity(9.81 * Vec3(std::sin(angle), -std::cos(angle), 0));
  builder.add_body(body_of("block", block({0.2, 0.1, 0.2}, {2 * c, c, 2 * c}), {0, 0.0507, 0}, 1e6));
  builder.add_collider(plane());
  builder.set_contact({.dhat = 1e-3, .friction = mu});
  return builder.build();
}

/// Three rings, one through the other; the first is held where it is highest.
std::shared_ptr<const Model> rings(Index c) {
  ModelBuilder builder = under_gravity();
  for (int k = 0; k < 3; ++k) {
    BodyOptions ring = body_of("ring " + std::to_string(k),
                               torus({.radius = 0.1,
                                      .ring_radius = 0.025,
                                      .axis = k % 2 ? Axis::x : Axis::z,
                                      .cells = std::max<Index>(4, c / 2)}),
                               {0, -0.149 * k, 0}, 2e5);
    builder.add_body(ring);
  }
  Pin pin{"top", {}};
  const auto vertices = builder.body(0).vertices();
  for (std::size_t i = 0; i < vertices.size(); ++i)
    if (vertices[i].y() > 0.1) pin.nodes.push_back(static_cast<Index>(i));
  builder.add_pin(pin);
  builder.set_contact({.dhat = 1e-3, .friction = 0.3});
  return builder.build();
}

/// Five blocks on each other.
std::shared_ptr<const Model> stack(Index c) {
  ModelBuilder builder = under_gravity();
  for (int k = 0; k < 5; ++k)
    builder.add_body(body_of("block " + std::to_string(k), block({0.2, 0.1, 0.2}, {c, std::max<Index>(1, c / 2), c}),
                             {0.004 * (k % 2), 0.0508 + 0.1008 * k, 0.003 * (k % 3)}, 2e5));
  builder.add_collider(plane());
  builder.set_contact({.dhat = 1e-3, .friction = 0.3});
  return builder.build();
}

/// Two blocks that meet at 15 m/s.
std::shared_ptr<const Model> impact(Index c) {
  ModelBuilder builder = under_gravity();
  BodyOptions hammer = body_of("hammer", block({0.1, 0.1, 0.1}, {c, c, c}), {0.013, 0.211, 0.017});
  hammer.velocity = {0, -15, 0};
  builder.add_body(body_of("block", block({0.2, 0.1, 0.2}, {2 * c, c, 2 * c}), {0, 0.0508, 0}));
  builder.add_body(hammer);
  builder.add_collider(plane());
  builder.set_contact({.dhat = 1e-3, .friction = 0.3});
  return builder.build();
}

/// A plate comes down on a block by 3 cm.
std::shared_ptr<const Model> press(Index c) {
  ModelBuilder builder = under_gravity();
  builder.add_body(body_of("block", block({0.2, 0.1, 0.2}, {2 * c, c, 2 * c}), {0, 0.0508, 0}));
  builder.add_collider(plane());
  Collider plate;
  plate.name = "plate";
  plate.shape = BoxShape{Vec3(0, 0.16, 0), Vec3(0.3, 0.05, 0.3)};
  plate.motion.translation.keys = {{0, Vec3::Zero()}, {0.3, Vec3(0, -0.04, 0)}};
  builder.add_collider(plate);
  builder.set_contact({.dhat = 1e-3, .friction = 0.3});
  return builder.build();
}

struct Scene {
  std::string name;
  std::function<std::shared_ptr<const Model>(Index)> model;
  double h;
  int steps;
};

const std::vector<Scene> kScenes = {
    {"ball", ball, 0.01, 40},
    {"stick", [](Index c) { return slope(c, 0.5); }, 0.01, 40},
    {"slide", [](Index c) { return slope(c, 0.2); }, 0.01, 40},
    {"rings", rings, 0.01, 40},
    {"stack", stack, 0.01, 30},
    {"impact", impact, 0.005, 20},
    {"press", press, 0.01, 30},
};

struct Run {
  std::vector<VecX> states;
  double ms = 0;
  int steps = 0, iterations = 0, evaluations = 0, factorisations = 0;
  double gap = 1;
  double contact = 0;  ///< s, by the clock
  std::string failure;
};

Run run(const Scene& scene, const std::shared_ptr<const Model>& model, const std::string& solver,
        const ParameterMap& parameters) {
  Run result;
  const auto stepper = make_stepper(model, solver, parameters);
  State state = model->rest_state();
  for (int k = 0; k < scene.steps; ++k) {
    const double begin = thread_time();
    const StepReport report = stepper->step(state, scene.h);
    result.ms += thread_time() - begin;
    if (!report.succeeded() && result.failure.empty()) result.failure = report.detail;
    if (!report.advanced()) break;
    result.states.push_back(state.x);
    ++result.steps;
    result.iterations += report.iterations;
    result.evaluations += report.line_search_evaluations;
    result.factorisations += report.factorisations;
    result.gap = std::min(result.gap, report.minimum_gap);
    result.contact += report.seconds.contact;
  }
  return result;
}

double error(const Model& model, const Run& a, const Run& b) {
  double worst = 0;
  for (const Body& body : model.bodies()) {
    Vec3 low = Vec3::Constant(1e300), high = -low;
    for (const Vec3& p : body.vertices()) {
      low = low.cwiseMin(p);
      high = high.cwiseMax(p);
    }
    for (std::size_t k = 0; k < std::min(a.states.size(), b.states.size()); ++k)
      for (Index i = body.nodes.begin; i < body.nodes.end; ++i)
        worst = std::max(worst, (node(a.states[k], i) - node(b.states[k], i)).norm() / (high - low).norm());
  }
  return 100 * worst;
}

void print(const std::string& name, const Run& r, const Run& fine, const Run& coarse, const Model& model) {
  const double n = std::max(1, r.steps);
  std::printf(
      "  %-20s %9.2f ms %6.1fx %6.1fx  error %7.3f%%  iterations %5.1f evaluations %5.1f factorisations %4.1f  "
      "contact %5.1f ms  least gap %.1e m %s\n",
      name.c_str(), r.ms / n, fine.ms / r.ms, coarse.ms / r.ms, error(model, r, fine), r.iterations / n,
      r.evaluations / n, r.factorisations / n, 1e3 * r.contact / n, r.gap, r.failure.c_str());
}

}  // namespace

int main(int count, char** arguments) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  const std::string only = count > 1 ? arguments[1] : "all";
  std::vector<int> sizes = {700, 4000, 10000};
  if (count > 2) sizes = {std::atoi(arguments[2])};
  const std::string solver = count > 3 ? arguments[3] : "quasi-newton";
  for (const int nodes : sizes)
    for (const Scene& scene : kScenes) {
      if (only != "all" && only != scene.name) continue;
      Index cells = 4;
      auto model = scene.model(cells);
      while (model->nodes() < 0.85 * nodes) model = scene.model(++cells);
      std::printf("%s, %d nodes; how many times as fast as pod-newton at 1e-4, and at 0.01\n", scene.name.c_str(),
                  model->nodes());
      const ParameterMap tolerance = {{"criterion", "step-length"}, {"tolerance", 1e-4}};
      const Run fine = run(scene, model, "pod-newton", tolerance);
      const Run coarse = run(scene, model, "pod-newton", {{"criterion", "step-length"}, {"tolerance", 0.01}});
      print("pod-newton 1e-4", fine, fine, coarse, *model);
      print("pod-newton 0.01", coarse, fine, coarse, *model);
      print(solver, run(scene, model, solver, {}), fine, coarse, *model);
      print(solver + " 1e-4", run(scene, model, solver, tolerance), fine, coarse, *model);
      std::fflush(stdout);
    }
}
