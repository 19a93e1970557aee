// conjac, "Muscle" (fig. 6): an arm of two bones with joints at shoulder and elbow, and a muscle between them: a slab
// one cell thick held in its plane, heavier than the bones, whose fibres contract.

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/conjac/bars.hpp"
#include "experiments/conjac/conjac.hpp"
#include "pliant/simulation/simulation.hpp"
#include "pliant/solvers/conjac/conjac_stepper.hpp"

namespace pliant::experiments {

namespace {

/// What is varied of the arm.
struct ArmScene {
  std::string shoulder = "hinge";  ///< free: the arm floats
  bool gravity = true;
  double activation = 0.5;  ///< suddenly, at 0.05 s; with 1 several of the runs diverge
  int dynamic = 1;
  double muscle_density = 1000;
  double duration = 0.5;
  double forearm_density = 1500;
  double dt = 0.005;
};

std::string arm_text(const ArmScene& arm, const std::vector<int>& cells) {
  const double thick = 0.01;
  std::string text = fmt::format("[simulation]\ndt = {}\nduration = {}\ngravity = [0, {}, 0]\n", arm.dt, arm.duration,
                                 arm.gravity ? -9.81 : 0.0);
  text += fmt::format(
      "[[body]]\nname = \"biceps\"\nbox = {{size = [0.12, 0.03, {}], cells = [{}, {}, 1], origin = [0.02, 0.012, "
      "{}]}}\n"
      "material = \"stable-neo-hookean\"\nyoung = 3e4\npoisson = 0.49\ndensity = {}\n[body.regions.tendons]\nwhere = "
      "[\"x < "
      "0.04\", \"x > 0.12\"]\nyoung = 3e5\npoisson = 0.49\n",
      thick, cells.at(0), cells.at(1), -thick / 2, arm.muscle_density);
  text +=
      "[[body.fibres]]\nlaw = \"fung\"\nstiffness = 1e4\nactive_stress = 6e4\ndirection = [1, 0, 0]\nmuscle = "
      "\"biceps\"\n";
  text += fmt::format("[[muscle]]\nname = \"biceps\"\nactivation = [[0, 0], [0.05, 0], [0.06, {}]]\n", arm.activation);
  text += fmt::format(
      "[[link]]\nname = \"upper-arm\"\njoint = \"{}\"\npivot = [0, 0, 0]\ncapsule = {{begin = [0, 0, 0], end = [0.1, "
      "0, "
      "0], radius = 0.004}}\ndensity = 1500\n",
      arm.shoulder);
  text += fmt::format(
      "[[link]]\nname = \"forearm\"\nparent = \"upper-arm\"\njoint = \"hinge\"\npivot = [0.1, 0, 0]\ncapsule = {{begin "
      "= "
      "[0.108, 0, 0], end = [0.2, 0, 0], radius = 0.004}}\ndensity = {}\n",
      arm.forearm_density);
  text +=
      "[[attachment]]\nwhere = \"x < 0.03\"\nlink = \"upper-arm\"\n[[attachment]]\nwhere = \"x > 0.13\"\nlink = "
      "\"forearm\"\n";
  text += "[[pin]]\nbody = \"biceps\"\nwhere = \"x >= 0.03 and x <= 0.13\"\naxes = \"z\"\n";  // plane strain
  text += fmt::format(
      "[solver]\nname = \"conjac\"\ndynamic_nodes = {}\nsafeguard = \"none\"\nturning = \"linear\"\ngamma_search = "
      "false\nbeta = 0.5\n",
      arm.dynamic);
  return text;
}

struct ArmRun {
  bool completed = true;
  std::vector<double> elbow, shoulder;    ///< degrees
  double momentum = 0, angular = 0;       ///< largest, over the sums of what moves
  double muscle_kinetic = 0;              ///< mean, J, relative to the motion of its attachments
  int unknowns = 0;                       ///< joint angles, and coordinates of dynamic nodes that nothing holds
  double muscle_mass = 0, bone_mass = 0;  ///< kg
  double stretch = 0;                     ///< largest distance of the muscle's ends over that at rest, less one
  std::string outcome = "completed";      ///< of the last step
};

ArmRun move_arm(const ArmScene& arm, const std::vector<int>& cells, const std::function<bool()>& stop) {
  Simulation simulation(parse_scene(arm_text(arm, cells), "arm"));
  const Model& model = *simulation.model();
  const Range muscle = model.bodies()[0].nodes;
  ArmRun run;
  for (Index i = 0; i < model.nodes(); ++i)
    (i >= muscle.begin && i < muscle.end ? run.muscle_mass : run.bone_mass) += model.mass().lumped()[i];
  const auto degrees = [](const Mat3& R) { return std::atan2(R(1, 0), R(0, 0)) * 180 / std::numbers::pi; };
  double moving = 0, turning = 0;
  while (simulation.state()->step < simulation.scene().steps && !stop()) {
    const StepReport report = simulation.step();
    if (!simulation.took(report)) {
      run.completed = false;
      run.outcome = to_string(report.outcome);
      break;
    }
    const State& state = *simulation.state();
    const auto poses = model.articulation()->poses(state.x);
    run.shoulder.push_back(degrees(poses[0].rotation));
    run.elbow.push_back(degrees(poses[0].rotation.transpose() * poses[1].rotation));
    Vec3 sum = Vec3::Zero(), turn = Vec3::Zero();
    double each = 0, each_turn = 0;
    Vec3 left = Vec3::Zero(), right = Vec3::Zero();
    int left_count = 0, right_count = 0;
    for (Index i = 0; i < model.nodes(); ++i) {
      const Vec3 p = model.mass().lumped()[i] * node(state.v, i), x = node(state.x, i);
      sum += p, turn += x.cross(p);
      each += p.norm(), each_turn += x.cross(p).norm();
      if (i < muscle.begin || i >= muscle.end) continue;
      const double X = node(model.rest(), i).x();
      if (X < 0.02 + 1e-9) left += x, ++left_count;
      if (X > 0.14 - 1e-9) right += x, ++right_count;
    }
    run.momentum = std::max(run.momentum, sum.norm());
    run.angular = std::max(run.angular, turn.norm());
    moving = std::max(moving, each), turning = std::max(turning, each_turn);
    // The muscle's own motion: less what a linear blend of its two ends would do.
    Vec3 a = Vec3::Zero(), b = Vec3::Zero();
    for (Index i = muscle.begin; i < muscle.end; ++i) {
      const double X = node(model.rest(), i).x();
      if (X < 0.02 + 1e-9) a += node(state.v, i) / std::max(1, left_count);
      if (X > 0.14 - 1e-9) b += node(state.v, i) / std::max(1, right_count);
    }
    for (Index i = muscle.begin; i < muscle.end; ++i) {
      const double s = (node(model.rest(), i).x() - 0.02) / 0.12;
      run.muscle_kinetic += 0.5 * model.mass().lumped()[i] * (node(state.v, i) - (1 - s) * a - s * b).squaredNorm() /
                            static_cast<double>(simulation.scene().steps);
    }
    if (left_count > 0 && right_count > 0)
      run.stretch = std::max(run.stretch, (right / right_count - left / left_count).norm() / 0.12 - 1);
  }
  run.unknowns = model.articulation()->degrees();
  const BoundaryState held = boundary_state(model.pins(), {}, model.rest(), 0);
  if (const auto* stepper = dynamic_cast<const ConjacStepper*>(&simulation.stepper()))
    for (Index i : stepper->dynamic_nodes())
      for (std::size_t c = 0; c < 3; ++c) run.unknowns += !held.fixed[3 * at(i) + c];
  run.momentum /= std::max(moving, 1e-300);
  run.angular /= std::max(turning, 1e-300);
  return run;
}

double range_of_angle(const std::vector<double>& a) {
  if (a.empty()) return 0;
  const auto [low, high] = std::minmax_element(a.begin(), a.end());
  return *high - *low;
}

void run_muscle(Context& context) {
  const std::vector<int> cells = context.integers("cells");
  const auto stop = [&] { return context.stopped(); };
  const auto run = [&](const std::string& what, ArmScene arm) {
    context.progress(0.1, what);
    arm.duration = context.number("duration");
    const ArmRun result = move_arm(arm, cells, stop);
    context.row({{"arm", what},
                 {"completed", result.completed},
                 {"outcome", result.outcome},
                 {"steps", result.elbow.size()},
                 {"unknowns", result.unknowns},
                 {"elbow_range", range_of_angle(result.elbow)},
                 {"elbow_end", result.elbow.empty() ? 0 : result.elbow.back()},
                 {"momentum_error", result.momentum},
                 {"angular_error", result.angular},
                 {"muscle_kinetic_uJ", 1e6 * result.muscle_kinetic},
                 {"stretch", result.stretch},
                 {"elbow", result.elbow}});
    return result;
  };
  const ArmRun one = run("one node", {}), none = run("no node", {.dynamic = 0}), five = run("5 nodes", {.dynamic = 5}),
               twenty = run("20 nodes", {.dynamic = 20}), relaxed = run("relaxed", {.activation = 0}),
               heavy = run("relaxed, heavy forearm", {.activation = 0, .forearm_density = 15000}),
               floating = run("floating", {.shoulder = "free", .gravity = false}),
               finer = run("floating, a quarter of the step", {.shoulder = "free", .gravity = false, .dt = 0.00125}),
               light = run("massless muscle", {.muscle_density = 1});
  double apart = 0;
  for (std::size_t k = 0; k < std::min(one.elbow.size(), light.elbow.size()); ++k)
    apart = std::max(apart, std::abs(one.elbow[k] - light.elbow[k]));
  context.decide(
      Decision("conjac/fig-6/two-way")
          .needs(one.completed && relaxed.completed && floating.completed && light.completed && heavy.completed,
                 "all runs complete")
          .needs(one.muscle_mass > one.bone_mass, "the muscle is heavier than the bones")
          .at_least("activation bends the elbow by, degrees",
                    std::abs(one.elbow.empty() ? 0 : *std::max_element(one.elbow.begin(), one.elbow.end())), 20)
          .above("a torque at the elbow (a heavy forearm) stretches the passive muscle by", heavy.stretch, 1e-3)
          .at_least("floating arm: turn of the elbow, degrees", range_of_angle(floating.elbow), 20)
          .at_most("floating arm: linear momentum over the sum of |m v|", floating.momentum, 1e-8)
          .at_most("floating arm: angular momentum over the sum of its parts'", floating.angular, 0.01)
          .at_least("elbow's motion with a massless muscle differs by, over its range",
                    apart / range_of_angle(one.elbow), 0.1)
          .note("muscle over bones, kg", one.muscle_mass / one.bone_mass)
          .because(fmt::format("with a quarter of the step momentum is off by {:.2g} in place of {:.2g} and angular "
                               "momentum by {:.2g} in place of {:.2g}{}",
                               finer.momentum, floating.momentum, finer.angular, floating.angular,
                               finer.completed ? "" : " (until it ends as " + finer.outcome + ")")));
  const auto follows = [&](const ArmRun& other) {
    double most = 0;
    for (std::size_t k = 0; k < std::min(one.elbow.size(), other.elbow.size()); ++k)
      most = std::max({most, std::abs(one.elbow[k] - other.elbow[k]) / range_of_angle(other.elbow),
                       std::abs(one.shoulder[k] - other.shoulder[k]) / range_of_angle(other.shoulder)});
    return most;
  };
  // Each comparison needs its own two runs; one that fails decides, whether the other could be made or not.
  Decision four("conjac/fig-6/four-unknowns");
  four.equal("unknowns: joint angles, and coordinates of the node that nothing holds", one.unknowns, 4);
  for (const auto& [nodes, other] : {std::pair{5, &five}, {20, &twenty}})
    if (one.completed && other->completed)
      four.at_most(fmt::format("joint angles from those with {} nodes, over their range", nodes), follows(*other), 0.05)
          .because(fmt::format("one node differs by {:.2g} of the range from {}", follows(*other), nodes));
  if (four.verdict() != Verdict::fails)
    four.needs(one.completed && five.completed && twenty.completed, "all runs complete");
  for (const auto& [nodes, other] : {std::pair{1, &one}, {5, &five}, {20, &twenty}})
    if (!other->completed)
      four.because(
          fmt::format("the run with {} ends as {} after {} steps", nodes, other->outcome, other->elbow.size()));
  context.decide(four);
  Decision dynamic("conjac/fig-6/how-dynamic");
  for (const auto& [name, arm] : {std::pair{"0 nodes", &none}, {"1 node", &one}, {"5 nodes", &five}}) {
    dynamic.part(fmt::format("{}: largest elbow angle", name), range_of_angle(arm->elbow), "the run completes",
                 arm->completed);
    int turns = 0;
    for (std::size_t k = 12; k + 1 < arm->elbow.size(); ++k)
      turns += (arm->elbow[k] - arm->elbow[k - 1]) * (arm->elbow[k + 1] - arm->elbow[k]) < 0;
    dynamic.at_least(fmt::format("{}: turning points of the elbow after the activation", name), turns, 2);
  }
  dynamic.above("muscle's own kinetic energy with 1 node over that with none", one.muscle_kinetic / none.muscle_kinetic,
                1);
  for (const auto& [name, arm] : {std::pair{"0 nodes", &none}, {"1 node", &one}, {"5 nodes", &five}})
    if (!arm->completed)
      dynamic.because(fmt::format("the run with {} ends as {} after {} of {} steps, the elbow at {:.3g} degrees", name,
                                  arm->outcome, arm->elbow.size(), std::lround(context.number("duration") / 0.005),
                                  arm->elbow.empty() ? 0 : arm->elbow.back()));
  context.decide(dynamic);
}

}  // namespace

Experiment conjac_muscle() {
  return {"conjac/muscle",
          "An arm of rigid bones with joints at shoulder and elbow, bent by a soft muscle in the plane (fig. 6)",
          {{"cells", "28,8", "28,8", "of the slab: 261 vertices a layer, the paper's has 262"},
           {"duration", "1", "0.5", "s"}},
          run_muscle};
}

}  // namespace pliant::experiments
