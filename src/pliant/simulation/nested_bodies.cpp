#include "pliant/simulation/nested_bodies.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>
#include <vector>

#include "pliant/base/error.hpp"
#include "pliant/contact/aabb.hpp"
#include "pliant/sim/contact/contact_step.hpp"

namespace pliant {

namespace {

/// A body's surface among the positions of nodes and of what they carry.
struct Outside {
  Index first = 0;
  std::span<const Triangle> triangles;
  Aabb box;
};

Outside outside_of(const Model& model, const Body& body, const VecX& x) {
  Outside outside{body.rigid ? model.nodes() + body.first_carried : body.nodes.begin,
                  body.rigid ? std::span<const Triangle>(body.rigid->triangles) : body.surface(),
                  {}};
  for (const Triangle& t : outside.triangles)
    for (Index v : t) outside.box.include(Vec3(node(x, outside.first + v)));
  return outside;
}

/// How often a closed surface winds around a point: 1 inside, 0 outside and in cavities. A triangle is seen under the
/// solid angle of Van Oosterom and Strackee (1983).
double winding_number(const Outside& outside, const VecX& x, const Vec3& point) {
  double sum = 0;
  for (const Triangle& t : outside.triangles) {
    const Vec3 a = node(x, outside.first + t[0]) - point, b = node(x, outside.first + t[1]) - point,
               c = node(x, outside.first + t[2]) - point;
    const double A = a.norm(), B = b.norm(), C = c.norm();
    sum += 2 * std::atan2(a.dot(b.cross(c)), A * B * C + a.dot(b) * C + b.dot(c) * A + c.dot(a) * B);
  }
  return sum / (4 * std::numbers::pi);
}

/// Surfaces that intersect are told of in the first step, and how to part them.
bool intersects_at_start(const Model& model) {
  ContactStep contact(model.contact());
  contact.place_at(0);
  return !contact.describe_intersections(model.rest()).empty();
}

}  // namespace

void check_nested(const Model& model) {
  if (!model.contact()) return;
  const VecX x = model.with_carried(model.rest());
  std::vector<Outside> outsides;
  for (const Body& body : model.bodies()) outsides.push_back(outside_of(model, body, x));
  for (std::size_t inner = 0; inner < outsides.size(); ++inner) {
    const bool is_rod = model.bodies()[inner].rod != nullptr;
    if (outsides[inner].triangles.empty() && !is_rod) continue;
    const Index vertex = outsides[inner].first + (is_rod ? 0 : outsides[inner].triangles.front().front());
    const Vec3 point = node(x, vertex);
    for (std::size_t outer = 0; outer < outsides.size(); ++outer) {
      const Outside& outside = outsides[outer];
      if (outer == inner || !model.bodies()[outer].is_solid() || outside.triangles.empty()) continue;
      const Index other = outside.first + outside.triangles.front().front();
      const bool is_near =
          (point.array() >= outside.box.min.array()).all() && (point.array() <= outside.box.max.array()).all();
      if (!is_near || !model.contact()->surface->may_touch(vertex, other)) continue;
      if (winding_number(outside, x, point) > 0.5 && !intersects_at_start(model))
        throw InputError(
            fmt::format("body '{}' begins inside body '{}', near ({:.4g}, {:.4g}, {:.4g}), and contact would keep it "
                        "there; move one of them, or exclude the pair from contact (contact.pair with touches = false)",
                        model.bodies()[inner].name, model.bodies()[outer].name, point.x(), point.y(), point.z()));
    }
  }
}

}  // namespace pliant
