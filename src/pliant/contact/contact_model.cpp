#include "pliant/contact/contact_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/contact/aabb.hpp"
#include "pliant/contact/tessellate.hpp"

namespace pliant {

namespace {

void check_options(const ContactOptions& o) {
  const auto positive = [](double v) { return v > 0 && std::isfinite(v); };
  const auto not_negative = [](double v) { return v >= 0 && std::isfinite(v); };
  if (!not_negative(o.dhat))
    throw InputError(
        fmt::format("contact: dhat must be a positive number of metres, or 0 to have it chosen, not {}", o.dhat));
  if (!not_negative(o.kappa)) throw InputError("contact: kappa must be positive (Pa), or 0 to have it chosen");
  if (!not_negative(o.friction)) throw InputError("contact: friction must not be negative");
  if (!positive(o.eps_v)) throw InputError("contact: eps_v must be positive (m/s)");
  if (o.friction_iterations < 1) throw InputError("contact: friction_iterations must be at least 1");
}

/// Areas of points and edges, from the triangles at rest. Loose edges are strips of width dhat.
void measure(ContactModel& model) {
  const ContactSurface& s = *model.surface;
  std::map<Edge, std::size_t> number;
  for (std::size_t e = 0; e < s.edges.size(); ++e) number.emplace_hint(number.end(), s.edges[e], e);
  model.point_area.assign(static_cast<std::size_t>(model.positions()), 0.0);
  model.edge_area.assign(s.edges.size(), 0.0);
  model.edge_length2.resize(s.edges.size());
  const auto at = [&](Index i) -> Vec3 { return node(model.rest, i); };
  for (const Triangle& t : s.triangles) {
    const double third = (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])).norm() / 6;
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k], b = t[(k + 1) % 3];
      model.point_area[static_cast<std::size_t>(a)] += third;
      model.edge_area[number.at({std::min(a, b), std::max(a, b)})] += third;
    }
  }
  for (std::size_t e = 0; e < s.edges.size(); ++e) {
    const auto [a, b] = s.edges[e];
    model.edge_length2[e] = (at(b) - at(a)).squaredNorm();
    if (model.edge_area[e] > 0) continue;
    model.edge_area[e] = std::sqrt(model.edge_length2[e]) * model.options.dhat;
    for (Index i : {a, b}) model.point_area[static_cast<std::size_t>(i)] += 0.5 * model.edge_area[e];
  }
  for (Index p : s.points)
    if (double& area = model.point_area[static_cast<std::size_t>(p)]; area == 0)
      area = model.options.dhat * model.options.dhat;
}

/// How deep the deepest of these nodes is in a collider where it begins, m; negative: outside.
double depth_at_start(const Collider& collider, const VecX& rest, const std::vector<ContactBody>& bodies) {
  const RigidPose pose = collider.motion.pose(0);
  double depth = -std::numeric_limits<double>::infinity();
  const auto look = [&](Index i) { depth = std::max(depth, -distance(collider, pose, node(rest, i)).value); };
  for (const ContactBody& body : bodies) {
    if (body.is_driven) continue;
    for (const Triangle& t : body.triangles) std::for_each(t.begin(), t.end(), look);
    for (const Edge& e : body.edges) std::for_each(e.begin(), e.end(), look);
    std::for_each(body.points.begin(), body.points.end(), look);
  }
  return depth;
}

/// The shape with its surface withdrawn by a distance; a small share of its size.
Shape withdraw(Shape shape, double by) {
  struct Withdraw {
    double by;
    void operator()(PlaneShape& s) const { s.point -= by * s.normal; }
    void operator()(SphereShape& s) const { s.radius -= by; }
    void operator()(BoxShape& s) const { s.half.array() -= by; }
    void operator()(CylinderShape& s) const {
      s.radius -= by;
      s.half_length -= by;
    }
    void operator()(CapsuleShape& s) const { s.radius -= by; }
    void operator()(TorusShape& s) const { s.tube -= by; }
    void operator()(BowlShape& s) const { s.radius += by; }
  };
  std::visit(Withdraw{by}, shape);
  return shape;
}

/// A thousandth of the smallest body's diagonal, which is small against what can be seen, but at most a quarter of the
/// mean edge of any body's surface, so that few primitives are near each other. Short edges do not matter: see
/// ContactSearch::reach_of. Of a rod its radius, as what touches is its middle line. m.
double choose_dhat(const ContactMeasures& measures) {
  double dhat = std::numeric_limits<double>::infinity();
  for (const ContactMeasures::OfBody& body : measures.bodies)
    if (body.length > 0)
      dhat = std::min({dhat, body.radius > 0 ? body.radius : 1e-3 * (body.box.max - body.box.min).norm(),
                       0.25 * body.length / body.edges});
  return std::isfinite(dhat) ? dhat : 1e-3;  // loose points alone
}

