#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "energies/derivative_battery.hpp"
#include "pliant/energies/barrier_energy.hpp"
#include "pliant/energies/carried_energy.hpp"
#include "pliant/energies/friction_energy.hpp"

namespace pliant {
namespace {

constexpr double kDhat = 0.5;

/// Four free positions per pair, with `obstacles` more positions behind them.
std::shared_ptr<const ContactModel> loose_model(Index nodes) {
  auto model = std::make_shared<ContactModel>();
  model->options.dhat = kDhat;
  model->nodes = nodes;
  return model;
}

struct Case {
  std::string name;
  PairKind kind;
  std::uint8_t type;
  Corners x;
  double threshold;  ///< of the mollifier
};

/// Every type of pair well within its region, nearer than dhat, and edges within and outside the mollifier.
std::vector<Case> cases() {
  const Vec3 t0(0, 0, 0), t1(1, 0.1, 0), t2(0.1, 0, 1.2);
  const auto pt = [&](const std::string& name, PointTriangleType type, const Vec3& p) {
    return Case{name, PairKind::point_triangle, static_cast<std::uint8_t>(type), {p, t0, t1, t2}, 0};
  };
  const auto ee = [&](const std::string& name, EdgeEdgeType type, const Vec3& b0, const Vec3& b1, double threshold) {
    return Case{name,
                PairKind::edge_edge,
                static_cast<std::uint8_t>(type),
                {Vec3(0, 0, 0), Vec3(1, 0, 0.1), b0, b1},
                threshold};
  };
  using PT = PointTriangleType;
  using EE = EdgeEdgeType;
  return {pt("face", PT::face, {0.3, 0.3, 0.3}),
          pt("edge 0", PT::edge0, {0.5, 0.2, -0.2}),
          pt("edge 1", PT::edge1, {0.7, 0.2, 0.75}),
          pt("edge 2", PT::edge2, {-0.2, 0.2, 0.6}),
          pt("corner 0", PT::t0, {-0.2, 0.2, -0.2}),
          pt("corner 1", PT::t1, {1.2, 0.25, -0.1}),
          pt("corner 2", PT::t2, {0.1, 0.2, 1.4}),
          ee("crossing", EE::a_b, {0.4, 0.25, -0.5}, {0.5, 0.3, 0.6}, 0),
          ee("crossing, nearly parallel", EE::a_b, {0, 0.25, -0.2}, {1, 0.3, 0.35}, 0.5),
          ee("end on edge", EE::a_b0, {0.4, 0.25, 0.1}, {0.5, 0.9, 0.2}, 0),
          ee("end on edge, nearly parallel", EE::a0_b, {-0.5, 0.2, -0.15}, {0.6, 0.3, -0.3}, 0.5),
          ee("ends", EE::a1_b0, {1.2, 0.2, 0.2}, {2, 0.4, 0.5}, 0),
          ee("ends, nearly parallel", EE::a1_b0, {1.2, 0.2, 0.2}, {2, 0.2, 0.35}, 0.5)};
}

VecX positions_of(const Corners& c) {
  VecX x(12);
  x << c[0], c[1], c[2], c[3];
  return x;
}

ContactPair pair_of(const Case& c) {
  ContactPair pair;
  pair.corners = {0, 1, 2, 3};
  pair.kind = c.kind;
  pair.area = 0.7;
  pair.reach = kDhat;
  pair.threshold = c.threshold;
  return pair;
}

TEST(BarrierEnergy, PassesTheDerivativeBatteryForEveryTypeOfPair) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    ASSERT_EQ(closest(c.kind, c.x).type, c.type);
    BarrierEnergy energy(loose_model(4));
    energy.set_stiffness(30);
    energy.set_pairs({pair_of(c)});
    testing::run_derivative_battery(energy, positions_of(c.x), 2e-3);
  }
}

