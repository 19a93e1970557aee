#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <Eigen/Geometry>

#include "experiments/contact/apart.hpp"
#include "pliant/base/error.hpp"
#include "pliant/contact/intersection.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

using testing::box_body, testing::floor_plane;

TEST(Contact, TheJudgeOfTheseTestsFindsWhatTheStartCheckFinds) {
  // Boxes with random offsets, turned a little or not at all: coplanar faces among them.
  std::uint64_t seed = 1;
  const auto random = [&] {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(seed >> 11) / 9007199254740992.0 - 0.5;
  };
  int cut = 0, apart = 0;
  for (int k = 0; k < 200; ++k) {
    ModelBuilder builder;
    builder.add_body(box_body("first", {1, 1, 1}, {2, 2, 2}, {0, 0, 0}));
    BodyOptions second = box_body("second", {1, 1, 1}, {2, 2, 2}, {0, 0, 0});
    builder.add_body(second);
    builder.set_contact({.dhat = 1e-3});
    const auto model = builder.build();
    State state = model->rest_state();
    const Vec3 shift = k % 4 ? 2.5 * Vec3(random(), random(), random()) : Vec3(0.5 * (k % 5), k % 3, k % 7 / 4.0);
    const Eigen::AngleAxisd turn(k % 2 ? random() : 0.0, Vec3(1, 2, 3).normalized());
    for (Index i = model->bodies()[1].nodes.begin; i < model->bodies()[1].nodes.end; ++i)
      node(state.x, i) = turn * Vec3(node(state.x, i)) + shift;
    BroadPhase broad(model->contact()->surface);
    const auto expected = find_intersections(broad, state.x);
    EXPECT_EQ(apart::intersections(*model, state), static_cast<int>(expected.size())) << k;
    ++(expected.empty() ? apart : cut);
  }
  EXPECT_GT(std::min(cut, apart), 20);
}

TEST(Contact, ABlockRestsOnAPlaneWithoutTouchingIt) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(box_body("block", {0.2, 0.1, 0.2}, {4, 2, 4}, {0, 0.0505, 0}, 1e5));
  builder.add_collider(floor_plane());
  builder.set_contact({.dhat = 1e-3});
  const auto model = builder.build();
  EXPECT_EQ(model->colliders(), nullptr);
  const auto stepper = make_stepper(model, "pod-newton");
  State state = model->rest_state();
  StepReport report;
  for (int k = 0; k < 30; ++k) {
    report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.converged()) << report.detail;
    EXPECT_GT(report.minimum_gap, 0);
  }
  EXPECT_LT(state.v.cwiseAbs().maxCoeff(), 1e-2);
  EXPECT_LT(report.minimum_gap, 1e-3);
  EXPECT_EQ(report.contacts, 25);
}

/// A layer of cells a thousandth of a millimetre thick in the middle, as meshes from scans have them.
BodyOptions box_with_flat_cells(const std::string& name, const Vec3& centre) {
  BodyOptions body = box_body(name, {0.2, 0.2, 0.2}, {4, 4, 4}, Vec3::Zero());
  MeshData data = body.mesh->data();
  for (Vec3& p : data.vertices) {
    if (p.x() > 0.04) p.x() = p.x() > 0.09 ? 0.1 : 1e-6;
    p += centre;
  }
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  return body;
}

TEST(Contact, FlatCellsDoNotDecideAboutTheDistanceOfContact) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(box_with_flat_cells("lower", {0, 0.105, 0}));
  builder.add_body(box_with_flat_cells("upper", {0.03, 0.315, 0.02}));
  builder.add_collider(floor_plane(0.5));
  builder.set_contact({.friction = 0.5});
  const auto model = builder.build();
  EXPECT_NEAR(model->contact()->options.dhat, 1e-3 * 0.2 * std::sqrt(3.0), 1e-8);
  for (const std::string solver : {"pod-newton", "quasi-newton", "linearly-implicit"}) {
    const auto stepper = make_stepper(model, solver);
    State state = model->rest_state();
    for (int k = 0; k < 20; ++k) {
      const StepReport report = stepper->step(state, 1.0 / 60);
      ASSERT_TRUE(report.succeeded()) << solver << ", step " << k << ": " << report.detail;
      if (k == 0) {
        EXPECT_EQ(report.contacts, 0) << "a body at rest does not touch itself";
      }
    }
    EXPECT_EQ(apart::intersections(*model, state), 0) << solver;
    EXPECT_LT(state.v.cwiseAbs().maxCoeff(), 0.5) << solver;
  }
}

