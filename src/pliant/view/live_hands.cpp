// What hands do to a scene that runs: grabs, pins and cuts.
#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/view/live_scene.hpp"

namespace pliant::view {

namespace {

constexpr double kGravity = 9.81;

double size_of(const Body& body) {
  const InBox box = bounding_box(body.vertices());
  return (box.max - box.min).norm();
}

/// A plane in space where a body is now, taken to where it rests by the motion of the tetrahedron that is nearest to
/// it.
CutPlane plane_at_rest(const Body& body, const VecX& x, const Vec3& point, const Vec3& normal) {
  const auto now = [&](Index v) -> Vec3 { return node(x, body.nodes.begin + v); };
  const auto rest = [&](Index v) -> const Vec3& { return body.mesh->vertices()[at(v)]; };
  double least = std::numeric_limits<double>::infinity();
  const Tet* nearest = nullptr;
  for (const Tet& tet : body.mesh->tets()) {
    const double d = (0.25 * (now(tet[0]) + now(tet[1]) + now(tet[2]) + now(tet[3])) - point).squaredNorm();
    if (d >= least) continue;
    least = d;
    nearest = &tet;
  }
  if (!nearest) throw InputError(fmt::format("body '{}' has positions that are not finite", body.name));
  Mat3 edges_now, edges_rest;
  for (std::size_t k = 0; k < 3; ++k) {
    edges_now.col(static_cast<Eigen::Index>(k)) = now((*nearest)[k + 1]) - now((*nearest)[0]);
    edges_rest.col(static_cast<Eigen::Index>(k)) = rest((*nearest)[k + 1]) - rest((*nearest)[0]);
  }
  const Mat3 F = edges_now * edges_rest.inverse();
  CutPlane plane;
  plane.point = rest((*nearest)[0]) + F.inverse() * (point - now((*nearest)[0]));
  plane.normal = F.transpose() * normal;
  if (!plane.point.allFinite() || !(plane.normal.norm() > 0))
    throw InputError(fmt::format("body '{}' is squeezed flat where it is to be cut", body.name));
  plane.normal.normalize();
  return plane;
}

/// Whether some vertices lie on each side.
bool crosses(const Body& body, const VecX& x, const Vec3& point, const Vec3& normal) {
  bool above = false, below = false;
  for (std::size_t v = 0; v < body.vertices().size(); ++v) {
    const double d = (node(x, body.nodes.begin + static_cast<Index>(v)) - point).dot(normal);
    above = above || d > 0;
    below = below || d < 0;
  }
  return above && below;
}

}  // namespace

/// A hand holds three nodes. Of a rigid body these are three of its frame, at the place of them that comes nearest.
void LiveScene::hold_frame(const Body& body, Place& place) const {
  std::array<double, 4> weights = {0, 0, 0, 0};
  for (std::size_t a = 0; a < 3; ++a) {
    if (place.nodes[a] < model().nodes()) {  // the frame's own
      weights[at(place.nodes[a] - body.nodes.begin)] += place.weights[a];
      continue;
    }
    const CarriedPoint& point = model().carried()[at(place.nodes[a] - model().nodes())];
    for (std::size_t k = 0; k < 4; ++k) weights[k] += place.weights[a] * point.weights[k];
  }
  const auto left_out =
      std::min_element(weights.begin(), weights.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }) -
      weights.begin();
  for (std::size_t k = 0, a = 0; k < 4; ++k) {
    if (static_cast<std::ptrdiff_t>(k) == left_out) continue;
    place.nodes[a] = body.nodes.begin + static_cast<Index>(k);
    place.weights[a++] = weights[k] + weights[at(left_out)] / 3;
  }
}

