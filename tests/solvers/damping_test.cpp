// Damping, springs and muscles in the step.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>

#include "pliant/base/error.hpp"
#include "pliant/sim/fibre_field.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

const ParameterMap kTight = {{"criterion", "residual"}, {"tolerance", 1e-7}};

std::shared_ptr<const Model> block(const RayleighDamping& damping, const Vec3& velocity, const Vec3& spin) {
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = testing::box_mesh({2, 1, 1}, {4, 2, 2});
  body.material = testing::material("stable-neo-hookean", 1e5, 0.4);
  body.velocity = velocity;
  body.angular_velocity = spin;
  body.damping = damping;
  builder.add_body(body);
  return builder.build();
}

TEST(RayleighDamping, ByMassSlowsARigidTranslationExactly) {
  // Implicit Euler of v' = -alpha v: v_(n+1) = v_n / (1 + alpha h).
  const auto model = block({3.0, 0}, {1, -2, 0.5}, Vec3::Zero());
  const auto stepper = make_stepper(model, "newton", kTight);
  State state = model->rest_state();
  double factor = 1;
  for (int s = 0; s < 10; ++s) {
    ASSERT_TRUE(stepper->step(state, 0.05).converged());
    factor /= 1 + 3.0 * 0.05;
    for (Index i = 0; i < model->nodes(); ++i) EXPECT_LT((node(state.v, i) - factor * Vec3(1, -2, 0.5)).norm(), 1e-9);
  }
}

TEST(RayleighDamping, ByStiffnessLeavesTranslationAloneAndKeepsMomentum) {
  const auto model = block({0, 0.05}, {1, -2, 0.5}, {0.5, 0, 0.2});
  const auto stepper = make_stepper(model, "pod-newton", kTight);
  State state = model->rest_state();
  const auto momentum = [&] {
    Vec3 sum = Vec3::Zero();
    for (Index i = 0; i < model->nodes(); ++i) sum += model->mass().lumped()[i] * node(state.v, i);
    return sum;
  };
  const Vec3 before = momentum();
  for (int s = 0; s < 20; ++s) ASSERT_TRUE(stepper->step(state, 0.02).converged());
  EXPECT_LT((momentum() - before).norm(), 1e-8 * before.norm());
}

TEST(RayleighDamping, ByStiffnessDampsASmallVibrationAsTheLinearModelSays) {
  // One node of one tet, the others held: M x'' + beta K x' + K x = 0 in three unknowns, integrated by implicit Euler.
  MeshData data;
  data.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)};
  data.tets = {{0, 1, 2, 3}};
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(data);
  body.material = testing::material("linear-corotated", 1e4, 0.3);
  const double beta = 0.01, h = 0.004;
  body.damping = {0, beta};
  builder.add_body(body);
  builder.add_pin({"rest", {0, 1, 2}});
  const auto model = builder.build();
  Mat3 K;
  {
    std::vector<double> blocks(9 * 10);
    model->bodies()[0].elastic->hessians(model->rest(), {0, 1}, Projection::none, blocks.data());
    K = Eigen::Map<const Mat3>(blocks.data() + 9 * 9);
  }
  const double mass = model->mass().lumped()[3];
  const auto stepper = make_stepper(model, "newton", {{"criterion", "residual"}, {"tolerance", 1e-14}});
  State state = model->rest_state();
  Vec3 u(1e-6, -2e-6, 1.5e-6), v = Vec3::Zero();
  node(state.x, 3) += u;
  for (int s = 0; s < 50; ++s) {
    ASSERT_TRUE(stepper->step(state, h).advanced());
    const Mat3 A = mass / (h * h) * Mat3::Identity() + (1 + beta / h) * K;
    const Vec3 next = A.ldlt().solve(mass / (h * h) * (u + h * v) + beta / h * K * u);
    v = (next - u) / h;
    u = next;
  }
  EXPECT_LT((node(state.x, 3) - node(model->rest(), 3) - u).norm(), 2e-5 * 2e-6);
}

