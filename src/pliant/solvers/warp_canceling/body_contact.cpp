#include "pliant/solvers/warp_canceling/body_contact.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

/// Where the point of the segment from a to b nearest to p lies, from 0 to 1.
double along_segment(const Vec3& p, const Vec3& a, const Vec3& b) {
  const double length2 = (b - a).squaredNorm();
  return length2 > 0 ? std::clamp((p - a).dot(b - a) / length2, 0.0, 1.0) : 0.0;
}

}  // namespace

Vec3 nearest_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  // Inside: the areas of the three parts that the foot of p makes, by the normal.
  const Vec3 n = (b - a).cross(c - a);
  const double area2 = n.squaredNorm();
  if (area2 > 0) {
    const Vec3 w(n.dot((c - b).cross(p - b)) / area2, n.dot((a - c).cross(p - c)) / area2,
                 n.dot((b - a).cross(p - a)) / area2);
    if (w.minCoeff() >= 0) return w;
  }
  const double t[3] = {along_segment(p, a, b), along_segment(p, b, c), along_segment(p, c, a)};
  const Vec3 candidates[3] = {{1 - t[0], t[0], 0}, {0, 1 - t[1], t[1]}, {t[2], 0, 1 - t[2]}};
  Vec3 best = candidates[0];
  double least = 1e300;
  for (const Vec3& w : candidates) {
    const double d = (w[0] * a + w[1] * b + w[2] * c - p).squaredNorm();
    if (d < least) {
      least = d;
      best = w;
    }
  }
  return best;
}

BodyContacts::BodyContacts(std::shared_ptr<const Model> model, const BodyContactOptions& options)
    : model_(std::move(model)), options_(options) {
  if (options.kind == BodyContactKind::none) return;
  std::vector<Triangle> triangles;
  std::vector<Index> group(at(model_->nodes()));
  for (std::size_t b = 0; b < model_->bodies().size(); ++b) {
    const Body& body = model_->bodies()[b];
    if (body.rigid)
      throw InputError(fmt::format(
          "body '{}' is rigid, and touches others by [contact] alone; leave 'body_contact' out", body.name));
    for (Triangle t : body.surface()) {
      for (Index& i : t) i += body.nodes.begin;
      triangles.push_back(t);
    }
    std::fill(group.begin() + body.nodes.begin, group.begin() + body.nodes.end, static_cast<Index>(b));
  }
  auto surface = std::make_shared<ContactSurface>(make_contact_surface(std::move(triangles), std::move(group)));
  if (options.kind == BodyContactKind::bodies)
    for (Index g = 0; g < surface->groups; ++g) surface->touches[at(g) * at(surface->groups) + at(g)] = 0;
  for (const Edge& edge : surface->edges)
    edge_ += (node(model_->rest(), edge[1]) - node(model_->rest(), edge[0])).norm();
  edge_ /= static_cast<double>(std::max<std::size_t>(1, surface->edges.size()));
  if (options_.distance <= 0) options_.distance = 0.2 * edge_;
  phase_ = std::make_unique<BroadPhase>(std::move(surface));
}

/// On one body, what is near at rest is not in contact.
bool BodyContacts::neighbours_at_rest(Index point, const Triangle& t) const {
  const VecX& rest = model_->rest();
  const Vec3 w = nearest_on_triangle(node(rest, point), node(rest, t[0]), node(rest, t[1]), node(rest, t[2]));
  const Vec3 q = w[0] * node(rest, t[0]) + w[1] * node(rest, t[1]) + w[2] * node(rest, t[2]);
  return (node(rest, point) - q).norm() < std::max(2 * options_.distance, edge_);
}

const std::vector<BodyContact>& BodyContacts::find(const VecX& x, double reach) {
  contacts_.clear();
  if (none()) return contacts_;
  const ContactSurface& surface = phase_->surface();
  phase_->find(x, std::max(options_.distance, std::min(reach, 2 * edge_)), candidates_, CandidateKinds::point_triangle);
  const std::vector<CandidatePair>& pairs = candidates_.point_triangle;
  for (std::size_t k = 0; k < pairs.size();) {
    const Index point = pairs[k].first;
    const Vec3 p = node(x, point);
    double least = 1e300;
    BodyContact contact{};
    Vec3 nearest = Vec3::Zero();
    for (; k < pairs.size() && pairs[k].first == point; ++k) {
      const Triangle& t = surface.triangles[at(pairs[k].second)];
      if (surface.group[at(point)] == surface.group[at(t[0])] && neighbours_at_rest(point, t)) continue;
      const Vec3 w = nearest_on_triangle(p, node(x, t[0]), node(x, t[1]), node(x, t[2]));
      const Vec3 q = w[0] * node(x, t[0]) + w[1] * node(x, t[1]) + w[2] * node(x, t[2]);
      if (const double d = (p - q).squaredNorm(); d < least) {
        least = d;
        nearest = q;
        contact = {point, t, w, Vec3::Zero(), 0};
      }
    }
    if (least > 1e299) continue;
    const Triangle& t = contact.triangle;
    const Vec3 outward = (node(x, t[1]) - node(x, t[0])).cross(node(x, t[2]) - node(x, t[0])).normalized();
    const double distance = std::sqrt(least);
    const bool behind = (p - nearest).dot(outward) < 0;
    if (!behind && distance >= options_.distance) continue;
    contact.normal = behind || distance == 0 ? outward : Vec3((p - nearest) / distance);
    contact.depth = behind ? options_.distance + distance : options_.distance - distance;
    contacts_.push_back(contact);
  }
  return contacts_;
}

}  // namespace pliant
