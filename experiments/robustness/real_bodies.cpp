// conjac at default settings and the paper's step of 5 ms on bodies of any shape: dropped in several orientations,
// pulled and released, with poor elements; and a bar that spins freely. Energy never grows beyond 1.2 times that of the
// release, and angular momentum is kept.

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "experiments/conjac/trial.hpp"
#include "experiments/robustness/robustness.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/read_mesh.hpp"

namespace pliant::experiments {

namespace {

constexpr double kGrowthOfRealBodies = 1.2, kMostSpinLost = 0.05, kSpinRounding = 1e-9;
constexpr double kRealSize = 0.1, kDropHeight = 0.03, kDropSpeed = 0.4;  ///< m, m, m/s along the floor
constexpr double kSpin = 20;                                             ///< rad/s

/// What became of a body.
struct RealFate {
  std::string outcome = "completed", detail;
  int steps = 0, repaired = 0, inverted = 0;
  double growth = 0;  ///< largest energy over that of the release
  double extent = 1;  ///< largest diagonal of its box, over the one at rest
  double ms = 0;
};

double diagonal_of(const VecX& x) {
  Vec3 low = Vec3::Constant(1e300), high = -low;
  for (Eigen::Index i = 0; i + 2 < x.size(); i += 3)
    low = low.cwiseMin(x.segment<3>(i)), high = high.cwiseMax(x.segment<3>(i));
  return (high - low).norm();
}

/// Energies count from `offset` J on; that of the release is the largest one until `release`, or, with 0, that of the
/// start.
RealFate follow_body(const std::shared_ptr<const Model>& model, const std::string& solver, double h, double duration,
                     double release, double offset, const std::function<bool()>& stop) {
  EnergyMeter meter(model);
  const auto stepper = make_stepper(model, solver);
  State state = model->rest_state();
  RealFate fate;
  const double at_rest = diagonal_of(state.x);
  double released = meter.kinetic(state) + meter.potential(state) + offset;
  const auto steps = static_cast<int>(std::lround(duration / h));
  for (int s = 0; s < steps && !stop(); ++s) {
    const StepReport report = stepper->step(state, h);
    if (!report.succeeded()) {
      fate.outcome = to_string(report.outcome);
      fate.detail = report.detail;
      break;
    }
    ++fate.steps;
    fate.ms += 1e3 * report.seconds.total;
    for (const Figure& figure : report.figures) fate.repaired += figure.name == "repaired" && figure.value > 0;
    fate.extent = std::max(fate.extent, diagonal_of(state.x) / at_rest);
    const double energy = meter.kinetic(state) + meter.potential(state) + offset;
    if (state.time < release + 0.5 * h)
      released = std::max(released, energy);
    else
      fate.growth = std::max(fate.growth, energy / released);
  }
  fate.ms /= std::max(1, fate.steps);
  for (const Tet& t : model->bodies()[0].mesh->tets()) {
    const Vec3 o = node(state.x, t[0]), a = node(state.x, t[1]), b = node(state.x, t[2]), c = node(state.x, t[3]);
    fate.inverted += !((a - o).cross(b - o).dot(c - o) > 0);
  }
  return fate;
}

/// Turned about a diagonal of the floor, 3 cm above it, moving along it; with friction.
std::shared_ptr<const Model> dropped_body(MeshData data, const std::string& law, double degrees,
                                          ColliderLaw colliders) {
  const Mat3 turn = Eigen::AngleAxisd(degrees * std::numbers::pi / 180, Vec3(1, 0, 1).normalized()).toRotationMatrix();
  double low = 1e300;
  for (Vec3& v : data.vertices) v = turn * v, low = std::min(low, v.y());
  for (Vec3& v : data.vertices) v.y() += kDropHeight - low;
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law(law), lame_from_young(4e4, 0.45)};
  body.velocity = {kDropSpeed, 0, 0};
  builder.add_body(body);
  Collider floor;
  floor.name = "floor";
  floor.shape = PlaneShape{};
  floor.friction = 0.3;
  builder.set_collider_law(colliders);
  builder.add_collider(floor);
  return builder.build();
}

/// Of the body's weight above the floor at y = 0, J.
double height_energy(const Model& model) {
  double sum = 0;
  for (Index i = 0; i < model.nodes(); ++i) sum += 9.81 * model.mass().lumped()[i] * node(model.rest(), i).y();
  return sum;
}

/// The share of its angular momentum that a bar of 1e6 Pa, spinning across its length, has lost after a second.
double lost_spin(const std::string& solver, double h) {
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box({.size = {0.6, 0.2, 0.2}, .cells = {6, 2, 2}}));
  body.material = {find_law("neo-hookean"), lame_from_young(1e6, 0.3)};
  body.angular_velocity = {0, 0, kSpin};
  builder.add_body(body);
  const auto model = builder.build();
  const auto momentum = [&](const State& state) {
    Vec3 centre = Vec3::Zero(), sum = Vec3::Zero();
    for (Index i = 0; i < model->nodes(); ++i) centre += model->mass().lumped()[i] * node(state.x, i);
    centre /= model->mass().lumped().sum();
    for (Index i = 0; i < model->nodes(); ++i)
      sum += model->mass().lumped()[i] * (node(state.x, i) - centre).cross(node(state.v, i));
    return sum;
  };
  const auto stepper = make_stepper(model, solver);
  State state = model->rest_state();
  const Vec3 before = momentum(state);
  for (int s = 0; s < static_cast<int>(std::lround(1 / h)); ++s)
    if (!stepper->step(state, h).succeeded()) return 1;
  return (momentum(state) - before).norm() / before.norm();
}

