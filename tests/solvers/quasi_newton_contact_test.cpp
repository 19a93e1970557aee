#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cmath>

#include "experiments/contact/apart.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace {

using testing::box_body, testing::floor_plane;

BodyOptions body_of(const std::string& name, MeshData data, const Vec3& at, double young) {
  for (Vec3& p : data.vertices) p += at;
  BodyOptions body;
  body.name = name;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = testing::material("neo-hookean", young, 0.3);
  return body;
}

double lowest(const Body& body, const VecX& x) {
  double y = 1e300;
  for (Index i = body.nodes.begin; i < body.nodes.end; ++i) y = std::min(y, node(x, i).y());
  return y;
}

/// A lower and an upper block on the floor, the upper one a little off and turned by nothing.
std::shared_ptr<const Model> two_blocks(double friction) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(box_body("lower", {0.2, 0.1, 0.2}, {4, 2, 4}, {0, 0.0508, 0}));
  builder.add_body(box_body("upper", {0.15, 0.1, 0.15}, {3, 2, 3}, {0.01, 0.1516, 0.02}));
  builder.add_collider(floor_plane());
  builder.set_contact({.dhat = 1e-3, .friction = friction});
  return builder.build();
}

class RestingContact : public ::testing::TestWithParam<std::string> {};

TEST_P(RestingContact, BlocksRestOnAPlaneAndOnEachOther) {
  const auto model = two_blocks(0.3);
  const auto stepper = make_stepper(model, GetParam());
  State state = model->rest_state();
  for (int k = 0; k < 60; ++k) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.succeeded()) << k << ": " << report.detail;
    EXPECT_GT(report.minimum_gap, 0);
    EXPECT_EQ(apart::intersections(*model, state), 0) << k;
  }
  EXPECT_LT(state.v.cwiseAbs().maxCoeff(), 5e-3);
  EXPECT_GT(lowest(model->bodies()[0], state.x), 0);
  EXPECT_LT(lowest(model->bodies()[0], state.x), 1e-3);
  EXPECT_GT(lowest(model->bodies()[1], state.x), 0.09);
}

INSTANTIATE_TEST_SUITE_P(QuasiNewtonContact, RestingContact,
                         ::testing::Values("quasi-newton", "projective-dynamics", "chebyshev"),
                         [](const auto& solver) { return testing::identifier(solver.param); });

struct SlopeSlide {
  double distance, speed;
};
/// Along a slope of 20 degrees.
SlopeSlide slide_down(double mu, double seconds) {
  constexpr double h = 0.01, angle = 20 * M_PI / 180;
  ModelBuilder builder;
  builder.set_gravity(9.81 * Vec3(std::sin(angle), -std::cos(angle), 0));
  builder.add_body(box_body("block", {0.1, 0.05, 0.1}, {4, 2, 4}, {0, 0.0259, 0}, 1e6));
  builder.add_collider(floor_plane());
  builder.set_contact({.dhat = 1e-3, .friction = mu});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "quasi-newton");
  State state = model->rest_state();
  for (int k = 0; k < std::lround(seconds / h); ++k) {
    const StepReport report = stepper->step(state, h);
    EXPECT_TRUE(report.succeeded()) << report.detail;
  }
  double shift = 0;
  for (Index i = 0; i < model->nodes(); ++i) shift += (node(state.x, i) - node(model->rest(), i)).x() / model->nodes();
  return {shift, (testing::momentum(*model, state) / model->mass().lumped().sum()).x()};
}

TEST(QuasiNewtonContact, ABlockSticksToASlopeWhereFrictionExceedsItsTangent) {
  const SlopeSlide stick = slide_down(0.5, 1);
  EXPECT_GT(stick.distance, 0);  // creeps: friction below eps_v is viscous
  EXPECT_LT(stick.distance, 5e-3);
}

TEST(QuasiNewtonContact, ABlockSlidesDownASlopeAsFastAsTheorySays) {
  const double mu = 0.2, angle = 20 * M_PI / 180, theory = 9.81 * (std::sin(angle) - mu * std::cos(angle));
  const double early = slide_down(mu, 0.3).speed, late = slide_down(mu, 0.8).speed;
  EXPECT_NEAR((late - early) / 0.5, theory, 0.05 * theory);
}

