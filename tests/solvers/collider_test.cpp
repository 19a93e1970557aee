// Colliders under every solver that minimises.
#include <gtest/gtest.h>

#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

std::shared_ptr<const Model> dropped_block(const Collider& collider, const Vec3& velocity = Vec3::Zero()) {
  ModelBuilder builder;
  builder.set_gravity({0, -10, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 1, 1}, {3, 3, 3});
  body.material = testing::material("stable-neo-hookean", 1e5, 0.3);
  body.velocity = velocity;
  body.damping = {0, 0.01};
  builder.add_body(body);
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider(collider);
  return builder.build();
}

class Collisions : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Solvers, Collisions, ::testing::Values("pod-newton", "projected-newton", "quasi-newton"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(Collisions, ABlockComesToRestOnAFloorThatCarriesItsWeight) {
  const auto model = dropped_block({"floor", PlaneShape{Vec3(0, -0.1, 0), Vec3::UnitY()}, {}, 1e5, 0});
  const auto stepper =
      make_stepper(model, GetParam(),
                   GetParam() == "quasi-newton" ? ParameterMap{{"iterations", std::int64_t{60}}} : ParameterMap{});
  State state = model->rest_state();
  StepReport report;
  for (int s = 0; s < 150; ++s) {
    report = stepper->step(state, 0.02);
    ASSERT_TRUE(report.advanced()) << report.detail;
  }
  // At rest the penalties carry the weight of 1000 kg.
  double force = 0;
  for (Index i = 0; i < model->nodes(); ++i)
    force += 1e5 * model->mass().lumped()[i] * std::max(0.0, -0.1 - state.x[3 * i + 1]);
  EXPECT_NEAR(force, 1e4, 50);
  EXPECT_LT(state.v.cwiseAbs().maxCoeff(), 0.02);
  EXPECT_LT(report.minimum_gap, 0);
  EXPECT_GT(report.minimum_gap, -0.01);
}

TEST(Collisions, FrictionStopsASlidingBlockAfterTheRightDistance) {
  // v^2 / (2 mu g) = 4 / (2 * 0.5 * 10) = 0.4 m
  for (double friction : {0.0, 0.5}) {
    const auto model =
        dropped_block({"floor", PlaneShape{Vec3::Zero(), Vec3::UnitY()}, {}, 1e5, friction}, Vec3(2, 0, 0));
    const auto stepper = make_stepper(model, "pod-newton");
    State state = model->rest_state();
    for (int s = 0; s < 120; ++s) ASSERT_TRUE(stepper->step(state, 0.01).advanced());
    double shift = 0, mass = 0;
    for (Index i = 0; i < model->nodes(); ++i) {
      shift += model->mass().lumped()[i] * (state.x[3 * i] - model->rest()[3 * i]);
      mass += model->mass().lumped()[i];
    }
    shift /= mass;
    if (friction == 0)
      EXPECT_NEAR(shift, 2.4, 0.02);
    else
      EXPECT_NEAR(shift, 0.4, 0.06);
  }
}

TEST(Collisions, AMovingColliderPushesTheBlockAlong) {
  Collider wall{"wall", PlaneShape{Vec3(-0.2, 0, 0), Vec3::UnitX()}, {}, 1e5, 0};
  wall.motion.translation.keys = {{0, Vec3::Zero()}, {1, Vec3(1, 0, 0)}};
  const auto model = dropped_block(wall);
  const auto stepper = make_stepper(model, "pod-newton");
  State state = model->rest_state();
  for (int s = 0; s < 50; ++s) ASSERT_TRUE(stepper->step(state, 0.02).advanced());
  for (Index i = 0; i < model->nodes(); ++i) EXPECT_GT(state.x[3 * i], 0.79);
}

}  // namespace
}  // namespace pliant
