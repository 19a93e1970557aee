#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <Eigen/Dense>
#include <numbers>

#include "pliant/math/error.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

constexpr double kStep = 0.01;

struct Scene {
  std::array<Index, 3> cells = {6, 2, 2};
  double young = 2e5;
  bool clamped = true;
  RayleighDamping damping = {0.1, 0.002};
  Vec3 velocity = Vec3::Zero(), spin = Vec3::Zero(), gravity = {0, -9.81, 0};
  double floor = -1e300;
  std::string law = "linear-corotated";
};

std::shared_ptr<const Model> make_model(const Scene& scene) {
  ModelBuilder builder;
  builder.set_gravity(scene.gravity);
  BodyOptions body;
  body.mesh = testing::box_mesh({1.5, 0.5, 0.5}, scene.cells);
  body.material = testing::material(scene.law, scene.young, 0.4);
  body.damping = scene.damping;
  body.velocity = scene.velocity;
  body.angular_velocity = scene.spin;
  builder.add_body(body);
  if (scene.clamped) builder.add_pin({"clamp", body.mesh->sets().at("x-min")});
  if (scene.floor > -1e299) builder.add_collider({"floor", PlaneShape{{0, scene.floor, 0}, Vec3::UnitY()}, {}, 1e5, 0});
  return builder.build();
}

/// One step of (M + h C + h^2 K) v' = M v + h (f_ext + f_els) with dense matrices, written from the paper's (2) and (3)
/// without any of the code under test.
void dense_step(const Model& model, State& state, double h) {
  const Eigen::Index n = state.x.size();
  const Body& body = model.bodies()[0];
  const Lame lame = body.lame[0];
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n, n);
  VecX f = model.external_force();
  for (Index e = 0; e < body.elements->element_count(); ++e) {
    const Index* nodes = body.elastic->stencils()[e];
    const Mat3 B = body.elements->inverse_edges()[static_cast<std::size_t>(e)];
    const double V = body.elements->volumes()[static_cast<std::size_t>(e)];
    Eigen::Matrix<double, 3, 4> grad;
    for (int a = 0; a < 3; ++a) grad.col(a + 1) = B.row(a).transpose();
    grad.col(0) = -(grad.col(1) + grad.col(2) + grad.col(3));
    Mat3 F = Mat3::Zero();
    for (int a = 0; a < 4; ++a) F += node(state.x, nodes[a]) * grad.col(a).transpose();
    Eigen::JacobiSVD<Mat3> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
    Mat3 U = svd.matrixU(), W = svd.matrixV();
    if ((U * W.transpose()).determinant() < 0) U.col(2) *= -1;
    const Mat3 R = U * W.transpose();
    // Cauchy strain in Voigt notation: the classical B^T D B.
    Eigen::Matrix<double, 6, 12> strain = Eigen::Matrix<double, 6, 12>::Zero();
    for (int a = 0; a < 4; ++a) {
      const Vec3 g = grad.col(a);
      strain.block<6, 3>(0, 3 * a) << g.x(), 0, 0, 0, g.y(), 0, 0, 0, g.z(), g.y(), g.x(), 0, 0, g.z(), g.y(), g.z(), 0,
          g.x();
    }
    Eigen::Matrix<double, 6, 6> D = Eigen::Matrix<double, 6, 6>::Zero();
    D.topLeftCorner<3, 3>().setConstant(lame.lambda);
    D.diagonal() << lame.lambda + 2 * lame.mu, lame.lambda + 2 * lame.mu, lame.lambda + 2 * lame.mu, lame.mu, lame.mu,
        lame.mu;
    Eigen::Matrix<double, 12, 12> rotation = Eigen::Matrix<double, 12, 12>::Zero();
    Eigen::Matrix<double, 12, 1> offset;
    for (int a = 0; a < 4; ++a) {
      rotation.block<3, 3>(3 * a, 3 * a) = R;
      offset.segment<3>(3 * a) = R.transpose() * node(state.x, nodes[a]) - node(model.rest(), nodes[a]);
    }
    const Eigen::Matrix<double, 12, 12> Ke = V * strain.transpose() * D * strain;
    const Eigen::Matrix<double, 12, 12> rotated = rotation * Ke * rotation.transpose();
    const Eigen::Matrix<double, 12, 1> force = -(rotation * (Ke * offset));
    for (int a = 0; a < 4; ++a) {
      node(f, nodes[a]) += force.segment<3>(3 * a);
      for (int b = 0; b < 4; ++b) K.block<3, 3>(3 * nodes[a], 3 * nodes[b]) += rotated.block<3, 3>(3 * a, 3 * b);
    }
  }
  VecX mass(n);
  for (Eigen::Index i = 0; i < n; ++i) mass[i] = model.mass().lumped()[i / 3];
  Eigen::MatrixXd A = (h * body.damping.stiffness + h * h) * K;
  A.diagonal() += (1 + h * body.damping.mass) * mass;
  VecX b = mass.cwiseProduct(state.v) + h * f;
  const BoundaryState boundary = boundary_state(model.pins(), model.scripts(), model.rest(), state.time + h);
  for (Eigen::Index i = 0; i < n; ++i)
    if (boundary.fixed[static_cast<std::size_t>(i)]) {
      A.row(i).setZero();
      A(i, i) = 1;
      b[i] = (boundary.positions[i] - state.x[i]) / h;
    }
  state.v = A.partialPivLu().solve(b);
  state.x += h * state.v;
  state.time += h;
}