TEST(Cloth, HangsFromTwoCornersUnderEverySolver) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.network = std::make_shared<SpringNetwork>(cloth({.size = {1, 1}, .cells = {8, 8}}));
  body.springs = {200, 100, 5};
  body.density = 0.2;
  builder.add_body(body);
  builder.add_pin({"hooks", {0, 8}});
  const auto model = builder.build();
  EXPECT_NEAR(model->mass().lumped().sum(), 0.2, 1e-14);
  VecX reference;
  for (const char* solver : {"projected-newton", "pod-newton", "kinetic-newton"}) {
    const auto stepper = make_stepper(model, solver, {{"criterion", "residual"}, {"tolerance", 1e-9}});
    State state = model->rest_state();
    for (int s = 0; s < 30; ++s) {
      const StepReport report = stepper->step(state, 0.02);
      ASSERT_TRUE(report.converged()) << solver << ": " << report.detail;
    }
    double lowest = 0;
    for (Index i = 0; i < model->nodes(); ++i) lowest = std::min(lowest, node(state.x, i).y());
    EXPECT_LT(lowest, -0.5) << solver;
    EXPECT_GT(lowest, -2) << solver;
    if (reference.size() == 0) reference = state.x;
    EXPECT_LT((state.x - reference).cwiseAbs().maxCoeff(), 1e-5) << solver;
  }
}

TEST(Muscle, ShortensABarByItsScheduleAndByTheUsersHand) {
  const auto build = [](const Keyframes<double>& keys) {
    ModelBuilder builder;
    const Index muscle = builder.add_muscle({"pull", keys});
    BodyOptions body;
    body.mesh = testing::box_mesh({2, 1, 1}, {4, 2, 2});
    body.material = testing::material("fixed-corotated", 1e5, 0.3);
    body.fibres = {{find_fibre_law("muscle"), {{3e5, 1.2, 0}}, {Vec3::UnitX()}, muscle}};
    body.damping = {5, 0};
    builder.add_body(body);
    builder.add_pin({"wall", body.mesh->sets().at("x-min")});
    return builder.build();
  };
  const auto length = [](const State& state) {
    double most = 0;
    for (Eigen::Index i = 0; i < state.x.size(); i += 3) most = std::max(most, state.x[i]);
    return most;
  };
  const auto scripted = build({{{0, 0.0}, {0.5, 0.0}, {1.0, 1.0}}});
  const auto stepper = make_stepper(scripted, "pod-newton", {{"integrator", "quasistatic"}});
  State state = scripted->rest_state();
  for (int s = 0; s < 5; ++s) ASSERT_TRUE(stepper->step(state, 0.1).converged());
  EXPECT_NEAR(length(state), 2, 1e-6);
  for (int s = 0; s < 5; ++s) ASSERT_TRUE(stepper->step(state, 0.1).converged());
  EXPECT_LT(length(state), 1.6);
  EXPECT_NEAR(state.activation.at(0), 1, 1e-12);

  const auto manual = build({});
  const auto other = make_stepper(manual, "pod-newton", {{"integrator", "quasistatic"}});
  State hand = manual->rest_state();
  hand.activation = {1.0};
  ASSERT_TRUE(other->step(hand, 0.1).converged());
  EXPECT_NEAR(length(hand), length(state), 1e-3);
}

TEST(Muscle, RefusesActivationsOutsideZeroToOne) {
  ModelBuilder builder;
  EXPECT_THROW(builder.add_muscle({"m", {{{0, 1.5}}}}), InputError);
}

TEST(FibreField, HelicalFibresWindAboutTheirAxis) {
  const TetMesh mesh(box({.origin = {-1, -1, 0}, .size = {2, 2, 3}, .cells = {4, 4, 3}}));
  const double pitch = 0.4;
  const auto directions =
      fibre_directions(FibreField{FibreField::Kind::helical, Vec3(0, 0, 2), Vec3::Zero(), pitch}, mesh);
  for (std::size_t e = 0; e < directions.size(); ++e) {
    Vec3 centre = Vec3::Zero();
    for (Index v : mesh.tets()[e]) centre += mesh.vertices()[static_cast<std::size_t>(v)] / 4;
    EXPECT_NEAR(directions[e].norm(), 1, 1e-14);
    EXPECT_NEAR(directions[e].z(), std::sin(pitch), 1e-14);
    EXPECT_NEAR(directions[e].dot(Vec3(centre.x(), centre.y(), 0)), 0, 1e-14);
  }
}

}  // namespace
}  // namespace pliant