std::optional<LiveScene::Place> LiveScene::find(int view, const Pointed& pointed) const {
  check_view(view);
  const VecX& x = state(view).x;
  Place place;
  if (const auto* ray = std::get_if<Ray>(&pointed)) {
    const std::optional<Grab> grab = grab_along_ray(model(), x, ray->eye, ray->direction);
    if (!grab) return std::nullopt;
    place.nodes = grab->nodes;
    place.at.weights = grab->weights;
    for (std::size_t b = 0; b < model().bodies().size(); ++b)
      if (const Body& body = model().bodies()[b];
          body.rigid && grab->nodes[0] >= body.nodes.begin && grab->nodes[0] < body.nodes.end)
        place.at.triangle = surface_.first_triangle[b];
    for (std::size_t t = 0; t < surface_.triangles.size(); ++t) {
      const Triangle& triangle = surface_.triangles[t];
      const auto corner = [&](std::size_t a) { return model().node_of_drawn(surface_.nodes[at(triangle[a])]); };
      if (corner(0) == grab->nodes[0] && corner(1) == grab->nodes[1] && corner(2) == grab->nodes[2])
        place.at.triangle = static_cast<Index>(t);
    }
  } else {
    place.at = std::get<SurfacePoint>(pointed);
    if (at(place.at.triangle) >= surface_.triangles.size())
      throw InputError(
          fmt::format("there is no triangle {}; there are {}", place.at.triangle, surface_.triangles.size()));
    for (std::size_t a = 0; a < 3; ++a)
      place.nodes[a] = surface_.nodes[at(surface_.triangles[at(place.at.triangle)][a])];
  }
  place.body = surface_.body_of_triangle(place.at.triangle);
  place.weights = place.at.weights;
  const Body& body = model().bodies()[place.body];
  if (body.rigid) hold_frame(body, place);
  if (body.rod)
    for (Index& i : place.nodes) i = model().node_of_drawn(i);
  place.point = Grab{place.nodes, place.weights}.point(x);
  return place;
}

const LiveScene::Holding* LiveScene::grab(Hand hand, const ask::Grab& ask) {
  const std::optional<Place> place = find(ask.view, ask.at);
  hands_.erase(hand);
  hold();
  if (!place) return nullptr;
  const Body& body = model().bodies()[place->body];
  Grab grab{place->nodes, place->weights, ask.target.value_or(place->point), strength_ * kGravity * body.mass()};
  try {
    check_grabs(model(), std::span(&grab, 1));
  } catch (const InputError&) {
    // The points of a rigid link are no element's: it is held by the nearest of them.
    const auto most = std::max_element(grab.weights.begin(), grab.weights.end()) - grab.weights.begin();
    const Index i = grab.nodes[at(most)];
    grab.nodes = {i, i, i};
    grab.weights = {1, 0, 0};
  }
  const auto [held, unused] = hands_.insert_or_assign(hand, Holding{grab, body.name, place->at, ask.view});
  hold();
  return &held->second;
}

void LiveScene::move(Hand hand, const Vec3& target) {
  const auto held = hands_.find(hand);
  if (held == hands_.end()) return;  // the server let go meanwhile, and has said so
  held->second.grab.target = target;
  hold();
}

void LiveScene::release(Hand hand) {
  hands_.erase(hand);
  hold();
}

void LiveScene::set_strength(double strength) {
  for (auto& [hand, held] : hands_) held.grab.stiffness *= strength / strength_;
  strength_ = strength;
  hold();
}

/// Every view feels all hands.
void LiveScene::hold() {
  for (View& view : views_) {
    std::vector<Grab>& grabs = view.simulation.state()->grabs;
    grabs.clear();
    for (const auto& [hand, held] : hands_) grabs.push_back(held.grab);
  }
}

/// Vertices of the surface, as the body counts them, that rest within the radius of a place.
std::vector<Index> LiveScene::patch(const Place& place, const std::optional<double>& radius) const {
  const Body& body = model().bodies()[place.body];
  const double reach = radius.value_or(0.05 * size_of(body));
  if (body.rigid) return {0, 1, 2, 3};
  const Vec3 centre = Grab{place.nodes, place.at.weights}.point(model().rest());
  const auto most = std::max_element(place.at.weights.begin(), place.at.weights.end()) - place.at.weights.begin();
  std::vector<Index> vertices = {place.nodes[at(most)] - body.nodes.begin};
  for (Index v = surface_.first_vertex[place.body]; v < surface_.first_vertex[place.body + 1]; ++v)
    if ((surface_.rest[at(v)] - centre).norm() <= reach)
      vertices.push_back(model().node_of_drawn(surface_.nodes[at(v)]) - body.nodes.begin);
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  return vertices;
}

