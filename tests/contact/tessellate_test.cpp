#include "pliant/contact/tessellate.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <map>

namespace pliant {
namespace {

const Vec3 kAxis = Vec3(0.2, 1, -0.4).normalized(), kCentre(0.1, -0.2, 0.3);

std::vector<std::pair<std::string, Shape>> closed_shapes() {
  return {{"sphere", SphereShape{kCentre, 0.8}},
          {"box", BoxShape{kCentre, Vec3(0.5, 0.9, 0.7)}},
          {"cylinder", CylinderShape{kCentre, kAxis, 0.6, 0.9}},
          {"capsule", CapsuleShape{kCentre, kCentre + 1.1 * kAxis, 0.4}},
          {"torus", TorusShape{kCentre, kAxis, 1.0, 0.35}}};
}

TEST(Tessellate, VerticesLieOnTheShapeAndFacesNearIt) {
  auto shapes = closed_shapes();
  shapes.push_back({"bowl", BowlShape{kCentre, kAxis, 1.0}});
  for (const auto& [name, shape] : shapes) {
    const TriangleMesh mesh = tessellate(shape);
    check_triangle_mesh(mesh);
    for (const Vec3& v : mesh.vertices) EXPECT_NEAR(distance(shape, v).value, 0, 1e-12) << name;
    for (const Triangle& t : mesh.triangles) {
      Vec3 middle = Vec3::Zero();
      for (Index i : t) middle += mesh.vertices[static_cast<std::size_t>(i)] / 3;
      EXPECT_LE(std::abs(distance(shape, middle).value), 0.003) << name;
    }
  }
}

TEST(Tessellate, ClosedShapesHaveEveryEdgeTwiceOncePerDirectionAndTheRightVolume) {
  constexpr double pi = 3.141592653589793;
  const std::map<std::string, double> volumes = {{"sphere", 4 * pi / 3 * 0.512},
                                                 {"box", 8 * 0.5 * 0.9 * 0.7},
                                                 {"cylinder", pi * 0.36 * 1.8},
                                                 {"capsule", pi * 0.16 * 1.1 + 4 * pi / 3 * 0.064},
                                                 {"torus", 2 * pi * pi * 1.0 * 0.35 * 0.35}};
  for (const auto& [name, shape] : closed_shapes()) {
    const TriangleMesh mesh = tessellate(shape);
    std::map<std::pair<Index, Index>, int> edges;
    double volume = 0;
    for (const Triangle& t : mesh.triangles) {
      for (std::size_t k = 0; k < 3; ++k) ++edges[{t[k], t[(k + 1) % 3]}];
      const auto at = [&](std::size_t k) -> Vec3 { return mesh.vertices[static_cast<std::size_t>(t[k])] - kCentre; };
      volume += at(0).dot(at(1).cross(at(2))) / 6;
    }
    for (const auto& [edge, count] : edges) {
      EXPECT_EQ(count, 1) << name;
      EXPECT_TRUE(edges.contains({edge.second, edge.first})) << name;
    }
    EXPECT_NEAR(std::abs(volume), volumes.at(name), 0.01 * volumes.at(name)) << name;
  }
}

}  // namespace
}  // namespace pliant
