#include <gtest/gtest.h>

#include <cmath>

#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

// Boundaries, obstacles, muscles, damping and abuse, for the solvers of pxpbd.
namespace pliant {
namespace {

std::vector<Index> shifted(std::vector<Index> nodes, Index first) {
  for (Index& i : nodes) i += first;
  return nodes;
}

/// Two bodies of different laws; pins along one axis and along all, a script by penalty that lets go and one imposed
/// directly, an obstacle that moves, damping by mass.
std::shared_ptr<const Model> busy_model(const char* law) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 0.5, 0.5}, {4, 2, 2});
  body.material = testing::material(law, 2e4, 0.3);
  body.damping.mass = 0.5;
  builder.add_body(body);
  BodyOptions second = body;
  second.name = "second";
  second.mesh = std::make_shared<TetMesh>(box({.origin = {0, 1, 0}, .size = {1, 0.5, 0.5}, .cells = {4, 2, 2}}));
  second.material = testing::material("macklin-mueller", 2e4, 0.3);
  second.damping = {};
  builder.add_body(second);
  const Index first = builder.body(1).nodes.begin;
  builder.add_pin({"rail", body.mesh->sets().at("x-min"), {true, false, true}});
  builder.add_pin({"wall", shifted(second.mesh->sets().at("x-min"), first)});
  Script pull{"pull", body.mesh->sets().at("x-max"), {}, Imposition::penalty, 1e5};
  pull.motion.translation.keys = {{0, Vec3::Zero()}, {0.1, Vec3(0.1, 0, 0)}};
  pull.release = 0.1;
  builder.add_script(pull);
  Script turn{"turn", shifted(second.mesh->sets().at("x-max"), first), {}, Imposition::direct};
  turn.motion.angle.keys = {{0, 0.0}, {0.2, 0.5}};
  turn.motion.centre = {0, 1.25, 0.25};
  builder.add_script(turn);
  Collider ball{"ball", SphereShape{{0.5, -0.3, 0.25}, 0.3}, {}, 1e4, 0.2};
  ball.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(0, 0.05, 0)}};
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider(ball);
  return builder.build();
}

TEST(PxpbdScene, BoundariesAndObstaclesLandOnPodNewtonsState) {
  for (const auto& [solver, law] :
       {std::pair{"fp-pxpbd", "fixed-corotated"}, {"fp-pxpbd", "neo-hookean"}, {"b-pxpbd", "fixed-corotated"}}) {
    const auto model = busy_model(law);
    const auto exact = make_stepper(model, "pod-newton", {{"criterion", "residual"}, {"tolerance", 1e-7}});
    const auto ours = make_stepper(
        model, solver, {{"iterations", std::int64_t{4000}}, {"criterion", "residual"}, {"tolerance", 1e-4}});
    State a = model->rest_state(), b = a;
    bool touched = false;
    for (int s = 0; s < 15; ++s) {
      ASSERT_TRUE(exact->step(a, 0.01).advanced());
      const StepReport report = ours->step(b, 0.01);
      ASSERT_TRUE(report.converged()) << solver << " " << law << " step " << s << ": " << report.residuals.force;
      touched |= report.minimum_gap < 0;
    }
    EXPECT_TRUE(touched);
    EXPECT_LT((a.x - b.x).cwiseAbs().maxCoeff(), 1e-6) << solver << " " << law;
  }
}

/// A muscle between two walls, with damping by stiffness; its activation goes up over a tenth of a second.
std::shared_ptr<const Model> muscle_model() {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const Index muscle = builder.add_muscle({"biceps", {{{0, 0.0}, {0.1, 1.0}}}});
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 0.25, 0.25}, {4, 1, 1});
  body.material = testing::material("fixed-corotated", 2e4, 0.3);
  body.fibres = {{find_fibre_law("muscle"), {{2e4, 1.4, 0}}, {Vec3::UnitX()}, muscle}};
  body.damping.stiffness = 0.005;
  builder.add_body(body);
  std::vector<Index> ends = body.mesh->sets().at("x-min");
  ends.insert(ends.end(), body.mesh->sets().at("x-max").begin(), body.mesh->sets().at("x-max").end());
  builder.add_pin({"walls", ends});
  return builder.build();
}

