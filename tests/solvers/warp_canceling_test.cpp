#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <Eigen/Dense>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"
#include "support/figure.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

constexpr double kWarpStep = 0.01;

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
  builder.set_collider_law(ColliderLaw::penalty);
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
    const StepReport report = stepper->step(a, kWarpStep);
    ASSERT_TRUE(report.succeeded()) << report.detail;
    EXPECT_EQ(report.factorisations, 1);
    dense_step(*model, b, kWarpStep);
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
      ASSERT_TRUE(direct->step(a, kWarpStep).succeeded());
      const StepReport report = iterative->step(b, kWarpStep);
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
    for (int s = 0; s < 22; ++s) ASSERT_TRUE(stepper->step(state, kWarpStep).succeeded());
    for (Index i : body.mesh->sets().at("x-max")) EXPECT_NEAR(node(state.x, i).x(), 1.3, 1e-3) << solver;
    for (int s = 0; s < 20; ++s) ASSERT_TRUE(stepper->step(state, kWarpStep).succeeded());
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
  for (int s = 0; s < 5; ++s) ASSERT_TRUE(stepper->step(state, kWarpStep).succeeded());
  State start = state;
  const StepReport report = stepper->step(state, kWarpStep);
  IncrementalPotential potential(model, {});
  potential.begin_step(start, kWarpStep);
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
        ASSERT_TRUE(exact->step(reference, kWarpStep).succeeded());
        ASSERT_TRUE(stepper->step(state, kWarpStep).succeeded());
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
      const StepReport report = stepper->step(state, kWarpStep);
      ASSERT_TRUE(report.succeeded());
      EXPECT_EQ(testing::figure(report, "refreshed_elements"), s == 1 ? 1 : 0) << solver;
      const Vec3 fallen =
          scene.velocity * (s * kWarpStep) + scene.gravity * (kWarpStep * kWarpStep * 0.5 * s * (s + 1));
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
      ASSERT_TRUE(exact->step(a, kWarpStep).succeeded());
      const StepReport report = stepper->step(b, kWarpStep);
      ASSERT_TRUE(report.succeeded());
      share += testing::figure(report, "refreshed_elements") / 200;
      worst = std::max(worst, largest_difference(a.x, b.x));
    }
    EXPECT_LT(worst, 0.01 * 1.66) << clamped;
    EXPECT_LT(share, 1);
  }
}

/// The pieces of the method on a model, without a stepper.
struct Pieces {
  std::shared_ptr<const Model> model;
  SparseCholesky factor;
  SupernodePartition partition;
  std::unique_ptr<CorotatedElements> elements;
  std::unique_ptr<NodeRotationField> rotations;
  std::unique_ptr<WarpedMatrix> matrix;
  std::unique_ptr<WarpError> error;
  std::vector<std::uint8_t> nothing_held;

  explicit Pieces(std::shared_ptr<const Model> m) : model(std::move(m)), nothing_held(model->nodes(), 0) {
    factor.analyze(model->pattern(), 3);
    partition = partition_of(factor, *model);
    elements = std::make_unique<CorotatedElements>(*model, partition.of_element);
    rotations = std::make_unique<NodeRotationField>(*model, NodeRotationKind::ring);
    matrix = std::make_unique<WarpedMatrix>(*model, *elements, partition);
    error = std::make_unique<WarpError>(*model, *elements, partition);
    StepProblem free;
    free.h = kWarpStep;
    free.boundary = boundary_state({}, {}, model->rest(), 0);
    matrix->set_boundary(free);
  }
  void deform(const VecX& x) {
    elements->deform(x);
    rotations->compute(x, nothing_held);
  }
  void refresh() {
    const std::vector<std::uint8_t> all(partition.parent.size(), 1);
    matrix->refresh(all, all, rotations->rotations());
  }
  double measure(const VecX& u) {
    error->measure(*matrix, rotations->rotations(), u);
    return error->largest();
  }
};

/// Bends the bar around the z axis, by `curvature` in rad/m.
VecX bent(const VecX& rest, double curvature) {
  VecX x = rest;
  for (Index i = 0; i < static_cast<Index>(rest.size() / 3); ++i) {
    const Vec3 p = node(rest, i);
    const double angle = curvature * p.x(), radius = 1 / curvature - p.y();
    node(x, i) = Vec3(radius * std::sin(angle), 1 / curvature - radius * std::cos(angle), p.z());
  }
  return x;
}

