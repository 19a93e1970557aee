// conjac, "Bunny" (fig. 8): a soft body with 8 dynamic nodes is dropped onto the floor in several orientations, with
// friction: penalty contact in K, velocity-filter friction, least-squares projection onto the dynamic velocities.

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/conjac/bars.hpp"
#include "experiments/conjac/conjac.hpp"
#include "experiments/conjac/plain.hpp"
#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/solvers/conjac/conjac_stepper.hpp"

namespace pliant::experiments {

namespace {

constexpr double kBunnySize = 0.1, kBunnyStep = 5e-3, kFloorStiffness = 1e7;  // m, s, 1/s^2

/// The body with `down` turned towards the floor and its lowest vertex at `height`.
MeshData oriented(MeshData data, const Vec3& down, double height) {
  const Mat3 turn = Eigen::Quaterniond::FromTwoVectors(down, -Vec3::UnitY()).toRotationMatrix();
  double low = 1e300;
  for (Vec3& v : data.vertices) v = turn * v, low = std::min(low, v.y());
  for (Vec3& v : data.vertices) v.y() += height - low;
  return data;
}

std::shared_ptr<const Model> on_floor(MeshData data, double friction, const Vec3& velocity = Vec3::Zero(),
                                      double slope = 0) {
  ModelBuilder builder;
  builder.set_gravity({9.81 * std::sin(slope), -9.81 * std::cos(slope), 0});
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("stable-neo-hookean"), lame_from_young(4e4, 0.45)};
  body.velocity = velocity;
  builder.add_body(body);
  Collider floor;
  floor.name = "floor";
  floor.shape = PlaneShape{};
  floor.friction = friction;
  floor.stiffness = kFloorStiffness;
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider(floor);
  return builder.build();
}

Vec3 mean_of(const Model& model, const VecX& of) {
  Vec3 sum = Vec3::Zero();
  for (Index i = 0; i < model.nodes(); ++i) sum += model.mass().lumped()[i] * node(of, i);
  return sum / model.mass().lumped().sum();
}

/// Lowest and highest y.
std::pair<double, double> range_of(const VecX& x) {
  double low = 1e300, high = -1e300;
  for (Eigen::Index i = 1; i < x.size(); i += 3) low = std::min(low, x[i]), high = std::max(high, x[i]);
  return {low, high};
}

constexpr double kExplodes = 10;  ///< times the energy of the start

/// What a drop looks like; energy above that of the undeformed body put down as it is held.
struct Fall {
  bool completed = true;
  double growth = 0, last = 0;  ///< largest and last energy over that of the start
  double deepest = 0;           ///< m
  double squeeze = 0;           ///< how much flatter the body became, over its height
  double rebound = 0;           ///< of the centre of mass after it was lowest, while nothing touches, over the fall
  int touched = 0;              ///< vertices that touched the floor
  int projected = 0;
  bool explodes() const { return !(growth < kExplodes); }
  bool stable() const { return completed && growth <= 1.1 && last < 1; }
};

Fall fall(const std::shared_ptr<const Model>& model, double height, double duration,
          const std::function<bool(State&, int&)>& step, const std::function<void(const State&)>& each) {
  EnergyMeter meter(model);
  State state = model->rest_state();
  const double mass = model->mass().lumped().sum(), start = mass * 9.81 * height;
  const double offset = meter.total(state) - start;
  const auto [low0, high0] = range_of(state.x);
  std::vector<std::uint8_t> touched(at(model->nodes()), 0);
  Fall result;
  double lowest = 1e300;
  const auto steps = static_cast<int>(std::lround(duration / kBunnyStep));
  for (int s = 0; s < steps; ++s) {
    if (!step(state, result.projected)) {
      result.completed = false;
      break;
    }
    for (Index i = 0; i < model->nodes(); ++i) touched[at(i)] |= node(state.x, i).y() < 0;
    result.last = (meter.total(state) - offset) / start;
    result.growth = std::max(result.growth, result.last);
    if (!(result.growth < kExplodes)) break;
    each(state);
    const auto [low, high] = range_of(state.x);
    const double centre = mean_of(*model, state.x).y();
    result.squeeze = std::max(result.squeeze, 1 - (high - low) / (high0 - low0));
    result.deepest = std::max(result.deepest, -low);
    if (centre < lowest) lowest = centre, result.rebound = 0;
    if (low > 0) result.rebound = std::max(result.rebound, (centre - lowest) / height);
  }
  result.touched = static_cast<int>(std::count(touched.begin(), touched.end(), 1));
  return result;
}

Fall drop(
    Context& context, const MeshData& mesh, const Vec3& down, double duration, const std::string& nodes = "",
    const std::function<void(const State&)>& each = [](const State&) {}, const std::string& solver = "conjac") {
  const MeshData lying = oriented(mesh, down, 0);
  double height = 0;
  for (const Vec3& v : lying.vertices) height = std::max(height, v.y());
  const auto model = on_floor(oriented(mesh, down, height), 0.3);
  ParameterMap parameters = {{"beta", 0.5}};
  if (solver == "conjac") {
    parameters["dynamic_nodes"] = std::int64_t{8};
    parameters["gamma"] = 1.0 / 3;
    parameters["tangential"] = 0.1;
  }
  if (!nodes.empty()) parameters["dynamic"] = nodes;
  const auto stepper = make_stepper(model, solver, as_published(solver, parameters));
  const Fall result = fall(
      model, height, duration,
      [&](State& state, int& projected) {
        const StepReport report = stepper->step(state, kBunnyStep);
        projected += report.projected_iterations;
        return report.succeeded() && !context.stopped();
      },
      each);
  context.row({{"solver", solver},
               {"down", fmt::format("{:.2f} {:.2f} {:.2f}", down.x(), down.y(), down.z())},
               {"nodes", model->nodes()},
               {"stable", result.stable()},
               {"energy_over_start", result.growth},
               {"squeeze", result.squeeze},
               {"rebound_over_fall", result.rebound},
               {"deepest_over_size", result.deepest / kBunnySize},
               {"touched", result.touched},
               {"projected_steps", result.projected}});
  return result;
}

void decide_drops(Context& context, const MeshData& mesh) {
  const std::vector<Vec3> all = {-Vec3::UnitY(), Vec3::UnitX(),  Vec3::UnitZ(),
                                 -Vec3::UnitX(), -Vec3::UnitZ(), Vec3::UnitY()};
  const auto count = static_cast<std::size_t>(context.number("orientations"));
  Decision stable("conjac/fig-8/stable"), bounces("conjac/fig-8/bounces"), third("conjac/section-3.3/third-is-enough");
  third.awaits(false, "TWIST, HETERO, ANISO, MUSCLE and BARCUT at these settings in one experiment");
  for (std::size_t k = 0; k < std::min(count, all.size()); ++k) {
    context.progress(0.4 * double(k) / double(count), fmt::format("orientation {}", k + 1));
    const Fall f = drop(context, mesh, all[k], context.number("duration"));
    const std::string which = fmt::format("orientation {}: ", k + 1);
    stable.part(which + "largest energy over the start", f.growth, "stable", f.stable())
        .at_least(which + "vertices that touch", f.touched, 20)
        .at_most(which + "deepest over the size", f.deepest / kBunnySize, 0.02)
        .because(fmt::format("{}energy grows to {:.2f} and ends at {:.2f} of the start, {} steps projected", which,
                             f.growth, f.last, f.projected));
    third.needs(f.touched > 0, which + "it touches the floor")
        .part("BUNNY, " + which + "largest energy over the start", f.growth, "stable", f.stable());
    bounces.needs(f.touched > 0, which + "it touches the floor")
        .at_least(which + "squeeze over the height", f.squeeze, 0.05)
        .at_least(which + "rise of the centre of mass with nothing touching, over the fall", f.rebound, 0.05);
  }
  if (stable.verdict() == Verdict::fails && !context.stopped()) {
    // Whether that is due to few dynamic nodes: all of them, in the first orientation.
    const Fall vanilla = drop(
        context, mesh, all[0], context.number("duration"), "", [](const State&) {}, "linearly-implicit");
    const std::string beside = fmt::format(
        "VANILLA at the same beta falls onto the same floor with {:.3g} times the energy of the start, vertices sink "
        "by "
        "{:.3f} of the size; at 1.4 m/s a step of {} s passes the floor by up to {:.3f} of the size before a force of "
        "its start knows of it",
        vanilla.growth, vanilla.deepest / kBunnySize, kBunnyStep,
        std::sqrt(2 * 9.81 * kBunnySize) * kBunnyStep / kBunnySize);
    stable.because(beside);
    third.because(beside);
  }
  context.decide(stable);
  context.decide(bounces);
  context.decide(third);
}

void decide_friction_of(Context& context, const MeshData& mesh) {
  context.progress(0.5, "friction");
  Decision decision("conjac/fig-8/friction");
  const auto run = [&](const std::shared_ptr<const Model>& model, double alpha, int steps,
                       const std::function<void(const State&)>& each) {
    const auto stepper = make_stepper(
        model, "conjac", as_published("conjac", {{"dynamic_nodes", std::int64_t{8}}, {"tangential", alpha}}));
    State state = model->rest_state();
    bool done = true;
    for (int s = 0; s < steps && done; ++s) {
      done = stepper->step(state, kBunnyStep).succeeded();
      each(state);
    }
    decision.needs(done, "all runs complete");
    return state;
  };
  for (double friction : {0.0, 0.3}) {
    const auto model = on_floor(oriented(mesh, -Vec3::UnitY(), 0), friction, {0.4, 0, 0});
    double in_contact = 0.4;
    const State end = run(model, friction > 0 ? 0.1 : 0.0, 120, [&](const State& s) {
      if (range_of(s.x).first < 0) in_contact = mean_of(*model, s.v).x();
    });
    const double left = mean_of(*model, end.v).x();
    context.row({{"set_down_with_friction", friction}, {"speed_in_contact", in_contact}, {"speed_at_the_end", left}});
    if (friction > 0)
      decision.at_most("0.3: speed after 0.6 s over the start", std::abs(left) / 0.4, 0.05);
    else
      decision.below("without friction: speed lost while in contact", 1 - in_contact / 0.4, 0.05);
  }
  const MeshData block = box({.size = {0.1, 0.03, 0.1}, .cells = {6, 2, 6}, .split = BoxSplit::six});
  for (double degrees : {10.0, 25.0}) {
    const double slope = degrees * std::numbers::pi / 180;
    const auto model = on_floor(block, 0.3, Vec3::Zero(), slope);
    const auto slide = [&](double alpha) {
      double settled = 0;
      const State end = run(model, alpha, 160, [&](const State& s) {
        if (s.step == 60) settled = mean_of(*model, s.x).x();
      });
      return std::pair{mean_of(*model, end.x).x() - settled, mean_of(*model, end.v).x()};
    };
    const auto [slid, speed] = slide(0.1);
    const double expected = 9.81 * (std::sin(slope) - 0.3 * std::cos(slope));
    context.row({{"slope_degrees", degrees}, {"slid_mm", 1e3 * slid}, {"speed", speed}});
    if (degrees < 15)
      decision.at_most("slope of 10 degrees: slides in 0.5 s, over the size", std::abs(slid) / kBunnySize, 0.01);
    else
      decision.at_least("slope of 25 degrees: slides in 0.5 s, over the size", slid / kBunnySize, 0.1)
          .note("slope of 25 degrees: over what Coulomb's law gives", slid / (0.5 * expected * 0.25));
    if (degrees > 15 && slid < 0.1 * kBunnySize) {
      const double without = slide(0.0).first;
      decision.because(fmt::format(
          "on 25 degrees the printed tangential stiffness, 0.1 of the floor's {:g} 1/s^2, holds the block by itself: "
          "without it, it slides by {:.3g} of the size",
          kFloorStiffness, without / kBunnySize));
    }
  }
  context.decide(decision);
}

void decide_awareness(Context& context, const MeshData& mesh) {
  context.progress(0.65, "contact in K");
  const MeshData lying = oriented(mesh, -Vec3::UnitY(), 0);
  double height = 0;
  for (const Vec3& v : lying.vertices) height = std::max(height, v.y());
  const MeshData lifted = oriented(mesh, -Vec3::UnitY(), height);
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(lifted);
  body.material = {find_law("stable-neo-hookean"), lame_from_young(4e4, 0.45)};
  builder.add_body(body);
  const auto model = builder.build();
  std::map<bool, Fall> falls;
  for (const bool in_K : {true, false}) {
    PlainConjac conjac(model, placed_nodes(*model, 8), {.floor = kFloorStiffness, .floor_in_K = in_K, .falls = true});
    falls[in_K] = fall(
        model, height, context.number("duration"),
        [&](State& state, int&) { return !context.stopped() && conjac.step(state, kBunnyStep); }, [](const State&) {});
    context.row({{"contact_in_K", in_K},
                 {"stable", falls[in_K].stable()},
                 {"energy_over_start", falls[in_K].growth},
                 {"deepest_over_size", falls[in_K].deepest / kBunnySize}});
  }
  const Fall &with = falls[true], &without = falls[false];
  context.decide(
      Decision("conjac/section-4/collision-aware")
          .needs(with.touched > 0 && without.touched > 0, "it touches the floor")
          .part("with contact in K: largest energy over the start", with.growth, "stable", with.stable())
          .at_most("with contact in K: deepest over the size", with.deepest / kBunnySize, 0.02)
          .part("without: deepest over that with it", without.deepest / with.deepest, "at least 2, or unstable",
                !without.stable() || without.deepest >= 2 * with.deepest)
          .because(fmt::format("as printed, without friction: with the contact's stiffness energy grows to {:.2f} "
                               "of the start and vertices sink by {:.3f} of the size, without it {:.2f} and {:.3f}",
                               with.growth, with.deepest / kBunnySize, without.growth, without.deepest / kBunnySize)));
}

void decide_system(Context& context, const MeshData& mesh) {
  context.progress(0.75, "cost of friction");
  const auto with = on_floor(oriented(mesh, -Vec3::UnitY(), 0), 0.3, {0.4, 0, 0});
  const auto without = on_floor(oriented(mesh, -Vec3::UnitY(), 0), 0, {0.4, 0, 0});
  const ParameterMap parameters = as_published("conjac", {{"dynamic_nodes", std::int64_t{8}}, {"tangential", 0.1}});
  const auto a = make_stepper(with, "conjac", parameters), b = make_stepper(without, "conjac", parameters);
  State state = with->rest_state();
  std::vector<double> filtered, plain;
  for (int s = 0; s < 60; ++s) {
    State other = state;
    const ProcessorTime first(ProcessorTime::Of::program);
    const StepReport one = a->step(state, kBunnyStep);
    const double seconds = first.seconds();
    const ProcessorTime second(ProcessorTime::Of::program);
    const StepReport two = b->step(other, kBunnyStep);
    if (s == 0 || range_of(state.x).first >= 0 || one.factorisations != two.factorisations) continue;
    filtered.push_back(seconds), plain.push_back(second.seconds());
  }
  const auto* stepper = dynamic_cast<const ConjacStepper*>(a.get());
  context.decide(
      Decision("conjac/section-4/small-system")
          .needs(filtered.size() >= 15, "15 steps in contact or more")
          .equal("unknowns of the reduced system", stepper ? 3.0 * double(stepper->dynamic_nodes().size()) : 0, 24)
          .at_most("friction: extra processor time of a step in contact", median(filtered) / median(plain) - 1, 0.05)
          .because(fmt::format("medians {:.2f} and {:.2f} ms with and without friction from the same states",
                               1e3 * median(filtered), 1e3 * median(plain))));
}

/// Parts that stick out: the farthest from the middle, then the farthest from those before.
std::vector<Vec3> extremities(const MeshData& mesh, std::size_t count) {
  Vec3 centre = Vec3::Zero();
  for (const Vec3& v : mesh.vertices) centre += v / double(mesh.vertices.size());
  std::vector<Vec3> found;
  while (found.size() < count) {
    const Vec3* best = nullptr;
    double most = -1;
    for (const Vec3& v : mesh.vertices) {
      double least = (v - centre).norm();
      for (const Vec3& f : found) least = std::min(least, (v - f).norm());
      if (least > most) most = least, best = &v;
    }
    found.push_back(*best);
  }
  return found;
}

void decide_local(Context& context, const MeshData& mesh) {
  context.progress(0.85, "local deformation");
  Decision decision("conjac/fig-8/local-deformation");
  const TetMesh body(mesh);
  Vec3 centre = Vec3::Zero();
  std::vector<Vec3> vertices(body.vertices().begin(), body.vertices().end());
  for (const Vec3& v : vertices) centre += v / double(vertices.size());
  MeshData used = mesh;
  used.vertices = vertices;
  const std::vector<Vec3> parts = extremities(used, 4);
  std::string nodes;
  for (const Vec3& p : parts) {  // one dynamic node in each, a little inside
    const Vec3 inside = p + 0.1 * kBunnySize * (centre - p).normalized();
    std::size_t best = 0;
    for (std::size_t i = 1; i < vertices.size(); ++i)
      if ((vertices[i] - inside).norm() < (vertices[best] - inside).norm()) best = i;
    nodes += fmt::format("{},", best);
  }
  const auto model = on_floor(mesh, 0.3);
  const std::vector<Index> placed = placed_nodes(*model, 4);
  for (std::size_t k = 0; k < placed.size(); ++k) nodes += fmt::format("{}{}", k ? "," : "", placed[k]);
  const auto landings = static_cast<std::size_t>(context.number("landings"));
  for (std::size_t k = 0; k < landings; ++k) {
    std::vector<std::size_t> tets;
    for (std::size_t t = 0; t < body.tets().size(); ++t) {
      Vec3 c = Vec3::Zero();
      for (Index v : body.tets()[t]) c += 0.25 * vertices[at(v)];
      if ((c - parts[k]).norm() < 0.2 * kBunnySize) tets.push_back(t);
    }
    double strained = 0, unexplained = 0;
    const auto look = [&](const State& state) {
      std::vector<Mat3> F(body.tets().size());
      model->bodies()[0].elastic->deformation_gradients(state.x, {0, static_cast<Index>(F.size())}, F.data());
      Mat3 mean = Mat3::Zero();
      double beyond = 0, left = 0, all = 0, volume = 0;
      for (std::size_t t : tets)
        mean += body.volume(static_cast<Index>(t)) * F[t], volume += body.volume(static_cast<Index>(t));
      mean /= volume;
      const Mat3 R = nearest_rotation(mean);
      for (std::size_t t : tets) {
        const Vec3 s = singular_values(F[t]);
        beyond += s.minCoeff() < 0.7 || s.maxCoeff() > 1.4;
        left += body.volume(static_cast<Index>(t)) * (F[t] - mean).squaredNorm();
        all += body.volume(static_cast<Index>(t)) * (F[t] - R).squaredNorm();
      }
      strained = std::max(strained, beyond / double(tets.size()));
      if (beyond >= 0.05 * double(tets.size())) unexplained = std::max(unexplained, std::sqrt(left / all));
    };
    const Fall f = drop(context, mesh, (parts[k] - centre).normalized(), context.number("landing"), nodes, look);
    context.row({{"part", k}, {"elements", tets.size()}, {"strained", strained}, {"unexplained", unexplained}});
    decision.needs(f.touched > 0, fmt::format("part {} touches the floor", k + 1))
        .needs(
            f.completed && !f.explodes(),
            fmt::format("the landing on part {} is simulated to its end (its energy grows to {:.3g} times that of the "
                        "start)",
                        k + 1, f.growth))
        .at_least(fmt::format("part {}: elements with stretches beyond [0.7, 1.4]", k + 1), strained, 0.05)
        .at_least(fmt::format("part {}: deformation that the best affine map leaves", k + 1), unexplained, 0.2)
        .because(
            fmt::format("part {}: {:.0f}% of its {} elements are strained so far", k + 1, 100 * strained, tets.size()));
  }
  context.decide(decision);
}

void run_bunny(Context& context) {
  std::vector<std::string> ids;
  for (const Claim* own : claims_of("conjac/bunny")) ids.push_back(own->id);
  if (!has_meshes(context, ids)) return;
  const MeshData mesh = table_top(*find_mesh(context, context.text("mesh")), kBunnySize);
  decide_drops(context, mesh);
  decide_friction_of(context, mesh);
  decide_awareness(context, mesh);
  decide_system(context, mesh);
  decide_local(context, table_top(*find_mesh(context, "bunny"), kBunnySize));
}

}  // namespace

Experiment conjac_bunny() {
  return {"conjac/bunny",
          "A soft body dropped onto the floor in several orientations, with and without friction (fig. 8)",
          {meshes_option("bunny.mesh; quick: ditto.mesh, too"),
           {"mesh", "bunny", "ditto", "the body"},
           {"orientations", "6", "2", "how many"},
           {"duration", "1", "0.5", "of a drop, s"},
           {"landings", "4", "1", "parts of the bunny to land on"},
           {"landing", "0.5", "0.3", "of such a drop, s"}},
          run_bunny};
}

}  // namespace pliant::experiments
