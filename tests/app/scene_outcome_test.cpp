// Example scenes end as their titles say.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <optional>

#include "pliant/contact/aabb.hpp"
#include "pliant/simulation/simulation.hpp"

namespace pliant::test {
namespace {

/// A scene of the folder, run to its end.
struct Ending {
  std::shared_ptr<const Model> model;
  State state;
  std::vector<VecX> positions;  ///< after each step

  Range nodes(std::size_t body) const { return model->bodies()[body].nodes; }
  Aabb box(std::size_t body) const {
    Aabb box;
    for (Index i = nodes(body).begin; i < nodes(body).end; ++i) box.include(node(state.x, i));
    return box;
  }
  Vec3 centre(std::size_t body) const {
    Vec3 sum = Vec3::Zero();
    for (Index i = nodes(body).begin; i < nodes(body).end; ++i) sum += node(state.x, i);
    return sum / nodes(body).size();
  }
  double fastest() const {
    double speed = 0;
    for (Index i = 0; i < model->nodes(); ++i) speed = std::max(speed, Vec3(node(state.v, i)).norm());
    return speed;
  }
};

Ending run_scene(const std::string& name, const std::vector<std::string>& set = {}) {
  Simulation simulation(load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/" + name + ".toml", {set, ""}));
  Ending outcome;
  for (std::int64_t step = 0; step < simulation.scene().steps; ++step) {
    const StepReport report = simulation.step();
    EXPECT_TRUE(report.succeeded()) << name << ", step " << step + 1 << ": " << report.detail;
    if (!report.succeeded()) break;
    outcome.positions.push_back(simulation.state()->x);
  }
  outcome.model = simulation.model();
  outcome.state = *simulation.state();
  return outcome;
}

TEST(Scenes, StackEndsWithEachBoxAtRestOnTheOneBelow) {
  const Ending stack = run_scene("stack");
  const Aabb bottom = stack.box(0), middle = stack.box(1), top = stack.box(2);
  EXPECT_GT(bottom.min.y(), 0);
  EXPECT_LT(bottom.min.y(), 0.003);
  // A soft box bulges, so that its highest corner is a little above where the next one stands.
  EXPECT_NEAR(middle.min.y(), bottom.max.y(), 0.012);
  EXPECT_NEAR(top.min.y(), middle.max.y(), 0.012);
  for (std::size_t body : {1, 2}) {
    EXPECT_NEAR(stack.centre(body).x(), 0, 0.05);
    EXPECT_NEAR(stack.centre(body).z(), 0, 0.02);
  }
  EXPECT_LT(stack.fastest(), 0.05);
}

TEST(Scenes, JellyLagsBehindItsPlateSwaysFurtherAndComesToRest) {
  const Ending jelly = run_scene("jelly");
  const VecX& rest = jelly.model->rest();
  const auto displacement = [&](const VecX& x, double height) {
    double sum = 0;
    int count = 0;
    for (Index i = 0; i < jelly.model->nodes(); ++i)
      if (std::abs(rest[3 * i + 1] - height) < 1e-6) {
        sum += x[3 * i] - rest[3 * i];
        ++count;
      }
    return sum / count;
  };
  // After 7 steps the plate is nearly at 2 cm for the first time, and the top still on its way.
  EXPECT_NEAR(displacement(jelly.positions[6], 0), 0.0194, 2e-4);
  EXPECT_LT(displacement(jelly.positions[6], 0.08), 0.012);
  double sway = 0;
  for (const VecX& x : jelly.positions) sway = std::max(sway, std::abs(displacement(x, 0.08)));
  EXPECT_GT(sway, 0.035);
  EXPECT_LT(std::abs(displacement(jelly.state.x, 0.08)), 0.004);
}

TEST(Scenes, GripperLiftsTheBall) {
  const Ending gripper = run_scene("gripper");
  EXPECT_GT(gripper.box(0).min.y(), 0.08);
  EXPECT_LT(gripper.fastest(), 0.05);
  EXPECT_LT(run_scene("gripper", {"contact.friction=0.03"}).box(0).min.y(), 0.001) << "it slips out";
}

TEST(Scenes, RingsHangInEachOther) {
  const Ending chain = run_scene("ring-chain");
  for (std::size_t ring = 1; ring < 4; ++ring) {
    const double below = chain.centre(ring - 1).y() - chain.centre(ring).y();
    // Linked rings of 10 cm and half 2.5 cm thick hang 15 cm below each other, and stretch a little.
    EXPECT_GT(below, 0.14) << ring;
    EXPECT_LT(below, 0.175) << ring;
  }
}

TEST(Scenes, ClothLiesOnTheBallAndHangsDownAllAround) {
  const Ending cloth = run_scene("draped-cloth");
  const Vec3 ball(0, 0.35, 0);
  double nearest = 1;
  for (Index i = 0; i < cloth.model->nodes(); ++i)
    nearest = std::min(nearest, (Vec3(node(cloth.state.x, i)) - ball).norm());
  EXPECT_GT(nearest, 0.299) << "the ball is a polyhedron inside a sphere of 30 cm";
  EXPECT_LT(nearest, 0.305);
  const Aabb box = cloth.box(0);
  EXPECT_LT(box.min.y(), 0.2);
  EXPECT_GT(box.min.y(), 0);
  EXPECT_LT(std::abs(cloth.centre(0).x()), 0.02);
  EXPECT_LT(std::abs(cloth.centre(0).z()), 0.02);
}

TEST(Scenes, SoftFingersLiftTheBallUnlessItIsTooHeavy) {
  const Ending gripper = run_scene("soft-gripper");
  // The fingers are lifted by 12 cm; by their bending they let it slip a little.
  EXPECT_GT(gripper.box(0).min.y(), 0.11);
  EXPECT_LT(gripper.fastest(), 0.01);
  for (std::size_t finger : {1, 2}) {
    const Range nodes = gripper.nodes(finger);
    double bend = 0;
    for (Index i = nodes.begin; i < nodes.end; ++i) bend = std::max(bend, std::abs(node(gripper.state.x, i).x()));
    EXPECT_GT(bend, 0.075) << "60 mm is where its outer side would be, were it straight";
  }
  EXPECT_LT(run_scene("soft-gripper", {"body.ball.density=1500"}).box(0).min.y(), 0.05) << "it stays behind";
}

TEST(Scenes, AFigureFallsDownTheStairsAndLies) {
  const Ending stairs = run_scene("stairs");
  // From the top, 56 cm high, to the lowest step of 14 cm, over its edge at x = 1.05 m; its limbs bend down to 10 cm.
  EXPECT_GT(stairs.centre(0).x(), 0.8);
  EXPECT_LT(stairs.centre(0).y(), 0.3);
  EXPECT_GT(stairs.box(0).min.y(), 0);
  for (Index i = 0; i < stairs.model->nodes(); ++i) {
    const Vec3 x = node(stairs.state.x, i);
    const double step = std::floor((x.x() + 0.15) / 0.3);
    if (step >= 4) continue;
    EXPECT_GT(x.y(), 0.14 * (4 - step) - 1e-3) << "node " << i << " is inside step " << step + 1;
  }
  EXPECT_LT(stairs.fastest(), 0.3);
}

TEST(Scenes, ThirtyBodiesHeapUpInTheBoxAndComeToRest) {
  const Ending heap = run_scene("heap");
  ASSERT_EQ(heap.model->bodies().size(), 30U);
  double highest = 0;
  for (std::size_t body = 0; body < 30; ++body) {
    const Aabb box = heap.box(body);
    EXPECT_GT(box.min.y(), 0) << body;
    for (int axis : {0, 2}) {
      EXPECT_GT(box.min[axis], -0.2) << body;
      EXPECT_LT(box.max[axis], 0.2) << body;
    }
    highest = std::max(highest, box.max.y());
    EXPECT_LT((box.max - box.min).maxCoeff(), 0.15) << body << " is as large as it was";
  }
  EXPECT_GT(highest, 0.12) << "they lie on each other";
  EXPECT_LT(highest, 0.3);
  EXPECT_LT(heap.fastest(), 0.6);
}

TEST(Scenes, ABallComesOutOfANarrowerRingAndIsRoundAgain) {
  const Ending ball = run_scene("squeezed-ball", {"body.ball.sphere.cells=9"});  // a coarser one, for the test
  const Aabb box = ball.box(0);
  EXPECT_GT(box.min.x(), 1.7) << "the ring ends there";
  for (int axis : {1, 2}) EXPECT_NEAR(box.max[axis] - box.min[axis], 2, 0.1) << "a ball of 2 m, which still quivers";
}

TEST(Scenes, AMuscleLiftsTheBarThatSagged) {
  const Ending muscle = run_scene("muscle");
  Aabb before;
  for (Index i = 0; i < muscle.model->nodes(); ++i) before.include(node(muscle.positions[47], i));
  EXPECT_LT(before.min.y(), -0.4) << "at 0.8 s, before it contracts";
  EXPECT_GT(muscle.box(0).min.y(), -0.2);
}

TEST(Scenes, AMuscleBendsTheArm) {
  const Ending arm = run_scene("arm");
  Aabb bent;
  const Range muscle = arm.nodes(0);
  for (Index i = muscle.begin; i < muscle.end; ++i) bent.include(node(arm.positions[149], i));
  // It spans the elbow, from 2 to 14 cm along the straight arm.
  EXPECT_LT(bent.max.x() - bent.min.x(), 0.1);
  EXPECT_GT(bent.max.y(), 0.045) << "the forearm takes its end upwards";
}

/// The first step of a scene that does not succeed, or none.
std::optional<StepReport> first_failure(const std::string& name, const std::vector<std::string>& set, int steps) {
  Simulation simulation(load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/" + name + ".toml", {set, ""}));
  for (int step = 0; step < steps; ++step)
    if (const StepReport report = simulation.step(); !report.succeeded()) return report;
  return {};
}

TEST(Scenes, AnArmThatRunsAwaySaysWhatHelpsAndItDoes) {
  const std::string large = "simulation.dt=0.05", small = "simulation.dt=0.02";
  const auto at_large_steps = first_failure("arm", {large}, 60);
  ASSERT_TRUE(at_large_steps);
  EXPECT_EQ(at_large_steps->outcome, Outcome::diverged);
  EXPECT_NE(at_large_steps->detail.find("remedy: take smaller steps"), std::string::npos) << at_large_steps->detail;
  EXPECT_FALSE(first_failure("arm", {small}, 150));
  const auto unguarded = first_failure("arm", {small, "solver.safeguard=none"}, 150);
  ASSERT_TRUE(unguarded);
  EXPECT_NE(unguarded->detail.find("remedy: set safeguard = \"newton\""), std::string::npos) << unguarded->detail;
}

TEST(Scenes, AHangingClothSwingsDownUnderTheLinearlyImplicitSolversToo) {
  for (const char* solver : {"conjac", "linearly-implicit"}) {
    Simulation simulation(load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/hanging-cloth.toml",
                                     {{"simulation.duration=0.5"}, solver}));
    for (int step = 0; step < 30; ++step) {
      const StepReport report = simulation.step();
      ASSERT_TRUE(report.succeeded()) << solver << ": " << report.detail;
    }
    Aabb box;
    for (Index i = 0; i < simulation.model()->nodes(); ++i) box.include(node(simulation.state()->x, i));
    EXPECT_LT((box.max - box.min).norm(), 2) << solver << ", of a square metre";
  }
}

TEST(Scenes, BalloonGrowsByItsGasAndRestsOnTheFloor) {
  const Ending balloon = run_scene("balloon");
  const SurfaceLoad& air = balloon.model->surface_loads().front();
  const double volume = -air.faces->volume(balloon.state.x, air.faces->mean(balloon.state.x));
  const double ratio = volume / air.rest_volume;
  // Half as much gas again: most of it became volume, the rest is what the wall holds, p = 1.5 p0 / ratio.
  EXPECT_GT(ratio, 1.3);
  EXPECT_LT(ratio, 1.5);
  EXPECT_GT(balloon.box(0).min.y(), 0);
  EXPECT_LT(balloon.box(0).min.y(), 0.001);
  EXPECT_LT(balloon.fastest(), 1e-3);
}

TEST(Scenes, TubeWidensAsLameSays) {
  const Ending tube = run_scene("tube");
  const double a = 0.05, b = 0.1, p = 1e5, young = 1e8, nu = 0.3;
  const double expected = p * a / young * (1 + nu) / (b * b - a * a) * ((1 - 2 * nu) * a * a + b * b);
  double sum = 0;
  const auto& inner = tube.model->bodies()[0].sets().at("inner");
  for (Index v : inner) {
    const Vec3 X = node(tube.model->rest(), v), x = node(tube.state.x, v);
    sum += std::hypot(x.x(), x.y()) - std::hypot(X.x(), X.y());
  }
  EXPECT_NEAR(sum / static_cast<double>(inner.size()), expected, 0.02 * expected);
}

TEST(Scenes, SeesawHangsAsItsSpringsSayWithTheCushionOnIt) {
  const Ending seesaw = run_scene("seesaw", {"simulation.duration=6"});
  // The rope holds 2 kg: m g/k longer than at rest.
  const Tie& rope = seesaw.model->ties()->ties().back();
  EXPECT_NEAR(rope.difference(seesaw.state.x).norm() - rope.rest_length, 2 * 9.81 / 500, 2e-3);
  for (const Tie& tie : seesaw.model->ties()->ties())
    if (tie.rest_length == 0) {
      EXPECT_LT(tie.difference(seesaw.state.x).norm(), 1e-3);  // the glue holds
    }
  EXPECT_LT(seesaw.fastest(), 0.05);
}

TEST(Scenes, RigidFingersLiftTheCubeByFriction) {
  const Ending gripper = run_scene("rigid-gripper");
  EXPECT_GT(gripper.box(0).min.y(), 0.13);  // the hand went up by 0.15 m
  EXPECT_LT(gripper.box(0).max.y(), 0.26);
  const Vec3 centre = 0.5 * (gripper.box(0).min + gripper.box(0).max);
  EXPECT_LT(std::hypot(centre.x(), centre.z()), 0.01);  // between the fingers
}

TEST(Scenes, ABallBouncesOnTheTrampoline) {
  const double radius = 0.095;
  const Ending trampoline = run_scene("trampoline");
  double lowest = 1, highest_after = -1;
  for (const VecX& x : trampoline.positions) {
    double y = 0;
    for (Index i = trampoline.nodes(1).begin; i < trampoline.nodes(1).end; ++i) y += node(x, i).y() / 4;
    if (y < lowest) {
      lowest = y;
      highest_after = y;
    }
    highest_after = std::max(highest_after, y);
  }
  EXPECT_LT(lowest, radius - 0.03);         // it sinks in by more than the sheet is thick
  EXPECT_GT(highest_after, radius + 0.05);  // and leaves the sheet again
  EXPECT_LT(std::hypot(trampoline.centre(1).x(), trampoline.centre(1).z()), 0.05);
}

TEST(Scenes, FlagIsBlownAndStaysOnItsPole) {
  const Ending flag = run_scene("flag", {"simulation.duration=0.5"});
  const Aabb box = flag.box(0);
  EXPECT_LT((box.max - box.min).norm(), 1.2);  // it hardly stretches
  EXPECT_GT(box.max.z(), 0.2);
  for (Index i = 0; i < flag.model->nodes(); ++i)
    if (node(flag.model->rest(), i).x() < 1e-9) {
      EXPECT_LT((node(flag.state.x, i) - node(flag.model->rest(), i)).norm(), 1e-3);
    }
}

TEST(Scenes, AHangingNetCatchesTheBall) {
  const Ending net = run_scene("net");
  const Vec3 ball = net.centre(1);
  EXPECT_LT(ball.y(), 0.12);  // it has sunk into the net,
  EXPECT_GT(ball.y(), -0.5);  // which has not let it through
  EXPECT_LT(std::hypot(ball.x(), ball.z()), 0.2);
}

TEST(Scenes, TheTowelHangsOverTheWashingLine) {
  const Ending line = run_scene("washing-line");
  const Aabb towel = line.box(0);
  EXPECT_GT(towel.max.y(), -0.15);  // the line has given way, and carries it,
  EXPECT_LT(towel.min.y(), -0.35);  // and both of its ends hang down:
  const double middle = line.centre(1).y();
  for (const char* end : {"z-min", "z-max"})
    for (Index v : line.model->bodies()[0].sets().at(end))
      EXPECT_LT(node(line.state.x, line.nodes(0).begin + v).y(), middle - 0.2) << end;
  EXPECT_LT(line.fastest(), 1);
}

TEST(Scenes, RingsOfTheCurtainStayOnTheirRail) {
  const Ending curtain = run_scene("curtain");
  double last = 0;
  for (Index i : {4, 8, 12, 16, 20, 24, 28}) {
    const Vec3 ring = node(curtain.state.x, i);
    EXPECT_NEAR(ring.y(), 0, 5e-3);
    EXPECT_NEAR(ring.z(), 0, 5e-3);
    EXPECT_GT(ring.x(), last);  // in their order
    last = ring.x();
  }
  EXPECT_GT(node(curtain.state.x, 4).x(), 0.8);  // it has been drawn
}

/// Of the nodes of a body that lie between two planes at rest, the mean of what `value` says of them.
template <class Value>
double mean_between(const Ending& ending, std::size_t body, double low, double high, Value&& value) {
  double sum = 0;
  int count = 0;
  for (Index i = ending.nodes(body).begin; i < ending.nodes(body).end; ++i) {
    const double x = node(ending.model->rest(), i).x();
    if (x < low || x > high) continue;
    sum += value(i);
    ++count;
  }
  EXPECT_GT(count, 0);
  return sum / count;
}

TEST(Scenes, BarIsCutTwiceAndThePieceThatNothingHoldsFalls) {
  const Ending bar = run_scene("bar-cut");
  EXPECT_EQ(bar.model->nodes(), 25 * 7 * 7 + 2 * 7 * 7) << "the vertices of both cuts are there twice";
  // What it gains of speed in eight steps after the second cut, as its centre of mass moves.
  const auto gains = [&](double low, double high) {
    const auto speed = [&](std::size_t step) {
      return mean_between(bar, 0, low, high, [&](Index i) {
        return (node(bar.positions[step], i).y() - node(bar.positions[step - 1], i).y()) / 0.005;
      });
    };
    return speed(169) - speed(161);
  };
  EXPECT_NEAR(gains(0.062, 0.088), -0.04 * 9.81, 0.04 * 0.981) << "m/s: free fall";
  EXPECT_GT(bar.box(0).max.x(), 0.1499) << "its right neighbour stays at the wall";
}

TEST(Scenes, CantileverSinksAsBeamTheorySays) {
  const Ending beam = run_scene("cantilever");
  const double sag = mean_between(beam, 0, 2 - 1e-9, 2 + 1e-9,
                                  [&](Index i) { return node(beam.model->rest(), i).y() - node(beam.state.x, i).y(); });
  const double theory = 1000 * std::pow(2.0, 3) / (3 * 2.1e11 * std::pow(0.1, 4) / 12);
  EXPECT_NEAR(sag, theory, 0.01 * theory);
}

TEST(Scenes, ThrownBlocksFlyAsTheyFallAndTheFreeOneSpins) {
  const Ending blocks = run_scene("spinning-block");
  const int n = static_cast<int>(blocks.positions.size());
  const double h = 1.0 / 120, fallen = 9.81 * h * h * n * (n + 1) / 2;  // implicit Euler's parabola
  EXPECT_NEAR(blocks.centre(0).y(), 0.25 + 8 * h * n - fallen, 0.01);
  EXPECT_NEAR(blocks.centre(0).x(), 0, 0.01);
  const Range spinner = blocks.nodes(0);
  const auto direction = [&](const VecX& x) {
    const Vec3 along = node(x, spinner.end - 1) - node(x, spinner.begin);
    return std::atan2(along.y(), along.x());
  };
  double turned = 0, last = direction(blocks.model->rest());
  for (const VecX& x : blocks.positions) {
    turned += std::remainder(direction(x) - last, 2 * std::numbers::pi);
    last = direction(x);
  }
  EXPECT_GT(turned, 2 * std::numbers::pi) << "more than once in 1.5 s";
}

TEST(Scenes, BarWithAStiffMiddleGivesWayAtItsEnds) {
  const Ending bar = run_scene("stretched-bar");
  const VecX& pulled = bar.positions[29];  // 1 s
  const auto mean_x = [&](double at) {
    return mean_between(bar, 0, at - 0.01, at + 0.01, [&](Index i) { return node(pulled, i).x(); });
  };
  EXPECT_NEAR(mean_x(3), 4.5, 0.01);
  EXPECT_LT((mean_x(2.125) - mean_x(0.875)) / 1.25, 1.2) << "ten times as stiff";
  EXPECT_GT(mean_x(0.75) / 0.75, 1.6);
  const auto corner = [&](const VecX& x) {  // at rest at (3, 0, 0)
    for (Index i = 0; i < bar.model->nodes(); ++i)
      if ((node(bar.model->rest(), i) - Vec3(3, 0, 0)).norm() < 1e-9) return Vec3(node(x, i));
    return Vec3(Vec3::Zero());
  };
  EXPECT_LT((corner(bar.positions[59]) - Vec3(4.5, 0.5, 0.5)).norm(), 0.02) << "twisted by half a turn";
  EXPECT_LT((corner(bar.state.x) - Vec3(2.4, 0, 0)).norm(), 0.02) << "turned back, and pushed";
}

TEST(Scenes, BeamSwingsDownUpAndDownAgain) {
  const Ending beam = run_scene("swinging-beam");
  const auto lowest = [&](double time) {
    double y = 0;
    for (Index i = 0; i < beam.model->nodes(); ++i)
      y = std::min(y, node(beam.positions[static_cast<std::size_t>(60 * time) - 1], i).y());
    return y;
  };
  EXPECT_LT(lowest(0.65), -0.9);
  EXPECT_GT(lowest(1.25), -0.3);
  EXPECT_LT(lowest(2), -0.85);
}

TEST(Scenes, BeamIsTwistedByOneAndAHalfTurnsAndUnwindsAsItHangs) {
  const Ending beam = run_scene("twisted-beam", {"body.beam.box.cells=[16, 4, 4]"});  // a coarser one, for the test
  const auto corner = [&](const VecX& x) {                                            // at rest at (4, 0, 0)
    for (Index i = 0; i < beam.model->nodes(); ++i)
      if ((node(beam.model->rest(), i) - Vec3(4, 0, 0)).norm() < 1e-9) return Vec3(node(x, i));
    return Vec3(Vec3::Zero());
  };
  EXPECT_LT((corner(beam.positions[140]) - Vec3(4, 1, 1)).norm(), 0.05) << "held at 2.35 s";
  EXPECT_LT(beam.box(0).min.y(), -2.5) << "let go";
}

TEST(Scenes, BlockSlidesToAndFroInTheBowl) {
  const Ending block = run_scene("bowl", {"body.block.box.cells=[4, 4, 4]"});  // a coarser one, for the test
  double left = 1, right = -1, farthest = 0;
  for (const VecX& x : block.positions) {
    double middle = 0;
    for (Index i = 0; i < block.model->nodes(); ++i) {
      middle += node(x, i).x() / block.model->nodes();
      if (node(x, i).y() < 1.5) farthest = std::max(farthest, (node(x, i) - Vec3(0, 1.5, 0)).norm());  // below its rim
    }
    left = std::min(left, middle);
    if (left < -0.3) right = std::max(right, middle);
  }
  EXPECT_LT(left, -0.4);
  EXPECT_GT(right, 0.2) << "and back";
  EXPECT_LT(farthest, 1.5) << "never through the bowl";
}

TEST(Scenes, LatticeBouncesAndComesToRest) {
  const Ending lattice = run_scene("dropped-lattice", {"body.lattice.lattice.across=1"});  // thinner, for the test
  bool has_landed = false;
  double bounce = 0;
  for (const VecX& x : lattice.positions) {
    double low = 1;
    for (Index i = 0; i < lattice.model->nodes(); ++i) low = std::min(low, node(x, i).y());
    EXPECT_GT(low, 0);
    has_landed = has_landed || low < 0.003;
    if (has_landed) bounce = std::max(bounce, low);
  }
  EXPECT_GT(bounce, 0.015);
  EXPECT_LT(lattice.fastest(), 0.05);
}

TEST(Scenes, PileStaysInItsBoxOneBodyOnAnother) {
  const Ending pile = run_scene("pile");
  for (std::size_t body = 0; body < 4; ++body) {
    const Aabb box = pile.box(body);
    for (int axis = 0; axis < 3; ++axis) EXPECT_GT(box.min[axis], -0.02) << body;
    EXPECT_LT(box.max.x(), 1.02) << body;
    EXPECT_LT(box.max.z(), 0.92) << body;
    EXPECT_LT(box.max.y(), 0.75) << "piled up, not stretched";
  }
  EXPECT_GT(pile.box(3).min.y(), 0.05) << "the cube lies on others";
  EXPECT_LT(pile.fastest(), 1);
}

}  // namespace
}  // namespace pliant::test
