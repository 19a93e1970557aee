// The safeguard and the exact turn of the linearly implicit families.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "pliant/energies/assembler.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/turn_stretch.hpp"
#include "support/models.hpp"

namespace pliant {
namespace safeguard {
namespace {

const std::vector<std::string> kFamilies = {"linearly-implicit", "conjac",         "corotational",
                                            "corotational-cg",   "warp-canceling", "stiffness-warping"};

BodyOptions bar(const std::string& law, double young) {
  BodyOptions body;
  body.mesh = testing::box_mesh({0.6, 0.3, 0.3}, {6, 3, 3});
  body.material = testing::material(law, young, 0.4);
  return body;
}

Vec3 angular_momentum(const Model& model, const State& state) {
  const VecX& mass = model.mass().lumped();
  Vec3 centre = Vec3::Zero(), sum = Vec3::Zero();
  for (Index i = 0; i < model.nodes(); ++i) centre += mass[i] / mass.sum() * node(state.x, i);
  for (Index i = 0; i < model.nodes(); ++i) sum += mass[i] * (node(state.x, i) - centre).cross(node(state.v, i));
  return sum;
}

int repaired(const StepReport& report) {
  for (const Figure& figure : report.figures)
    if (figure.name == "repaired") return static_cast<int>(figure.value);
  return -1;
}

class Family : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(LinearlyImplicit, Family, ::testing::ValuesIn(kFamilies), [](const auto& instance) {
  std::string name = instance.param;
  std::erase(name, '-');
  return name;
});

TEST_P(Family, KeepsTheAngularMomentumOfASpinningBarForASecond) {
  for (double young : {1e5, 1e6, 1e7}) {
    ModelBuilder builder;
    BodyOptions body = bar("neo-hookean", young);
    body.angular_velocity = {0, 0, 20};
    builder.add_body(body);
    const auto model = builder.build();
    const auto stepper = make_stepper(model, GetParam());
    State state = model->rest_state();
    const Vec3 before = angular_momentum(*model, state);
    for (int s = 0; s < 200; ++s) ASSERT_TRUE(stepper->step(state, 5e-3).succeeded());
    EXPECT_LT((angular_momentum(*model, state) - before).norm(), 0.01 * before.norm()) << young;
  }
}

TEST_P(Family, LeavesGoodStepsAlone) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = bar("stable-neo-hookean", 1e6);
  builder.add_body(body);
  builder.add_pin({"hook", body.mesh->sets().at("x-min")});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, GetParam()),
             plain = make_stepper(model, GetParam(), {{"safeguard", "none"}});
  State state = model->rest_state(), other = state;
  for (int s = 0; s < 60; ++s) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.succeeded());
    EXPECT_EQ(repaired(report), 0) << s;
    EXPECT_EQ(repaired(plain->step(other, 1.0 / 60)), -1);
  }
  EXPECT_EQ(state.x, other.x);
}

/// A bar pulled to 1.6 times its length and let go, stiff for its step: the plain methods run away.
TEST_P(Family, NeverGainsEnergyAfterARelease) {
  for (const char* law : {"neo-hookean", "stable-neo-hookean", "fixed-corotated", "linear-corotated"}) {
    SCOPED_TRACE(law);
    ModelBuilder builder;
    const BodyOptions body = bar(law, 4e6);
    builder.add_body(body);
    builder.add_pin({"wall", body.mesh->sets().at("x-min")});
    Script pull{"pull", body.mesh->sets().at("x-max"), {}, Imposition::direct};
    pull.motion.translation.keys = {{0, Vec3::Zero()}, {0.3, Vec3(0.36, 0.12, 0)}};
    pull.release = 0.35;
    builder.add_script(pull);
    const auto model = builder.build();
    const auto stepper = make_stepper(model, GetParam());
    Assembler assembler(model->nodes(), {model->energies().begin(), model->energies().end()});
    State state = model->rest_state();
    double released = 0;
    for (int s = 0; s < 60; ++s) {
      const StepReport report = stepper->step(state, 1.0 / 60);
      ASSERT_TRUE(report.succeeded()) << report.detail;
      double kinetic = 0;
      for (Index i = 0; i < model->nodes(); ++i)
        kinetic += 0.5 * model->mass().lumped()[i] * node(state.v, i).squaredNorm();
      const double energy = kinetic + assembler.value({state.x, state.activation, state.time});
      if (state.time < pull.release + 0.5 / 60)
        released = std::max(released, energy);
      else
        EXPECT_LT(energy, 1.2 * released) << s;
    }
  }
}