TEST(BarrierEnergy, TakesCornersOfObstaclesFromThemAndGivesThemNoNode) {
  const Case c = cases().front();
  auto model = loose_model(2);  // the point and one corner are nodes, the others an obstacle's
  BarrierEnergy energy(model);
  const ContactPair pair = pair_of(c);
  energy.set_pairs({pair});
  ObstacleState obstacles;
  obstacles.positions = positions_of(c.x).tail(6);
  energy.set_obstacles(obstacles);
  EXPECT_EQ(energy.stencils().nodes, (std::vector<Index>{0, 1, -1, -1}));
  const VecX x = positions_of(c.x).head(6);
  double value = 0, all_free = 0;
  energy.evaluate(x, {0, 1}, &value, nullptr);
  BarrierEnergy free(loose_model(4));
  free.set_pairs({pair});
  free.evaluate(positions_of(c.x), {0, 1}, &all_free, nullptr);
  EXPECT_EQ(value, all_free);
  EXPECT_GT(value, 0);
}

/// The gradient at the nodes, with obstacles a share t of their way from `from` to `there`.
VecX gradient_on_the_way(BarrierEnergy& energy, const VecX& x, const ObstacleState& from, const ObstacleState& there,
                         double t) {
  ObstacleState now = from;
  now.positions += t * (there.positions - from.positions);
  for (std::size_t p = 0; p < now.planes.size(); ++p)
    now.planes[p].point += t * (there.planes[p].point - from.planes[p].point);
  energy.set_obstacles(now);
  double value = 0;
  VecX local(12);
  energy.evaluate(x, {0, 1}, &value, local.data());
  return local.head(x.size());
}

TEST(BarrierEnergy, KnowsHowItsForcesChangeWhileObstaclesGoTheirWay) {
  constexpr double t = 1e-5;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    BarrierEnergy energy(loose_model(2));
    energy.set_stiffness(30);
    energy.set_pairs({pair_of(c)});
    ObstacleState from, there;
    from.positions = positions_of(c.x).tail(6);
    there.positions = from.positions + (VecX(6) << 0.03, -0.1, 0.02, -0.04, -0.05, 0.06).finished();
    const VecX x = positions_of(c.x).head(6);
    const VecX expected =
        (gradient_on_the_way(energy, x, from, there, t) - gradient_on_the_way(energy, x, from, there, -t)) / (2 * t);
    energy.set_obstacles(from);
    VecX found = VecX::Zero(6);
    energy.add_coupling(x, Projection::none, there, found);
    EXPECT_LT((found - expected).norm(), 1e-6 * (1 + expected.norm()));
  }
}

TEST(BarrierEnergy, KnowsHowItsForcesChangeWhileAPlaneGoesItsWay) {
  constexpr double t = 1e-5;
  BarrierEnergy energy(loose_model(1));
  ContactPair pair;
  pair.corners[0] = 0;
  pair.plane = 0;
  pair.area = 3;
  pair.reach = kDhat;
  energy.set_pairs({pair});
  const Vec3 n = Vec3(1, 2, 2) / 3;
  ObstacleState from, there;
  from.planes = {{Vec3(0.1, 0, 0), n}};
  there.planes = {{Vec3(0.2, 0.1, -0.1), n}};
  const VecX x = Vec3(0.1, 0, 0) + 0.25 * n;
  const VecX expected =
      (gradient_on_the_way(energy, x, from, there, t) - gradient_on_the_way(energy, x, from, there, -t)) / (2 * t);
  energy.set_obstacles(from);
  VecX found = VecX::Zero(3);
  energy.add_coupling(x, Projection::none, there, found);
  EXPECT_GT(expected.norm(), 0.01);
  EXPECT_LT((found - expected).norm(), 1e-6 * expected.norm());
}

