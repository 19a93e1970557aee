#include "pliant/sim/grab.hpp"

#include <gtest/gtest.h>

#include <map>

#include "pliant/base/error.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

TEST(Grab, ARayTakesTheNearestPointOfTheSurface) {
  const auto model = testing::clamped_beam({4, 2, 2}, 1, "neo-hookean", MassKind::lumped);
  const auto grab = grab_along_ray(*model, model->rest(), {1.3, 5, 0.4}, {0, -1, 0});
  ASSERT_TRUE(grab);
  EXPECT_LT((grab->point(model->rest()) - Vec3(1.3, 1, 0.4)).norm(), 1e-12);
  EXPECT_EQ(grab->target, Vec3(1.3, 1, 0.4));
  EXPECT_GT(grab->stiffness, 0);
  EXPECT_FALSE(grab_along_ray(*model, model->rest(), {1.3, 5, 0.4}, {0, 1, 0}));
}

TEST(Grab, PullsAPointToItsTargetAndLetsGoInEveryMinimisingSolver) {
  const auto model = testing::clamped_beam({6, 3, 3}, 1, "neo-hookean", MassKind::lumped);
  State first = model->rest_state();
  auto grab = grab_along_ray(*model, first.x, {1.9, 5, 0.5}, {0, -1, 0}, 500);
  ASSERT_TRUE(grab);
  grab->target += Vec3(0.1, 0.5, 0.3);
  first.grabs = {*grab};
  const auto newton = make_stepper(model, "pod-newton", {{"criterion", "residual"}, {"tolerance", 1e-6}});
  const auto ours = make_stepper(model, "quasi-newton",
                                 {{"iterations", std::int64_t{3000}}, {"criterion", "residual"}, {"tolerance", 1e-4}});
  State a = first, b = first;
  for (int s = 0; s < 60; ++s) {
    ASSERT_TRUE(newton->step(a, 1.0 / 30).advanced());
    const StepReport report = ours->step(b, 1.0 / 30);
    ASSERT_TRUE(report.converged()) << report.detail;
    EXPECT_EQ(report.factorisations, s == 0 ? 1 : 0);
  }
  EXPECT_LT((a.x - b.x).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT((grab->point(a.x) - grab->target).norm(), 0.1);
  a.grabs.clear();
  for (int s = 0; s < 120; ++s) ASSERT_TRUE(newton->step(a, 1.0 / 30).advanced());
  EXPECT_GT((grab->point(a.x) - grab->target).norm(), 0.5);
}

/// A box of a law that every solver takes, damped, under no gravity.
BodyOptions damped_box(const Vec3& size, std::array<Index, 3> cells) {
  BodyOptions options;
  options.mesh = testing::box_mesh(size, cells);
  options.material = testing::material("fixed-corotated", 1e5, 0.3);
  options.damping.mass = 4;
  return options;
}

TEST(Grab, SettlesWhereSpringAndBodyBalanceInEverySolver) {
  ModelBuilder builder;
  builder.add_body(damped_box({2, 1, 1}, {6, 3, 3}));
  builder.add_pin({"clamp", builder.body(0).mesh->sets().at("x-min")});
  const auto model = builder.build();
  State first = model->rest_state();
  auto grab = grab_along_ray(*model, first.x, {1.9, 5, 0.45}, {0, -1, 0}, 0.7);
  ASSERT_TRUE(grab);
  const Vec3 start = grab->target;
  grab->target += Vec3(0.01, 0.05, 0.02);
  first.grabs = {*grab};
  const auto settled = [&](const std::string& solver, const ParameterMap& parameters) -> Vec3 {
    const auto stepper = make_stepper(model, solver, parameters);
    State state = first;
    for (int s = 0; s < 150; ++s) {
      const StepReport report = stepper->step(state, 1.0 / 60);
      EXPECT_TRUE(report.advanced()) << solver << ": " << report.detail;
      if (!report.advanced()) break;
    }
    return grab->point(state.x) - start;
  };
  const Vec3 expected = settled("newton", {});
  // Between not moving and giving way altogether: the spring and the beam are about as stiff as each other.
  EXPECT_GT(expected.y(), 0.2 * 0.05);
  EXPECT_LT(expected.y(), 0.8 * 0.05);
  for (const SolverEntry& solver : solver_catalogue()) {
    ParameterMap parameters;
    double tolerance = 0.02;
    if (solver.paper == "pxpbd") parameters["iterations"] = std::int64_t{50};
    // Its nodes are those of a coarse grid, which does not bend as the mesh does.
    if (solver.name == "grid-b-pxpbd") tolerance = 0.6;
    const Vec3 moved = settled(solver.name, parameters);
    EXPECT_LT((moved - expected).norm(), tolerance * expected.norm())
        << solver.name << ": " << moved.transpose() << " instead of " << expected.transpose();
  }
}

TEST(Grab, CarriesAFreeBodyToItsTargetInEverySolver) {
  ModelBuilder builder;
  builder.add_body(damped_box({1, 1, 1}, {3, 3, 3}));
  const auto model = builder.build();
  for (const SolverEntry& solver : solver_catalogue()) {
    const auto stepper = make_stepper(model, solver.name);
    State state = model->rest_state();
    auto grab = grab_along_ray(*model, state.x, {0.55, 5, 0.45}, {0, -1, 0}, 100);
    ASSERT_TRUE(grab);
    const Vec3 start = grab->target;
    for (int s = 0; s < 300; ++s) {
      if (s < 60) grab->target += Vec3(0.5, 1, 0.25) / 60;
      state.grabs = {*grab};
      const StepReport report = stepper->step(state, 1.0 / 60);
      ASSERT_TRUE(report.advanced()) << solver.name << ": " << report.detail;
    }
    EXPECT_LT((grab->point(state.x) - grab->target).norm(), 0.02) << solver.name;
    state.grabs.clear();
    ASSERT_TRUE(stepper->step(state, 1.0 / 60).advanced()) << solver.name;
    EXPECT_GT((grab->point(state.x) - start).norm(), 1) << solver.name;
  }
}

TEST(Grab, OfNodesThatShareNoTriangleIsRefused) {
  const auto model = testing::clamped_beam({6, 3, 3}, 1, "neo-hookean", MassKind::lumped);
  State state = model->rest_state();
  state.grabs = {{{0, 1, model->nodes() - 1}, {0.3, 0.3, 0.4}, Vec3::Zero(), 1}};
  EXPECT_THROW(make_stepper(model, "quasi-newton")->step(state, 0.01), InputError);
  state.grabs = {{{0, 1, model->nodes()}, {0.3, 0.3, 0.4}, Vec3::Zero(), 1}};
  EXPECT_THROW(make_stepper(model, "pod-newton")->step(state, 0.01), InputError);
}

TEST(ImplicitMidpoint, KeepsTheEnergyThatImplicitEulerDamps) {
  const auto model = testing::free_block("stable-neo-hookean", {1, 2, 3}, {4, 5, 6}, {0, 0, 0}, MassKind::lumped);
  const auto energy = [&](const State& state) {
    std::vector<double> values(static_cast<std::size_t>(model->energies()[0]->stencils().count()));
    model->energies()[0]->evaluate(state.x, {0, model->energies()[0]->stencils().count()}, values.data(), nullptr);
    double sum = 0;
    for (double v : values) sum += v;
    VecX momentum;
    model->mass().multiply(state.v, momentum);
    return sum + 0.5 * state.v.dot(momentum);
  };
  std::map<std::string, double> kept;
  for (const char* integrator : {"implicit-euler", "implicit-midpoint"})
    for (const char* solver : {"pod-newton", "quasi-newton"}) {
      ParameterMap parameters = {{"integrator", integrator}, {"criterion", "residual"}, {"tolerance", 1e-3}};
      if (std::string(solver) == "quasi-newton") parameters["iterations"] = std::int64_t{2000};
      const auto stepper = make_stepper(model, solver, parameters);
      State state = model->rest_state();
      const double before = energy(state);
      for (int s = 0; s < 50; ++s) ASSERT_TRUE(stepper->step(state, 0.01).advanced());
      EXPECT_NEAR(state.time, 0.5, 1e-12);
      kept[integrator] = energy(state) / before;
      if (std::string(integrator) == "implicit-midpoint") {
        EXPECT_NEAR(kept[integrator], 1, 0.01) << solver;
      }
    }
  EXPECT_LT(kept["implicit-euler"], 0.95);
}

TEST(ImplicitMidpoint, IsOfSecondOrder) {
  const auto model = testing::clamped_beam({4, 2, 2}, 1, "stable-neo-hookean", MassKind::lumped, 1e5);
  const auto run = [&](int steps) {
    const auto stepper = make_stepper(
        model, "pod-newton", {{"integrator", "implicit-midpoint"}, {"criterion", "residual"}, {"tolerance", 1e-7}});
    State state = model->rest_state();
    for (int s = 0; s < steps; ++s) EXPECT_TRUE(stepper->step(state, 0.1 / steps).advanced());
    return state.x;
  };
  const VecX coarse = run(20), middle = run(40), fine = run(80);
  EXPECT_NEAR(std::log2((coarse - middle).norm() / (middle - fine).norm()), 2, 0.3);
}

}  // namespace
}  // namespace pliant