/// A script that moves by more than an element in a step, slowly for the body.
TEST_P(Family, TakesNeighboursAlongWhereAScriptMovesByMoreThanAnElement) {
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = testing::box_mesh({0.6, 0.06, 0.06}, {60, 4, 4});
  body.material = testing::material("neo-hookean", 1e7, 0.4);
  builder.add_body(body);
  builder.add_pin({"wall", body.mesh->sets().at("x-min")});
  Script press{"press", body.mesh->sets().at("x-max"), {}, Imposition::direct};
  press.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(-0.18, 0, 0)}};  // 15 mm a step, elements of 10 mm
  builder.add_script(press);
  const auto model = builder.build();
  const auto stepper = make_stepper(model, GetParam());
  State state = model->rest_state();
  for (int s = 0; s < 12; ++s) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.succeeded()) << s << ": " << report.detail;
  }
}

// What moves quasistatically knows contact as it was where the step began. Where contact moves it by more than that,
// the bodies meet, and the step is Newton's.

/// A ball that hits a plate on the floor at 5 m/s, aslant; 0.2 m and 0.25 m at their smallest and largest.
std::shared_ptr<const Model> ball_and_plate() {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_collider({"floor", PlaneShape{Vec3::Zero(), Vec3::UnitY()}, {}});
  builder.set_contact({.friction = 0.3});
  const auto add = [&](const char* name, MeshData data, const Vec3& at, double young, const Vec3& velocity) {
    for (Vec3& p : data.vertices) p += at;
    BodyOptions body;
    body.name = name;
    body.mesh = std::make_shared<TetMesh>(std::move(data));
    body.material = testing::material("neo-hookean", young, 0.3);
    body.velocity = velocity;
    builder.add_body(body);
  };
  add("plate", box({.origin = {-0.3, -0.025, -0.3}, .size = {0.6, 0.05, 0.6}, .cells = {8, 1, 8}}), {0, 0.0254, 0}, 5e5,
      Vec3::Zero());
  add("ball", sphere({.radius = 0.1, .cells = 4}), {-0.05, 0.25, 0.02}, 2e5, {2, -4.58, 0});
  return builder.build();
}

Vec3 centre_of_ball(const Model& model, const VecX& of) {
  const Body& ball = model.bodies()[1];
  Vec3 sum = Vec3::Zero();
  double mass = 0;
  for (Index i = ball.nodes.begin; i < ball.nodes.end; ++i) {
    sum += model.mass().lumped()[i] * node(of, i);
    mass += model.mass().lumped()[i];
  }
  return sum / mass;
}