TEST(Contact, AFrictionlessImpactConservesMomentum) {
  // Two blocks, turned against each other, meet at 3 m/s in free space.
  ModelBuilder builder;
  BodyOptions first = box_body("first", {0.2, 0.2, 0.2}, {3, 3, 3}, {0, 0, 0}, 1e5);
  BodyOptions second = box_body("second", {0.2, 0.2, 0.2}, {3, 3, 3}, {0.03, 0.215, 0.02}, 1e5);
  second.density = 500;
  MeshData data = second.mesh->data();
  const Mat3 R = Eigen::AngleAxisd(0.3, Vec3(1, 2, 0.5).normalized()).toRotationMatrix();
  for (Vec3& p : data.vertices) p = R * (p - Vec3(0.03, 0.2, 0.02)) + Vec3(0.03, 0.29, 0.02);
  second.mesh = std::make_shared<TetMesh>(std::move(data));
  second.velocity = {0.1, -3, 0};
  builder.add_body(first);
  builder.add_body(second);
  builder.set_contact({.dhat = 1e-3});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "pod-newton", {{"tolerance", 1e-7}});
  State state = model->rest_state();
  const Vec3 before = testing::momentum(*model, state);
  int touching = 0;
  for (int k = 0; k < 20; ++k) {
    const StepReport report = stepper->step(state, 1.0 / 100);
    ASSERT_TRUE(report.converged()) << k << ": " << report.detail;
    touching += report.contacts > 0;
    EXPECT_EQ(apart::intersections(*model, state), 0) << k;
    EXPECT_LE((testing::momentum(*model, state) - before).norm(), 1e-8 * before.norm()) << k;
  }
  EXPECT_GT(touching, 2);
  EXPECT_GT(node(state.v, 0).norm(), 0);  // the first was hit
}

/// The mean displacement along a slope after `seconds`, and theory's.
struct Slide {
  double distance, speed, theory;
};
Slide slide(double mu, double angle, double seconds, double h) {
  ModelBuilder builder;
  const double g = 9.81;
  // The slope is the plane y = 0 and gravity leans.
  builder.set_gravity(g * Vec3(std::sin(angle), -std::cos(angle), 0));
  builder.add_body(box_body("block", {0.1, 0.05, 0.1}, {2, 1, 2}, {0, 0.0257, 0}, 1e7));
  builder.add_collider(floor_plane());
  builder.set_contact({.dhat = 1e-3, .friction = mu, .eps_v = 1e-3});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "pod-newton", {{"tolerance", 1e-4}});
  State state = model->rest_state();
  // Comes to rest on a level plane's worth of normal force first: begin at the height where it would hang.
  const auto steps = static_cast<int>(std::lround(seconds / h));
  for (int k = 0; k < steps; ++k) {
    const StepReport report = stepper->step(state, h);
    EXPECT_TRUE(report.converged()) << report.detail;
  }
  const Vec3 p = testing::momentum(*model, state) / model->mass().lumped().sum();
  double shift = 0;
  for (Index i = 0; i < model->nodes(); ++i) shift += (node(state.x, i) - node(model->rest(), i)).x() / model->nodes();
  return {shift, p.x(), g * (std::sin(angle) - mu * std::cos(angle))};
}

TEST(Contact, ABlockOnASlopeStaysBelowTheAngleOfFriction) {
  const double mu = 0.5;
  const Slide below = slide(mu, 0.99 * std::atan(mu), 1, 0.005);
  EXPECT_LT(below.speed, 1e-3);
  EXPECT_GT(below.speed, 0);  // creeps: friction below eps_v is viscous
}

TEST(Contact, ABlockOnASlopeAcceleratesBeyondTheAngleOfFrictionAsTheorySays) {
  const double mu = 0.5, angle = 1.01 * std::atan(mu);
  // Between two instants, after it has settled on the slope and exceeded eps_v.
  const Slide early = slide(mu, angle, 0.5, 0.005), late = slide(mu, angle, 1.5, 0.005);
  EXPECT_NEAR(late.speed - early.speed, late.theory, 0.03 * late.theory);
}