double largest_difference(const VecX& a, const VecX& b) { return (a - b).cwiseAbs().maxCoeff(); }

double figure(const StepReport& report, std::string_view name) {
  for (const Figure& f : report.figures)
    if (f.name == name) return f.value;
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

TEST(Corotational, TakesTheStepsOfADenseReference) {
  Scene scene;
  scene.cells = {3, 1, 1};
  scene.spin = {0.3, 2, 1};
  const auto model = make_model(scene);
  const auto stepper = make_stepper(model, "corotational");
  State a = model->rest_state(), b = a;
  // Far from rest, with an inverted element.
  for (Index i = 4; i < model->nodes(); ++i)
    node(a.x, i) += 0.2 * Vec3(std::sin(7.0 * i), std::cos(3.0 * i), std::sin(i));
  b = a;
  for (int s = 0; s < 20; ++s) {
    const StepReport report = stepper->step(a, kStep);
    ASSERT_TRUE(report.succeeded()) << report.detail;
    EXPECT_EQ(report.factorisations, 1);
    dense_step(*model, b, kStep);
    ASSERT_LT(largest_difference(a.x, b.x), 1e-10) << s;
    ASSERT_LT(largest_difference(a.v, b.v), 1e-8) << s;
  }
}

TEST(Corotational, ConjugateGradientsLandOnTheFactorisedSolution) {
  const auto model = make_model({});
  const auto direct = make_stepper(model, "corotational");
  for (const char* preconditioner : {"jacobi", "block-jacobi", "incomplete-cholesky"}) {
    const auto iterative =
        make_stepper(model, "corotational-cg", {{"preconditioner", std::string(preconditioner)}, {"tolerance", 1e-12}});
    State a = model->rest_state(), b = a;
    for (int s = 0; s < 10; ++s) {
      ASSERT_TRUE(direct->step(a, kStep).succeeded());
      const StepReport report = iterative->step(b, kStep);
      ASSERT_TRUE(report.succeeded()) << report.detail;
      EXPECT_GT(report.linear_iterations, 0);
    }
    EXPECT_LT(largest_difference(a.x, b.x), 1e-9) << preconditioner;
  }
}

TEST(Corotational, HoldsPenalisedAndScriptedNodes) {
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 0.5, 0.5}, {4, 2, 2});
  body.material = testing::material("linear-corotated", 1e5, 0.3);
  builder.add_body(body);
  builder.add_pin({"rail", body.mesh->sets().at("x-min"), {true, true, false}});
  Script pull{"pull", body.mesh->sets().at("x-max"), {}, Imposition::penalty, 1e8};
  pull.motion.translation.keys = {{0, Vec3::Zero()}, {0.2, Vec3(0.3, 0, 0)}};
  pull.release = 0.25;
  builder.add_script(pull);
  const auto model = builder.build();
  for (const char* solver : {"corotational", "warp-canceling"}) {
    const auto stepper = make_stepper(model, solver);
    State state = model->rest_state();
    for (int s = 0; s < 22; ++s) ASSERT_TRUE(stepper->step(state, kStep).succeeded());
    for (Index i : body.mesh->sets().at("x-max")) EXPECT_NEAR(node(state.x, i).x(), 1.3, 1e-3) << solver;
    for (int s = 0; s < 20; ++s) ASSERT_TRUE(stepper->step(state, kStep).succeeded());
    for (Index i : body.mesh->sets().at("x-max")) EXPECT_LT(node(state.x, i).x(), 1.25) << solver;
    for (Index i : body.mesh->sets().at("x-min")) EXPECT_EQ(node(state.x, i).y(), node(model->rest(), i).y());
  }
}