TEST(TurnStretch, IsTheEnergyOfHalfTheSquareOfATurn) {
  ModelBuilder builder;
  const BodyOptions body = bar("fixed-corotated", 1e7);
  builder.add_body(body);
  const auto model = builder.build();
  TurnStretch stretch(*model);
  const double turn = 0.03, h = 0.01, volume = 0.6 * 0.3 * 0.3;
  const VecX& mass = model->mass().lumped();
  VecX dx(model->rest().size());
  Vec3 centre = Vec3::Zero();
  for (Index i = 0; i < model->nodes(); ++i) centre += mass[i] / mass.sum() * node(model->rest(), i);
  double kinetic = 0;
  for (Index i = 0; i < model->nodes(); ++i) {
    const Vec3 way = turn * Vec3::UnitZ().cross(node(model->rest(), i) - centre);
    kinetic += 0.5 * mass[i] * way.squaredNorm() / (h * h);
    node(dx, i) = way + Vec3(0.3, -0.2, 0.1);  // where it flies has no say
  }
  const Lame& lame = body.material.lame;
  const double expected = volume * std::pow(turn, 4) * (lame.mu + lame.lambda) / 2 / kinetic;
  EXPECT_NEAR(stretch.largest_share(model->rest(), dx, h), expected, 1e-9 * expected);
  // Half the way, a quarter of the share; and what grows without turning has none.
  EXPECT_NEAR(stretch.largest_share(model->rest(), dx / 2, h), expected / 4, 1e-9 * expected);
  EXPECT_LT(stretch.largest_share(model->rest(), 0.2 * model->rest(), h), 1e-12);
}

/// Two thirds of it soft, so that the rest swings down as a stiff block.
std::shared_ptr<const Model> bar_with_a_stiff_end() {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({1.5, 0.3, 0.3}, {12, 3, 3});
  body.material = testing::material("neo-hookean", 2e5, 0.4);
  for (const Tet& tet : body.mesh->tets()) {
    double middle = 0;
    for (Index i : tet) middle += body.mesh->vertices()[static_cast<std::size_t>(i)].x() / 4;
    body.lame.push_back(middle > 1 ? lame_from_young(1e9, 0.3) : lame_from_young(2e5, 0.4));
  }
  builder.add_body(body);
  builder.add_pin({"wall", body.mesh->sets().at("x-min")});
  return builder.build();
}

TEST(StiffParts, SwingUnderLinearStepsAsUnderNewtonsMethod) {
  const auto model = bar_with_a_stiff_end();
  const auto fallen = [&](const std::string& solver) {
    const auto stepper = make_stepper(model, solver);
    State state = model->rest_state();
    for (int s = 0; s < 60; ++s) EXPECT_TRUE(stepper->step(state, 1.0 / 60).succeeded());
    return Vec3(node(state.x, model->nodes() - 1));
  };
  const Vec3 expected = fallen("pod-newton");
  EXPECT_LT(expected.y(), -0.8);
  for (const char* solver : {"linearly-implicit", "conjac"})
    EXPECT_LT((fallen(solver) - expected).norm(), 0.02) << solver;
}

TEST(ConjacInContact, BouncesAsUnderNewtonsMethod) {
  const auto model = ball_and_plate();
  const auto newton = make_stepper(model, "pod-newton"), conjac = make_stepper(model, "conjac");
  State expected = model->rest_state(), state = expected;
  // Until the second impact, before which Newton's method loses a sixth of the ball's spin in the air and conjac none.
  for (int s = 0; s < 13; ++s) {
    ASSERT_TRUE(newton->step(expected, 1.0 / 60).succeeded());
    ASSERT_TRUE(conjac->step(state, 1.0 / 60).succeeded());
    EXPECT_LT((centre_of_ball(*model, state.x) - centre_of_ball(*model, expected.x)).norm(), 1e-3) << s;
    EXPECT_LT((centre_of_ball(*model, state.v) - centre_of_ball(*model, expected.v)).norm(), 1e-2) << s;
  }
}

TEST(ConjacInContact, LeavesABodyAtRestToItself) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_collider({"floor", PlaneShape{Vec3(0, -4e-4, 0), Vec3::UnitY()}, {}});
  builder.set_contact({.friction = 0.3});
  builder.add_body(bar("neo-hookean", 1e6));
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "conjac");
  State state = model->rest_state();
  int by_newton = 0;
  for (int s = 0; s < 60; ++s) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.succeeded()) << report.detail;
    if (s >= 30) by_newton += repaired(report);
  }
  EXPECT_EQ(by_newton, 0);
  EXPECT_LT(state.v.cwiseAbs().maxCoeff(), 1e-3);
}

}  // namespace
}  // namespace safeguard
}  // namespace pliant