class RealBodies {
 public:
  explicit RealBodies(Context& context) : context_(context), solver_(context.text("solver")), h_(context.number("h")) {}

  void drop(const std::string& name, const MeshData& data, const std::string& law) {
    for (const std::string& colliders : context_.list("colliders"))
      for (const double degrees : context_.numbers("degrees")) {
        const auto model =
            dropped_body(data, law, degrees, colliders == "penalty" ? ColliderLaw::penalty : ColliderLaw::barrier);
        run(name, fmt::format("dropped at {} degrees, {}", degrees, colliders), law, model, 0, height_energy(*model));
      }
  }

  void pull(const std::string& name, const MeshData& data) {
    const PullAndRelease scene = pulled_body(data, name);
    run(name, "pulled and released", "stable-neo-hookean", scene.model, scene.release, 0);
  }

  void spin() {
    const double lost = lost_spin(solver_, h_), of_full = lost_spin("linearly-implicit", h_);
    const double bound = std::min(kMostSpinLost, of_full) + kSpinRounding;
    context_.check(
        {"angular momentum that a free bar at 20 rad/s loses in a second, over the whole (at most 5%, or what "
         "linearly-implicit loses)",
         bound, lost, lost <= bound});
  }

  void judge() {
    if (context_.stopped()) return;
    context_.check({"runs that complete", runs_, completed_, runs_ > 0 && completed_ == runs_});
    context_.check({"largest energy over that of the release", kGrowthOfRealBodies, growth_,
                    runs_ > 0 && growth_ <= kGrowthOfRealBodies});
  }

 private:
  void run(const std::string& name, const std::string& what, const std::string& law,
           const std::shared_ptr<const Model>& model, double release, double offset) {
    if (context_.stopped()) return;
    context_.progress(0.1 * std::min(9, runs_), fmt::format("{}, {}", name, what));
    const RealFate fate = follow_body(model, solver_, h_, context_.number("duration"), release, offset,
                                      [this] { return context_.stopped(); });
    if (context_.stopped()) return;  // in its middle: it says nothing
    ++runs_;
    completed_ += fate.outcome == "completed";
    growth_ = std::max(growth_, fate.growth);
    context_.row({{"mesh", name},
                  {"what", what},
                  {"law", law},
                  {"nodes", model->nodes()},
                  {"outcome", fate.outcome},
                  {"steps", fate.steps},
                  {"energy_over_release", fate.growth},
                  {"extent", fate.extent},
                  {"inverted", fate.inverted},
                  {"repaired_steps", fate.repaired},
                  {"ms", fate.ms},
                  {"detail", fate.detail}});
  }

  Context& context_;
  std::string solver_;
  double h_;
  int runs_ = 0, completed_ = 0;
  double growth_ = 0;
};

std::string mesh_name(const std::string& path, const char* generated) {
  return path.empty() ? generated : std::filesystem::path(path).stem().string();
}

/// A ring that stands where no file is given: it has a head to pull and room to buckle.
MeshData real_mesh(const std::string& path, int cells) {
  return path.empty() ? torus({.cells = cells}) : read_mesh_data(path);
}

void run_real_bodies(Context& context) {
  RealBodies bodies(context);
  bodies.spin();
  const int cells = static_cast<int>(context.number("cells"));
  const auto has = [&](const std::string& what) {
    const auto asked = context.list("what");
    return std::find(asked.begin(), asked.end(), what) != asked.end();
  };
  const std::string dropped = context.text("dropped"), pulled = context.text("pulled"), poor = context.text("poor");
  for (const std::string& law : context.list("laws")) {
    if (has("drop")) bodies.drop(mesh_name(dropped, "ring"), table_top(real_mesh(dropped, cells), kRealSize), law);
    if (!has("poor")) continue;
    MeshData slivers = poor.empty() ? poor_box(std::max(2, cells / 2)) : table_top(real_mesh(poor, cells), kRealSize);
    if (poor.empty())
      for (Vec3& p : slivers.vertices) p *= kRealSize;
    bodies.drop(mesh_name(poor, "poor box"), slivers, law);
  }
  if (has("pull")) bodies.pull(mesh_name(pulled, "ring"), real_mesh(pulled, cells));
  if (has("poor") && !poor.empty()) bodies.pull(mesh_name(poor, ""), real_mesh(poor, cells));
  bodies.judge();
}

}  // namespace

Experiment real_bodies() {
  return {
      "robustness/real-bodies",
      "conjac at default settings on bodies of any shape: dropped, pulled and released, of poor elements, spinning",
      {{"solver", "conjac", "conjac", "which"},
       {"what", "drop,pull,poor", "drop,pull,poor", "which: drop, pull, poor (dropped, and pulled if it is a file)"},
       {"dropped", "", "", "path of a mesh to drop, y up; empty: a generated ring"},
       {"pulled", "", "", "path of a mesh to pull and release; empty: a generated ring"},
       {"poor", "", "", "path of a mesh with poor elements; empty: a generated box of slivers"},
       {"cells", "6", "4", "across the generated ring, at least 4"},
       {"laws", "neo-hookean,stable-neo-hookean", "stable-neo-hookean", "of what is dropped"},
       {"colliders", "barrier,penalty", "barrier", "how the floor pushes"},
       {"degrees", "0,90,180,270", "0,90", "orientations"},
       {"h", "0.005", "0.005", "time step, s"},
       {"duration", "1", "0.5", "s"}},
      run_real_bodies};
}

}  // namespace pliant::experiments
