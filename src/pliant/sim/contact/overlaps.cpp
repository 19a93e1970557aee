#include "pliant/sim/contact/overlaps.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <map>

#include "pliant/contact/aabb.hpp"
#include "pliant/contact/closest.hpp"

namespace pliant {

namespace {

/// Of two bodies, or of a body and a plane.
struct Overlap {
  int count = 0;     ///< edges that cut triangles, or vertices behind the plane
  double depth = 0;  ///< the deepest of them, m
  Vec3 place = Vec3::Zero();
  std::string example;

  void include(double at_depth, const Vec3& where, std::string what) {
    if (count++ > 0 && at_depth <= depth) return;
    depth = at_depth;
    place = where;
    example = std::move(what);
  }
};

/// How far an edge that cuts a triangle reaches through its plane, and which end does.
struct Reach {
  double depth;  ///< m
  Vec3 end;
};

Reach reach_through(const Vec3& e0, const Vec3& e1, const Vec3& t0, const Vec3& t1, const Vec3& t2) {
  const Vec3 area = (t1 - t0).cross(t2 - t0);
  if (!(area.norm() > 0)) return {0, e0};
  const Vec3 n = area.normalized();
  const double d0 = std::abs(n.dot(e0 - t0)), d1 = std::abs(n.dot(e1 - t0));
  if (d0 == d1) {  // in its plane, or along it
    const Vec3 middle = (t0 + t1 + t2) / 3;
    return {d0, (e0 - middle).norm() <= (e1 - middle).norm() ? e0 : e1};
  }
  return d0 < d1 ? Reach{d0, e0} : Reach{d1, e1};
}

Vec3 centre_of(const ContactSurface& s, Index group, const VecX& positions) {
  Aabb box;
  for (Index p : s.points)
    if (s.group[at(p)] == group) box.include(Vec3(node(positions, p)));
  return 0.5 * (box.min + box.max);
}

/// Along the axis in which two bodies are farthest from each other.
Vec3 way_apart(const Vec3& from_first_to_second) {
  Eigen::Index axis = 0;
  if (!(from_first_to_second.cwiseAbs().maxCoeff(&axis) > 0)) axis = 1;
  return Vec3::Unit(axis) * (from_first_to_second[axis] < 0 ? -1 : 1);
}

std::string describe_way(const std::string& body, const Vec3& by) {
  return fmt::format("; move '{}' by ({:.3g}, {:.3g}, {:.3g}) m", body, by.x(), by.y(), by.z());
}

}  // namespace

std::string describe_overlaps(const ContactModel& model, const ObstacleState& obstacles,
                              std::span<const CandidatePair> found, std::span<const CandidatePair> crossings,
                              const VecX& positions) {
  const ContactSurface& s = *model.surface;
  std::map<std::pair<Index, Index>, Overlap> overlaps;  // by groups, or by the group of a body and -1 - plane
  for (const auto& [first, second] : found) {
    if (second < 0) {
      const PlaneShape& plane = obstacles.planes[at(-1 - second)];
      const Vec3 p = node(positions, first);
      overlaps[{s.group[at(first)], second}].include(-plane.normal.dot(p - plane.point), p,
                                                     fmt::format("vertex {}", first));
      continue;
    }
    const Edge& e = s.edges[at(first)];
    const Triangle& t = s.triangles[at(second)];
    const Vec3 e0 = node(positions, e[0]), e1 = node(positions, e[1]);
    const Reach reach = reach_through(e0, e1, node(positions, t[0]), node(positions, t[1]), node(positions, t[2]));
    overlaps[std::minmax(s.group[at(e[0])], s.group[at(t[0])])].include(
        reach.depth, reach.end,
        fmt::format("edge ({}, {}) of '{}' cuts triangle {} of '{}'", e[0], e[1],
                    model.group_names[at(s.group[at(e[0])])], second, model.group_names[at(s.group[at(t[0])])]));
  }
  for (const auto& [first, second] : crossings) {
    const Edge &a = s.edges[at(first)], &b = s.edges[at(second)];
    const Closest closest =
        closest_edge_edge({node(positions, a[0]), node(positions, a[1]), node(positions, b[0]), node(positions, b[1])});
    const Vec3 place = closest.weight[0] * node(positions, a[0]) + closest.weight[1] * node(positions, a[1]);
    overlaps[std::minmax(s.group[at(a[0])], s.group[at(b[0])])].include(0, place, "");
  }
  constexpr std::size_t kMost = 10;
  std::string text = "bodies overlap where the step begins: ";
  std::size_t told = 0;
  for (const auto& [groups, overlap] : overlaps) {
    if (told == kMost) {
      text += fmt::format("; and {} more pairs", overlaps.size() - told);
      break;
    }
    if (told++ > 0) text += "; ";
    const std::string& body = model.group_names[at(groups.first)];
    const std::string where =
        fmt::format("near ({:.4g}, {:.4g}, {:.4g})", overlap.place.x(), overlap.place.y(), overlap.place.z());
    const double apart = overlap.depth + 2 * model.options.dhat;
    if (groups.second < 0) {
      const std::string& plane = model.planes[at(-1 - groups.second)].name;
      text += overlap.depth > 0 ? fmt::format("'{}' lies up to {:.3g} m behind plane '{}' with {} vertices, {} ({})",
                                              body, overlap.depth, plane, overlap.count, where, overlap.example)
                                : fmt::format("'{}' touches plane '{}' exactly, {}", body, plane, where);
      text += describe_way(body, apart * obstacles.planes[at(-1 - groups.second)].normal);
      continue;
    }
    if (groups.first == groups.second) {
      text += overlap.depth > 0 ? fmt::format("'{}' cuts itself, up to {:.3g} m deep, {} ({} edges; {})", body,
                                              overlap.depth, where, overlap.count, overlap.example)
                                : fmt::format("'{}' touches itself exactly, {}", body, where);
      continue;
    }
    // Groups of bodies come before those of obstacles.
    const std::string& other = model.group_names[at(groups.second)];
    const bool is_obstacle = std::any_of(model.obstacles.begin(), model.obstacles.end(),
                                         [group = groups.second](const auto& placed) { return placed.group == group; });
    const Vec3 between = centre_of(s, groups.second, positions) - centre_of(s, groups.first, positions);
    text += overlap.depth > 0 ? fmt::format("'{}' and '{}', up to {:.3g} m deep, {} ({} edges; {})", body, other,
                                            overlap.depth, where, overlap.count, overlap.example)
                              : fmt::format("'{}' and '{}' touch exactly, {}", body, other, where);
    text += describe_way(is_obstacle ? body : other, apart * way_apart(is_obstacle ? Vec3(-between) : between));
  }
  return text + ". Contact needs surfaces that are apart; or exclude the pair from contact";
}

}  // namespace pliant
