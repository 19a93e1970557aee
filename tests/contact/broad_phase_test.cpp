#include "pliant/contact/broad_phase.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <random>

namespace pliant {
namespace {

double uniform(std::mt19937& engine, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(engine);
}

struct Soup {
  std::shared_ptr<const ContactSurface> surface;
  VecX x;
};

/// Triangles of edge length about `size` in the unit cube, in `groups` groups, some of which share vertices.
Soup triangle_soup(Index triangles, double size, Index groups, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<Triangle> list;
  std::vector<Index> group;
  std::vector<Vec3> p;
  for (Index t = 0; t < triangles; ++t) {
    const Vec3 centre(uniform(engine, 0, 1), uniform(engine, 0, 1), uniform(engine, 0, 1));
    const bool joins = t % 3 == 2;  // shares an edge with the last one
    Triangle triangle{};
    for (std::size_t k = 0; k < 3; ++k) {
      if (joins && k < 2) {
        triangle[k] = list.back()[k + 1];
        continue;
      }
      triangle[k] = static_cast<Index>(p.size());
      const Vec3 near = joins ? p[static_cast<std::size_t>(list.back()[0])] : centre;
      p.push_back(near + size * Vec3(uniform(engine, -1, 1), uniform(engine, -1, 1), uniform(engine, -1, 1)));
      group.push_back(joins ? group[static_cast<std::size_t>(list.back()[0])] : t % groups);
    }
    list.push_back(triangle);
  }
  Soup soup;
  soup.surface = std::make_shared<ContactSurface>(make_contact_surface(list, group));
  soup.x.resize(3 * static_cast<Eigen::Index>(p.size()));
  for (std::size_t i = 0; i < p.size(); ++i) node(soup.x, static_cast<Index>(i)) = p[i];
  return soup;
}

template <class Primitive>
Aabb box_of(const Primitive& primitive, const VecX& x, const VecX& dx) {
  Aabb box;
  for (Index i : primitive) {
    box.include(Vec3(node(x, i)));
    box.include(Vec3(node(x, i) + node(dx, i)));
  }
  return box;
}

/// Every pair tested.
Candidates brute_force(const ContactSurface& s, const VecX& x, const VecX& dx, double distance) {
  Candidates all;
  for (Index p : s.points)
    for (Index t = 0; t < static_cast<Index>(s.triangles.size()); ++t) {
      const std::array<Index, 1> point{p};
      const Triangle& triangle = s.triangles[static_cast<std::size_t>(t)];
      Aabb box = box_of(point, x, dx);
      box.inflate(distance);
      if (box.overlaps(box_of(triangle, x, dx)) && !share_vertex(point, triangle) && s.may_touch(p, triangle[0]))
        all.point_triangle.push_back({p, t});
    }
  for (Index a = 0; a < static_cast<Index>(s.edges.size()); ++a)
    for (Index b = a + 1; b < static_cast<Index>(s.edges.size()); ++b) {
      const Edge &first = s.edges[static_cast<std::size_t>(a)], &second = s.edges[static_cast<std::size_t>(b)];
      Aabb box = box_of(first, x, dx);
      box.inflate(distance);
      if (box.overlaps(box_of(second, x, dx)) && !share_vertex(first, second) && s.may_touch(first[0], second[0]))
        all.edge_edge.push_back({a, b});
    }
  return all;
}

VecX random_motion(Eigen::Index size, double length, unsigned seed) {
  std::mt19937 engine(seed);
  VecX dx(size);
  for (double& d : dx) d = uniform(engine, -length, length);
  return dx;
}

TEST(BroadPhase, FindsExactlyThePairsWhoseBoxesOverlapForAnySizeOfSurface) {
  for (Index count : {1, 2, 3, 5, 17, 64, 65, 300}) {
    Soup soup = triangle_soup(count, 0.1, 3, static_cast<unsigned>(count));
    BroadPhase broad(soup.surface);
    const VecX still = VecX::Zero(soup.x.size());
    Candidates found;
    broad.find(soup.x, 0.03, found);
    const Candidates expected = brute_force(*soup.surface, soup.x, still, 0.03);
    EXPECT_EQ(found.point_triangle, expected.point_triangle) << count << " triangles";
    EXPECT_EQ(found.edge_edge, expected.edge_edge) << count << " triangles";
  }
}

TEST(BroadPhase, FindsPairsThatOnlyMeetOnTheWay) {
  const Soup soup = triangle_soup(200, 0.05, 2, 7);
  BroadPhase broad(soup.surface);
  Candidates found;
  // The same object again and again, so that trees are refitted and rebuilt.
  for (double length : {0.0, 0.01, 0.3, 3.0, 0.01}) {
    const VecX dx = random_motion(soup.x.size(), length, 11);
    broad.find_swept(soup.x, dx, 0.01, found);
    const Candidates expected = brute_force(*soup.surface, soup.x, dx, 0.01);
    EXPECT_EQ(found.point_triangle, expected.point_triangle) << length;
    EXPECT_EQ(found.edge_edge, expected.edge_edge) << length;
  }
}

TEST(BroadPhase, AnUpdatedTreeFindsWhatANewOneFinds) {
  Soup soup = triangle_soup(250, 0.06, 1, 3);
  BroadPhase kept(soup.surface);
  Candidates found, fresh;
  for (unsigned move = 0; move < 6; ++move) {
    soup.x += random_motion(soup.x.size(), 0.1 * move, 20 + move);
    kept.find(soup.x, 0.02, found);
    BroadPhase(soup.surface).find(soup.x, 0.02, fresh);
    EXPECT_EQ(found.point_triangle, fresh.point_triangle);
    EXPECT_EQ(found.edge_edge, fresh.edge_edge);
  }
}

TEST(BroadPhase, LeavesOutGroupsThatNeverTouch) {
  Soup soup = triangle_soup(60, 0.3, 2, 5);
  auto surface = std::make_shared<ContactSurface>(*soup.surface);
  surface->touches = {0, 1, 1, 0};  // each with the other, none with itself
  BroadPhase broad(surface);
  Candidates found;
  broad.find(soup.x, 0.1, found);
  ASSERT_GT(found.point_triangle.size(), 100u);
  for (const auto& [p, t] : found.point_triangle)
    EXPECT_NE(surface->group[static_cast<std::size_t>(p)],
              surface->group[static_cast<std::size_t>(surface->triangles[static_cast<std::size_t>(t)][0])]);
  for (const auto& [a, b] : found.edge_edge)
    EXPECT_NE(surface->group[static_cast<std::size_t>(surface->edges[static_cast<std::size_t>(a)][0])],
              surface->group[static_cast<std::size_t>(surface->edges[static_cast<std::size_t>(b)][0])]);
}

TEST(BroadPhase, ListsTheSamePairsOnAnyNumberOfThreads) {
  const Soup soup = triangle_soup(20000, 0.01, 2, 13);
  Candidates one, many;
  std::vector<CandidatePair> crossing_one, crossing_many;
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
    BroadPhase broad(soup.surface);
    broad.find(soup.x, 0.005, one);
    broad.find_edge_triangle(soup.x, crossing_one);
  }
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 4);
    BroadPhase broad(soup.surface);
    broad.find(soup.x, 0.005, many);
    broad.find_edge_triangle(soup.x, crossing_many);
  }
  EXPECT_GT(one.edge_edge.size(), 10000u);
  EXPECT_EQ(one.point_triangle, many.point_triangle);
  EXPECT_EQ(one.edge_edge, many.edge_edge);
  EXPECT_EQ(crossing_one, crossing_many);
}

