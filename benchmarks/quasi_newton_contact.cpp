// Contact under quasi-newton (10 iterations) against pod-newton (step-length criterion, 1e-4 m/s) with the same search,
// scene by scene and for growing meshes, on one thread. Times are processor times of the thread per step. An error is
// the largest distance of any node, at any step, from where pod-newton has it, over the size of the body it belongs to.
//
//   quasi_newton_contact [SCENE [NODES [SOLVER]]]   one scene, or `all`; one size

#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace {

using namespace pliant;

double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

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
  StageSeconds seconds;
  std::string failure;
};

Run run(const Scene& scene, const std::shared_ptr<const Model>& model, const std::string& solver,
        const ParameterMap& parameters) {
  Run result;
  const auto stepper = make_stepper(model, solver, parameters);
  State state = model->rest_state();
  const bool verbose = std::getenv("VERBOSE") != nullptr;
  for (int k = 0; k < scene.steps; ++k) {
    const double begin = now();
    const StepReport report = stepper->step(state, scene.h);
    result.ms += now() - begin;
    if (verbose)
      std::printf("%s %d: %s it %d fac %d eval %d alpha %.2g gap %.2g contacts %d ms %.1f step %.2g m/s, %s\n",
                  solver.c_str(), k, std::string(to_string(report.outcome)).c_str(), report.iterations,
                  report.factorisations, report.line_search_evaluations, report.smallest_alpha, report.minimum_gap,
                  report.contacts, now() - begin, report.residuals.step_length, report.detail.c_str());
    if (!report.succeeded() && result.failure.empty()) result.failure = report.detail;
    if (!report.advanced()) break;
    result.states.push_back(state.x);
    ++result.steps;
    result.iterations += report.iterations;
    result.evaluations += report.line_search_evaluations;
    result.factorisations += report.factorisations;
    result.gap = std::min(result.gap, report.minimum_gap);
    result.seconds.assembly += report.seconds.assembly;
    result.seconds.factorisation += report.seconds.factorisation;
    result.seconds.solve += report.seconds.solve;
    result.seconds.line_search += report.seconds.line_search;
    result.seconds.contact += report.seconds.contact;
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
  return worst;
}

void print(const char* name, const Run& r) {
  const double n = std::max(1, r.steps);
  std::printf(
      "  %-22s %9.2f ms  it %5.1f eval %5.1f fac %5.1f  asm %.1f fac %.1f solve %.1f search %.1f contact %.1f "
      "gap %.1e %s\n",
      name, r.ms / n, r.iterations / n, r.evaluations / n, r.factorisations / n, 1e3 * r.seconds.assembly / n,
      1e3 * r.seconds.factorisation / n, 1e3 * r.seconds.solve / n, 1e3 * r.seconds.line_search / n,
      1e3 * r.seconds.contact / n, r.gap, r.failure.c_str());
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
      std::printf("%s, %d nodes\n", scene.name.c_str(), model->nodes());
      const bool alone = std::getenv("ALONE") != nullptr;
      const Run fine =
          alone ? Run() : run(scene, model, "pod-newton", {{"criterion", "step-length"}, {"tolerance", 1e-4}});
      const Run coarse =
          alone ? Run() : run(scene, model, "pod-newton", {{"criterion", "step-length"}, {"tolerance", 0.01}});
      const Run quick = run(scene, model, solver, {});
      const Run early = run(scene, model, solver, {{"criterion", "step-length"}, {"tolerance", 1e-4}});
      print("pod-newton 1e-4", fine);
      print("pod-newton 0.01", coarse);
      print(solver.c_str(), quick);
      print((solver + " 1e-4").c_str(), early);
      std::printf("  %.1f times as fast as 1e-4, %.1f times 0.01; error %.3f%%, with the same tolerance\n",
                  fine.ms / early.ms, coarse.ms / early.ms, 100 * error(*model, early, fine));
      std::printf("  %.1f times as fast as 1e-4, %.1f times 0.01; error %.3f%%, of pod-newton 0.01 %.3f%%\n",
                  fine.ms / quick.ms, coarse.ms / quick.ms, 100 * error(*model, quick, fine),
                  100 * error(*model, coarse, fine));
      std::fflush(stdout);
    }
}
