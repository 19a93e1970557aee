// Everything touches: scenes of contact under every solver of the catalogue, at default settings, beside pod-newton and
// theory. Every state is looked at by a judge that shares no code with the solvers.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "experiments/contact/apart.hpp"
#include "experiments/contact/contact.hpp"
#include "experiments/random.hpp"
#include "pliant/base/error.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/sim/judgement.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

constexpr double kGravity = 9.81, kSlope = 20 * M_PI / 180;

/// What a scene is made with.
struct Making {
  std::string law;
  Index cells;  ///< along an edge of an ordinary body
};

BodyOptions touching_body(const Making& making, const std::string& name, MeshData data, const Vec3& at, double young,
                          double density = 1000) {
  for (Vec3& p : data.vertices) p += at;
  BodyOptions body;
  body.name = name;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law(making.law), lame_from_young(young, 0.3)};
  body.density = density;
  return body;
}

MeshData centred_box(const Vec3& size, std::array<Index, 3> cells) {
  return box({.origin = -0.5 * size, .size = size, .cells = cells});
}

Collider shaped(const std::string& name, Shape shape) {
  Collider collider;
  collider.name = name;
  collider.shape = std::move(shape);
  return collider;
}

ModelBuilder on_a_floor(double friction, const Vec3& gravity = {0, -kGravity, 0}) {
  ModelBuilder builder;
  builder.set_gravity(gravity);
  builder.add_collider(shaped("floor", PlaneShape{Vec3::Zero(), Vec3::UnitY()}));
  builder.set_contact({.friction = friction});
  return builder;
}

ModelBuilder sloping(const Making& m, double friction) {
  ModelBuilder builder = on_a_floor(friction, kGravity * Vec3(std::sin(kSlope), -std::cos(kSlope), 0));
  builder.add_body(
      touching_body(m, "block", centred_box({0.2, 0.1, 0.2}, {m.cells, m.cells / 2, m.cells}), {0, 0.0504, 0}, 1e6));
  return builder;
}

ModelBuilder ball_on_plate(const Making& m) {
  ModelBuilder builder = on_a_floor(0.3);
  builder.add_body(touching_body(m, "plate", centred_box({0.6, 0.05, 0.6}, {2 * m.cells, m.cells / 4, 2 * m.cells}),
                                 {0, 0.0254, 0}, 5e5));
  BodyOptions ball = touching_body(m, "ball", sphere({.radius = 0.1, .cells = m.cells}), {-0.05, 0.25, 0.02}, 2e5);
  ball.velocity = {2, -4.58, 0};  // 5 m/s
  builder.add_body(ball);
  return builder;
}

ModelBuilder stack_of_five(const Making& m) {
  ModelBuilder builder = on_a_floor(0.5);
  for (int k = 0; k < 5; ++k)
    builder.add_body(touching_body(m, fmt::format("block {}", k),
                                   centred_box({0.2, 0.1, 0.2}, {m.cells, m.cells / 2, m.cells}),
                                   {0.004 * (k % 2), 0.0504 + 0.1004 * k, 0.003 * (k % 3)}, 1e6));
  return builder;
}

ModelBuilder heavy_on_soft(const Making& m) {
  ModelBuilder builder = on_a_floor(0.3);
  builder.add_body(touching_body(m, "cushion", centred_box({0.4, 0.1, 0.4}, {2 * m.cells, m.cells / 2, 2 * m.cells}),
                                 {0, 0.051, 0}, 3e4));
  builder.add_body(touching_body(m, "block", centred_box(Vec3::Constant(0.25), {m.cells, m.cells, m.cells}),
                                 {0, 0.23, 0}, 1e6, 4000));
  return builder;
}

ModelBuilder under_a_piston(const Making& m) {
  ModelBuilder builder = on_a_floor(0.3);
  builder.add_body(
      touching_body(m, "body", centred_box(Vec3::Constant(0.2), {m.cells, m.cells, m.cells}), {0, 0.101, 0}, 1e5));
  Collider piston = shaped("piston", BoxShape{Vec3(0, 0.31, 0), Vec3(0.3, 0.1, 0.3)});
  piston.motion.translation.keys = {{0, Vec3::Zero()}, {1, Vec3(0, -0.17, 0)}, {2, Vec3::Zero()}};  // to 40 mm
  builder.add_collider(piston);
  return builder;
}