std::size_t group_named(const ContactModel& model, const std::string& name) {
  const auto found = std::find(model.group_names.begin(), model.group_names.end(), name);
  if (found != model.group_names.end()) return static_cast<std::size_t>(found - model.group_names.begin());
  const std::string close = nearest(name, model.group_names);
  throw InputError(fmt::format("contact: there is no body or collider '{}'; {}", name,
                               close.empty() ? fmt::format("choose one of {}", fmt::join(model.group_names, ", "))
                                             : fmt::format("did you mean '{}'?", close)));
}

void set_pairs(ContactModel& model, ContactSurface& surface, const std::vector<ContactBody>& all,
               const std::vector<double>& own_friction) {
  const std::size_t n = model.group_names.size(), bodies = all.size();
  const auto is_driven = [&](std::size_t group) { return group >= bodies || all[group].is_driven; };
  surface.groups = static_cast<Index>(n);
  surface.touches.assign(n * n, 1);
  model.friction.assign(n * n, model.options.friction);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      if (is_driven(a) && is_driven(b)) surface.touches[a * n + b] = 0;
      if (a == b && (!model.options.self || (a < bodies && all[a].frame.size() > 0))) surface.touches[a * n + b] = 0;
      if (a < bodies && b < bodies && !model.options.bodies) surface.touches[a * n + b] = 0;
      for (const std::size_t g : {a, b})
        if (g < bodies && all[g].friction >= 0) model.friction[a * n + b] = all[g].friction;
      for (const std::size_t g : {a, b})
        if (g >= bodies && own_friction[g - bodies] >= 0) model.friction[a * n + b] = own_friction[g - bodies];
    }
  for (const ContactOptions::Pair& pair : model.options.pairs) {
    const std::size_t a = group_named(model, pair.first), b = group_named(model, pair.second);
    if (!(pair.friction >= 0) || !std::isfinite(pair.friction))
      throw InputError(
          fmt::format("contact: the friction of '{}' and '{}' must not be negative", pair.first, pair.second));
    for (const std::size_t at : {a * n + b, b * n + a}) {
      model.friction[at] = pair.friction;
      if (!pair.touches) surface.touches[at] = 0;
    }
  }
}

}  // namespace

void append_carried(const std::vector<CarriedPoint>& carried, const VecX& x, VecX& all) {
  all.resize(x.size() + 3 * static_cast<Eigen::Index>(carried.size()));
  all.head(x.size()) = x;
  for (std::size_t k = 0; k < carried.size(); ++k)
    all.segment<3>(x.size() + 3 * static_cast<Eigen::Index>(k)) = carried[k].at(x);
}

void ContactModel::add_to_unknowns(const VecX& all, VecX& g) const {
  g += all.head(g.size());
  for (Index i = unknowns(); i < nodes; ++i)
    for_unknowns_of(i, [&](Index u, double w) { node(g, u) += w * node(all, i); });
}

double ContactModel::stiffness() const {
  if (options.kappa > 0) return options.kappa;
  // Small things are fast for their size, as under gravity speeds grow with its root.
  constexpr double kStop = 0.01, kSmall = 0.1;  // s, m
  const double stop = kStop * std::sqrt(std::min(1.0, size / kSmall));
  const double inertia = 0.1 * mass_per_area * size / (stop * stop);
  return young > 0 ? std::min(0.1 * young, inertia) : inertia;
}

ContactMeasures measure_contact(const VecX& rest_of_nodes, const std::vector<ContactBody>& bodies,
                                const std::vector<Collider>& colliders, const std::vector<CarriedPoint>& carried) {
  ContactMeasures measures;
  VecX rest;
  append_carried(carried, rest_of_nodes, rest);
  for (const ContactBody& body : bodies) {
    ContactMeasures::OfBody& of = measures.bodies.emplace_back();
    const auto measure_edge = [&](Index i, Index j) {
      of.box.include(Vec3(node(rest, i)));
      of.box.include(Vec3(node(rest, j)));
      of.length += (node(rest, i) - node(rest, j)).norm();
      of.edges += 1;
    };
    for (const Triangle& t : body.triangles) {
      for (std::size_t k = 0; k < 3; ++k) measure_edge(t[k], t[(k + 1) % 3]);
      measures.area += 0.5 * (node(rest, t[1]) - node(rest, t[0])).cross(node(rest, t[2]) - node(rest, t[0])).norm();
    }
    for (const Edge& e : body.edges) measure_edge(e[0], e[1]);
    for (Index i : body.points) of.box.include(Vec3(node(rest, i)));
    of.mass = body.mass;
    of.young = body.young;
    of.radius = body.radius;
  }
  for (const Collider& collider : colliders) measures.depths.push_back(depth_at_start(collider, rest, bodies));
  return measures;
}

std::shared_ptr<ContactModel> make_contact_model(const ContactOptions& options, const VecX& rest,
                                                 const std::vector<ContactBody>& bodies,
                                                 const std::vector<Collider>& colliders,
                                                 const std::vector<Obstacle>& obstacles,
                                                 const std::vector<CarriedPoint>& carried) {
  return make_contact_model(options, rest, bodies, colliders, obstacles, carried,
                            measure_contact(rest, bodies, colliders, carried));
}

