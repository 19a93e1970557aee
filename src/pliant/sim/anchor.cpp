#include "pliant/sim/anchor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/contact/closest.hpp"

namespace pliant {

namespace {

constexpr std::array<Triangle, 4> kTetFaces = {{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

/// Beyond an element a place moves as the nearest point does, and turns with the corners: polynomials of higher order
/// grow there without measure.
VecX continued_shape(const ReferenceElement& reference, const Eigen::Vector4d& place, const Eigen::Vector4d& nearest) {
  VecX shape = reference.shape(nearest.tail<3>());
  shape.head<4>() += place - nearest;
  return shape;
}

}  // namespace

Eigen::Vector4d barycentric(const Mat3& inverse_edges, const Vec3& corner, const Vec3& place) {
  const Vec3 beyond = inverse_edges * (place - corner);
  return {1 - beyond.sum(), beyond[0], beyond[1], beyond[2]};
}

AnchorFinder::AnchorFinder(const Body& body) : body_(body) {
  if (!body.is_solid()) triangles_.assign(body.surface().begin(), body.surface().end());
  std::vector<Aabb> boxes;
  const auto enclose = [&](const auto& corners) {
    Aabb box;
    for (Index v : corners) box.include(corner(v));
    boxes.push_back(box);
  };
  if (body.is_solid())
    for (const Tet& tet : body.mesh->tets()) enclose(tet);
  else if (!triangles_.empty())
    for (const Triangle& t : triangles_) enclose(t);
  else if (body.rod)
    for (const Spring& s : body.network->springs) enclose(std::array<Index, 2>{s.a, s.b});
  else
    for (Index v = 0; v < static_cast<Index>(body.vertices().size()); ++v) enclose(std::array<Index, 1>{v});
  for (const Aabb& box : boxes) {
    box_.include(box);
    first_radius_ += (box.max - box.min).norm() / static_cast<double>(boxes.size());
  }
  first_radius_ = std::max(first_radius_, 1e-6 * (box_.max - box_.min).norm());
  tree_.build(boxes);
}

double AnchorFinder::along(Index s, const Vec3& place) const {
  const Vec3 begin = corner(segment(s).a), edge = corner(segment(s).b) - begin;
  const double length2 = edge.squaredNorm();
  return length2 > 0 ? std::clamp(edge.dot(place - begin) / length2, 0.0, 1.0) : 0;
}

/// Of a place from a tet, a triangle, a segment or a vertex.
double AnchorFinder::distance2(Index primitive, const Vec3& place) const {
  const auto to_triangle = [&](Index a, Index b, Index c) {
    return closest_point_triangle({place, corner(a), corner(b), corner(c)}).d2;
  };
  if (!body_.is_solid()) {
    if (triangles_.empty() && !body_.rod) return (corner(primitive) - place).squaredNorm();
    if (triangles_.empty()) {
      const double t = along(primitive, place);
      return ((1 - t) * corner(segment(primitive).a) + t * corner(segment(primitive).b) - place).squaredNorm();
    }
    const Triangle& t = triangles_[at(primitive)];
    return to_triangle(t[0], t[1], t[2]);
  }
  const Tet& tet = body_.mesh->tets()[at(primitive)];
  const Mat3& inverse = body_.elements->inverse_edges()[at(primitive)];
  if (barycentric(inverse, corner(tet[0]), place).minCoeff() >= 0) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Triangle& face : kTetFaces)
    least = std::min(least, to_triangle(tet[at(face[0])], tet[at(face[1])], tet[at(face[2])]));
  return least;
}

/// Looks at what the place may lie in, then into boxes about it, each twice as large as the last, until what was found
/// there is nearer than their sides. Of several that are as near, the first.
Index AnchorFinder::nearest(const Vec3& place, double& least) const {
  const Vec3 outside = (box_.min - place).cwiseMax(place - box_.max).cwiseMax(0);
  Index found = -1;
  least = std::numeric_limits<double>::infinity();
  for (double radius = 0; found < 0 || least > radius * radius;
       radius = radius > 0 ? 2 * radius : outside.norm() + first_radius_) {
    Aabb box{place, place};
    box.inflate(radius);
    tree_.query(box, Bvh::kAll, [&](Index primitive) {
      const double d2 = distance2(primitive, place);
      if (d2 < least || (d2 == least && primitive < found)) {
        least = d2;
        found = primitive;
      }
    });
  }
  return found;
}

/// The coordinates in a tet of its point that is nearest to a place.
Eigen::Vector4d AnchorFinder::nearest_inside(std::size_t tet, const Vec3& place) const {
  const Tet& corners = body_.mesh->tets()[tet];
  Eigen::Vector4d inside = barycentric(body_.elements->inverse_edges()[tet], corner(corners[0]), place);
  if (inside.minCoeff() >= 0) return inside;
  double least = std::numeric_limits<double>::infinity();
  for (const Triangle& face : kTetFaces) {
    const Closest closest = closest_point_triangle(
        {place, corner(corners[at(face[0])]), corner(corners[at(face[1])]), corner(corners[at(face[2])])});
    if (!(closest.d2 < least)) continue;
    least = closest.d2;
    inside.setZero();
    for (std::size_t a = 0; a < 3; ++a) inside[face[a]] = -closest.weight[a + 1];
  }
  return inside;
}

Anchor AnchorFinder::find(const Vec3& place) const {
  Anchor anchor;
  if (const RigidShape* rigid = body_.rigid.get()) {  // all of space moves with it
    const std::array<double, 4> weights = rigid->weights(place);
    Aabb box;
    for (const Vec3& p : rigid->vertices) box.include(p);
    anchor.distance = (box.min - place).cwiseMax(place - box.max).cwiseMax(0).norm();
    anchor.element = 0;
    anchor.nodes = {0, 1, 2, 3};
    anchor.weights.assign(weights.begin(), weights.end());
    return anchor;
  }
  double least = 0;
  anchor.element = nearest(place, least);
  anchor.distance = std::sqrt(least);
  const auto e = at(anchor.element);
  if (!body_.is_solid()) {
    if (triangles_.empty() && !body_.rod) return {{anchor.element}, {1}, anchor.distance, -1};
    if (triangles_.empty()) {
      const double t = along(anchor.element, place);
      anchor.nodes = {segment(anchor.element).a, segment(anchor.element).b};
      anchor.weights = {1 - t, t};
      return anchor;
    }
    const Triangle& t = triangles_[e];
    const Closest closest = closest_point_triangle({place, corner(t[0]), corner(t[1]), corner(t[2])});
    for (std::size_t a = 0; a < 3; ++a) {
      anchor.nodes.push_back(t[a]);
      anchor.weights.push_back(-closest.weight[a + 1]);
    }
    return anchor;
  }
  const FeMesh& mesh = *body_.elements;
  const std::size_t n = at(mesh.reference().nodes());
  const Eigen::Vector4d inside = barycentric(mesh.inverse_edges()[e], corner(body_.mesh->tets()[e][0]), place);
  const VecX weights = continued_shape(mesh.reference(), inside, nearest_inside(e, place));
  for (std::size_t a = 0; a < n; ++a) {
    if (weights[static_cast<Eigen::Index>(a)] == 0) continue;
    anchor.nodes.push_back(mesh.elements()[e * n + a]);
    anchor.weights.push_back(weights[static_cast<Eigen::Index>(a)]);
  }
  return anchor;
}

}  // namespace pliant
