#include "pliant/contact/intersection.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>

#include "contact/pair_test_support.hpp"
#include "pliant/contact/predicates.hpp"

namespace pliant {
namespace {

using testing::PairSampler;

TEST(Predicates, AreExactWhereFloatingPointCannotTell) {
  // A point on the plane x + y + z = 3 s, or one unit in the last place off it.
  const double s = 1.0 / 3;
  const Vec3 a(3 * s, 0, 0), b(0, 3 * s, 0), c(0, 0, 3 * s);
  const double third = 0.25;
  const Vec3 on(third, third, 0.5);
  EXPECT_EQ(orientation(a, b, c, on), 0);
  const Vec3 above(third, third, std::nextafter(0.5, 1)), below(third, third, std::nextafter(0.5, 0));
  EXPECT_EQ(orientation(a, b, c, above) * orientation(a, b, c, below), -1);
  EXPECT_NE(orientation(a, b, c, above), 0);
  const Vec2 p(0.1, 0.1), q(0.2, 0.2), r(0.3, 0.3);  // 0.3 is not 0.1 + 0.2, but all three have x = y
  EXPECT_EQ(orientation(p, q, r), 0);
  EXPECT_EQ(orientation(p, q, Vec2(0.3, std::nextafter(0.3, 1))), 1);
}

TEST(Predicates, AgreeWithLongArithmeticOnSmallIntegers) {
  std::mt19937 engine(1);
  std::uniform_int_distribution<int> grid(-3, 3);
  int zeros = 0;
  for (int k = 0; k < 5000; ++k) {
    std::array<Eigen::Matrix<long, 3, 1>, 4> p;
    for (auto& v : p) v = {grid(engine), grid(engine), grid(engine)};
    const Eigen::Matrix<long, 3, 1> u = p[1] - p[0], v = p[2] - p[0], w = p[3] - p[0];
    const long det = u.dot(v.cross(w));
    const auto real = [&](std::size_t i) { return Vec3(p[i].cast<double>()); };
    EXPECT_EQ(orientation(real(0), real(1), real(2), real(3)), det > 0 ? 1 : det < 0 ? -1 : 0);
    zeros += det == 0;
  }
  EXPECT_GT(zeros, 100);
}

TEST(Intersection, OfAnEdgeAndATriangleIsExactOnBordersAndInTheirPlane) {
  const Vec3 a(0, 0, 0), b(1, 0, 0), c(0, 0, 1);
  const auto hits = [&](const Vec3& p, const Vec3& q) { return intersects(p, q, a, b, c); };
  EXPECT_TRUE(hits({0.2, -1, 0.2}, {0.2, 1, 0.2}));
  EXPECT_FALSE(hits({0.2, 1e-300, 0.2}, {0.2, 1, 0.2}));
  EXPECT_TRUE(hits({0.2, 0, 0.2}, {0.2, 1, 0.2}));   // ends on it
  EXPECT_TRUE(hits({0.5, -1, 0.5}, {0.5, 1, 0.5}));  // through its edge
  EXPECT_FALSE(hits({0.5, -1, std::nextafter(0.5, 1)}, {0.5, 1, std::nextafter(0.5, 1)}));
  EXPECT_TRUE(hits({-1, 0, 0.5}, {2, 0, 0.5}));     // in its plane, across
  EXPECT_TRUE(hits({0.1, 0, 0.1}, {0.2, 0, 0.1}));  // in its plane, inside
  EXPECT_FALSE(hits({1.1, 0, 0.1}, {2, 0, 0.1}));   // in its plane, beside
  EXPECT_FALSE(hits({-1, 0, 2}, {2, 0, 2}));
  EXPECT_TRUE(hits({1, 0, 0}, {2, 0, 0}));  // touches a corner
  // Degenerate: a triangle that is a segment, an edge that is a point.
  EXPECT_TRUE(intersects({0.5, -1, 0}, {0.5, 1, 0}, {0, 0, 0}, {1, 0, 0}, {0.3, 0, 0}));
  EXPECT_FALSE(intersects({0.5, -1, 0.1}, {0.5, 1, 0.1}, {0, 0, 0}, {1, 0, 0}, {0.3, 0, 0}));
  EXPECT_TRUE(hits({0.2, 0, 0.2}, {0.2, 0, 0.2}));
  EXPECT_FALSE(hits({0.2, 1, 0.2}, {0.2, 1, 0.2}));
}

TEST(Intersection, AgreesWithDistances) {
  PairSampler sample(2);
  int meeting = 0;
  for (int k = 0; k < 3000; ++k) {
    const Corners t = sample.corners();
    const Vec3 e0 = sample.vector(), e1 = sample.vector();
    double nearest = 1e9;
    for (int i = 0; i < 3; ++i) {
      const auto p = static_cast<std::size_t>(i), q = static_cast<std::size_t>((i + 1) % 3);
      nearest = std::min(nearest, closest_edge_edge({e0, e1, t[p], t[q]}).d2);
    }
    for (const Vec3& e : {e0, e1}) nearest = std::min(nearest, closest_point_triangle({e, t[0], t[1], t[2]}).d2);
    // Apart from the border cases a crossing edge has a positive distance to the border of the triangle as well, so
    // that only this direction can be told from distances: what meets nothing has sides alike or passes outside.
    const bool crosses = intersects(e0, e1, t[0], t[1], t[2]);
    EXPECT_TRUE(nearest > 0 || crosses);
    const Vec3 n = (t[1] - t[0]).cross(t[2] - t[0]);
    const double h0 = n.dot(e0 - t[0]), h1 = n.dot(e1 - t[0]);
    if (std::abs(h0) < 1e-6 || std::abs(h1) < 1e-6 || n.norm() < 1e-3) continue;
    const Vec3 through = e0 + h0 / (h0 - h1) * (e1 - e0);
    const bool expected = h0 * h1 < 0 && closest_point_triangle({through, t[0], t[1], t[2]}).d2 < 1e-20;
    EXPECT_EQ(crosses, expected);
    meeting += expected;
  }
  EXPECT_GT(meeting, 100);
}

TEST(Intersection, FindsExactlyTheCrossingTrianglesOfASurface) {
  // Two squares across each other, and a third apart from both but coplanar with the first.
  std::vector<Triangle> triangles = {{0, 1, 2}, {0, 2, 3}, {4, 5, 6}, {4, 6, 7}, {8, 9, 10}};
  auto surface = std::make_shared<ContactSurface>(make_contact_surface(triangles, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2}));
  VecX x(33);
  x << 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1,                 // in the plane y = 0
      0.3, -1, 0.6, 0.3, 1, 0.6, 0.35, 1, 5, 0.35, -1, 5,  // upright, cutting it
      2, 0, 0, 3, 0, 0, 2, 0, 1;
  BroadPhase broad(surface);
  const auto found = find_intersections(broad, x);
  ASSERT_FALSE(found.empty());
  for (const auto& [edge, triangle] : found) {
    EXPECT_LT(triangle, 4);
    EXPECT_NE(surface->edges[static_cast<std::size_t>(edge)][0], 8);
  }
  for (Index i = 4; i < 8; ++i) node(x, i).x() += 1.5;
  EXPECT_TRUE(find_intersections(broad, x).empty());
}

}  // namespace
}  // namespace pliant