TEST(WarpError, VanishesWhenTheBodyMovesRigidlyAfterItWasAssembled) {
  Scene scene;
  scene.clamped = false;
  Pieces pieces(make_model(scene));
  const VecX x = bent(pieces.model->rest(), 1);
  pieces.deform(x);
  pieces.refresh();
  VecX u(x.size());
  for (Eigen::Index i = 0; i < u.size(); ++i) u[i] = std::sin(0.37 * static_cast<double>(i));
  const Mat3 R = Eigen::AngleAxisd(1.1, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  VecX moved = x;
  for (Index i = 0; i < pieces.model->nodes(); ++i) node(moved, i) = R * node(x, i) + Vec3(5, -3, 2);
  pieces.deform(moved);
  const double rigid = pieces.measure(u);
  pieces.deform(bent(pieces.model->rest(), 1.2));
  const double deformed = pieces.measure(u);
  EXPECT_LT(rigid, 1e-10 * deformed);
  // And the matrix that is carried along is the present one: A~ in the frames of the nodes equals R A R^T.
  pieces.deform(moved);
  VecX v = u, product, again;
  for (Index i = 0; i < pieces.model->nodes(); ++i)
    node(v, i) = (pieces.rotations->rotations()[i].transpose() * node(u, i)).eval();
  pieces.matrix->matrix().multiply(v, product);
  pieces.refresh();
  pieces.matrix->matrix().multiply(v, again);
  EXPECT_LT(largest_difference(product, again), 1e-9 * product.cwiseAbs().maxCoeff());
}

TEST(WarpError, HardlyDependsOnTheMesh) {
  std::vector<double> errors;
  for (Index across : {2, 4, 8}) {
    Scene scene;
    scene.cells = {3 * across, across, across};
    Pieces pieces(make_model(scene));
    pieces.deform(bent(pieces.model->rest(), 0.5));
    pieces.refresh();
    pieces.deform(bent(pieces.model->rest(), 1));
    VecX u = pieces.model->rest();
    for (Index i = 0; i < pieces.model->nodes(); ++i) node(u, i) = Vec3(0, std::sin(node(u, i).x()), 0);
    errors.push_back(pieces.measure(u));
  }
  EXPECT_GT(errors[1] / errors[0], 0.5);
  EXPECT_LT(errors[1] / errors[0], 2);
  EXPECT_GT(errors[2] / errors[1], 0.5);
  EXPECT_LT(errors[2] / errors[1], 2);
}

TEST(NodeRotations, AreThoseOfTheRingAndTheIdentityForFlatElementsAndHeldNodes) {
  const auto model = make_model({});
  NodeRotationField field(*model, NodeRotationKind::automatic);
  const Mat3 R = Eigen::AngleAxisd(2, Vec3(1, -1, 2).normalized()).toRotationMatrix();
  VecX x = model->rest();
  for (Index i = 0; i < model->nodes(); ++i) node(x, i) = 1.1 * (R * node(model->rest(), i));
  std::vector<std::uint8_t> held(model->nodes(), 0);
  held[3] = 1;
  field.compute(x, held);
  for (Index i = 0; i < model->nodes(); ++i)
    EXPECT_LT((field.rotations()[i] - (i == 3 ? Mat3(Mat3::Identity()) : R)).norm(), 1e-12);
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(sheet({.thickness = 1e-4, .cells = {10, 10}}));
  body.material = testing::material("linear-corotated", 1e6, 0.3);
  builder.add_body(body);
  const auto thin = builder.build();
  EXPECT_TRUE(is_thin(thin->bodies()[0]));
  EXPECT_FALSE(is_thin(model->bodies()[0]));
  EXPECT_TRUE(NodeRotationField(*thin, NodeRotationKind::automatic).none());
  EXPECT_FALSE(NodeRotationField(*thin, NodeRotationKind::ring).none());
}

TEST(WarpSchedule, MarksTheWorstThatTheBudgetReachesTogetherWithTheirAncestors) {
  // A root 6 with children 2 and 5, which have the leaves 0, 1 and 3, 4.
  const std::vector<Index> parent = {2, 2, 6, 5, 5, 6, -1};
  std::vector<SparseCholesky::SupernodeCost> costs(7);
  for (std::size_t s = 0; s < 7; ++s) costs[s].flops = s == 6 ? 4 : 1;
  const std::vector<double> badness = {0.1, 0.3, 0.05, 0.2, 0.01, 0.02, 0.01};
  const auto marks = [&](ScheduleOptions options) {
    options.costs = CostKind::flops;
    Schedule schedule(options, parent);
    std::vector<std::uint8_t> marked(7, 1);
    schedule.learn(costs, marked, 1);
    schedule.mark(badness, 1, std::vector<std::uint8_t>(badness.size(), 0), marked);
    return marked;
  };
  using Marks = std::vector<std::uint8_t>;
  EXPECT_EQ(marks({ScheduleKind::target_quality, 0.15}), (Marks{0, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(marks({ScheduleKind::target_quality, 1}), (Marks{0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(marks({ScheduleKind::everything}), (Marks{1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(marks({ScheduleKind::never}), (Marks{0, 0, 0, 0, 0, 0, 0}));
  ScheduleOptions timed{ScheduleKind::target_time, 0.001};
  timed.budget_share = 0.75;  // of 10, of which nine tenths are planned: the worst leaf with its two ancestors
  EXPECT_EQ(marks(timed), (Marks{0, 1, 1, 0, 0, 0, 1}));
  timed.budget_share = 0.9;  // and the next worst, whose root is paid for
  EXPECT_EQ(marks(timed), (Marks{0, 1, 1, 1, 0, 1, 1}));
  timed.budget_share = 0.3;
  EXPECT_EQ(marks(timed), (Marks{0, 0, 0, 0, 0, 0, 0}));
  timed.kind = ScheduleKind::hybrid;
  timed.must = 0.25;
  EXPECT_EQ(marks(timed), (Marks{0, 1, 1, 0, 0, 0, 1}));
}

TEST(WarpCanceling, GoesOnFromItsMemoryWithTheSameBits) {
  Scene scene;
  scene.clamped = false;
  scene.spin = {0, 0, 2};
  scene.floor = -0.2;
  const auto model = make_model(scene);
  const ParameterMap parameters = {{"tau", 0.002}};
  const auto whole = make_stepper(model, "warp-canceling", parameters);
  State state = model->rest_state(), middle;
  std::vector<double> memory;
  double refreshed = 0;
  for (int s = 0; s < 60; ++s) {
    if (s == 40) {
      middle = state;
      memory = whole->memory();
    }
    refreshed += testing::figure(whole->step(state, kWarpStep), "refreshed_elements");
  }
  EXPECT_GT(refreshed, 1.5);  // not only the first step's
  EXPECT_LT(refreshed, 50);
  const auto part = make_stepper(model, "warp-canceling", parameters);
  part->recall(memory);
  for (int s = 40; s < 60; ++s) part->step(middle, kWarpStep);
  EXPECT_EQ(middle.x, state.x);
  EXPECT_EQ(middle.v, state.v);
}

TEST(WarpCanceling, HasTheSameBitsForAnyNumberOfThreads) {
  Scene scene;
  scene.cells = {18, 6, 6};
  scene.clamped = false;
  scene.floor = -0.1;
  const auto model = make_model(scene);
  std::vector<VecX> ends;
  for (std::size_t threads : {1u, 4u}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const auto stepper =
        make_stepper(model, "warp-canceling", {{"tau", 0.002}, {"schedule", "target-time"}, {"costs", "flops"}});
    State state = model->rest_state();
    for (int s = 0; s < 25; ++s) ASSERT_TRUE(stepper->step(state, kWarpStep).succeeded());
    ends.push_back(state.x);
  }
  EXPECT_EQ(ends[0], ends[1]);
}

TEST(WarpCanceling, StaysWithinItsShareOfAFactorisationInEveryStep) {
  Scene scene;
  scene.cells = {40, 3, 3};  // slender: paths to the root are cheap
  scene.spin = {0, 0, 3};
  scene.clamped = false;
  scene.floor = -0.1;
  const auto model = make_model(scene);
  WarpCancelingOptions options;
  options.schedule = {ScheduleKind::target_time, 1e-5};
  options.schedule.costs = CostKind::flops;
  options.schedule.budget_share = 0.6;
  WarpCancelingStepper stepper(model, options);
  State state = model->rest_state();
  double most = 0;
  for (int s = 0; s < 30; ++s) {
    const StepReport report = stepper.step(state, kWarpStep);
    ASSERT_TRUE(report.succeeded());
    if (s == 0 || report.factorisations == 0) continue;
    most = std::max(most, stepper.factor_statistics().last_flops / stepper.factor_statistics().flops);
  }
  EXPECT_GT(most, 0);
  EXPECT_LE(most, 0.6);
}

TEST(WarpCanceling, ShowsWhichElementsItRefreshed) {
  const auto model = make_model({});
  const auto stepper = make_stepper(model, "warp-canceling");
  State state = model->rest_state();
  for (double expected : {1.0, 0.0}) {
    stepper->step(state, kWarpStep);
    const std::vector<ElementValues> values = stepper->element_values();
    ASSERT_EQ(values.size(), 1u);
    EXPECT_EQ(values[0].name, "refreshed");
    ASSERT_EQ(values[0].values.size(), model->bodies()[0].mesh->tets().size());
    for (double v : values[0].values) EXPECT_EQ(v, expected);
  }
}

TEST(WarpCanceling, RecoversFromBeingPushedThroughItself) {
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(cylinder({.radius = 0.1, .length = 0.2, .axis = Axis::y, .cells = 4}));
  body.material = testing::material("linear-corotated", 1e5, 0.4);
  body.damping = {1, 0.005};
  builder.add_body(body);
  builder.add_pin({"bottom", body.mesh->sets().at("start")});
  Script push{"push", body.mesh->sets().at("end"), {}, Imposition::direct};
  push.motion.translation.keys = {{0, Vec3::Zero()}, {0.5, Vec3(0, -0.22, 0)}};
  push.release = 0.6;
  builder.add_script(push);
  const auto model = builder.build();
  for (const char* solver : {"corotational", "warp-canceling"}) {
    const auto stepper = make_stepper(model, solver);
    State state = model->rest_state();
    for (int s = 0; s < 55; ++s) ASSERT_TRUE(stepper->step(state, kWarpStep).succeeded());
    EXPECT_GE(body.mesh->tets().size(), 100u);
    EXPECT_GE(model->bodies()[0].elastic->first_inverted(state.x), 0) << "nothing was inverted";
    for (int s = 0; s < 250; ++s) ASSERT_TRUE(stepper->step(state, kWarpStep).succeeded());
    EXPECT_LT(largest_difference(state.x, model->rest()), 1e-3 * 0.2) << solver;
  }
}

TEST(WarpCanceling, SurvivesShakingThatBlowsUpAMatrixRefreshedEveryOtherFrame) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({2, 0.25, 0.25}, {24, 3, 3});
  body.material = testing::material("linear-corotated", 5e5, 0.4);
  builder.add_body(body);
  Script shake{"shake", {}, {}, Imposition::direct};
  for (std::size_t i = 0; i < body.mesh->vertices().size(); ++i)
    if (std::abs(body.mesh->vertices()[i].x() - 1) < 1e-9) shake.nodes.push_back(static_cast<Index>(i));
  for (int k = 0; k <= 240; ++k)
    shake.motion.translation.keys.push_back(
        {k / 240.0, Vec3(0, 0.4 * std::sin(2 * std::numbers::pi * 5 * k / 240.0), 0)});
  builder.add_script(shake);
  const auto model = builder.build();
  const auto reach = [&](ParameterMap parameters) {
    parameters["safeguard"] = "none";
    const auto stepper = make_stepper(model, "warp-canceling", parameters);
    State state = model->rest_state();
    double farthest = 0;
    for (int s = 0; s < 25; ++s) {
      if (stepper->step(state, 1.0 / 30).outcome == Outcome::diverged) return std::numeric_limits<double>::infinity();
      farthest = std::max(farthest, state.x.cwiseAbs().maxCoeff());
    }
    return farthest;
  };
  EXPECT_LT(reach({}), 2.5);
  EXPECT_GT(reach({{"schedule", "periodic"}, {"period", std::int64_t{2}}}), 10);
}

TEST(RigidMotion, DampingKeepsMomentumAndAngularMomentum) {
  const auto model = make_model({});
  State state = model->rest_state();
  for (Eigen::Index i = 0; i < state.v.size(); ++i) state.v[i] = std::sin(1.7 * static_cast<double>(i));
  std::vector<Index> nodes;
  for (Index i = 5; i < 25; ++i) nodes.push_back(i);
  const std::vector<std::uint8_t> fixed(static_cast<std::size_t>(state.v.size()), 0);
  const auto momenta = [&](const VecX& v) {
    Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
    for (Index i = 0; i < model->nodes(); ++i) {
      linear += model->mass().lumped()[i] * node(v, i);
      angular += model->mass().lumped()[i] * node(state.x, i).cross(node(v, i));
    }
    return std::pair(linear, angular);
  };
  const auto before = momenta(state.v);
  VecX damped = state.v;
  damp_towards_rigid(*model, nodes, fixed, state.x, 1, damped);
  const auto after = momenta(damped);
  EXPECT_LT((before.first - after.first).norm(), 1e-9);
  EXPECT_LT((before.second - after.second).norm(), 1e-9);
  // What is left is rigid: no two nodes change their distance.
  for (Index a : nodes)
    for (Index b : nodes)
      EXPECT_NEAR((node(state.x, a) - node(state.x, b)).dot(node(damped, a) - node(damped, b)), 0, 1e-9);
}

TEST(ExplicitContact, LetsABodySinkInByGravityOverStiffnessOnAnyMesh) {
  for (Index across : {2, 5}) {
    Scene scene;
    scene.cells = {3 * across, across, across};
    scene.young = 1e6;
    scene.clamped = false;
    scene.floor = 0;
    scene.damping = {5, 0.01};
    const auto model = make_model(scene);
    const auto stepper = make_stepper(model, "warp-canceling");
    State state = model->rest_state();
    for (int s = 0; s < 300; ++s) ASSERT_TRUE(stepper->step(state, kWarpStep).succeeded());
    double bottom = 0;
    for (Index i : model->bodies()[0].mesh->sets().at("y-min")) bottom = std::min(bottom, node(state.x, i).y());
    EXPECT_LT(state.v.cwiseAbs().maxCoeff(), 1e-3);
    EXPECT_LT(bottom, 0);
    EXPECT_GT(bottom, -0.01) << across;  // g h^2 / 0.5 = 2 mm, more under edges and corners
  }
}

TEST(ExplicitContact, KeepsBodiesApart) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({0.4, 0.2, 0.4}, {4, 2, 4});
  body.material = testing::material("linear-corotated", 1e6, 0.3);
  body.damping = {2, 0.005};
  builder.add_body(body);
  builder.add_pin({"ground", body.mesh->sets().at("y-min")});
  MeshData upper = box({.origin = {0.11, 0.23, 0.07}, .size = {0.2, 0.2, 0.2}, .cells = {2, 2, 2}});
  body.mesh = std::make_shared<TetMesh>(upper);
  builder.add_body(body);
  const auto model = builder.build();
  for (const char* contact : {"none", "bodies", "self"}) {
    const auto stepper = make_stepper(model, "warp-canceling", {{"contact", std::string(contact)}});
    State state = model->rest_state();
    for (int s = 0; s < 200; ++s) ASSERT_TRUE(stepper->step(state, kWarpStep).succeeded());
    double bottom = 1;
    for (Index i : body.mesh->sets().at("y-min"))
      bottom = std::min(bottom, node(state.x, model->bodies()[1].nodes.begin + i).y());
    if (std::string(contact) == "none")
      EXPECT_LT(bottom, 0);
    else
      EXPECT_NEAR(bottom, 0.2, 0.03) << contact;
  }
}

TEST(ExplicitContact, FindsTheNearestPointOfATriangle) {
  const Vec3 a(0, 0, 0), b(1, 0, 0), c(0, 1, 0);
  EXPECT_LT((nearest_on_triangle({0.25, 0.25, 3}, a, b, c) - Vec3(0.5, 0.25, 0.25)).norm(), 1e-14);
  EXPECT_LT((nearest_on_triangle({-1, -1, 1}, a, b, c) - Vec3(1, 0, 0)).norm(), 1e-14);
  EXPECT_LT((nearest_on_triangle({1, 1, 0}, a, b, c) - Vec3(0, 0.5, 0.5)).norm(), 1e-14);
  EXPECT_LT((nearest_on_triangle({0.3, -2, 0}, a, b, c) - Vec3(0.7, 0.3, 0)).norm(), 1e-14);
  EXPECT_LT((nearest_on_triangle({2, 0, 0}, a, a, a) - Vec3(1, 0, 0)).norm(), 1e-14);
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