void LiveScene::pin(const ask::Pin& ask) {
  const std::optional<Place> place = find(ask.view, ask.at);
  if (!place) throw InputError("there is nothing to pin there");
  const Body& body = model().bodies()[place->body];
  if (place->body >= scene().bodies.size())
    throw InputError(fmt::format("'{}' is a rigid link, which joints move; it cannot be pinned", body.name));
  std::vector<std::uint8_t> taken(at(model().nodes()), 0);
  for (const Pin& pin : model().pins())
    for (Index i : pin.nodes) taken[at(i)] = 1;
  for (const Script& script : model().scripts())
    for (Index i : script.nodes) taken[at(i)] = 1;
  if (const Articulation* links = model().articulation())
    for (std::size_t i = 0; i < links->link_of().size(); ++i)
      if (links->link_of()[i] >= 0) taken[i] = 1;
  Hold pin{place->body, patch(*place, ask.radius), {}};
  std::erase_if(pin.vertices, [&](Index v) { return taken[at(body.nodes.begin + v)] != 0; });
  if (pin.vertices.empty()) throw InputError("everything there is held already");
  for (Index i : body.nodes_of(pin.vertices)) pin.positions.emplace_back(node(state(ask.view).x, body.nodes.begin + i));
  std::vector<Hold> all = pins();
  all.push_back(std::move(pin));
  change(scene(), std::move(all));
}

void LiveScene::unpin(const ask::Unpin& ask) {
  const std::optional<Place> place = find(ask.view, ask.at);
  if (!place) throw InputError("there is nothing to release there");
  const Body& body = model().bodies()[place->body];
  const std::vector<Index> near = patch(*place, ask.radius);
  std::vector<Hold> left;
  bool found = false;
  for (const Hold& pin : pins()) {
    const std::vector<Index> nodes = body.nodes_of(pin.vertices);
    Hold rest{pin.body, {}, {}};
    for (Index v : pin.vertices)
      if (pin.body != place->body || !std::binary_search(near.begin(), near.end(), v)) rest.vertices.push_back(v);
    found = found || rest.vertices.size() < pin.vertices.size();
    if (rest.vertices.size() == pin.vertices.size()) rest = pin;
    if (rest.vertices.empty()) continue;
    if (rest.positions.empty())
      for (Index i : body.nodes_of(rest.vertices))
        rest.positions.push_back(pin.positions[at(std::find(nodes.begin(), nodes.end(), i) - nodes.begin())]);
    left.push_back(std::move(rest));
  }
  if (!found) throw InputError("nothing was pinned by hand there; what the scene itself holds stays held");
  change(scene(), std::move(left));
}

void LiveScene::unpin_all() {
  if (!pins().empty()) change(scene(), {});
}

void LiveScene::cut(const ask::Cut& ask) {
  if (ask.is_now) check_view(ask.view);
  const auto bodies = static_cast<int>(scene().bodies.size());
  if (ask.body && *ask.body >= bodies)
    throw InputError(fmt::format("there is no body {}; they are numbered 0 to {}", *ask.body, bodies - 1));
  int made = 0;
  std::string why = "the plane meets no solid body";
  for (int b = ask.body.value_or(0); b < (ask.body ? *ask.body + 1 : bodies); ++b) {
    const Body& body = model().bodies()[at(b)];
    const VecX& x = ask.is_now ? state(ask.view).x : model().rest();
    if (!ask.body && (!body.is_solid() || body.rigid || !crosses(body, x, ask.point, ask.normal))) continue;
    SceneCut cut;
    cut.name = fmt::format("by hand {}", cuts_.size() + 1);
    cut.body = at(b);
    CutPlane plane{ask.point, ask.normal};
    if (ask.is_now && body.is_solid()) plane = plane_at_rest(body, x, ask.point, ask.normal);
    if (ask.radius) plane.radius = *ask.radius;
    cut.surface = plane;
    try {
      make_cut(cut, -1);
      ++made;
    } catch (const InputError& error) {
      why = error.what();
    }
  }
  if (made == 0) throw InputError(why);
}

}  // namespace pliant::view
