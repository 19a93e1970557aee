// [contact] under the position-based solvers.
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <Eigen/Geometry>

#include "experiments/contact/apart.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/figure.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

BodyOptions contact_box(const std::string& name, const Vec3& size, std::array<Index, 3> cells, const Vec3& at,
                        double young, const Vec3& velocity = Vec3::Zero()) {
  BodyOptions body = testing::box_body(name, size, cells, at, young, "fixed-corotated");
  body.velocity = velocity;
  return body;
}

Collider box_collider(const std::string& name, const Vec3& centre, const Vec3& half) {
  Collider collider;
  collider.name = name;
  collider.shape = BoxShape{centre, half};
  return collider;
}

/// Weighted by mass.
Vec3 mean_of(const Model& model, std::size_t body, const VecX& values) {
  Vec3 sum = Vec3::Zero();
  double mass = 0;
  const Range nodes = model.bodies()[body].nodes;
  for (Index i = nodes.begin; i < nodes.end; ++i) {
    sum += model.mass().lumped()[i] * node(values, i);
    mass += model.mass().lumped()[i];
  }
  return sum / mass;
}

ParameterMap sweeps(std::int64_t iterations, std::int64_t substeps = 1) {
  return {{"iterations", iterations}, {"substeps", substeps}};
}

const char* const kConverging[] = {"fp-pxpbd", "b-pxpbd"};
const char* const kAll[] = {"xpbd", "fp-pxpbd", "b-pxpbd"};

/// Two soft blocks, one sliding on the other, edges nearly parallel to edges, and the lower one on a floor.
std::shared_ptr<const Model> sliding_blocks(double friction) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(contact_box("lower", {0.2, 0.1, 0.2}, {2, 1, 2}, {0, 0.0506, 0}, 1e4));
  builder.add_body(contact_box("upper", {0.15, 0.1, 0.15}, {2, 1, 2}, {0.013, 0.1514, 0.02}, 1e4, {0.3, -0.1, 0.1}));
  builder.add_collider(testing::floor_plane());
  builder.set_contact({.dhat = 1e-3, .friction = friction});
  return builder.build();
}

TEST(PxpbdContact, ManySweepsLandOnPodNewtonsState) {
  for (const double friction : {0.0, 0.4}) {
    const auto model = sliding_blocks(friction);
    State exact = model->rest_state();
    const auto newton = make_stepper(model, "pod-newton", {{"criterion", "residual"}, {"tolerance", 1e-8}});
    ASSERT_TRUE(newton->step(exact, 0.01).converged());
    for (const char* solver : kConverging) {
      State state = model->rest_state();
      const StepReport report = make_stepper(model, solver, sweeps(600))->step(state, 0.01);
      EXPECT_TRUE(report.succeeded()) << report.detail;
      EXPECT_GT(report.contacts, 20);
      EXPECT_EQ(testing::figure(report, "held_back"), 0) << solver;
      EXPECT_LT(report.residuals.force, 1e-6) << solver << " " << friction;
      EXPECT_LT((state.x - exact.x).cwiseAbs().maxCoeff(), 1e-9) << solver << " " << friction;
    }
  }
}

TEST(PxpbdContact, ABlockRestsOnAPlaneAndAnotherBlockOnIt) {
  for (const char* solver : kAll) {
    ModelBuilder builder;
    builder.set_gravity({0, -9.81, 0});
    builder.add_body(contact_box("lower", {0.1, 0.1, 0.1}, {2, 2, 2}, {0, 0.0505, 0}, 1e5));
    builder.add_body(contact_box("upper", {0.08, 0.1, 0.08}, {2, 2, 2}, {0.003, 0.1512, 0.002}, 1e5));
    builder.add_collider(testing::floor_plane());
    builder.set_contact({.dhat = 1e-3, .friction = 0.3});
    const auto model = builder.build();
    const auto stepper = make_stepper(model, solver, sweeps(4, 5));
    State state = model->rest_state();
    for (int k = 0; k < 60; ++k) {
      const StepReport report = stepper->step(state, 1.0 / 60);
      ASSERT_TRUE(report.succeeded()) << report.detail;
      ASSERT_EQ(apart::intersections(*model, state), 0) << solver << " " << k;
    }
    EXPECT_LT(state.v.cwiseAbs().maxCoeff(), 0.02) << solver;
    for (std::size_t b : {0, 1})
      EXPECT_LT((mean_of(*model, b, state.x) - mean_of(*model, b, model->rest())).norm(), 0.003) << solver << " " << b;
  }
}

