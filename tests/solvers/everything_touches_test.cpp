// Contact and friction under every solver of the catalogue: the same few scenes, judged by theory and by an
// intersection test that no solver uses while it steps.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/contact/apart.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace {

class Touching : public ::testing::TestWithParam<std::string> {
 protected:
  BodyOptions block(const std::string& name, const Vec3& size, std::array<Index, 3> cells, const Vec3& centre,
                    double young) const {
    return testing::box_body(name, size, cells, centre, young, testing::law_for(GetParam()));
  }

  /// Steps, and looks at every state: nothing cuts anything, and nothing is behind a plane. Adds up what friction does.
  void run(const std::shared_ptr<const Model>& model, State& state, double h, int steps,
           double* friction_work = nullptr) const {
    const auto stepper = make_stepper(model, GetParam());
    for (int k = 0; k < steps; ++k) {
      const StepReport report = stepper->step(state, h);
      ASSERT_TRUE(report.succeeded()) << "step " << k << ": " << to_string(report.outcome) << ", " << report.detail;
      ASSERT_EQ(apart::intersections(*model, state), 0) << "step " << k;
      for (const Figure& figure : report.figures)
        if (friction_work && figure.name == "joules_friction") *friction_work += figure.value;
    }
  }

  static Vec3 centre(const VecX& x, Range nodes) {
    Vec3 sum = Vec3::Zero();
    for (Index i = nodes.begin; i < nodes.end; ++i) sum += node(x, i);
    return sum / nodes.size();
  }
};

/// A slope of 20 degrees, as gravity that leans.
const Vec3 kLeaningGravity = 9.81 * Vec3(std::sin(M_PI / 9), -std::cos(M_PI / 9), 0);

TEST_P(Touching, FrictionHoldsABlockOnASlope) {
  for (const Index cells : {2, 4})
    for (const double fps : {30.0, 60.0}) {
      ModelBuilder builder;
      builder.set_gravity(kLeaningGravity);
      builder.add_body(block("block", {0.2, 0.1, 0.2}, {cells, cells / 2, cells}, {0, 0.0504, 0}, 1e6));
      builder.add_collider(testing::floor_plane(1));
      const auto model = builder.build();
      State state = model->rest_state();
      run(model, state, 1 / fps, static_cast<int>(fps));
      EXPECT_LT((centre(state.x, {0, model->nodes()}) - centre(model->rest(), {0, model->nodes()})).norm(), 5e-3)
          << cells << " cells, " << fps << " fps";
    }
}

TEST_P(Touching, ABlockSlidesDownASlopeAsTheorySays) {
  constexpr double kFriction = 0.2, h = 1.0 / 60;
  ModelBuilder builder;
  builder.set_gravity(kLeaningGravity);
  builder.add_body(block("block", {0.2, 0.1, 0.2}, {4, 2, 4}, {0, 0.0504, 0}, 1e6));
  builder.add_collider(testing::floor_plane(kFriction));
  const auto model = builder.build();
  State state = model->rest_state();
  run(model, state, h, 30);
  const Vec3 before = testing::momentum(*model, state);
  const double from = centre(state.x, {0, model->nodes()}).x();
  double work = 0;
  run(model, state, h, 30, &work);
  const double mass = model->mass().lumped().sum();
  const double gained = (testing::momentum(*model, state) - before).x() / mass;
  const double theory = 0.5 * (kLeaningGravity.x() + kFriction * kLeaningGravity.y());
  EXPECT_NEAR(gained, theory, 0.05 * theory);
  const double taken =
      kFriction * mass * kLeaningGravity.y() * (centre(state.x, {0, model->nodes()}).x() - from);  // negative
  EXPECT_NEAR(work, taken, -0.05 * taken) << "what friction took, J";
}

TEST_P(Touching, ABlockRestsOnAnotherAsUnderNewton) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(block("lower", {0.3, 0.1, 0.3}, {4, 2, 4}, {0, 0.051, 0}, 2e5));
  builder.add_body(block("upper", {0.15, 0.1, 0.15}, {3, 2, 3}, {0.01, 0.152, 0.02}, 2e5));
  builder.add_collider(testing::floor_plane(0.3));
  builder.set_contact({.dhat = 1e-3, .friction = 0.3});
  const auto model = builder.build();
  State state = model->rest_state(), reference = state;
  run(model, state, 1.0 / 60, 40);
  const auto newton = make_stepper(model, "pod-newton", {{"criterion", std::string("step-length")}});
  for (int k = 0; k < 40; ++k) newton->step(reference, 1.0 / 60);
  EXPECT_LT((state.x - reference.x).cwiseAbs().maxCoeff(), 0.02 * 0.3);
}