TEST(BarrierEnergy, OfAPlaneIsThatOfItsDistanceAndInfiniteBehindIt) {
  BarrierEnergy energy(loose_model(1));
  energy.set_stiffness(2);
  ContactPair pair;
  pair.corners[0] = 0;
  pair.plane = 0;
  pair.area = 3;
  pair.reach = kDhat;
  energy.set_pairs({pair});
  const Vec3 n = Vec3(1, 2, 2) / 3;
  ObstacleState obstacles;
  obstacles.planes = {{Vec3(0.1, 0, 0), n}};
  energy.set_obstacles(obstacles);
  VecX x = Vec3(0.1, 0, 0) + 0.25 * n;
  testing::expect_projections(energy, x);
  double value = 0, up = 0, down = 0;
  Vec3 g, scratch;
  energy.evaluate(x, {0, 1}, &value, nullptr);
  EXPECT_NEAR(value, 2 * 3 * kDhat * -std::pow(0.25 - 1, 2) * std::log(0.25), 1e-12);
  std::array<double, 12> local{};
  energy.evaluate(x, {0, 1}, &value, local.data());
  for (int i = 0; i < 3; ++i) {
    VecX y = x;
    y[i] += 1e-5;
    energy.evaluate(y, {0, 1}, &up, nullptr);
    y[i] -= 2e-5;
    energy.evaluate(y, {0, 1}, &down, nullptr);
    EXPECT_NEAR(local[static_cast<std::size_t>(i)], (up - down) / 2e-5, 1e-6);
  }
  x -= n;
  energy.evaluate(x, {0, 1}, &value, nullptr);
  EXPECT_TRUE(std::isinf(value));
}

FrictionPair friction_pair() {
  FrictionPair pair;
  pair.nodes = {0, 1, 2, 3};
  pair.weight = {1, -0.2, -0.3, -0.5};
  pair.start = {Vec3(0.3, 0.2, 0.3), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 0, 1)};
  pair.tangents = tangents_of({0.2, 1, -0.3});
  pair.force = 4;
  return pair;
}

VecX slid(const FrictionPair& pair, const Vec3& by) {
  VecX x(12);
  for (Index k = 0; k < 4; ++k)
    node(x, k) = pair.start[static_cast<std::size_t>(k)] + (k == 0 ? by : Vec3(Vec3::Zero()));
  return x;
}

TEST(FrictionEnergy, PassesTheDerivativeBatterySlidingAndSticking) {
  const FrictionPair pair = friction_pair();
  FrictionEnergy energy;
  energy.set_pairs({pair}, 0.1);
  for (double distance : {0.0, 0.01, 0.05, 0.3}) {
    SCOPED_TRACE(distance);
    const VecX x = slid(pair, distance * (pair.tangents.col(0) + 0.3 * pair.tangents.col(1)));
    if (distance > 0) testing::expect_gradient_is_derivative(energy, x, 1e-3);
    if (distance > 0) testing::expect_hessian_is_derivative(energy, x, 1e-3);
    testing::expect_projections(energy, x);
    testing::expect_symmetric_hessian(energy, x, Projection::none);
    testing::expect_same_bits_for_any_split(energy, x, Projection::none);
  }
}

TEST(FrictionEnergy, IsCoulombsForceWhenSlidingAndContinuousWhereItBegins) {
  const FrictionPair pair = friction_pair();
  const double eps = 0.1;
  FrictionEnergy energy;
  energy.set_pairs({pair}, eps);
  const auto force_at = [&](double distance) {
    const VecX g = testing::total_gradient(energy, slid(pair, distance * pair.tangents.col(0)));
    return Vec3(node(g, 0)).norm();
  };
  EXPECT_NEAR(force_at(0.5), pair.force, 1e-12);
  EXPECT_NEAR(force_at(eps * (1 - 1e-9)), pair.force, 1e-8);
  EXPECT_NEAR(force_at(0.5 * eps), 0.75 * pair.force, 1e-12);
  EXPECT_EQ(force_at(0), 0);
  // Forces of the corners add up to nothing: momentum stays.
  const VecX g = testing::total_gradient(energy, slid(pair, Vec3(0.02, 0, 0.03)));
  EXPECT_LE((node(g, 0) + node(g, 1) + node(g, 2) + node(g, 3)).norm(), 1e-15);
}