TEST(BroadPhase, SurvivesNothingAndCoincidentPrimitives) {
  BroadPhase nothing(std::make_shared<ContactSurface>(make_contact_surface({}, {})));
  Candidates found;
  nothing.find(VecX(), 1, found);
  EXPECT_TRUE(found.point_triangle.empty() && found.edge_edge.empty());

  std::vector<Triangle> triangles;
  for (Index t = 0; t < 20; ++t) triangles.push_back({3 * t, 3 * t + 1, 3 * t + 2});
  BroadPhase heap(std::make_shared<ContactSurface>(make_contact_surface(triangles, std::vector<Index>(60, 0))));
  heap.find(VecX::Constant(180, 0.5), 0, found);  // all points in one place
  EXPECT_EQ(found.point_triangle.size(), 60u * 19u);
  EXPECT_EQ(found.edge_edge.size(), 60u * 57u / 2u);
}

TEST(ContactSurface, HasEveryEdgeAndPointOnceAndLooseOnesToo) {
  const std::vector<Edge> rope = {{6, 5}, {5, 4}};
  const ContactSurface s =
      make_contact_surface({{0, 1, 2}, {2, 1, 3}}, {0, 0, 0, 0, 1, 1, 1, 2}, rope, std::vector<Index>{7});
  EXPECT_EQ(s.edges.size(), 5u + 2u);
  EXPECT_TRUE(std::is_sorted(s.edges.begin(), s.edges.end()));
  EXPECT_EQ(s.points, (std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(s.groups, 3);
}

}  // namespace
}  // namespace pliant
