#include "pliant/rigid/articulation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/rigid/mass_points.hpp"

namespace pliant {
namespace {

struct Moments {
  double mass = 0;
  Vec3 centre = Vec3::Zero();
  Mat3 second = Mat3::Zero();
};

Moments moments(const MassPoints& points) {
  Moments m;
  for (std::size_t i = 0; i < points.masses.size(); ++i) {
    m.mass += points.masses[i];
    m.centre += points.masses[i] * points.positions[i];
  }
  m.centre /= m.mass;
  for (std::size_t i = 0; i < points.masses.size(); ++i)
    m.second += points.masses[i] * (points.positions[i] - m.centre) * (points.positions[i] - m.centre).transpose();
  return m;
}

TEST(MassPoints, HaveTheMassAndInertiaOfTheirShapes) {
  const double pi = std::numbers::pi;
  const Moments box = moments(mass_points(BoxShape{{1, 2, 3}, {0.1, 0.2, 0.3}}, 500));
  EXPECT_NEAR(box.mass, 500 * 0.2 * 0.4 * 0.6, 1e-12);
  EXPECT_LT((box.centre - Vec3(1, 2, 3)).norm(), 1e-12);
  const Mat3 expected = (box.mass / 3 * Vec3(0.01, 0.04, 0.09)).asDiagonal();
  EXPECT_LT((box.second - expected).norm(), 1e-12);

  const Moments ball = moments(mass_points(SphereShape{{0, 1, 0}, 0.3}, 1000));
  EXPECT_NEAR(ball.mass, 1000 * 4.0 / 3 * pi * 0.027, 1e-9);
  EXPECT_LT((ball.second - ball.mass * 0.09 / 5 * Mat3::Identity()).norm(), 1e-9);

  const Moments cylinder = moments(mass_points(CylinderShape{{0, 0, 0}, {1, 0, 0}, 0.2, 0.5}, 100));
  EXPECT_NEAR(cylinder.mass, 100 * pi * 0.04, 1e-9);
  EXPECT_NEAR(cylinder.second(0, 0), cylinder.mass * 0.25 / 3, 1e-9);
  EXPECT_NEAR(cylinder.second(1, 1), cylinder.mass * 0.04 / 4, 1e-9);

  // A capsule of no length is a ball; a long one tends to a cylinder.
  const Moments round = moments(mass_points(CapsuleShape{{0, 0, 0}, {0, 0, 1e-9}, 0.3}, 1000));
  EXPECT_LT((round.second - ball.second).norm(), 1e-6);
  const Moments rod = moments(mass_points(CapsuleShape{{0, 0, 0}, {0, 100, 0}, 0.01}, 1000));
  EXPECT_NEAR(rod.second(1, 1), rod.mass * 2500 / 3, 1e-3 * rod.second(1, 1));

  EXPECT_THROW(mass_points(PlaneShape{}, 1000), InputError);
  EXPECT_THROW(mass_points(SphereShape{}, -1), InputError);
}

/// Three links: a free one, a ball on it, a hinge on that.
Articulation chain(VecX& rest) {
  std::vector<Link> links = {{"root", -1, JointKind::free, {0, 0, 0}, {0, 0, 1}, {0, 1, 2, 3}},
                             {"middle", 0, JointKind::ball, {1, 0, 0}, {0, 0, 1}, {4, 5, 6, 7}},
                             {"end", 1, JointKind::hinge, {2, 0, 0}, {0, 1, 1}, {8, 9, 10, 11}}};
  rest.resize(39);  // the last node belongs to none
  for (Index i = 0; i < 13; ++i)
    node(rest, i) = Vec3(i / 4 + 0.5 * (i % 4 == 1), 0.3 * (i % 4 == 2), 0.2 * (i % 4 == 3));
  return {links, rest};
}

TEST(Articulation, ReadsThePosesItHasPlaced) {
  VecX rest;
  const Articulation links = chain(rest);
  ASSERT_EQ(links.degrees(), 10);
  auto poses = links.poses(rest);
  for (const RigidPose& pose : poses) EXPECT_LT((pose.rotation - Mat3::Identity()).norm(), 1e-12);
  const VecX z = VecX::LinSpaced(10, -2, 3);
  VecX x = rest;
  for (int k = 0; k < 50; ++k) {
    poses = links.advance(poses, z, 0.02);
    links.place(poses, x);
    const auto read = links.poses(x);
    for (std::size_t l = 0; l < 3; ++l) {
      EXPECT_LT((read[l].rotation - poses[l].rotation).norm(), 1e-12);
      EXPECT_LT((read[l].translation - poses[l].translation).norm(), 1e-12);
    }
    poses = read;
  }
  EXPECT_EQ(Vec3(node(x, 12)), Vec3(node(rest, 12)));
  // Joints hold: the end of one link is the beginning of the next.
  EXPECT_LT((poses[0].from_rest({1, 0, 0}) - poses[1].from_rest({1, 0, 0})).norm(), 1e-12);
  EXPECT_LT((poses[1].from_rest({2, 0, 0}) - poses[2].from_rest({2, 0, 0})).norm(), 1e-12);
  const Vec3 axis = Vec3(0, 1, 1).normalized();
  EXPECT_LT((poses[1].rotation * axis - poses[2].rotation * axis).norm(), 1e-12);
}

TEST(Articulation, ColumnsAndBiasAreTheDerivativesOfTheMotion) {
  VecX rest;
  const Articulation links = chain(rest);
  const VecX z = VecX::LinSpaced(10, 1, -1.5);
  VecX x = rest;
  auto poses = links.advance(links.poses(rest), VecX::LinSpaced(10, 0.3, 0.7), 1);
  links.place(poses, x);
  Eigen::MatrixXd B, B_next;
  links.columns(poses, x, B);
  const VecX v = B * z;
  for (double h : {1e-3, 1e-4}) {
    VecX next = x, before = x, a;
    const auto later = links.advance(poses, z, h);
    links.place(later, next);
    links.place(links.advance(poses, z, -h), before);
    EXPECT_LT(((next - before) / (2 * h) - v).norm(), 20 * h * h);
    links.columns(later, next, B_next);
    links.bias(poses, x, v, a);
    EXPECT_LT(((B_next * z - v) / h - a).norm(), 20 * h);
  }
}

TEST(Articulation, RefusesChainsThatAreNone) {
  VecX rest;
  chain(rest);
  const auto make = [&](Link a, Link b) { return Articulation({a, b}, rest); };
  const Link good{"a", -1, JointKind::ball, {0, 0, 0}, {0, 0, 1}, {0, 1, 2, 3}};
  EXPECT_NO_THROW(make(good, {"b", 0, JointKind::hinge, {1, 0, 0}, {0, 0, 1}, {4, 5, 6, 7}}));
  EXPECT_THROW(make(good, {"b", 0, JointKind::free, {1, 0, 0}, {0, 0, 1}, {4, 5, 6, 7}}), InputError);
  EXPECT_THROW(make(good, {"b", 1, JointKind::ball, {1, 0, 0}, {0, 0, 1}, {4, 5, 6, 7}}), InputError);
  EXPECT_THROW(make(good, {"b", 0, JointKind::ball, {1, 0, 0}, {0, 0, 1}, {3, 5, 6, 7}}), InputError);
  EXPECT_THROW(make(good, {"b", 0, JointKind::hinge, {1, 0, 0}, {0, 0, 0}, {4, 5, 6, 7}}), InputError);
  EXPECT_THROW(make(good, {"b", 0, JointKind::ball, {1, 0, 0}, {0, 0, 1}, {4, 5}}), InputError);
}

}  // namespace
}  // namespace pliant