ModelBuilder sheet_on_a_ball(const Making& m) {
  ModelBuilder builder;
  builder.set_gravity({0, -kGravity, 0});
  builder.set_contact({.friction = 0.3});
  builder.add_body(
      touching_body(m, "sheet", centred_box({1, 1e-3, 1}, {4 * m.cells, 1, 4 * m.cells}), {0, 0.3005, 0}, 1e6));
  builder.add_collider(shaped("ball", SphereShape{Vec3::Zero(), 0.25}));
  return builder;
}

ModelBuilder linked_rings(const Making& m) {
  ModelBuilder builder;
  builder.set_gravity({0, -kGravity, 0});
  builder.set_contact({.friction = 0.3});
  for (int k = 0; k < 3; ++k)
    builder.add_body(
        touching_body(m, fmt::format("ring {}", k),
                      torus({.radius = 0.1, .ring_radius = 0.025, .axis = k % 2 ? Axis::x : Axis::z, .cells = m.cells}),
                      {0, -0.149 * k, 0}, 2e5));
  Pin pin{"top", {}};
  const auto vertices = builder.body(0).vertices();
  for (std::size_t i = 0; i < vertices.size(); ++i)
    if (vertices[i].y() > 0.1) pin.nodes.push_back(static_cast<Index>(i));
  builder.add_pin(pin);
  return builder;
}

ModelBuilder bullet_on_a_table(const Making& m) {
  ModelBuilder builder;
  builder.set_gravity({0, -kGravity, 0});
  BodyOptions bullet =
      touching_body(m, "box", centred_box(Vec3::Constant(0.1), {m.cells, m.cells, m.cells}), {0, 0.3, 0}, 1e6);
  bullet.velocity = {0, -20, 0};
  builder.add_body(bullet);
  builder.add_collider(shaped("table", BoxShape{Vec3::Zero(), Vec3(0.5, 0.01, 0.5)}));
  return builder;
}

ModelBuilder pile_of_thirty(const Making& m) {
  ModelBuilder builder = on_a_floor(0.3);
  for (int side = 0; side < 4; ++side) {
    const Vec3 normal = side < 2 ? Vec3(side == 0 ? 1 : -1, 0, 0) : Vec3(0, 0, side == 2 ? 1 : -1);
    builder.add_collider(shaped(fmt::format("wall {}", side), PlaneShape{-0.25 * normal, normal}));
  }
  Random random(7);
  for (int k = 0; k < 30; ++k) {
    MeshData shape = k % 2 ? sphere({.radius = 0.06, .cells = std::max<Index>(4, m.cells / 2)})
                           : centred_box({0.12, 0.08, 0.1}, {m.cells / 2, m.cells / 2, m.cells / 2});
    const Vec3 place(0.15 * (k % 3 - 1), 0.08 + 0.135 * (k / 9), 0.15 * (k / 3 % 3 - 1));
    const Vec3 jitter(0.01 * random.symmetric(), 0, 0.01 * random.symmetric());
    builder.add_body(touching_body(m, fmt::format("body {}", k), std::move(shape), place + jitter, 1e5));
  }
  return builder;
}

struct TouchingScene {
  std::string name;
  std::function<ModelBuilder(const Making&)> make;
  double seconds;
  double allowed;  ///< distance from pod-newton at the end, over the smallest body's size; 0: chaotic
};

const std::vector<TouchingScene> kTouchingScenes = {
    {"stick", [](const Making& m) { return sloping(m, 1); }, 1, 0.02},
    {"slide", [](const Making& m) { return sloping(m, std::tan(kSlope) - 0.2); }, 1, 0},
    {"ball", ball_on_plate, 0.5, 0.02},
    {"stack", stack_of_five, 3, 0.02},
    {"heavy", heavy_on_soft, 1.5, 0.05},
    {"piston", under_a_piston, 2, 0.02},
    {"sheet", sheet_on_a_ball, 1, 0.02},
    {"rings", linked_rings, 1, 0.02},
    {"table", bullet_on_a_table, 0.25, 0},
    {"pile", pile_of_thirty, 1.5, 0},
};

