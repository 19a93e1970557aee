// conjac, "Bunny" (fig. 8): a soft body with 8 dynamic nodes is dropped onto the floor in several orientations, with
// friction: penalty contact in K, velocity-filter friction, least-squares projection onto the dynamic velocities.

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/conjac/conjac.hpp"
#include "experiments/conjac/trial.hpp"

namespace pliant::experiments {

namespace {

constexpr double kSize = 0.1, kBunnyHeight = 0.03, kSpeed = 0.4;

std::shared_ptr<const Model> dropped(MeshData data, double degrees, double friction) {
  const Mat3 turn = Eigen::AngleAxisd(degrees * std::numbers::pi / 180, Vec3(1, 0, 1).normalized()).toRotationMatrix();
  double low = 1e300;
  for (Vec3& v : data.vertices) v = turn * v, low = std::min(low, v.y());
  for (Vec3& v : data.vertices) v.y() += kBunnyHeight - low;
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("stable-neo-hookean"), lame_from_young(4e4, 0.45)};
  body.velocity = {kSpeed, 0, 0};
  builder.add_body(body);
  Collider floor;
  floor.name = "floor";
  floor.shape = PlaneShape{};
  floor.friction = friction;
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider(floor);
  return builder.build();
}

struct Fall {
  bool stable = true;
  double growth = 0;       ///< largest energy over that of the start
  double deepest = 0;      ///< of a node under the floor, m
  double rebound = 0;      ///< how far the centre of mass rose after its lowest point, m
  double final_speed = 0;  ///< of the centre of mass along the floor, m/s
  double squeeze = 0;      ///< how much flatter the body became, m
  double ms = 0;
  int projected = 0;
  int repaired = 0;  ///< steps left to Newton's method
};

Fall fall(const std::shared_ptr<const Model>& model, const std::string& solver, const ParameterMap& parameters,
          double h, double duration, const std::function<bool()>& stop) {
  EnergyMeter meter(model);
  const auto stepper = make_stepper(model, solver, parameters);
  State state = model->rest_state();
  const double mass = model->mass().lumped().sum();
  const auto mean = [&](const VecX& of) {
    Vec3 sum = Vec3::Zero();
    for (Index i = 0; i < model->nodes(); ++i) sum += model->mass().lumped()[i] / mass * node(of, i);
    return sum;
  };
  // Energy above that of lying on the floor.
  const double start = meter.kinetic(state) + mass * 9.81 * mean(state.x).y();
  const double offset = start - meter.kinetic(state) - meter.potential(state);
  Fall result;
  double lowest = 1e300, thickness = 0;
  const auto steps = static_cast<int>(std::lround(duration / h));
  for (int s = 0; s < steps && !stop(); ++s) {
    const StepReport report = stepper->step(state, h);
    result.ms += 1e3 * report.seconds.total / steps;
    result.projected += report.projected_iterations;
    for (const Figure& figure : report.figures) result.repaired += figure.name == "repaired" && figure.value > 0;
    if (!report.succeeded()) {
      result.stable = false;
      break;
    }
    double low = 1e300, high = -1e300;
    for (Index i = 0; i < model->nodes(); ++i) {
      low = std::min(low, node(state.x, i).y());
      high = std::max(high, node(state.x, i).y());
    }
    if (s == 0) thickness = high - low;
    result.squeeze = std::max(result.squeeze, thickness - (high - low));
    result.deepest = std::max(result.deepest, -low);
    const double centre = mean(state.x).y();
    if (centre < lowest)
      lowest = centre, result.rebound = 0;
    else
      result.rebound = std::max(result.rebound, centre - lowest);
    result.growth = std::max(result.growth, (meter.kinetic(state) + meter.potential(state) + offset) / start);
  }
  const Vec3 velocity = mean(state.v);
  result.final_speed = std::hypot(velocity.x(), velocity.z());
  result.stable = result.stable && result.growth < 1.2;
  return result;
}

void run_bunny(Context& context) {
  const double h = context.number("h"), duration = context.number("duration");
  const MeshData mesh = table_top_mesh(context.text("mesh"), static_cast<int>(context.number("cells")), kSize);
  const auto stop = [&] { return context.stopped(); };
  const bool published =
      context.text("method") == "published" || (context.text("method").empty() && context.text("mesh").empty());
  bool stable = true, bounces = true;
  double deepest = 0, sliding = 0, held = 0;
  const std::vector<double> angles = context.numbers("degrees");
  for (std::size_t k = 0; k < angles.size(); ++k)
    for (double friction : {0.0, 0.3}) {
      context.progress(static_cast<double>(k) / static_cast<double>(angles.size()),
                       fmt::format("{} degrees, friction {}", angles[k], friction));
      const auto model = dropped(mesh, angles[k], friction);
      ParameterMap parameters = {{"dynamic_nodes", std::int64_t{8}}, {"tangential", friction > 0 ? 0.1 : 0.0}};
      if (published) parameters = as_published("conjac", parameters);
      const Fall result = fall(model, "conjac", parameters, h, duration, stop);
      if (context.stopped()) return;
      context.row({{"degrees", angles[k]},
                   {"friction", friction},
                   {"nodes", model->nodes()},
                   {"stable", result.stable},
                   {"energy_over_start", result.growth},
                   {"squeezed_mm", 1e3 * result.squeeze},
                   {"rebound_mm", 1e3 * result.rebound},
                   {"deepest_mm", 1e3 * result.deepest},
                   {"final_speed", result.final_speed},
                   {"projected_steps", result.projected},
                   {"repaired_steps", result.repaired},
                   {"ms", result.ms}});
      stable = stable && result.stable;
      bounces = bounces && result.rebound > 1e-3;
      deepest = std::max(deepest, result.deepest);
      (friction > 0 ? held : sliding) += result.final_speed / static_cast<double>(angles.size());
    }
  context.check({"stable with 8 dynamic nodes at beta = 0.5 in every orientation", "stable, fig. 8", stable, stable});
  context.check({"it bounces back up in every orientation", "fig. 8 (b)", bounces, bounces});
  context.check({"nodes sink into the floor by less than a twentieth of the size (mm)", "-", 1e3 * deepest,
                 deepest < kSize / 20});
  context.check({fmt::format("friction 0.3 slows what slides at {} m/s (m/s at the end: without, with)", kSpeed), "-",
                 Json::array({sliding, held}), held < 0.5 * sliding});
}

}  // namespace

Experiment conjac_bunny() {
  return {
      "conjac/bunny",
      "A soft body dropped onto the floor in several orientations, with and without friction (fig. 8)",
      {{"mesh", "", "", "path of a tetrahedral mesh, y up; empty: a generated figure"},
       {"method", "", "",
        "published: the paper's; default: with safeguard; empty: published, but the default for a mesh from a file"},
       {"cells", "24", "10", "of the generated figure along its height"},
       {"degrees", "0,40,90", "0,40", "orientations"},
       {"h", "0.005", "0.005", "time step, s"},
       {"duration", "1", "0.6", "s"}},
      run_bunny};
}

}  // namespace pliant::experiments