TEST(Corotational, ReportsTheResidualThatNewtonWouldSee) {
  // Without damping and with small motion the linearly implicit step nearly solves Newton's equations.
  Scene scene;
  scene.damping = {};
  const auto model = make_model(scene);
  State state = model->rest_state();
  const auto stepper = make_stepper(model, "corotational");
  for (int s = 0; s < 5; ++s) ASSERT_TRUE(stepper->step(state, kStep).succeeded());
  State start = state;
  const StepReport report = stepper->step(state, kStep);
  IncrementalPotential potential(model, Integrator::implicit_euler);
  potential.begin_step(start, kStep);
  VecX gradient;
  const double energy = potential.gradient(state.x, gradient);
  EXPECT_NEAR(report.residuals.force, gradient.norm(), 1e-6 * gradient.norm() + 1e-9);
  EXPECT_NEAR(report.energy, energy, 1e-9 * std::abs(energy) + 1e-12);
}

TEST(WarpCanceling, WithThresholdZeroEqualsCorotationalAtEveryStep) {
  for (bool clamped : {true, false}) {
    Scene scene;
    scene.clamped = clamped;
    scene.spin = clamped ? Vec3::Zero() : Vec3(1, 2, 3);
    scene.floor = clamped ? -1e300 : -0.3;
    const auto model = make_model(scene);
    const auto exact = make_stepper(model, "corotational");
    for (const char* unknown : {"change", "velocity"}) {
      const auto stepper = make_stepper(model, "warp-canceling", {{"tau", 0.0}, {"unknown", std::string(unknown)}});
      State state = model->rest_state();
      for (int s = 0; s < 60; ++s) {
        State reference = state;  // what one step does, not what rounding grows to
        ASSERT_TRUE(exact->step(reference, kStep).succeeded());
        ASSERT_TRUE(stepper->step(state, kStep).succeeded());
        ASSERT_LT(largest_difference(reference.x, state.x), 1e-10) << s << " " << unknown;
        ASSERT_LT(largest_difference(reference.v, state.v), 1e-8) << s << " " << unknown;
      }
    }
  }
}

TEST(WarpCanceling, FallsFreelyForFiveSecondsWithoutRefreshing) {
  Scene scene;
  scene.clamped = false;
  scene.damping = {};
  scene.velocity = {1, 2, 0};
  const auto model = make_model(scene);
  for (const char* solver : {"stiffness-warping", "warp-canceling"}) {
    const auto stepper = make_stepper(model, solver);
    State state = model->rest_state();
    for (int s = 1; s <= 500; ++s) {
      const StepReport report = stepper->step(state, kStep);
      ASSERT_TRUE(report.succeeded());
      EXPECT_EQ(figure(report, "refreshed_elements"), s == 1 ? 1 : 0) << solver;
      const Vec3 fallen = scene.velocity * (s * kStep) + scene.gravity * (kStep * kStep * 0.5 * s * (s + 1));
      for (Index i = 0; i < model->nodes(); ++i)
        ASSERT_LT((node(state.x, i) - node(model->rest(), i) - fallen).norm(), 1e-9) << solver << s;
    }
  }
}

TEST(WarpCanceling, StaysWithinOnePercentOfCorotationalForTwoSeconds) {
  for (bool clamped : {true, false}) {
    Scene scene;
    scene.clamped = clamped;
    scene.spin = clamped ? Vec3::Zero() : Vec3(0, 0, 1);
    scene.floor = clamped ? -1e300 : -0.5;
    const auto model = make_model(scene);
    const auto exact = make_stepper(model, "corotational");
    const auto stepper = make_stepper(model, "warp-canceling");
    State a = model->rest_state(), b = a;
    double worst = 0, share = 0;
    for (int s = 0; s < 200; ++s) {
      ASSERT_TRUE(exact->step(a, kStep).succeeded());
      const StepReport report = stepper->step(b, kStep);
      ASSERT_TRUE(report.succeeded());
      share += figure(report, "refreshed_elements") / 200;
      worst = std::max(worst, largest_difference(a.x, b.x));
    }
    std::printf("clamped %d: deviation %.3g m, refreshed %.3g\n", clamped, worst, share);
    EXPECT_LT(worst, 0.01 * 1.66) << clamped;
    EXPECT_LT(share, 1);
  }
}

TEST(WarpCanceling, RefusesWhatItCannotDoWithTheRemedy) {
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 1, 1}, {1, 1, 1});
  body.material = testing::material("linear-corotated", 1e5, 0.3);
  body.order = 2;
  builder.add_body(body);
  EXPECT_THROW(make_stepper(builder.build(), "warp-canceling"), InputError);
  ModelBuilder other;
  body.order = 1;
  other.add_body(body);
  other.set_mass(MassKind::consistent);
  EXPECT_THROW(make_stepper(other.build(), "corotational"), InputError);
  EXPECT_THROW(make_stepper(make_model({}), "warp-canceling", {{"costs", "flops"}, {"budget_ms", 3.0}}), InputError);
}

}  // namespace
}  // namespace pliant
