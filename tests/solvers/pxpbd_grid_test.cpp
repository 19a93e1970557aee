#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>

#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/pxpbd/grid_stepper.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

BodyOptions soft_box(const Vec3& origin, const Vec3& size, std::array<Index, 3> cells) {
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box({.origin = origin, .size = size, .cells = cells}));
  body.material = testing::material("fixed-corotated", 1e3, 0.3);
  body.density = 10;
  return body;
}

struct Momentum {
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
};
Momentum momenta(const Model& model, const State& state) {
  Momentum p;
  for (Index i = 0; i < model.nodes(); ++i) {
    const Vec3 mv = model.mass().lumped()[i] * node(state.v, i);
    p.linear += mv;
    p.angular += Vec3(node(state.x, i)).cross(mv);
  }
  return p;
}

TEST(BackgroundGrid, WeightsReproduceThePointsAndNodesAreFew) {
  const auto model = testing::free_block("fixed-corotated", Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), MassKind::lumped);
  pbd::BackgroundGrid grid(0.3);
  ASSERT_TRUE(grid.cover(model->rest()));
  for (Index p = 0; p < model->nodes(); ++p) {
    const pbd::GridPoint& point = grid.points()[static_cast<std::size_t>(p)];
    Vec3 x = Vec3::Zero();
    double sum = 0;
    for (std::size_t c = 0; c < 8; ++c) {
      x += point.weights[c] * grid.position(point.nodes[c]);
      sum += point.weights[c];
      EXPECT_GE(point.weights[c], 0);
    }
    EXPECT_NEAR(sum, 1, 1e-14);
    EXPECT_LT((x - node(model->rest(), p)).norm(), 1e-13);
  }
  EXPECT_LE(grid.node_count(), 9 * 6 * 6);
  VecX far = model->rest();
  far[4] = 1e7;
  EXPECT_FALSE(grid.cover(far));
}

TEST(BackgroundGrid, TransferConservesMassAndMomentumAndKeepsAffineMotion) {
  const auto model = testing::free_block("fixed-corotated", Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), MassKind::lumped);
  State state = model->rest_state();
  const Mat3 L = (Mat3() << 0.1, -2, 0.3, 2, 0.2, 0.5, -0.3, -0.5, -0.3).finished();
  for (Index i = 0; i < model->nodes(); ++i) node(state.v, i) = Vec3(1, 2, -1) + L * node(state.x, i);
  pbd::BackgroundGrid grid(0.37);
  ASSERT_TRUE(grid.cover(state.x));
  std::vector<Index> stencils;
  for (const Tet& t : model->bodies()[0].mesh->tets()) stencils.insert(stencils.end(), t.begin(), t.end());
  const pbd::VelocityGradients gradients(model->nodes(), stencils);
  std::vector<Mat3> C;
  std::vector<double> mass;
  std::vector<Vec3> velocity;
  for (int round = 0; round < 2; ++round) {
    if (round == 1)  // any velocities: momentum is conserved, angular momentum up to what C adds
      for (Index i = 0; i < model->nodes(); ++i) node(state.v, i) += 0.3 * std::sin(7.0 * i) * Vec3(1, -1, 0.5);
    gradients.fit(state.x, state.v, model->mass().lumped(), grid.spacing(), C);
    transfer_to_grid(grid, state.x, state.v, C, model->mass().lumped(), mass, velocity);
    const Momentum before = momenta(*model, state);
    Momentum after;
    double total = 0;
    for (std::size_t i = 0; i < mass.size(); ++i) {
      total += mass[i];
      after.linear += mass[i] * velocity[i];
      after.angular += mass[i] * grid.position(static_cast<Index>(i)).cross(velocity[i]);
      if (round == 0 && mass[i] > 0) {
        EXPECT_LT((velocity[i] - Vec3(1, 2, -1) - L * grid.position(static_cast<Index>(i))).norm(), 1e-6);
      }
    }
    EXPECT_NEAR(total, model->mass().lumped().sum(), 1e-9 * total);
    EXPECT_LT((after.linear - before.linear).norm(), 1e-12 * before.linear.norm());
  }
}

TEST(GridPxpbd, ABodyInFlightKeepsItsMomentum) {
  ModelBuilder builder;
  BodyOptions body = soft_box({0, 0, 0}, {1, 0.5, 0.5}, {6, 3, 3});
  body.velocity = {1, 0.5, 0};
  body.angular_velocity = {0, 0, 2};
  builder.add_body(body);
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "grid-b-pxpbd");
  State state = model->rest_state();
  const Momentum before = momenta(*model, state);
  for (int s = 0; s < 30; ++s) ASSERT_TRUE(stepper->step(state, 0.01).advanced());
  const Momentum after = momenta(*model, state);
  EXPECT_LT((after.linear - before.linear).norm(), 1e-10 * before.linear.norm());
  EXPECT_LT((after.angular - before.angular).norm(), 0.1 * before.angular.norm());
}

TEST(GridPxpbd, OneAndTwoThreadsGiveTheSameBitsAndSoDoesARecalledStepper) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(soft_box({0, 0, 0}, {0.4, 0.4, 0.4}, {4, 4, 4}));
  builder.add_body(soft_box({0.1, 0.5, 0}, {0.4, 0.4, 0.4}, {4, 4, 4}));
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"floor", PlaneShape{{0, -0.1, 0}, {0, 1, 0}}, {}, 1e4, 0.3});
  const auto model = builder.build();
  std::vector<State> ends;
  for (std::size_t threads : {1, 2}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    auto stepper = make_stepper(model, "grid-b-pxpbd");
    ends.push_back(model->rest_state());
    for (int s = 0; s < 16; ++s) {
      if (s == 8 && threads == 2) {
        const std::vector<double> memory = stepper->memory();
        stepper = make_stepper(model, "grid-b-pxpbd");
        stepper->recall(memory);
      }
      ASSERT_TRUE(stepper->step(ends.back(), 0.02).advanced());
    }
  }
  EXPECT_EQ(ends[0].x, ends[1].x);
}

