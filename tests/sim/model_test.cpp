#include <gtest/gtest.h>

#include <numbers>

#include "pliant/base/error.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Keyframes, AreLinearInBetweenAndConstantBeyondTheEnds) {
  Keyframes<double> keys{{{1, 10}, {2, 20}, {4, 0}}};
  EXPECT_EQ(keys.at(0, 0), 10);
  EXPECT_EQ(keys.at(1.5, 0), 15);
  EXPECT_EQ(keys.at(3, 0), 10);
  EXPECT_EQ(keys.at(9, 0), 0);
  EXPECT_EQ(Keyframes<double>{}.at(3, 7), 7);
}

TEST(Motion, TurnsAboutItsCentreThenShifts) {
  Motion motion;
  motion.axis = Vec3::UnitZ();
  motion.centre = {1, 0, 0};
  motion.angle.keys = {{0, 0}, {1, std::numbers::pi / 2}};
  motion.translation.keys = {{0, Vec3::Zero()}, {2, Vec3(0, 0, 4)}};
  EXPECT_LT((motion.position(0, {2, 0, 0}, 1) - Vec3(1, 1, 2)).norm(), 1e-15);
}

TEST(Boundaries, PinsAndScriptsHoldWhatTheySayAndOnlyWhileTheyDo) {
  const VecX rest = VecX::LinSpaced(12, 0, 11);
  Script script{"s", {2}, {}, Imposition::direct, 1e8, 0.0, 1.0};
  script.motion.translation.keys = {{0, Vec3(1, 1, 1)}};
  Script soft{"p", {3}, {}, Imposition::penalty, 5.0, 0.5};
  const std::vector<Pin> pins = {{"a", {0}, {true, false, true}}};
  const BoundaryState early = boundary_state(pins, {script, soft}, rest, 0.25);
  EXPECT_EQ(early.fixed, (std::vector<std::uint8_t>{1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(early.positions[6], 7);
  EXPECT_TRUE(early.penalised.empty());
  const BoundaryState late = boundary_state(pins, {script, soft}, rest, 1.5);
  EXPECT_EQ(late.fixed[6], 0);
  EXPECT_EQ(late.penalised, std::vector<Index>{3});
  EXPECT_EQ(late.sigma[0], 5.0);
}

TEST(Mass, BothKindsHaveTheBodysMassForEveryOrder) {
  for (MassKind kind : {MassKind::lumped, MassKind::consistent})
    for (int order : {1, 2, 3}) {
      const auto model = testing::clamped_beam({4, 2, 2}, order, "neo-hookean", kind);
      VecX ones = VecX::Zero(3 * model->nodes()), product;
      for (Index i = 0; i < model->nodes(); ++i) ones[3 * i] = 1;
      model->mass().multiply(ones, product);
      EXPECT_NEAR(ones.dot(product), 2000, 1e-9);
      EXPECT_NEAR(model->mass().lumped().sum(), 2000, 1e-9);
      EXPECT_GT(model->mass().lumped().minCoeff(), 0);
      BlockMatrix A(model->pattern(), 3);
      model->mass().add_to(A, 2.0);
      VecX twice;
      A.multiply(ones, twice);
      EXPECT_LT((twice - 2 * product).lpNorm<Eigen::Infinity>(), 1e-12 * 2000);
    }
}

TEST(ModelBuilder, InitialVelocitiesAreRigid) {
  const auto model = testing::free_block("stvk", {1, 0, 0}, {0, 0, 2}, Vec3::Zero());
  const State state = model->rest_state();
  for (Index i = 0; i < model->nodes(); ++i) {
    const Vec3 arm = node(state.x, i) - Vec3(1, 0.5, 0.5);
    EXPECT_LT((node(state.v, i) - Vec3(1 - 2 * arm.y(), 2 * arm.x(), 0)).norm(), 1e-12);
  }
}

TEST(ModelBuilder, RefusesWhatCannotBeMeantAndSaysWhy) {
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 1, 1}, {1, 1, 1});
  body.material = testing::material("stvk", 1e5, 0.3);
  body.density = -1;
  EXPECT_NE(message([&] { builder.add_body(body); }).find("density must be positive"), std::string::npos);
  body.density = 1000;
  builder.add_body(body);
  EXPECT_NE(message([&] { builder.add_pin({"empty", {}}); }).find("selects no nodes"), std::string::npos);
  EXPECT_NE(message([&] { builder.add_pin({"far", {99}}); }).find("node 99"), std::string::npos);
  builder.add_pin({"clamp", {0, 1}});
  EXPECT_NE(message([&] {
              builder.add_script({"turn", {1, 2}, {}});
            }).find("pin 'clamp' and script 'turn' share 1 nodes"),
            std::string::npos);
  builder.add_script({"first", {4, 5}, {}, Imposition::penalty, 1e8, 0.0, 1.0});
  EXPECT_NO_THROW(builder.add_script({"after", {4, 5}, {}, Imposition::penalty, 1e8, 1.0, 2.0}));
  EXPECT_NE(message([&] {
              builder.add_script({"clash", {5}, {}, Imposition::penalty, 1e8, 0.5, 0.7});
            }).find("'first' and 'clash'"),
            std::string::npos);
}

}  // namespace
}  // namespace pliant