struct TouchingRun {
  std::string outcome = "completed", detail;
  int steps = 0, intersecting = 0;
  double gap = std::numeric_limits<double>::infinity();
  std::vector<double> milliseconds;
  State state;
  Vec3 half_way = Vec3::Zero(), at_end = Vec3::Zero();  ///< velocity of the centre of mass, m/s

  double median() {
    if (milliseconds.empty()) return 0;
    std::sort(milliseconds.begin(), milliseconds.end());
    return milliseconds[milliseconds.size() / 2];
  }
};

Vec3 mean_velocity(const Model& model, const State& state) {
  VecX p;
  model.mass().multiply(state.v, p);
  Vec3 sum = Vec3::Zero();
  for (Index i = 0; i < model.nodes(); ++i) sum += node(p, i);
  return sum / model.mass().lumped().sum();
}

TouchingRun run_touching(Context& context, const Model& model, Stepper& stepper, double h, int steps) {
  TouchingRun run;
  run.state = model.rest_state();
  for (int k = 0; k < steps; ++k) {
    if (context.stopped()) {
      run.outcome = "stopped";
      break;
    }
    const auto before = std::chrono::steady_clock::now();
    const StepReport report = stepper.step(run.state, h);
    run.milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count());
    run.gap = std::min(run.gap, report.minimum_gap);
    if (!report.succeeded()) {
      run.outcome = to_string(report.outcome);
      run.detail = report.detail;
      break;
    }
    ++run.steps;
    run.intersecting += apart::intersections(model, run.state) > 0;
    if (2 * run.steps == steps) run.half_way = mean_velocity(model, run.state);
  }
  run.at_end = mean_velocity(model, run.state);
  return run;
}

/// The first of these laws that the solver takes.
std::unique_ptr<Stepper> stepper_for(const std::string& solver, const TouchingScene& scene, Index cells, Making& making,
                                     std::shared_ptr<const Model>& model) {
  std::string why;
  for (const char* law : {"neo-hookean", "linear-corotated", "fixed-corotated"}) {
    making = {law, cells};
    try {
      model = scene.make(making).build();
      return make_stepper(model, solver);
    } catch (const InputError& error) {
      why = error.what();
    }
  }
  throw InputError(solver + ": " + why);
}