TEST(QuasiNewtonContact, ABallDroppedOnABlockMovesAsUnderNewton) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(box_body("block", {0.3, 0.1, 0.3}, {6, 2, 6}, {0, 0.0508, 0}));
  builder.add_body(body_of("ball", sphere({.radius = 0.08, .cells = 6}), {0.01, 0.2208, 0.02}, 1e5));
  builder.add_collider(floor_plane());
  builder.set_contact({.dhat = 1e-3, .friction = 0.3});
  const auto model = builder.build();
  const auto newton = make_stepper(model, "pod-newton", {{"criterion", "step-length"}, {"tolerance", 1e-4}});
  const auto quasi = make_stepper(model, "quasi-newton");
  State exact = model->rest_state(), state = exact;
  double worst = 0;
  bool touched = false;
  for (int k = 0; k < 40; ++k) {
    ASSERT_TRUE(newton->step(exact, 0.01).succeeded());
    const StepReport report = quasi->step(state, 0.01);
    ASSERT_TRUE(report.succeeded()) << k << ": " << report.detail;
    touched = touched || lowest(model->bodies()[1], state.x) < 0.101;
    for (Index i = 0; i < model->nodes(); ++i) worst = std::max(worst, (node(state.x, i) - node(exact.x, i)).norm());
  }
  EXPECT_TRUE(touched);
  EXPECT_LT(worst, 0.01 * 0.16);
}

TEST(QuasiNewtonContact, ABulletDoesNotPassThroughAThinPlate) {
  ModelBuilder builder;
  BodyOptions bullet = box_body("bullet", {0.05, 0.05, 0.05}, {2, 2, 2}, {0.003, 0.06, 0.004});
  bullet.velocity = {0, -20, 0};
  builder.add_body(box_body("plate", {0.3, 0.01, 0.3}, {8, 1, 8}, {0, 0, 0}));
  builder.add_body(bullet);
  Pin rim{"rim", {}};
  const auto vertices = builder.body(0).vertices();
  for (std::size_t i = 0; i < vertices.size(); ++i)
    if (std::max(std::abs(vertices[i].x()), std::abs(vertices[i].z())) > 0.149)
      rim.nodes.push_back(static_cast<Index>(i));
  builder.add_pin(rim);
  builder.set_contact({.dhat = 1e-3, .friction = 0.3});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "quasi-newton");
  State state = model->rest_state();
  // In one step it would fly 0.2 m: twenty times the plate's thickness.
  for (int k = 0; k < 12; ++k) {
    const StepReport report = stepper->step(state, 0.01);
    ASSERT_TRUE(report.succeeded()) << k << ": " << report.detail;
    EXPECT_EQ(apart::intersections(*model, state), 0) << k;
  }
  // Above the plate, which it may have driven before it: the middle of the plate stays between it and below.
  const auto height = [&](const Body& body) {
    double y = 0;
    int count = 0;
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      const Vec3 rest = node(model->rest(), i);
      if (std::max(std::abs(rest.x()), std::abs(rest.z())) > 0.04) continue;
      y += node(state.x, i).y();
      ++count;
    }
    return y / count;
  };
  EXPECT_GT(height(model->bodies()[1]), height(model->bodies()[0]));
}

/// A press comes down on a block on the floor; `parameters` are the solver's.
void expect_press_arrives(const ParameterMap& parameters) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(box_body("block", {0.1, 0.1, 0.1}, {4, 4, 4}, {0, 0.0508, 0}));
  builder.add_collider(floor_plane());
  Collider press;
  press.name = "press";
  press.shape = BoxShape{Vec3(0, 0.152, 0), Vec3(0.1, 0.05, 0.1)};
  press.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(0, -0.03, 0)}};
  builder.add_collider(press);
  builder.set_contact({.dhat = 1e-3, .friction = 0.3});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "quasi-newton", parameters);
  State state = model->rest_state();
  for (int k = 0; k < 25; ++k) {
    const StepReport report = stepper->step(state, 0.01);
    ASSERT_TRUE(report.succeeded()) << k << ": " << report.detail;
    EXPECT_GT(report.minimum_gap, 0);
  }
  double highest = 0;
  for (Index i = 0; i < model->nodes(); ++i) highest = std::max(highest, node(state.x, i).y());
  EXPECT_LT(highest, 0.152 - 0.05 - 0.03);
  EXPECT_GT(highest, 0.06);
}