TEST(Contact, AnAdaptiveStiffnessKeepsAWiderGap) {
  double gap[2];
  for (const bool adaptive : {false, true}) {
    ModelBuilder builder;
    builder.set_gravity({0, -9.81, 0});
    builder.add_body(box_body("block", {0.2, 0.1, 0.2}, {2, 1, 2}, {0, 0.0505, 0}, 1e5));
    builder.add_collider(floor_plane());
    builder.set_contact({.dhat = 1e-3, .kappa = 1, .adaptive = adaptive});  // a thousandth of the pressure below
    const auto model = builder.build();
    const auto stepper = make_stepper(model, "pod-newton");
    State state = model->rest_state();
    StepReport report;
    for (int k = 0; k < 20; ++k) {
      report = stepper->step(state, 1.0 / 60);
      ASSERT_TRUE(report.converged()) << report.detail;
    }
    gap[adaptive] = report.minimum_gap;
  }
  EXPECT_GT(gap[0], 0);
  EXPECT_GT(gap[1], 2 * gap[0]);
}

TEST(Contact, FrictionMadeAnewWithinAStepActsFromTheImpactOn) {
  // A block hits a plane at 1 m/s while it slides along at 2 m/s: friction takes mu times the first off the second, but
  // only after the step of the impact when it is that of the step's start.
  const auto speed_after_impact = [](int friction_iterations) {
    ModelBuilder builder;
    BodyOptions block = box_body("block", {0.2, 0.02, 0.2}, {2, 1, 2}, {0, 0.0125, 0}, 1e7);
    block.velocity = {2, -1, 0};
    builder.add_body(block);
    builder.add_collider(floor_plane());
    builder.set_contact({.dhat = 1e-3, .friction = 0.3, .eps_v = 1e-3, .friction_iterations = friction_iterations});
    const auto model = builder.build();
    const auto stepper = make_stepper(model, "pod-newton", {{"tolerance", 1e-3}});
    State state = model->rest_state();
    const StepReport report = stepper->step(state, 1.0 / 100);
    EXPECT_TRUE(report.converged()) << report.detail;
    const Vec3 v = testing::momentum(*model, state) / model->mass().lumped().sum();
    return v.x() - (2 - 0.3 * (1 + v.y()));
  };
  EXPECT_GT(speed_after_impact(1), 0.1);
  EXPECT_NEAR(speed_after_impact(20), 0, 0.01);
}

TEST(Contact, AStartThatIntersectsIsRefusedWithTheTriangles) {
  ModelBuilder builder;
  builder.add_body(box_body("lower", {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 1e5));
  builder.add_body(box_body("upper", {1, 1, 1}, {1, 1, 1}, {0.3, 0.9, 0.2}, 1e5));
  builder.set_contact({});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "pod-newton");
  State state = model->rest_state();
  const StepReport report = stepper->step(state, 0.01);
  EXPECT_EQ(report.outcome, Outcome::intersecting_start);
  EXPECT_FALSE(report.advanced());
  EXPECT_NE(report.detail.find("cuts triangle"), std::string::npos) << report.detail;
  EXPECT_NE(report.detail.find("'upper'"), std::string::npos);
  EXPECT_EQ(state.x, model->rest());
}

TEST(Contact, BodiesThatTouchExactlyAreToldWhichWayToGo) {
  ModelBuilder builder;
  builder.add_body(box_body("lower", {1, 1, 1}, {2, 2, 2}, {0, 0, 0}, 1e5));
  builder.add_body(box_body("upper", {1, 1, 1}, {2, 2, 2}, {0, 1, 0}, 1e5));
  builder.set_contact({.dhat = 1e-3});
  const auto model = builder.build();
  State state = model->rest_state();
  const StepReport report = make_stepper(model, "pod-newton")->step(state, 0.01);
  EXPECT_EQ(report.outcome, Outcome::intersecting_start);
  EXPECT_NE(report.detail.find("'lower' and 'upper' touch exactly, near ("), std::string::npos) << report.detail;
  EXPECT_NE(report.detail.find(", 0.5, "), std::string::npos) << report.detail;
  EXPECT_NE(report.detail.find("move 'upper' by (0, 0.002, 0) m"), std::string::npos) << report.detail;
}

