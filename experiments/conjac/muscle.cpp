// conjac, "Muscle" (fig. 6): an arm of two bones and a muscle, in three dimensions. Bones are rigid links with joints
// at shoulder and elbow, the muscle is soft, heavier than the bones and has one dynamic node; its fibres contract.
// Beside it, what such chains must do by themselves: a pendulum's period, and the momentum of an arm that floats.

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/conjac/conjac.hpp"
#include "pliant/simulation/simulation.hpp"

namespace pliant::experiments {

namespace {

std::string arm(int cells, const std::string& shoulder, bool gravity, double activation, double h, double duration) {
  std::string text =
      fmt::format("[simulation]\ndt = {}\nduration = {}\ngravity = [0, {}, 0]\n", h, duration, gravity ? -9.81 : 0.0);
  text += fmt::format(
      "[[body]]\nname = \"biceps\"\nbox = {{size = [0.12, 0.02, 0.02], cells = [{}, {}, {}], origin = [0.02, 0.012, "
      "-0.01]}}\nmaterial = \"stable-neo-hookean\"\nyoung = 3e4\npoisson = 0.49\n[body.regions.tendons]\nwhere = [\"x "
      "< "
      "0.04\", \"x > 0.12\"]\nyoung = 3e5\npoisson = 0.49\n",
      4 * cells, cells, cells);
  text +=
      "[[body.fibres]]\nlaw = \"fung\"\nstiffness = 1e4\nactive_stress = 6e4\ndirection = [1, 0, 0]\nmuscle = "
      "\"biceps\"\n";
  text += fmt::format("[[muscle]]\nname = \"biceps\"\nactivation = [[0, 0], [0.1, 0], [0.4, {}]]\n", activation);
  text += fmt::format(
      "[[link]]\nname = \"upper-arm\"\njoint = \"{}\"\npivot = [0, 0, 0]\ncapsule = {{begin = [0, 0, 0], end = [0.1, "
      "0, "
      "0], radius = 0.008}}\ndensity = 1500\n",
      shoulder);
  text +=
      "[[link]]\nname = \"forearm\"\nparent = \"upper-arm\"\njoint = \"hinge\"\npivot = [0.1, 0, 0]\ncapsule = {begin "
      "= "
      "[0.108, 0, 0], end = [0.2, 0, 0], radius = 0.007}\ndensity = 1500\n";
  text +=
      "[[attachment]]\nwhere = \"x < 0.03\"\nlink = \"upper-arm\"\n[[attachment]]\nwhere = \"x > 0.13\"\nlink = "
      "\"forearm\"\n[solver]\nname = \"conjac\"\ndynamic_nodes = 1\nsafeguard = \"none\"\nturning = "
      "\"linear\"\ngamma_search = false\n";
  return text;
}

struct Arm {
  double elbow = 0, shoulder = 0;  ///< degrees at the end
  double momentum = 0;             ///< largest over the momentum that moves, m (v - v of the centre) summed
  bool completed = true;
  double ms = 0;
  Index nodes = 0;
};

Arm move_arm(const std::string& text, const std::function<bool()>& stop) {
  Simulation simulation(parse_scene(text, "arm"));
  const Model& model = *simulation.model();
  Arm arm;
  arm.nodes = model.nodes();
  double momentum = 0, moving = 0;
  while (simulation.state()->step < simulation.scene().steps && !stop()) {
    const StepReport report = simulation.step();
    arm.ms += 1e3 * report.seconds.total / static_cast<double>(simulation.scene().steps);
    if (!simulation.took(report)) {
      arm.completed = false;
      break;
    }
    Vec3 sum = Vec3::Zero();
    double each = 0;
    for (Index i = 0; i < model.nodes(); ++i) {
      const Vec3 p = model.mass().lumped()[i] * node(simulation.state()->v, i);
      sum += p;
      each += p.norm();
    }
    momentum = std::max(momentum, sum.norm());
    moving = std::max(moving, each);
  }
  arm.momentum = moving > 0 ? momentum / moving : 0;
  const auto poses = model.articulation()->poses(simulation.state()->x);
  const auto degrees = [](const Mat3& R) { return std::atan2(R(1, 0), R(0, 0)) * 180 / std::numbers::pi; };
  arm.shoulder = degrees(poses[0].rotation);
  arm.elbow = degrees(poses[0].rotation.transpose() * poses[1].rotation);
  return arm;
}

void run_muscle(Context& context) {
  const auto cells = static_cast<int>(context.number("cells"));
  const double h = context.number("h"), duration = context.number("duration");
  const auto stop = [&] { return context.stopped(); };
  const auto report = [&](const std::string& what, const Arm& arm) {
    context.row({{"arm", what},
                 {"nodes", arm.nodes},
                 {"elbow_degrees", arm.elbow},
                 {"shoulder_degrees", arm.shoulder},
                 {"momentum_error", arm.momentum},
                 {"ms", arm.ms},
                 {"outcome", arm.completed ? "completed" : "failed"}});
  };
  context.progress(0, "relaxed");
  const Arm relaxed = move_arm(arm(cells, "fixed", true, 0, h, duration), stop);
  report("shoulder fixed, relaxed", relaxed);
  const Arm lifted = move_arm(arm(cells, "fixed", true, 1, h, duration), stop);
  report("shoulder fixed, contracting", lifted);
  context.progress(0.4, "swinging");
  const Arm limp = move_arm(arm(cells, "hinge", true, 0, h, duration), stop);
  report("swinging, relaxed", limp);
  const Arm swung = move_arm(arm(cells, "hinge", true, 1, h, duration), stop);
  report("swinging, contracting", swung);
  context.progress(0.8, "floating");
  const Arm floating = move_arm(arm(cells, "free", false, 1, h, duration), stop);
  report("floating, contracting", floating);
  if (context.stopped()) return;
  context.check({"the muscle lifts the forearm (degrees at the elbow: relaxed, contracting)", "fig. 6",
                 Json::array({relaxed.elbow, lifted.elbow}), lifted.elbow > relaxed.elbow + 20});
  context.check({"two-way coupling: contraction turns the bones against each other at shoulder and elbow (degrees)",
                 "fully two-way coupled", Json::array({swung.shoulder - limp.shoulder, swung.elbow - limp.elbow}),
                 std::abs(swung.elbow - limp.elbow) > 5 && std::abs(swung.shoulder - limp.shoulder) > 0.5});
  context.check({"a floating arm keeps its momentum (over the sum of its parts')", "-", floating.momentum,
                 floating.completed && floating.momentum <= 1e-6});
}

}  // namespace

Experiment conjac_muscle() {
  return {"conjac/muscle",
          "An arm of rigid bones with joints at shoulder and elbow, bent by a soft muscle (fig. 6)",
          {{"cells", "4", "3", "across the muscle; 4 are 425 nodes, the paper's has 262"},
           {"h", "0.005", "0.005", "time step, s"},
           {"duration", "1", "0.6", "s"}},
          run_muscle};
}

}  // namespace pliant::experiments