/// A block on a slope of 20 degrees for a second: the plane is level, and gravity leans.
struct Slope {
  double distance, speed;  ///< m, m/s
};
Slope slide_down(const char* solver, double mu, Index cells, double fps, const ParameterMap& parameters) {
  const double angle = 20 * std::acos(-1.0) / 180;
  ModelBuilder builder;
  builder.set_gravity(9.81 * Vec3(std::sin(angle), -std::cos(angle), 0));
  builder.add_body(contact_box("block", {0.1, 0.1, 0.1}, {cells, cells, cells}, {0, 0.0507, 0}, 1e5));
  builder.add_collider(testing::floor_plane());
  builder.set_contact({.dhat = 1e-3, .friction = mu});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, solver, parameters);
  State state = model->rest_state();
  for (int k = 0; k < std::lround(fps); ++k) EXPECT_TRUE(stepper->step(state, 1 / fps).succeeded());
  EXPECT_EQ(apart::intersections(*model, state), 0);
  return {(mean_of(*model, 0, state.x) - mean_of(*model, 0, model->rest())).x(), mean_of(*model, 0, state.v).x()};
}

TEST(PxpbdContact, ABlockOnASlopeSticksOrSlidesAsTheorySays) {
  const double angle = 20 * std::acos(-1.0) / 180, slides = 9.81 * (std::sin(angle) - 0.2 * std::cos(angle));
  for (const char* solver : kAll)
    for (const auto& [cells, parameters] : {std::pair{Index{2}, sweeps(10)}, {Index{3}, sweeps(2, 5)}}) {
      EXPECT_LT(slide_down(solver, 1, cells, 60, parameters).distance, 0.005) << solver << " " << cells;
      EXPECT_NEAR(slide_down(solver, 0.2, cells, 60, parameters).speed, slides, 0.05 * slides) << solver << cells;
    }
}

TEST(PxpbdContact, AFallingBoxKeepsItsSpeedInTheAirAndDoesNotPassAThinPlate) {
  for (const char* solver : kAll) {
    ModelBuilder builder;
    builder.set_gravity({0, -9.81, 0});
    builder.add_body(contact_box("box", {0.1, 0.1, 0.1}, {2, 2, 2}, {0, 0.9, 0}, 1e6, {0, -20, 0}));
    builder.add_body(contact_box("bystander", {0.1, 0.1, 0.1}, {2, 2, 2}, {0.35, 0.9, 0}, 1e6, {0, -20, 0}));
    builder.add_collider(box_collider("plate", Vec3::Zero(), {0.2, 0.0005, 0.2}));
    builder.set_contact({.dhat = 1e-3});
    const auto model = builder.build();
    const auto stepper = make_stepper(model, solver);
    State state = model->rest_state();
    for (int k = 0; k < 8; ++k) {
      ASSERT_TRUE(stepper->step(state, 1.0 / 60).succeeded()) << solver << " " << k;
      ASSERT_EQ(apart::intersections(*model, state), 0) << solver << " " << k;
      for (Index i : model->contact()->surface->points)
        ASSERT_TRUE(i >= model->bodies()[0].nodes.end || node(state.x, i).y() > 0) << solver << " " << k;
      // What falls beside the plate falls as if there were none.
      EXPECT_NEAR(mean_of(*model, 1, state.v).y(), -20 - 9.81 * (k + 1) / 60, 1e-9) << solver << " " << k;
      if (k < 2) {
        EXPECT_NEAR(mean_of(*model, 0, state.v).y(), -20 - 9.81 * (k + 1) / 60, 1e-9) << solver << " " << k;
      }
    }
  }
}