TEST(Contact, PairsThatNeverTouchMayOverlap) {
  ModelBuilder builder;
  builder.add_body(box_body("lower", {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 1e5));
  builder.add_body(box_body("upper", {1, 1, 1}, {1, 1, 1}, {0.3, 0.9, 0.2}, 1e5));
  builder.set_contact({.pairs = {{"upper", "lower", 0, false}}});
  const auto model = builder.build();
  State state = model->rest_state();
  EXPECT_TRUE(make_stepper(model, "pod-newton")->step(state, 0.01).converged());
}

struct Push {
  std::string solver;
  double friction;
  int friction_iterations;
};

class PushedAlong : public ::testing::TestWithParam<Push> {};

// A box collider moves up by 0.2 m in 0.2 s under a block at rest: 16 times dhat in a step, so that the block has to be
// taken along for the collider to get anywhere.
TEST_P(PushedAlong, ByAnObstacle) {
  ModelBuilder builder;
  builder.add_body(box_body("block", {0.1, 0.1, 0.1}, {2, 2, 2}, {0, 0.06, 0}, 1e5));
  Collider ram;
  ram.name = "ram";
  ram.shape = BoxShape{Vec3(0, -0.05, 0), Vec3(0.2, 0.05, 0.2)};
  ram.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(0, 0.2, 0)}};
  builder.add_collider(ram);
  builder.set_contact(
      {.dhat = 1e-3, .friction = GetParam().friction, .friction_iterations = GetParam().friction_iterations});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, GetParam().solver);
  State state = model->rest_state();
  int iterations = 0;
  for (int k = 0; k < 12; ++k) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.converged()) << k << ": " << report.detail;
    EXPECT_GT(report.minimum_gap, 1e-5);
    iterations += report.iterations;
  }
  double lowest = 1;
  for (Index i = 0; i < model->nodes(); ++i) lowest = std::min(lowest, node(state.x, i).y());
  EXPECT_GT(lowest, 0.2);
  EXPECT_LT(iterations, 12 * 15);
}

INSTANTIATE_TEST_SUITE_P(Contact, PushedAlong,
                         ::testing::Values(Push{"newton", 0.3, 1}, Push{"projected-newton", 0.3, 1},
                                           Push{"pod-newton", 0, 1}, Push{"pod-newton", 0.3, 1},
                                           Push{"pod-newton", 0.3, 3}, Push{"kinetic-newton", 0.3, 1}));

// Between a floor and a press that comes down and tilts, with a directly held corner that moves too: everything that
// can be prescribed is on its way at once.
TEST(Contact, ABlockIsPressedWhileItsCornerIsPulledAway) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(box_body("block", {0.1, 0.1, 0.1}, {3, 3, 3}, {0, 0.052, 0}, 1e5));
  Collider floor = floor_plane();
  floor.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(0, 0.01, 0)}};
  builder.add_collider(floor);
  Collider press;
  press.name = "press";
  press.shape = BoxShape{Vec3(0.02, 0.16, 0), Vec3(0.05, 0.05, 0.2)};
  press.motion.centre = {0, 0.16, 0};
  press.motion.axis = Vec3::UnitZ();
  press.motion.angle.keys = {{0, 0.0}, {0.2, 0.2}};
  press.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(0, -0.04, 0)}};
  builder.add_collider(press);
  Script pull;
  pull.name = "corner";
  pull.nodes = {0};
  pull.imposition = Imposition::direct;
  pull.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(-0.02, 0.02, -0.02)}};
  builder.add_script(pull);
  builder.set_contact({.dhat = 1e-3, .friction = 0.3});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "pod-newton");
  State state = model->rest_state();
  for (int k = 0; k < 10; ++k) {
    const StepReport report = stepper->step(state, 0.02);
    ASSERT_TRUE(report.converged()) << k << ": " << report.detail;
    EXPECT_GT(report.minimum_gap, 1e-6);
    EXPECT_NEAR((node(state.x, 0) - node(model->rest(), 0)).norm(), std::sqrt(3.0) * 0.02 * (k + 1) / 10, 1e-12);
  }
}

