// The safeguard and the exact turn of the linearly implicit families.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "pliant/energies/assembler.hpp"
#include "pliant/solvers/catalogue.hpp"
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

}  // namespace
}  // namespace safeguard
}  // namespace pliant
