#include "pliant/mesh/rod_line.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "pliant/base/error.hpp"

namespace pliant {

SpringNetwork rod_network(const RodLine& line) {
  const std::size_t given = line.points.size(), least = line.closed ? 3 : 2;
  if (given < least)
    throw InputError(
        fmt::format("a {} needs at least {} points, not {}", line.closed ? "closed rod" : "rod", least, given));
  if (line.segments < 1) throw InputError("a rod needs at least one segment");
  for (std::size_t i = 0; i < given; ++i)
    if (!line.points[i].allFinite()) throw InputError(fmt::format("point {} of the rod is not finite", i + 1));
  const std::size_t stretches = line.closed ? given : given - 1;
  const auto length_of = [&](std::size_t k) { return (line.points[(k + 1) % given] - line.points[k]).norm(); };
  double whole = 0;
  for (std::size_t k = 0; k < stretches; ++k) {
    if (!(length_of(k) > 0))
      throw InputError(fmt::format(
          "points {} and {} of the rod are the same place{}", k + 1, (k + 1) % given + 1,
          line.closed ? "; a closed rod is joined by itself, without its first point again" : "; remove one"));
    whole += length_of(k);
  }

  SpringNetwork network;
  network.source = "rod";
  for (std::size_t k = 0; k < stretches; ++k) {
    const Vec3 &from = line.points[k], &to = line.points[(k + 1) % given];
    const double share = std::round(static_cast<double>(line.segments) * length_of(k) / whole);
    const int pieces = std::max(1, static_cast<int>(share));
    for (int i = 0; i < pieces; ++i) network.vertices.push_back(from + static_cast<double>(i) / pieces * (to - from));
  }
  if (!line.closed) network.vertices.push_back(line.points.back());
  const auto count = static_cast<Index>(network.vertices.size());
  network.measure.assign(network.vertices.size(), 0.0);
  for (Index i = 0; i < (line.closed ? count : count - 1); ++i) {
    const Index next = (i + 1) % count;
    network.springs.push_back({i, next, SpringKind::structural});
    const double half = 0.5 * (network.vertices[at(next)] - network.vertices[at(i)]).norm();
    network.measure[at(i)] += half;
    network.measure[at(next)] += half;
  }
  if (!line.closed)
    network.sets = {
        {"start", {0}}, {"end", {count - 1}}, {"first-segment", {0, 1}}, {"last-segment", {count - 2, count - 1}}};
  return network;
}

RodTube rod_tube(Index vertices, bool closed) {
  constexpr Index n = RodTube::sides;
  RodTube tube;
  const auto corner = [&](Index vertex, Index side) { return vertex % vertices * n + side % n; };
  const auto add = [&](Index segment, const Triangle& t) {
    tube.triangles.push_back(t);
    tube.segments.push_back(segment);
  };
  const Index segments = closed ? vertices : vertices - 1;
  for (Index s = 0; s < segments; ++s)
    for (Index side = 0; side < n; ++side) {
      add(s, {corner(s, side), corner(s, side + 1), corner(s + 1, side)});
      add(s, {corner(s, side + 1), corner(s + 1, side + 1), corner(s + 1, side)});
    }
  for (Index side = 1; side + 1 < n && !closed; ++side) {
    add(0, {corner(0, 0), corner(0, side + 1), corner(0, side)});
    add(segments - 1, {corner(segments, 0), corner(segments, side), corner(segments, side + 1)});
  }
  return tube;
}

std::vector<Vec3> rod_tube_corners(std::span<const Vec3> middle, const Vec3& first_tangent_at_rest, double radius,
                                   bool closed) {
  const std::size_t count = middle.size();
  const auto along = [&](std::size_t from, std::size_t to) { return (middle[to] - middle[from]).stableNormalized(); };
  // The directions of the segments before and behind a vertex; at an end of an open rod, twice the only one there is.
  const auto directions_at = [&](std::size_t i) -> std::array<Vec3, 2> {
    const bool first = !closed && i == 0, last = !closed && i + 1 == count;
    const std::size_t previous = (i + count - 1) % count, next = (i + 1) % count;
    return {first ? along(i, next) : along(previous, i), last ? along(previous, i) : along(i, next)};
  };
  Eigen::Index least = 0;
  first_tangent_at_rest.cwiseAbs().minCoeff(&least);
  Vec3 tangent = first_tangent_at_rest, sideways = tangent.cross(Vec3::Unit(least)).normalized();
  std::vector<std::array<Vec3, 2>> frames;  // at each vertex, and of a closed rod back at the first
  for (std::size_t i = 0; i < count + (closed ? 1 : 0); ++i) {
    const auto [before, behind] = directions_at(i % count);
    const Vec3 next = (before + behind).stableNormalized();
    if (next.squaredNorm() > 0) {
      sideways = Eigen::Quaterniond::FromTwoVectors(tangent, next) * sideways;
      tangent = next;
    }
    frames.push_back({sideways, tangent.cross(sideways)});
  }
  // What is left of a turn where a closed rod comes back is undone along it.
  constexpr double kLongestMitre = 2;
  constexpr double kCorner = 2 * std::numbers::pi / RodTube::sides;
  const double left =
      closed ? std::atan2(frames.back()[0].dot(frames.front()[1]), frames.back()[0].dot(frames.front()[0])) : 0;
  std::vector<Vec3> corners;
  corners.reserve(count * at(RodTube::sides));
  for (std::size_t i = 0; i < count; ++i) {
    // A joint lies askew to both of its segments: it is drawn out sideways, so that they keep their thickness.
    const auto [before, behind] = directions_at(i);
    const Vec3 bend = (behind - before).stableNormalized();
    const double longer = std::min(2 / (before + behind).norm(), kLongestMitre);
    for (Index side = 0; side < RodTube::sides; ++side) {
      const double angle = kCorner * side - left * static_cast<double>(i) / static_cast<double>(count);
      const Vec3 out = std::cos(angle) * frames[i][0] + std::sin(angle) * frames[i][1];
      corners.push_back(middle[i] + radius * (out + (longer - 1) * out.dot(bend) * bend));
    }
  }
  return corners;
}

}  // namespace pliant
