#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <Eigen/LU>
#include <cmath>

#include "pliant/base/error.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/pxpbd/pxpbd_stepper.hpp"
#include "support/models.hpp"

// kappa in these tests is the largest stiffness number of an element, h^2 V 2 mu lambda_max(A); it is asserted.
namespace pliant {
namespace {

constexpr double kStep = 0.01;

/// The body of the hard step: 2 x 1 x 1 cells of four edges, E = 10 kPa, nu = 0.3, rho = 10 kg/m^3. kappa is 6, 38 or
/// 152 for edges of 0.2867, 0.1139 and 0.05696 m.
std::shared_ptr<const Model> hard_model(double edge, const std::string& law = "fixed-corotated") {
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = testing::box_mesh({8 * edge, 4 * edge, 4 * edge}, {8, 4, 4});
  body.material = testing::material(law, 1e4, 0.3);
  body.density = 10;
  builder.add_body(body);
  return builder.build();
}

/// Stretched by half, and moving unevenly.
State hard_state(const Model& model) {
  State state = model.rest_state();
  for (Index i = 0; i < model.nodes(); ++i) {
    const Vec3 X = node(model.rest(), i);
    node(state.x, i)[0] *= 1.5;
    node(state.v, i) = Vec3(1 + X[1], -0.5 * X[0], 0.3 * X[0] * X[0]);
  }
  return state;
}

struct HardStep {
  StepReport report;
  State end;
  double kappa = 0;
  /// Relative to the start of the step.
  double force(std::size_t k) const {
    return (k < report.history.size() ? report.history[k].force : report.residuals.force) /
           report.history.front().force;
  }
};

HardStep hard_step(double edge, const std::string& solver, std::int64_t iterations, ParameterMap parameters = {},
                   const std::string& law = "fixed-corotated") {
  const auto model = hard_model(edge, law);
  parameters["iterations"] = iterations;
  parameters["history"] = true;
  parameters["correction"] = "none";  // what sweeps do by themselves
  const auto stepper = make_stepper(model, solver, parameters);
  HardStep result;
  result.end = hard_state(*model);
  result.report = stepper->step(result.end, kStep);
  result.kappa = dynamic_cast<PxpbdStepper&>(*stepper).largest_kappa(kStep);
  return result;
}

TEST(HardStep, XpbdStagnatesWhileItsSecondaryResidualVanishes) {
  const HardStep step = hard_step(0.2867, "xpbd", 500);
  EXPECT_NEAR(step.kappa, 6, 0.01);
  EXPECT_GT(step.force(500), 0.1);
  EXPECT_NEAR(step.force(500) / step.force(100), 1, 0.02);
  EXPECT_LT(step.report.residuals.secondary, 1e-9 * step.report.history.front().secondary);
  EXPECT_NEAR(step.report.residuals.primal, step.report.residuals.force, 1e-9 * step.report.residuals.force);
}

TEST(HardStep, FirstPiolaConvergesWithThePrimalResidualAtRounding) {
  const HardStep soft = hard_step(0.2867, "fp-pxpbd", 200), stiff = hard_step(0.1139, "fp-pxpbd", 500);
  EXPECT_NEAR(stiff.kappa, 38, 0.1);
  EXPECT_LT(soft.force(200), 1e-9);
  EXPECT_LT(stiff.force(500), 1e-4);
  for (const HardStep* step : {&soft, &stiff})
    for (const IterationRecord& record : step->report.history)
      EXPECT_LT(record.primal, 1e-12 * step->report.history.front().force);
}

TEST(HardStep, BlendedConvergesWithOneBlendOrOnePerElement) {
  for (const ParameterMap& zeta : {ParameterMap{{"zeta", 0.9}}, ParameterMap{}}) {
    EXPECT_LT(hard_step(0.2867, "b-pxpbd", 200, zeta).force(200), 1e-8);
    EXPECT_LT(hard_step(0.1139, "b-pxpbd", 500, zeta).force(500), 1e-4);
  }
  const HardStep stiffest = hard_step(0.05696, "b-pxpbd", 300);
  EXPECT_NEAR(stiffest.kappa, 152, 0.5);
  for (std::size_t k = 1; k <= 300; ++k) EXPECT_LT(stiffest.force(k), 2);
  EXPECT_LT(stiffest.force(300), 0.02);
}

TEST(HardStep, EndsOnPodNewtonsState) {
  for (const char* law : {"fixed-corotated", "arap", "macklin-mueller", "stable-neo-hookean", "neo-hookean", "stvk",
                          "linear-corotated", "mooney-rivlin"}) {
    const auto model = hard_model(0.2867, law);
    State exact = hard_state(*model);
    const auto newton = make_stepper(model, "pod-newton", {{"criterion", "residual"}, {"tolerance", 1e-6}});
    ASSERT_TRUE(newton->step(exact, kStep).converged()) << law;
    const HardStep step = hard_step(0.2867, "fp-pxpbd", 150, {}, law);
    EXPECT_LT((step.end.x - exact.x).cwiseAbs().maxCoeff(), 1e-6) << law;
  }
}

TEST(HardStep, AFullLocalSystemNeedsFewerSweepsThanTheQuasiNewtonOne) {
  const HardStep quick = hard_step(0.2867, "fp-pxpbd", 60);
  const HardStep full = hard_step(0.2867, "fp-pxpbd", 60, {{"local", "full"}, {"inner", std::int64_t{2}}});
  EXPECT_LT(full.force(60), 0.5 * quick.force(60));
}

TEST(Blended, WithAShareOfOneIsXpbdToTheBit) {
  for (const char* law : {"fixed-corotated", "macklin-mueller"}) {
    const auto model = hard_model(0.1139, law);
    State a = hard_state(*model), b = a;
    make_stepper(model, "xpbd")->step(a, kStep);
    make_stepper(model, "b-pxpbd", {{"zeta", 1.0}})->step(b, kStep);
    EXPECT_EQ(a.x, b.x) << law;
  }
}

TEST(Blended, WithFarTooSmallAShareEndsAsANamedOutcomeAndKeepsTheState) {
  const auto model = hard_model(0.05696);
  State state = hard_state(*model);
  const State before = state;
  const auto stepper = make_stepper(model, "b-pxpbd", {{"zeta", 0.05}, {"iterations", std::int64_t{2000}}});
  const StepReport report = stepper->step(state, kStep);
  EXPECT_EQ(report.outcome, Outcome::not_finite);
  EXPECT_NE(report.detail.find("leave zeta to be chosen per element"), std::string::npos) << report.detail;
  EXPECT_EQ(state.x, before.x);
  EXPECT_TRUE(make_stepper(model, "b-pxpbd")->step(state, kStep).succeeded());  // the remedy
}

TEST(Pxpbd, OneAndTwoThreadsGiveTheSameBits) {
  for (const char* solver : {"xpbd", "b-pxpbd", "fp-pxpbd"}) {
    ModelBuilder builder;
    builder.set_gravity({0, -9.81, 0});
    BodyOptions body;
    body.mesh = testing::box_mesh({2, 1, 1}, {12, 6, 6});
    body.material = testing::material("fixed-corotated", 1e4, 0.3);
    builder.add_body(body);
    builder.set_collider_law(ColliderLaw::penalty);
    builder.add_collider({"floor", PlaneShape{{0, -0.02, 0}, {0, 1, 0}}, {}, 1e4, 0.3});
    const auto model = builder.build();
    std::vector<State> ends;
    for (std::size_t threads : {1, 2}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      const auto stepper = make_stepper(model, solver);
      ends.push_back(model->rest_state());
      for (int s = 0; s < 20; ++s) ASSERT_TRUE(stepper->step(ends.back(), kStep).succeeded());
    }
    EXPECT_EQ(ends[0].x, ends[1].x) << solver;
    EXPECT_EQ(ends[0].v, ends[1].v) << solver;
  }
}

double mean_x(const VecX& x, const std::vector<Index>& nodes) {
  double sum = 0;
  for (Index i : nodes) sum += node(x, i)[0];
  return sum / static_cast<double>(nodes.size());
}

TEST(Pxpbd, AHangingBarStretchesByItsStiffnessWhateverTheTimeStep) {
  // Four cells of 0.25 m, E = 50 kPa, rho = 1000 kg/m^3; damped until it is at rest. kappa 2.2, 0.65 and 0.18.
  ModelBuilder builder;
  builder.set_gravity({9.81, 0, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 0.25, 0.25}, {4, 1, 1});
  body.material = testing::material("fixed-corotated", 5e4, 0.3);
  body.damping.mass = 20;
  builder.add_body(body);
  builder.add_pin({"top", body.mesh->sets().at("x-min")});
  const auto model = builder.build();
  const std::vector<Index>& end = body.mesh->sets().at("x-max");
  State statics = model->rest_state();
  ASSERT_TRUE(
      make_stepper(model, "pod-newton", {{"integrator", "quasistatic"}, {"criterion", "residual"}, {"tolerance", 1e-8}})
          ->step(statics, 1)
          .converged());
  const double extension = mean_x(statics.x, end) - 1;
  EXPECT_NEAR(extension, 0.0945, 1e-4);
  for (double h : {0.02, 0.01, 0.005})
    for (const auto& [solver, bound] : {std::pair{"fp-pxpbd", 1e-3}, {"b-pxpbd", 1e-3}, {"xpbd", 1e-2}}) {
      const auto stepper = make_stepper(model, solver);  // ten iterations
      State state = model->rest_state();
      for (int s = 0; s < std::lround(2 / h); ++s) stepper->step(state, h);
      EXPECT_LT(dynamic_cast<PxpbdStepper&>(*stepper).largest_kappa(h), 2.3);
      EXPECT_NEAR((mean_x(state.x, end) - 1) / extension, 1, bound) << solver << " " << h;
    }
}

double volume(const TetMesh& mesh, const VecX& x) {
  double sum = 0;
  for (const Tet& t : mesh.tets()) {
    Mat3 edges;
    for (std::size_t a = 1; a < 4; ++a) edges.col(static_cast<Eigen::Index>(a - 1)) = node(x, t[a]) - node(x, t[0]);
    sum += edges.determinant() / 6;
  }
  return sum;
}

TEST(NeoHookean, ASqueezedCubeFollowsNewtonWithFirstPiolaButNotWithXpbd) {
  // A cube of 8^3 cells, E = 1 kPa, nu = 0.3, rho = 10, squeezed to 75% in 0.5 s and held; kappa 3.1 (pxpbd, fig. 8).
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 1, 1}, {8, 8, 8});
  body.material = testing::material("macklin-mueller", 1e3, 0.3);
  body.density = 10;
  builder.add_body(body);
  builder.add_pin({"held", body.mesh->sets().at("x-min")});
  Script squeeze{"squeeze", body.mesh->sets().at("x-max"), {}, Imposition::direct};
  squeeze.motion.translation.keys = {{0, Vec3::Zero()}, {0.5, Vec3(-0.25, 0, 0)}};
  builder.add_script(squeeze);
  const auto model = builder.build();
  const auto run = [&](const char* solver, const ParameterMap& parameters) {
    const auto stepper = make_stepper(model, solver, parameters);
    State state = model->rest_state();
    for (int s = 0; s < 60; ++s) EXPECT_TRUE(stepper->step(state, kStep).advanced());
    return state.x;
  };
  const VecX newton = run("pod-newton", {{"criterion", "residual"}, {"tolerance", 1e-6}});
  const double scale = (newton - model->rest()).norm(), V = volume(*body.mesh, newton);
  const VecX ours = run("fp-pxpbd", {}), xpbd = run("xpbd", {{"iterations", std::int64_t{100}}});
  EXPECT_LT((ours - newton).norm(), 1e-3 * scale);
  EXPECT_NEAR(volume(*body.mesh, ours) / V, 1, 1e-4);
  EXPECT_GT((xpbd - newton).norm(), 0.2 * scale);
  EXPECT_LT(volume(*body.mesh, xpbd) / V, 0.95);
}