TEST(QuasiNewtonContact, APressArrivesAndTheBlockGivesWay) { expect_press_arrives({}); }

TEST(QuasiNewtonContact, APressArrivesAlsoWhereTheClockEndsSteps) { expect_press_arrives({{"time_limit", 1e-9}}); }

TEST(QuasiNewtonContact, ATimeLimitLeavesOneIterationAndNothingIntersects) {
  const auto model = two_blocks(0.3);
  const auto stepper = make_stepper(model, "quasi-newton", {{"time_limit", 1e-9}});
  State state = model->rest_state();
  for (int k = 0; k < 60; ++k) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.succeeded()) << k << ": " << report.detail;
    EXPECT_LE(report.iterations, 1) << k;
    EXPECT_EQ(apart::intersections(*model, state), 0) << k;
  }
}

TEST(QuasiNewtonContact, APinnedNodeThatMovesArrivesInEveryStep) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(box_body("block", {0.1, 0.1, 0.1}, {3, 3, 3}, {0, 0.0508, 0}));
  Script pull;
  pull.name = "corner";
  pull.nodes = {0};
  pull.imposition = Imposition::direct;
  pull.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(-0.02, 0.02, -0.02)}};
  builder.add_script(pull);
  builder.add_collider(floor_plane());
  builder.set_contact({.dhat = 1e-3, .friction = 0.3});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "quasi-newton");
  State state = model->rest_state();
  for (int k = 0; k < 10; ++k) {
    const StepReport report = stepper->step(state, 0.02);
    ASSERT_TRUE(report.succeeded()) << k << ": " << report.detail;
    EXPECT_EQ(apart::intersections(*model, state), 0) << k;
    EXPECT_NEAR((node(state.x, 0) - node(model->rest(), 0)).norm(), std::sqrt(3.0) * 0.02 * (k + 1) / 10, 1e-12);
  }
}

TEST(QuasiNewtonContact, StepsHaveTheSameBitsOnAnyNumberOfThreadsAndFromAnyStepper) {
  const auto model = two_blocks(0.3);
  std::vector<VecX> results;
  for (int threads : {1, 2}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    State state = model->rest_state();
    state.v.setConstant(0.1);
    auto stepper = make_stepper(model, "quasi-newton");
    for (int k = 0; k < 10; ++k) {
      // A stepper of its own has nothing left over from the steps before but the memory.
      if (threads == 2 && k == 5) {
        const std::vector<double> memory = stepper->memory();
        stepper = make_stepper(model, "quasi-newton");
        stepper->recall(memory);
      }
      ASSERT_TRUE(stepper->step(state, 1.0 / 60).succeeded());
    }
    results.push_back(state.x);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(QuasiNewtonContact, ManyIterationsLandOnNewtonsState) {
  const auto model = two_blocks(0.3);
  const auto newton = make_stepper(model, "pod-newton", {{"tolerance", 1e-7}});
  for (const char* name : {"quasi-newton", "projective-dynamics", "chebyshev"}) {
    const auto quasi =
        make_stepper(model, name, {{"iterations", 500}, {"tolerance", 1e-5}, {"criterion", "acceleration"}});
    State exact = model->rest_state(), state = exact;
    for (int k = 0; k < 3; ++k) {
      ASSERT_TRUE(newton->step(exact, 0.01).succeeded());
      ASSERT_TRUE(quasi->step(state, 0.01).succeeded());
    }
    EXPECT_LE((state.x - exact.x).cwiseAbs().maxCoeff(), 1e-7) << name;
  }
}

}  // namespace
}  // namespace pliant