std::shared_ptr<ContactModel> make_contact_model(const ContactOptions& options, const VecX& rest_of_nodes,
                                                 const std::vector<ContactBody>& bodies,
                                                 const std::vector<Collider>& colliders,
                                                 const std::vector<Obstacle>& obstacles,
                                                 const std::vector<CarriedPoint>& carried,
                                                 const ContactMeasures& measures) {
  check_options(options);
  auto model = std::make_shared<ContactModel>();
  model->carried = carried;
  VecX rest;
  model->extend(rest_of_nodes, rest);
  model->options = options;
  if (options.dhat == 0) model->options.dhat = choose_dhat(measures);
  const double dhat = model->options.dhat;
  model->nodes = static_cast<Index>(rest.size() / 3);

  std::vector<Triangle> triangles;
  std::vector<Edge> edges;
  std::vector<Index> points, group(static_cast<std::size_t>(model->nodes), 0);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const ContactBody& body = bodies[b];
    model->group_names.push_back(body.name);
    const auto belongs = [&](Index i) { group[static_cast<std::size_t>(i)] = static_cast<Index>(b); };
    for (const Triangle& t : body.triangles) std::for_each(t.begin(), t.end(), belongs);
    for (const Edge& e : body.edges) std::for_each(e.begin(), e.end(), belongs);
    std::for_each(body.points.begin(), body.points.end(), belongs);
    for (Index i = body.frame.begin; i < body.frame.end; ++i) belongs(i);
    triangles.insert(triangles.end(), body.triangles.begin(), body.triangles.end());
    edges.insert(edges.end(), body.edges.begin(), body.edges.end());
    points.insert(points.end(), body.points.begin(), body.points.end());
  }
  double mass = 0;
  for (const ContactMeasures::OfBody& body : measures.bodies) {
    const double size = (body.box.max - body.box.min).norm();
    if (model->size == 0 || size < model->size) model->size = size;
    if (body.young > 0 && (model->young == 0 || body.young < model->young)) model->young = body.young;
    mass += body.mass;
  }
  model->mass_per_area = mass / std::max(measures.area, model->size * dhat);

  std::vector<Obstacle> surfaces = obstacles;
  std::vector<double> own_friction;
  for (const Obstacle& obstacle : obstacles) own_friction.push_back(obstacle.friction);
  struct Plane {
    const Collider* collider;
    PlaneShape shape;
    double withdrawn;
  };
  std::vector<Plane> planes;
  std::vector<double> withdrawn(surfaces.size(), 0.0);
  for (std::size_t k = 0; k < colliders.size(); ++k) {
    const Collider& collider = colliders[k];
    const double depth = options.bodies ? -1 : measures.depths[k];
    const double by = depth >= 0 && depth <= dhat ? depth + dhat : 0;
    const Shape shape = withdraw(collider.shape, by);
    if (const auto* plane = std::get_if<PlaneShape>(&shape)) {
      planes.push_back({&collider, *plane, by});
      continue;
    }
    surfaces.push_back({collider.name, std::make_shared<TriangleMesh>(tessellate(shape)), collider.motion});
    withdrawn.push_back(by);
    own_friction.push_back(collider.friction > 0 ? collider.friction : -1);
  }
  std::vector<Vec3> vertices;
  for (std::size_t k = 0; k < surfaces.size(); ++k) {
    const Obstacle& obstacle = surfaces[k];
    const Index first = model->nodes + static_cast<Index>(vertices.size());
    const auto number = static_cast<Index>(model->group_names.size());
    model->group_names.push_back(obstacle.name);
    check_triangle_mesh(*obstacle.surface);
    vertices.insert(vertices.end(), obstacle.surface->vertices.begin(), obstacle.surface->vertices.end());
    for (const Triangle& t : obstacle.surface->triangles)
      triangles.push_back({first + t[0], first + t[1], first + t[2]});
    group.insert(group.end(), obstacle.surface->vertices.size(), number);
    model->obstacles.push_back({obstacle.name,
                                obstacle.motion,
                                number,
                                {first, model->nodes + static_cast<Index>(vertices.size())},
                                {},
                                withdrawn[k]});
  }
  for (const Plane& plane : planes) {
    const auto number = static_cast<Index>(model->group_names.size());
    const Collider& collider = *plane.collider;
    model->group_names.push_back(collider.name);
    own_friction.push_back(collider.friction > 0 ? collider.friction : -1);
    model->planes.push_back({collider.name, collider.motion, number, {}, plane.shape, plane.withdrawn});
  }

  model->rest.resize(rest.size() + 3 * static_cast<Eigen::Index>(vertices.size()));
  model->rest.head(rest.size()) = rest;
  for (std::size_t i = 0; i < vertices.size(); ++i)
    node(model->rest, model->nodes + static_cast<Index>(i)) = vertices[i];
  auto surface =
      std::make_shared<ContactSurface>(make_contact_surface(std::move(triangles), std::move(group), edges, points));
  set_pairs(*model, *surface, bodies, own_friction);
  model->surface = std::move(surface);
  measure(*model);
  return model;
}

}  // namespace pliant