void run_everything(Context& context) {
  std::map<std::string, State> references;
  const auto solvers = context.text("solvers") == "all" ? std::vector<std::string>() : context.list("solvers");
  std::vector<std::string> names;
  for (const SolverEntry& entry : solver_catalogue())
    if (solvers.empty() || std::find(solvers.begin(), solvers.end(), entry.name) != solvers.end())
      names.push_back(entry.name);
  const auto wanted = context.list("scenes");
  const auto cells = context.integers("cells");
  const auto rates = context.numbers("fps");
  const double all = static_cast<double>(wanted.size() * cells.size() * rates.size() * names.size());
  double done = 0;
  for (const TouchingScene& scene : kTouchingScenes) {
    if (std::find(wanted.begin(), wanted.end(), scene.name) == wanted.end()) continue;
    for (const int c : cells)
      for (const double fps : rates) {
        const int steps = static_cast<int>(std::lround(scene.seconds * fps));
        for (const std::string& solver : names) {
          if (context.stopped()) return;
          context.progress(done++ / all, fmt::format("{}, {} cells, {} fps, {}", scene.name, c, fps, solver));
          Making making;
          std::shared_ptr<const Model> model;
          const auto stepper = stepper_for(solver, scene, c, making, model);
          TouchingRun run = run_touching(context, *model, *stepper, 1 / fps, steps);
          const std::string key = fmt::format("{}/{}/{}/{}", scene.name, c, fps, making.law);
          const bool is_reference = solver == "pod-newton";
          if (is_reference && run.outcome == "completed") references[key] = run.state;
          if (scene.allowed > 0 && !references.count(key) && !is_reference) {
            const auto newton = make_stepper(model, "pod-newton");
            const TouchingRun reference = run_touching(context, *model, *newton, 1 / fps, steps);
            if (reference.outcome == "completed") references[key] = reference.state;
          }
          Json row = {{"scene", scene.name},
                      {"cells", c},
                      {"fps", fps},
                      {"solver", solver},
                      {"law", making.law},
                      {"nodes", model->nodes()},
                      {"outcome", run.outcome},
                      {"steps", run.steps},
                      {"of", steps},
                      {"intersecting_steps", run.intersecting},
                      {"minimum_gap", std::isfinite(run.gap) ? Json(run.gap) : Json()},
                      {"ms", run.median()}};
          const bool compares = run.outcome == "completed" && scene.allowed > 0 && references.count(key);
          row["off"] = compares
                           ? Json((run.state.x - references[key].x).cwiseAbs().maxCoeff() / smallest_body_size(*model))
                           : Json();
          row["allowed"] = scene.allowed > 0 ? Json(scene.allowed) : Json();
          Json moved;
          if (scene.name == "stick") {
            Vec3 shift = Vec3::Zero();  // of the centre
            for (Index i = 0; i < model->nodes(); ++i) shift += node(run.state.x, i) - node(model->rest(), i);
            moved = 1e3 * shift.norm() / model->nodes();
          } else if (scene.name == "slide") {
            const double theory =
                kGravity * (std::sin(kSlope) - (std::tan(kSlope) - 0.2) * std::cos(kSlope)) * 0.5 * scene.seconds;
            moved = (run.at_end - run.half_way).x() / theory;
          } else if (scene.name == "table") {
            moved = run.state.x.size() ? Json(node(run.state.x, 0).y()) : Json();
          }
          row["figure"] = moved;
          row["detail"] = run.detail;
          context.row(row);
        }
      }
  }
  const auto count = [&](auto&& test) {
    return static_cast<int>(std::count_if(context.rows().begin(), context.rows().end(), test));
  };
  const auto total = static_cast<int>(context.rows().size());
  const int intersecting = count([](const Json& r) { return r["intersecting_steps"].get<int>() > 0; });
  const int completed = count([](const Json& r) { return r["outcome"] == "completed"; });
  context.claim({"no state of any run intersects", 0, intersecting, intersecting == 0 && total > 0});
  context.claim({"every run completes", total, completed, completed == total && total > 0});
  const auto is = [](const Json& r, const char* scene) { return r["scene"] == scene && r["figure"].is_number(); };
  const int sticks = count([&](const Json& r) { return is(r, "stick"); });
  const int creeps = count(
      [&](const Json& r) { return is(r, "stick") && (r["outcome"] != "completed" || r["figure"].get<double>() >= 5); });
  if (sticks > 0)
    context.claim({"a block on a slope creeps less than 5 mm in a second: runs that do not", 0, creeps, creeps == 0});
  const int slides = count([&](const Json& r) { return is(r, "slide"); });
  const int wrong = count([&](const Json& r) {
    return is(r, "slide") && (r["outcome"] != "completed" || std::abs(r["figure"].get<double>() - 1) > 0.05);
  });
  if (slides > 0)
    context.claim({"a sliding block accelerates as theory says within 5%: runs that do not", 0, wrong, wrong == 0});
  const int compared = count([](const Json& r) { return r["off"].is_number(); });
  const int off =
      count([](const Json& r) { return r["off"].is_number() && r["off"].get<double>() > r["allowed"].get<double>(); });
  if (compared > 0)
    context.claim({fmt::format("{} runs end where pod-newton's do, within 2% of the smallest body (heavy on soft 5%): "
                               "runs that do not",
                               compared),
                   0, off, off == 0});
}

}  // namespace

Experiment contact_everything() {
  return {"contact/everything",
          "Scenes of contact under every solver at its default settings, beside pod-newton and theory",
          {{"scenes", "stick,slide,ball,stack,heavy,piston,sheet,rings,table,pile", "stick,heavy,table", "which"},
           {"solvers", "all", "all", "which, or all"},
           {"cells", "4,8", "4", "along an edge of an ordinary body"},
           {"fps", "30,60,120", "60", "steps per second"}},
          run_everything};
}

}  // namespace pliant::experiments