bool inside(const Mat3& edges_inverse, const Vec3& d) {
  const Vec3 b = edges_inverse * d;
  return b.minCoeff() > 0 && b.sum() < 1;
}

TEST(GridPxpbd, DroppedBodiesPileUpWithoutPassingThroughEachOtherOrTheFloor) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(soft_box({0, 0.1, 0}, {0.4, 0.4, 0.4}, {4, 4, 4}));
  builder.add_body(soft_box({0.15, 0.65, 0.05}, {0.4, 0.4, 0.4}, {4, 4, 4}));
  builder.add_body(soft_box({0.02, 1.2, 0.1}, {0.4, 0.4, 0.4}, {4, 4, 4}));
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"floor", PlaneShape{{0, 0, 0}, {0, 1, 0}}, {}, 1e4, 0.5});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "grid-b-pxpbd");  // cells of the meshes' edges
  State state = model->rest_state();
  double deepest = 0;
  std::size_t worst = 0;
  for (int s = 0; s < 70; ++s) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.advanced()) << report.detail;
    deepest = std::min(deepest, report.minimum_gap);
    if (s % 5 != 4) continue;
    std::size_t count = 0;
    for (const Body& other : model->bodies())
      for (const Tet& t : other.mesh->tets()) {
        Mat3 edges;
        const Vec3 origin = node(state.x, other.nodes.begin + t[0]);
        for (std::size_t a = 1; a < 4; ++a)
          edges.col(static_cast<Eigen::Index>(a) - 1) = node(state.x, other.nodes.begin + t[a]) - origin;
        const Mat3 inverse = edges.inverse();
        for (Index i = 0; i < model->nodes(); ++i)
          if (i < other.nodes.begin || i >= other.nodes.end) count += inside(inverse, Vec3(node(state.x, i)) - origin);
      }
    worst = std::max(worst, count);
  }
  EXPECT_LE(static_cast<double>(worst), 1e-3 * model->nodes());
  EXPECT_GT(deepest, -0.01);
  // Fallen onto each other: the third is held up by what is under it.
  EXPECT_LT(state.v.cwiseAbs().maxCoeff(), 3);
  const Range third = model->bodies()[2].nodes;
  double height = 0;
  for (Index i = third.begin; i < third.end; ++i) height += node(state.x, i)[1] / third.size();
  EXPECT_GT(height, 0.3);  // lying on the floor, it would be 0.2
}

TEST(GridPxpbd, ReducesTheResidualWhereXpbdStagnates) {
  ModelBuilder builder;
  const BodyOptions body = soft_box({0, 0, 0}, {1, 0.5, 0.5}, {6, 3, 3});
  builder.add_body(body);
  const auto model = builder.build();
  std::map<std::string, double> last;
  for (const char* method : {"xpbd", "b-pxpbd", "fp-pxpbd"}) {
    const auto stepper = make_stepper(
        model, "grid-b-pxpbd",
        {{"method", std::string(method)}, {"iterations", std::int64_t{150}}, {"spacing", 0.2}, {"history", true}});
    State state = model->rest_state();
    for (Index i = 0; i < model->nodes(); ++i) node(state.x, i)[0] *= 1.5;
    const StepReport report = stepper->step(state, 0.01);
    ASSERT_EQ(report.history.size(), 150u);
    ASSERT_EQ(report.figures.front().name, "grid_force");
    last[method] = report.figures.front().value / report.history.front().force;
    if (std::string(method) == "fp-pxpbd") {
      EXPECT_LT(report.residuals.primal, 1e-10 * report.history.front().force);
    }
  }
  EXPECT_GT(last["xpbd"], 0.01);
  EXPECT_LT(last["b-pxpbd"], 0.02 * last["xpbd"]);
  EXPECT_LT(last["fp-pxpbd"], 0.02 * last["xpbd"]);
}

TEST(GridPxpbd, PinsHoldAndScriptsMove) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = soft_box({0, 0, 0}, {1, 0.25, 0.25}, {8, 2, 2});
  builder.add_body(body);
  builder.add_pin({"left", body.mesh->sets().at("x-min")});
  Script right{"right", body.mesh->sets().at("x-max"), {}, Imposition::direct};
  right.motion.translation.keys = {{0, Vec3::Zero()}, {0.5, Vec3(0.2, 0.1, 0)}};
  builder.add_script(right);
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "grid-b-pxpbd");
  State state = model->rest_state();
  for (int s = 0; s < 30; ++s) ASSERT_TRUE(stepper->step(state, 1.0 / 60).advanced());
  for (Index i : body.mesh->sets().at("x-min")) EXPECT_EQ(node(state.x, i), node(model->rest(), i));
  for (Index i : body.mesh->sets().at("x-max"))
    EXPECT_LT((node(state.x, i) - node(model->rest(), i) - Vec3(0.2, 0.1, 0)).norm(), 1e-12);
  // Between them the bar goes where it should, as far as two cells of the grid across it can tell.
  const auto newton = make_stepper(model, "pod-newton");
  State expected = model->rest_state();
  for (int s = 0; s < 30; ++s) ASSERT_TRUE(newton->step(expected, 1.0 / 60).converged());
  EXPECT_LT((state.x - expected.x).cwiseAbs().maxCoeff(), 0.02);
}

}  // namespace
}  // namespace pliant