TEST(Tangents, AreOrthonormalForAnyNormal) {
  for (const Vec3& n : {Vec3(0, 1, 0), Vec3(1e-9, 0, 2), Vec3(-1, 1, 1), Vec3(3, 1e-8, 0)}) {
    const auto T = tangents_of(n);
    EXPECT_LE((T.transpose() * T - Eigen::Matrix2d::Identity()).norm(), 1e-14);
    EXPECT_LE((T.transpose() * n).norm(), 1e-14 * n.norm());
  }
}

TEST(CarriedContact, HasTheDerivativesOfTheNodesThatCarryIt) {
  for (const Case& c : cases()) {
    // Two rigid bodies of four nodes each: the first carries the first primitive, the second the other.
    const std::size_t first = c.kind == PairKind::point_triangle ? 1 : 2;
    VecX x(24);
    for (Index i = 0; i < 8; ++i)
      node(x, i) = c.x[i < 4 ? 0 : 3] + 0.7 * Vec3(i % 2 ? 1 : -1, (i / 2) % 2 ? 1 : -1, (i % 4) % 3 ? -1 : 1);
    auto model = std::make_shared<ContactModel>();
    model->options.dhat = kDhat;
    model->nodes = 12;
    for (std::size_t k = 0; k < 4; ++k) {
      const Index frame = k < first ? 0 : 4;
      Eigen::Matrix4d A;
      for (Index j = 0; j < 4; ++j) A.col(j) << node(x, frame + j), 1;
      const Eigen::Vector4d w = A.partialPivLu().solve(Eigen::Vector4d(c.x[k].x(), c.x[k].y(), c.x[k].z(), 1));
      model->carried.push_back({{frame, frame + 1, frame + 2, frame + 3}, {w[0], w[1], w[2], w[3]}});
    }
    ContactPair pair = pair_of(c);
    pair.corners = {8, 9, 10, 11};
    BarrierEnergy barrier(model);
    barrier.set_stiffness(3);
    barrier.set_pairs({pair});
    CarriedEnergy carried(barrier, *model);
    const auto gradient = [&](const VecX& at) {
      VecX all;
      model->extend(at, all);
      carried.update(all);
      double value;
      VecX local(24), g = VecX::Zero(24);
      carried.evaluate({at}, {0, 1}, &value, local.data());
      for (int k = 0; k < 8; ++k)
        if (const Index i = carried.stencils()[0][k]; i >= 0) node(g, i) += local.segment<3>(3 * k);
      return std::pair(value, g);
    };
    const VecX direction = testing::random_direction(24, 3);
    const double h = 1e-6;
    const auto [value, g] = gradient(x);
    ASSERT_GT(value, 0) << c.name;
    const auto [up, g_up] = gradient(x + h * direction);
    const auto [down, g_down] = gradient(x - h * direction);
    EXPECT_NEAR((up - down) / (2 * h), g.dot(direction), 1e-5 * (1 + std::abs(g.dot(direction)))) << c.name;
    VecX all;
    model->extend(x, all);
    carried.update(all);
    std::vector<double> blocks(9 * local_blocks(8));
    carried.hessians({x}, {0, 1}, Projection::none, blocks.data());
    VecX Hd = VecX::Zero(24);
    for (int b = 0; b < 8; ++b)
      for (int a = 0; a <= b; ++a) {
        const Eigen::Map<const Mat3> H(blocks.data() + 9 * (b * (b + 1) / 2 + a));
        const Index i = carried.stencils()[0][a], j = carried.stencils()[0][b];
        if (i < 0 || j < 0) continue;
        node(Hd, i) += H * node(direction, j);
        if (a != b) node(Hd, j) += H.transpose() * node(direction, i);
      }
    EXPECT_LT((Hd - (g_up - g_down) / (2 * h)).norm(), 1e-4 * (1 + Hd.norm())) << c.name;
  }
}

}  // namespace
}  // namespace pliant