TEST(PxpbdContact, BoxesThrownAtEachOtherKeepTheirMomentumWhereNothingIsHeldBack) {
  for (const char* solver : kAll) {
    ModelBuilder builder;
    builder.add_body(contact_box("first", {0.1, 0.1, 0.1}, {3, 3, 3}, {-0.1, 0, 0.01}, 1e5, {2, 0, 0}));
    builder.add_body(contact_box("second", {0.1, 0.1, 0.1}, {2, 3, 2}, {0.1, 0.02, 0}, 1e5, {-1, 0, 0}));
    builder.set_contact({.dhat = 1e-3, .friction = 0.2});
    const auto model = builder.build();
    const auto stepper = make_stepper(model, solver, sweeps(20));
    State state = model->rest_state();
    int touching = 0;
    for (int k = 0; k < 40; ++k) {
      const Vec3 before = testing::momentum(*model, state);
      const StepReport report = stepper->step(state, 0.005);
      ASSERT_TRUE(report.succeeded()) << report.detail;
      ASSERT_EQ(apart::intersections(*model, state), 0) << solver << " " << k;
      touching += report.contacts > 0;
      if (testing::figure(report, "held_back") == 0) {
        EXPECT_LT((testing::momentum(*model, state) - before).norm(), 1e-12) << solver << " " << k;
      }
    }
    EXPECT_GT(touching, 3) << solver;
    EXPECT_LT(mean_of(*model, 0, state.v).x(), mean_of(*model, 1, state.v).x()) << solver;
  }
}

TEST(PxpbdContact, APressArrivesOrTheStepSaysThatItHasNot) {
  for (const char* solver : kAll)
    for (const double depth : {0.03, 0.12}) {  // the second would leave nothing of the block
      ModelBuilder builder;
      builder.set_gravity({0, -9.81, 0});
      builder.add_body(contact_box("block", {0.1, 0.1, 0.1}, {2, 2, 2}, {0, 0.0505, 0}, 1e5));
      builder.add_collider(testing::floor_plane());
      Collider press = box_collider("press", {0, 0.16, 0}, {0.08, 0.05, 0.08});
      press.motion.translation.keys = {{0, Vec3::Zero()}, {0.1, Vec3(0, -depth, 0)}};
      builder.add_collider(press);
      builder.set_contact({.dhat = 1e-3, .friction = 0.3});
      const auto model = builder.build();
      const auto stepper = make_stepper(model, solver);
      State state = model->rest_state();
      StepReport report;
      for (int k = 0; k < 10; ++k) {
        report = stepper->step(state, 0.01);
        if (!report.succeeded()) break;
        ASSERT_EQ(apart::intersections(*model, state), 0) << solver << " " << k;
      }
      if (depth < 0.1) {
        EXPECT_TRUE(report.succeeded()) << solver << ": " << report.detail;
      } else {
        EXPECT_EQ(report.outcome, Outcome::iteration_limit) << solver << ": " << report.detail;
        EXPECT_NE(report.detail.find("% complete"), std::string::npos) << report.detail;
      }
    }
}