TEST(Contact, FrictionOfAMovingPlaneCarriesABodyAlong) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(box_body("block", {0.1, 0.05, 0.1}, {2, 1, 2}, {0, 0.0257, 0}, 1e6));
  Collider belt = floor_plane();
  belt.motion.translation.keys = {{0, Vec3::Zero()}, {10, Vec3(10, 0, 0)}};  // 1 m/s
  builder.add_collider(belt);
  builder.set_contact({.dhat = 1e-3, .friction = 0.5});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "pod-newton");
  State state = model->rest_state();
  for (int k = 0; k < 40; ++k) ASSERT_TRUE(stepper->step(state, 0.01).converged());
  // mu g t = 1.96 m/s would be more than the belt's speed: it sticks by now.
  EXPECT_NEAR((testing::momentum(*model, state) / model->mass().lumped().sum()).x(), 1, 0.01);
}

TEST(Contact, StepsHaveTheSameBitsOnAnyNumberOfThreadsAndFromAnyStepper) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(box_body("lower", {0.2, 0.1, 0.2}, {6, 3, 6}, {0, 0.051, 0}, 2e4));
  builder.add_body(box_body("upper", {0.15, 0.1, 0.15}, {5, 3, 5}, {0.01, 0.153, 0.02}, 2e4));
  builder.add_collider(floor_plane());
  builder.set_contact({.dhat = 2e-3, .friction = 0.3});
  const auto model = builder.build();
  std::vector<VecX> results;
  for (int threads : {1, 3}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    State state = model->rest_state();
    auto stepper = make_stepper(model, "pod-newton");
    for (int k = 0; k < 8; ++k) {
      if (threads == 3 && k == 4) stepper = make_stepper(model, "pod-newton");
      ASSERT_TRUE(stepper->step(state, 1.0 / 60).converged());
    }
    results.push_back(state.x);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Contact, AllNewtonSolversAndConjugateGradientsLandOnTheSameState) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions upper = box_body("upper", {0.1, 0.1, 0.1}, {2, 2, 2}, {0.01, 0.1515, 0.02}, 5e4);
  upper.velocity = {0, -1, 0};
  builder.add_body(box_body("lower", {0.2, 0.1, 0.2}, {4, 2, 4}, {0, 0.0505, 0}, 5e4));
  builder.add_body(upper);
  builder.add_collider(floor_plane());
  builder.set_contact({.dhat = 1e-3, .friction = 0.2});
  const auto model = builder.build();
  std::vector<VecX> results;
  for (const std::string name : {"newton", "pod-newton", "projected-newton", "kinetic-newton", "pcg"}) {
    ParameterMap parameters{{"tolerance", 1e-5}};
    if (name == "pcg") parameters["linear"] = "pcg";
    const auto stepper = make_stepper(model, name == "pcg" ? "pod-newton" : name, parameters);
    State state = model->rest_state();
    for (int k = 0; k < 2; ++k) {
      const StepReport report = stepper->step(state, 1.0 / 100);
      ASSERT_TRUE(report.converged()) << name << ": " << report.detail;
    }
    results.push_back(state.x);
  }
  for (const VecX& x : results) EXPECT_LE((x - results[0]).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Contact, QuadraticElementsTouchThroughAllTheirNodes) {
  ModelBuilder builder;
  BodyOptions body = box_body("block", {0.2, 0.1, 0.2}, {2, 1, 2}, {0, 0.0505, 0}, 1e5);
  body.order = 2;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(body);
  builder.add_collider(floor_plane());
  builder.set_contact({.dhat = 1e-3});
  const auto model = builder.build();
  EXPECT_EQ(model->contact()->surface->triangles.size(), 4 * model->bodies()[0].surface().size());
  double area = 0;
  for (double a : model->contact()->point_area) area += a;
  EXPECT_NEAR(area, 2 * 0.2 * 0.2 + 4 * 0.2 * 0.1, 1e-12);
  const auto stepper = make_stepper(model, "pod-newton");
  State state = model->rest_state();
  for (int k = 0; k < 5; ++k) ASSERT_TRUE(stepper->step(state, 1.0 / 60).converged());
  EXPECT_EQ(apart::intersections(*model, state), 0);
}

}  // namespace
}  // namespace pliant