TEST(PxpbdScene, AMuscleContractsAsUnderNewton) {
  const auto model = muscle_model();
  const auto exact = make_stepper(model, "pod-newton", {{"criterion", "residual"}, {"tolerance", 1e-8}});
  const auto ours = make_stepper(model, "fp-pxpbd", {{"iterations", std::int64_t{200}}});
  const auto quick = make_stepper(model, "fp-pxpbd");
  State a = model->rest_state(), b = a, c = a;
  for (int s = 0; s < 20; ++s) {
    ASSERT_TRUE(exact->step(a, 0.01).advanced());
    ASSERT_TRUE(ours->step(b, 0.01).succeeded());
    ASSERT_TRUE(quick->step(c, 0.01).succeeded());
  }
  EXPECT_GT((a.x - model->rest()).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT((a.x - b.x).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LT((a.x - c.x).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(PxpbdScene, SubstepsAreStepsOfTheirOwn) {
  const auto model = busy_model("fixed-corotated");
  State a = model->rest_state(), b = a;
  const auto whole = make_stepper(model, "fp-pxpbd", {{"substeps", std::int64_t{4}}});
  const auto parts = make_stepper(model, "fp-pxpbd");
  EXPECT_EQ(whole->step(a, 0.02).iterations, 40);
  for (int s = 0; s < 4; ++s) parts->step(b, 0.005);
  EXPECT_LT((a.x - b.x).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_EQ(a.step, 1);
  EXPECT_NEAR(a.time, 0.02, 1e-15);
}

TEST(PxpbdScene, QuasistaticStepsEndInEquilibrium) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 0.25, 0.25}, {4, 1, 1});
  body.material = testing::material("fixed-corotated", 2e5, 0.3);
  builder.add_body(body);
  builder.add_pin({"wall", body.mesh->sets().at("x-min")});
  const auto model = builder.build();
  State a = model->rest_state(), b = a;
  make_stepper(model, "pod-newton", {{"integrator", "quasistatic"}, {"criterion", "residual"}, {"tolerance", 1e-8}})
      ->step(a, 1);
  const auto ours = make_stepper(
      model, "fp-pxpbd",
      {{"integrator", "quasistatic"}, {"rounds", std::int64_t{1000}}, {"criterion", "residual"}, {"tolerance", 1e-3}});
  const StepReport report = ours->step(b, 0.02);
  EXPECT_TRUE(report.converged()) << report.residuals.force;
  EXPECT_LT((a.x - b.x).cwiseAbs().maxCoeff(), 1e-4 * (a.x - model->rest()).cwiseAbs().maxCoeff());
}

/// Vertices anywhere in the bounding box, one end held.
TEST(PxpbdScene, RecoversFromRandomPositions) {
  for (const char* solver : {"fp-pxpbd", "b-pxpbd", "xpbd"}) {
    ModelBuilder builder;
    BodyOptions body;
    body.mesh = testing::box_mesh({2, 1, 1}, {6, 3, 3});
    body.material = testing::material("fixed-corotated", 1e5, 0.3);
    body.damping.mass = 5;
    builder.add_body(body);
    builder.add_pin({"end", body.mesh->sets().at("x-min")});
    const auto model = builder.build();
    State state = model->rest_state();
    unsigned seed = 7;
    for (Eigen::Index i = 0; i < state.x.size(); ++i) {
      seed = seed * 1664525u + 1013904223u;
      if (node(model->rest(), static_cast<Index>(i / 3)).x() > 1e-9)
        state.x[i] = (i % 3 == 0 ? 2.0 : 1.0) * (seed >> 8) / 16777216.0;
    }
    const auto stepper = make_stepper(model, solver);
    for (int s = 0; s < 300; ++s) ASSERT_TRUE(stepper->step(state, 0.01).succeeded()) << solver << " step " << s;
    EXPECT_LT((state.x - model->rest()).cwiseAbs().maxCoeff(), 0.2) << solver;
  }
}

}  // namespace
}  // namespace pliant
