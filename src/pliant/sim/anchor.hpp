#pragma once

#include <span>
#include <vector>

#include "pliant/contact/bvh.hpp"
#include "pliant/sim/model.hpp"

namespace pliant {

/// A place that moves with a body: a weighted sum of its nodes, whose weights sum up to 1.
struct Anchor {
  std::vector<Index> nodes;  ///< the body's own, from 0
  std::vector<double> weights;
  double distance = 0;  ///< from the place that was asked for to the body, m
  Index element = -1;   ///< the tet, the triangle or the segment it lies in
};

/// Finds the anchors of places of a body at rest.
///
/// In a solid, a place beside the body belongs to the nearest tet, whose coordinates go on beyond it: the anchor is
/// then at that place, and turns with the tet. On a body of triangles it is the nearest point of the nearest triangle,
/// on a rod that of the nearest segment, of points alone the nearest one.
class AnchorFinder {
 public:
  /// The body stays where it is.
  explicit AnchorFinder(const Body& body);
  Anchor find(const Vec3& place) const;

 private:
  double distance2(Index primitive, const Vec3& place) const;
  Index nearest(const Vec3& place, double& distance2) const;
  Eigen::Vector4d nearest_inside(std::size_t tet, const Vec3& place) const;
  /// How far along a segment, of a length of 1, its point is that is nearest to a place.
  double along(Index segment, const Vec3& place) const;
  Vec3 corner(Index v) const { return body_.vertices()[at(v)]; }
  const Spring& segment(Index s) const { return body_.network->springs[at(s)]; }

  const Body& body_;
  std::vector<Triangle> triangles_;  ///< of a body that is no solid
  Bvh tree_;
  Aabb box_;
  double first_radius_ = 0;  ///< m
};

/// The barycentric coordinates of a place in a tet, of the corners in their order.
Eigen::Vector4d barycentric(const Mat3& inverse_edges, const Vec3& corner, const Vec3& place);

}  // namespace pliant