/// Sizes of millimetres and no stiffness of the barrier given: it must suit the bodies.
TEST_P(Touching, ABlockOfAMillimetreLandsOnAnother) {
  ModelBuilder builder;
  builder.add_body(block("lower", {1e-3, 1e-3, 1e-3}, {3, 3, 3}, {0, 0.7e-3, 0}, 1e4));
  BodyOptions falling = block("upper", {1e-3, 1e-3, 1e-3}, {3, 3, 3}, {0.2e-3, 2.2e-3, 0}, 1e4);
  falling.velocity = {0, -0.3, 0};
  builder.add_body(falling);
  builder.add_collider(testing::floor_plane(0.3));
  ContactOptions contact;
  contact.friction = 0.3;
  builder.set_contact(contact);
  const auto model = builder.build();
  State state = model->rest_state();
  run(model, state, 5e-4, 30);
}

TEST_P(Touching, APistonPressesACubeToAFifthAndComesBack) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(block("cube", {0.2, 0.2, 0.2}, {3, 3, 3}, {0, 0.101, 0}, 1e5));
  builder.add_collider(testing::floor_plane(0.3));
  Collider piston{"piston", BoxShape{Vec3(0, 0.31, 0), Vec3(0.3, 0.1, 0.3)}, {}, 1e5, 0.3};
  piston.motion.translation.keys = {{0, Vec3::Zero()}, {1, Vec3(0, -0.17, 0)}, {2, Vec3::Zero()}};
  builder.add_collider(piston);
  const auto model = builder.build();
  State state = model->rest_state();
  run(model, state, 1.0 / 30, 60);
}

TEST_P(Touching, AFastBlockDoesNotPassAThinPlate) {
  ModelBuilder builder;
  BodyOptions bullet = block("bullet", {0.1, 0.1, 0.1}, {2, 2, 2}, {0, 0.2, 0}, 1e6);
  bullet.velocity = {0, -20, 0};
  builder.add_body(bullet);
  builder.add_collider({"table", BoxShape{Vec3::Zero(), Vec3(0.5, 0.02, 0.5)}, {}, 1e5, 0});
  const auto model = builder.build();
  State state = model->rest_state();
  const auto stepper = make_stepper(model, GetParam());
  for (int k = 0; k < 6; ++k) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.advanced() || report.outcome == Outcome::diverged) << report.detail;
    ASSERT_EQ(apart::intersections(*model, state), 0) << "step " << k;
  }
  EXPECT_GT(centre(state.x, {0, model->nodes()}).y(), 0.02);
}

TEST_P(Touching, ARamAtEightMetresASecondTakesASoftCubeAlong) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions cube = block("cube", {0.3, 0.3, 0.3}, {3, 3, 3}, {0, 0.152, 0}, 5e4);
  cube.material = testing::material("fixed-corotated", 5e4, 0.4);
  builder.add_body(cube);
  builder.add_collider(testing::floor_plane(0.5));
  Collider ram{"ram", BoxShape{Vec3(-0.6, 0.15, 0), Vec3(0.1, 0.1, 0.1)}, {}, 1e5, 0};
  ram.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(1.6, 0, 0)}};
  builder.add_collider(ram);
  const auto model = builder.build();
  State state = model->rest_state();
  if (GetParam() == "projected-newton") {  // whose steps are too short here: it has to say so
    const auto stepper = make_stepper(model, GetParam());
    StepReport report;
    for (int k = 0; k < 15 && (k == 0 || report.succeeded()); ++k) report = stepper->step(state, 1.0 / 60);
    EXPECT_EQ(report.outcome, Outcome::iteration_limit) << report.detail;
    return;
  }
  run(model, state, 1.0 / 60, 15);
  EXPECT_GT(centre(state.x, {0, model->nodes()}).x(), 1.2);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Touching, ::testing::ValuesIn(testing::solver_names()),
                         [](const auto& tested) { return testing::identifier(tested.param); });

}  // namespace
}  // namespace pliant
