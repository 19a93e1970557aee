// What mechanics demands of a step, whatever the solver: free fall, momentum, statics of a beam, decay of energy.

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "pliant/energies/assembler.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

double total_mass(const Model& model) { return model.mass().lumped().sum(); }

class Physics : public ::testing::TestWithParam<std::tuple<std::string, MassKind, int>> {};

TEST_P(Physics, FreeFallIsExactToRounding) {
  const auto& [solver, mass, order] = GetParam();
  const Vec3 gravity(0, -9.81, 0), velocity(1, 2, -0.5);
  const auto model = testing::free_block("stable-neo-hookean", velocity, Vec3::Zero(), gravity, mass, order);
  const auto stepper = make_stepper(model, solver, {{"tolerance", 1e-9}});
  State state = model->rest_state();
  const double h = 0.02;
  for (int s = 1; s <= 25; ++s) {
    ASSERT_TRUE(stepper->step(state, h).converged());
    // Implicit Euler: v_s = v_0 + s h g, x_s = x_0 + s h v_0 + s (s + 1) / 2 h^2 g.
    const Vec3 shift = s * h * velocity + 0.5 * s * (s + 1) * h * h * gravity;
    for (Index i = 0; i < model->nodes(); ++i) {
      EXPECT_LT((node(state.x, i) - node(model->rest(), i) - shift).norm(), 1e-11);
      EXPECT_LT((node(state.v, i) - velocity - s * h * gravity).norm(), 1e-9);
    }
  }
}

TEST_P(Physics, LinearMomentumOfAFreeSpinningBodyIsKept) {
  const auto& [solver, mass, order] = GetParam();
  const auto model = testing::free_block("stable-neo-hookean", {0.3, -0.2, 0.1}, {1, 2, 3}, Vec3::Zero(), mass, order);
  const auto stepper = make_stepper(model, solver, {{"criterion", "residual"}, {"tolerance", 1e-9}});
  State state = model->rest_state();
  const Vec3 before = testing::momentum(*model, state);
  for (int s = 0; s < 20; ++s) ASSERT_TRUE(stepper->step(state, 0.02).converged());
  EXPECT_LT((testing::momentum(*model, state) - before).norm(), 1e-9 * total_mass(*model));
}

INSTANTIATE_TEST_SUITE_P(Solvers, Physics,
                         ::testing::Values(std::tuple{"newton", MassKind::consistent, 1},
                                           std::tuple{"projected-newton", MassKind::lumped, 1},
                                           std::tuple{"pod-newton", MassKind::consistent, 2},
                                           std::tuple{"kinetic-newton", MassKind::lumped, 3}));

TEST(Physics, EnergyOfAnUnloadedBodyDecaysUnderImplicitEuler) {
  const auto model = testing::free_block("stable-neo-hookean", Vec3::Zero(), {3, -2, 4}, Vec3::Zero());
  const auto stepper = make_stepper(model, "pod-newton", {{"tolerance", 1e-6}});
  State state = model->rest_state();
  Assembler elastic(model->nodes(), {model->energies().begin(), model->energies().end()});
  const auto energy = [&] {
    VecX p;
    model->mass().multiply(state.v, p);
    return 0.5 * state.v.dot(p) + elastic.value(state.x);
  };
  double before = energy();
  for (int s = 0; s < 40; ++s) {
    ASSERT_TRUE(stepper->step(state, 0.01).converged());
    const double now = energy();
    EXPECT_LE(now, before * (1 + 1e-9));
    before = now;
  }
}

TEST(Physics, SlenderCantileverBendsAsBeamTheorySays) {
  const double length = 12, side = 1, young = 1e7, force = 20;
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = testing::box_mesh({length, side, side}, {36, 3, 3});
  body.material = testing::material("stvk", young, 0.0);
  body.order = 2;
  builder.add_body(body);
  const FeMesh& mesh = *builder.body(0).elements;
  builder.add_pin({"clamp", mesh.nodes_of(body.mesh->sets().at("x-min"))});
  const std::vector<Index> tip = mesh.nodes_of(body.mesh->sets().at("x-max"));
  builder.add_load(tip, {0, -force, 0});
  const auto model = builder.build();
  State state = model->rest_state();
  const StepReport report =
      make_stepper(model, "pod-newton", {{"integrator", "quasistatic"}, {"criterion", "residual"}, {"tolerance", 1e-5}})
          ->step(state, 1.0);
  ASSERT_TRUE(report.converged()) << report.detail;
  double deflection = 0;
  for (Index i : tip) deflection -= (node(state.x, i) - node(model->rest(), i)).y() / tip.size();
  // Timoshenko: bending F L^3 / (3 E I) and shear F L / (k G A), with k = 5/6 for a square section.
  const double bending = force * std::pow(length, 3) / (3 * young * std::pow(side, 4) / 12);
  const double shear = force * length / (5.0 / 6 * young / 2 * side * side);
  EXPECT_NEAR(deflection, bending + shear, 0.02 * bending);
}

}  // namespace
}  // namespace pliant