TEST(PxpbdContact, ScriptedNodesAndObstaclesArriveTogether) {
  for (const char* solver : kAll) {
    ModelBuilder builder;
    builder.set_gravity({0, -9.81, 0});
    builder.add_body(contact_box("block", {0.1, 0.1, 0.1}, {3, 3, 3}, {0, 0.052, 0}, 1e5));
    Collider floor = testing::floor_plane();
    floor.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(0, 0.01, 0)}};
    builder.add_collider(floor);
    Collider press = box_collider("press", {0.02, 0.16, 0}, {0.05, 0.05, 0.2});
    press.motion.centre = {0, 0.16, 0};
    press.motion.axis = Vec3::UnitZ();
    press.motion.angle.keys = {{0, 0.0}, {0.2, 0.2}};
    press.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(0, -0.03, 0)}};
    builder.add_collider(press);
    Script pull{"corner", {0}, {}, Imposition::direct};
    pull.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(-0.02, 0.02, -0.02)}};
    builder.add_script(pull);
    builder.set_contact({.dhat = 1e-3, .friction = 0.3});
    const auto model = builder.build();
    const auto stepper = make_stepper(model, solver);
    State state = model->rest_state();
    for (int k = 0; k < 20; ++k) {
      const StepReport report = stepper->step(state, 0.01);
      ASSERT_TRUE(report.succeeded()) << solver << " " << k << ": " << report.detail;
      ASSERT_EQ(apart::intersections(*model, state), 0) << solver << " " << k;
      EXPECT_NEAR((node(state.x, 0) - node(model->rest(), 0)).norm(), std::sqrt(3.0) * 0.02 * (k + 1) / 20, 1e-12);
    }
  }
}

TEST(PxpbdContact, VerticesOnAGridRestStickAndStopAtAThinPlate) {
  const Slope slope = slide_down("grid-b-pxpbd", 1, 3, 60, {});
  EXPECT_LT(std::abs(slope.distance), 0.005);
  ModelBuilder builder;
  builder.add_body(contact_box("box", {0.1, 0.1, 0.1}, {2, 2, 2}, {0, 0.2, 0}, 1e5, {0, -10, 0}));
  builder.add_collider(box_collider("plate", Vec3::Zero(), {0.2, 0.0005, 0.2}));
  builder.set_contact({.dhat = 1e-3});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "grid-b-pxpbd");
  State state = model->rest_state();
  for (int k = 0; k < 6; ++k) {
    ASSERT_TRUE(stepper->step(state, 0.01).succeeded()) << k;
    ASSERT_EQ(apart::intersections(*model, state), 0) << k;
    EXPECT_GT(mean_of(*model, 0, state.x).y(), 0) << k;
  }
  EXPECT_GT(mean_of(*model, 0, state.v).y(), 0);  // bounced
}

TEST(PxpbdContact, StepsHaveTheSameBitsOnAnyNumberOfThreadsAndFromARestoredState) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(contact_box("lower", {0.2, 0.1, 0.2}, {4, 2, 4}, {0, 0.051, 0}, 2e4));
  builder.add_body(contact_box("upper", {0.15, 0.1, 0.15}, {3, 2, 3}, {0.01, 0.153, 0.02}, 2e4, {1, -1, 0}));
  builder.add_collider(testing::floor_plane());
  builder.set_contact({.dhat = 2e-3, .friction = 0.3});
  const auto model = builder.build();
  for (const std::string solver : {"xpbd", "b-pxpbd", "fp-pxpbd", "grid-b-pxpbd"}) {
    const ParameterMap parameters = solver == "grid-b-pxpbd" ? ParameterMap{} : sweeps(5, 2);
    std::vector<State> ends;
    for (const std::size_t threads : {1, 2}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      auto stepper = make_stepper(model, solver, parameters);
      State state = model->rest_state();
      for (int k = 0; k < 8; ++k) {
        if (threads == 2 && k == 4) {
          const std::vector<double> memory = stepper->memory();
          stepper = make_stepper(model, solver, parameters);
          stepper->recall(memory);
        }
        ASSERT_TRUE(stepper->step(state, 1.0 / 60).succeeded());
      }
      ends.push_back(state);
    }
    EXPECT_EQ(ends[0].x, ends[1].x) << solver;
    EXPECT_EQ(ends[0].v, ends[1].v) << solver;
  }
}

}  // namespace
}  // namespace pliant