TEST(NeoHookean, AtRestFirstPiolaKeepsItsVolumeAndXpbdDoesNot) {
  for (const char* solver : {"fp-pxpbd", "xpbd"}) {
    const auto model = hard_model(0.25, "macklin-mueller");
    const auto stepper = make_stepper(model, solver);
    State state = model->rest_state();
    for (int s = 0; s < 300; ++s) ASSERT_TRUE(stepper->step(state, kStep).succeeded());
    const double change =
        volume(*model->bodies()[0].mesh, state.x) / volume(*model->bodies()[0].mesh, model->rest()) - 1;
    if (std::string(solver) == "xpbd")
      EXPECT_LT(change, -0.02);
    else
      EXPECT_LT(std::abs(change), 1e-12);
  }
}

TEST(Pxpbd, ChecksWhatItIsGiven) {
  const auto message = [](const std::shared_ptr<const Model>& model, const char* solver) {
    try {
      make_stepper(model, solver);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(testing::clamped_beam({2, 1, 1}, 2, "neo-hookean", MassKind::lumped), "fp-pxpbd").find("order = 1"),
            std::string::npos);
  EXPECT_NE(message(testing::clamped_beam({2, 1, 1}), "fp-pxpbd").find("mass = \"lumped\""), std::string::npos);
  EXPECT_NE(message(testing::clamped_beam({2, 1, 1}, 1, "neo-hookean", MassKind::lumped), "xpbd").find("fp-pxpbd"),
            std::string::npos);
  EXPECT_EQ(message(testing::clamped_beam({2, 1, 1}, 1, "neo-hookean", MassKind::lumped), "fp-pxpbd"), "");
}

}  // namespace
}  // namespace pliant
