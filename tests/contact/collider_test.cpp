#include "pliant/contact/collider.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>

#include "pliant/base/error.hpp"

namespace pliant {
namespace {

const std::vector<std::pair<std::string, Shape>>& shapes() {
  static const Vec3 axis = Vec3(0.2, 1, -0.4).normalized(), centre(0.1, -0.2, 0.3);
  static const std::vector<std::pair<std::string, Shape>> all = {
      {"plane", PlaneShape{centre, axis}},
      {"sphere", SphereShape{centre, 0.8}},
      {"box", BoxShape{centre, Vec3(0.5, 0.9, 0.7)}},
      {"cylinder", CylinderShape{centre, axis, 0.6, 0.9}},
      {"capsule", CapsuleShape{centre, centre + 1.1 * axis, 0.4}},
      {"torus", TorusShape{centre, axis, 1.0, 0.35}},
      {"bowl", BowlShape{centre, axis, 1.0}},
  };
  return all;
}

Vec3 random_point(std::mt19937& engine) {
  std::uniform_real_distribution<double> uniform(-1.8, 1.8);
  return {uniform(engine), uniform(engine), uniform(engine)};
}

TEST(Collider, NormalIsTheUnitGradientOfTheDistanceEverywhere) {
  std::mt19937 engine(3);
  for (const auto& [name, shape] : shapes()) {
    int checked = 0;
    for (int k = 0; k < 400; ++k) {
      const Vec3 p = random_point(engine);
      const Distance d = distance(shape, p);
      EXPECT_NEAR(d.normal.norm(), 1, 1e-12) << name;
      const double h = 1e-6;
      Vec3 difference;
      bool smooth = true;
      for (int i = 0; i < 3; ++i) {
        const Vec3 e = h * Vec3::Unit(i);
        const Distance above = distance(shape, p + e), below = distance(shape, p - e);
        difference[i] = (above.value - below.value) / (2 * h);
        smooth = smooth && (above.normal - below.normal).norm() < 1e-3;
      }
      if (!smooth) continue;  // a crease between two faces
      ++checked;
      EXPECT_LT((difference - d.normal).norm(), 1e-7) << name << " at " << p.transpose();
    }
    EXPECT_GT(checked, 350) << name;
  }
}

TEST(Collider, CurvatureIsTheGradientOfTheNormalInside) {
  std::mt19937 engine(4);
  for (const auto& [name, shape] : shapes()) {
    int checked = 0;
    for (int k = 0; k < 2000; ++k) {
      const Vec3 p = random_point(engine);
      const Distance d = distance(shape, p);
      if (d.value >= 0) continue;
      const double h = 1e-6;
      Mat3 difference;
      bool smooth = true;
      for (int i = 0; i < 3; ++i) {
        const Vec3 e = h * Vec3::Unit(i);
        const Vec3 change = distance(shape, p + e).normal - distance(shape, p - e).normal;
        smooth = smooth && change.norm() < 1e-4;
        difference.col(i) = change / (2 * h);
      }
      if (!smooth || d.curvature.norm() > 50) continue;  // creases and centres
      ++checked;
      EXPECT_LT((difference - d.curvature).norm(), 1e-5 * (1 + d.curvature.norm())) << name << " at " << p.transpose();
    }
    EXPECT_GT(checked, 30) << name;
  }
}

TEST(Collider, DistanceIsThatOfTheNearestPointOfTheSurface) {
  // From p, the point p - d n lies on the surface, and no sampled point of the surface is nearer.
  std::mt19937 engine(5);
  for (const auto& [name, shape] : shapes()) {
    std::vector<Vec3> surface;
    for (int k = 0; k < 4000; ++k) {
      const Vec3 p = random_point(engine);
      const Distance d = distance(shape, p);
      surface.push_back(p - d.value * d.normal);
      EXPECT_NEAR(distance(shape, surface.back()).value, 0, 1e-9) << name << " from " << p.transpose();
    }
    for (int k = 0; k < 200; ++k) {
      const Vec3 p = random_point(engine);
      const double d = std::abs(distance(shape, p).value);
      for (const Vec3& s : surface) ASSERT_GE((s - p).norm(), d - 1e-9) << name << " at " << p.transpose();
    }
  }
}

TEST(Collider, MovesRigidly) {
  Collider collider{"box", BoxShape{Vec3(1, 0, 0), Vec3(0.5, 0.2, 0.2)}, {}, 1e5, 0};
  collider.motion.axis = Vec3::UnitZ();
  collider.motion.angle.keys = {{0, 0.0}, {1, M_PI / 2}};
  collider.motion.translation.keys = {{0, Vec3::Zero()}, {1, Vec3(0, 0, 3)}};
  const RigidPose pose = collider.motion.pose(1);
  EXPECT_NEAR(distance(collider, pose, Vec3(0, 2, 3)).value, 0.5, 1e-12);  // beyond the end, which is at y = 1.5
  EXPECT_LT((distance(collider, pose, Vec3(0, 2, 3)).normal - Vec3::UnitY()).norm(), 1e-12);
  const Vec3 p(0.3, -0.7, 1.1);
  EXPECT_LT((pose.to_rest(pose.from_rest(p)) - p).norm(), 1e-14);
}

TEST(Collider, RefusesShapesWithoutASize) {
  EXPECT_THROW(check_shape(SphereShape{Vec3::Zero(), 0}, "ball"), InputError);
  EXPECT_THROW(check_shape(BoxShape{Vec3::Zero(), Vec3(1, -1, 1)}, "box"), InputError);
  EXPECT_THROW(check_shape(PlaneShape{Vec3::Zero(), Vec3::Zero()}, "floor"), InputError);
  EXPECT_THROW(check_shape(CapsuleShape{Vec3::Ones(), Vec3::Ones(), 1}, "rod"), InputError);
  for (const auto& [name, shape] : shapes()) EXPECT_NO_THROW(check_shape(shape, name));
}

}  // namespace
}  // namespace pliant
