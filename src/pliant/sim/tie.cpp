#include "pliant/sim/tie.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/error.hpp"
#include "pliant/sim/anchor.hpp"

namespace pliant {

namespace {

/// Of an element's stiffness: a tie then gives way by a hundredth of what an element beside it does.
constexpr double kTieOverElement = 100;

void check_tie(const std::string& what, double stiffness, double damping) {
  if (!(stiffness > 0) || !std::isfinite(stiffness))
    throw InputError(fmt::format("{}: stiffness must be positive (N/m)", what));
  if (!(damping >= 0) || !std::isfinite(damping))
    throw InputError(fmt::format("{}: damping must not be negative (N s/m)", what));
}

const Body& body_of(const std::string& what, std::size_t body, const std::vector<Body>& bodies) {
  if (body >= bodies.size())
    throw InputError(fmt::format("{} names body {}, but there are {}", what, body, bodies.size()));
  return bodies[body];
}

void add_end(const Body& body, const Anchor& anchor, double sign, Tie& tie) {
  for (std::size_t a = 0; a < anchor.nodes.size(); ++a) {
    tie.nodes.push_back(body.nodes.begin + anchor.nodes[a]);
    tie.weights.push_back(sign * anchor.weights[a]);
  }
}

double size_of(const Body& body) {
  Aabb box;
  if (body.rigid) return body.rigid->size();
  for (const Vec3& p : body.vertices()) box.include(p);
  return (box.max - box.min).norm();
}

/// Where a body is at rest at one of its anchors.
Vec3 rest_place(const Body& body, const Anchor& anchor) {
  Vec3 sum = Vec3::Zero();
  for (std::size_t a = 0; a < anchor.nodes.size(); ++a) {
    const auto i = at(anchor.nodes[a]);
    sum += anchor.weights[a] * (body.is_solid() ? body.elements->positions()[i] : body.vertices()[i]);
  }
  return sum;
}

/// The mean edge of a solid's elements, m.
double element_size(const Body& body) {
  return std::cbrt(6 * body.mesh->total_volume() / static_cast<double>(body.mesh->tets().size()));
}

/// What a body resists with where it is pulled at a node, N/m: its stiffness along a strain times the length of an
/// edge; of springs their own.
double node_stiffness(const Body& body) {
  if (body.shell) return body.shell->material().young * body.shell->material().thickness;
  if (body.rod)
    return body.rod->material().stretching_rigidity() /
           *std::min_element(body.rod->lengths().begin(), body.rod->lengths().end());
  if (!body.is_solid()) {
    double most = 0;
    for (double k : body.springs->stiffness()) most = std::max(most, k);
    return most;
  }
  double sum = 0;
  for (const Lame& lame : body.lame) {
    const Lame linear = body.law->linearised(lame);
    sum += linear.lambda + 2 * linear.mu;
  }
  return sum / static_cast<double>(body.lame.size()) * element_size(body);
}

/// A tie across a gap pulls at the last element beside it by a lever as long as the gap. A rigid body bears that; what
/// is farther away than either body is large was hardly meant.
void check_near(const std::string& what, const Body& body, const Anchor& anchor, const Body& other) {
  const bool is_soft_solid = other.is_solid() && !other.rigid;
  const double far = other.rigid     ? std::max(size_of(other), size_of(body))
                     : is_soft_solid ? std::min(size_of(other) / 2, element_size(other))
                                     : size_of(other) / 2;
  if (anchor.distance > far)
    throw InputError(fmt::format(
        "{}: what is selected of body '{}' lies {:.3g} m away from body '{}', {}; select what is near it, or bring the "
        "bodies together",
        what, body.name, anchor.distance, other.name,
        is_soft_solid ? fmt::format("whose elements are {:.3g} m large", element_size(other))
                      : fmt::format("which is {:.3g} m large", size_of(other))));
}

}  // namespace

Tie make_spring(const SpringOptions& options, const std::vector<Body>& bodies) {
  const std::string what = fmt::format("spring '{}'", options.name);
  check_tie(what, options.stiffness, options.damping);
  constexpr double kAnywhere = 1e9;  // m
  if (!(options.place.cwiseAbs().maxCoeff() < kAnywhere) || !(options.to.cwiseAbs().maxCoeff() < kAnywhere))
    throw InputError(fmt::format("{}: its ends must be finite, and within {:.0e} m", what, kAnywhere));
  const Body& body = body_of(what, options.body, bodies);
  Tie tie{{}, {}, Vec3::Zero(), options.stiffness, 0, options.damping};
  const auto find = [&](const Body& of, const Vec3& place) {
    Anchor anchor = AnchorFinder(of).find(place);
    if (anchor.distance > size_of(of))
      throw InputError(
          fmt::format("{}: its end [{}, {}, {}] lies {:.3g} m away from body '{}'; give a place of the "
                      "body at rest",
                      what, place.x(), place.y(), place.z(), anchor.distance, of.name));
    return anchor;
  };
  const Anchor begin = find(body, options.place);
  add_end(body, begin, 1, tie);
  tie.first_end = tie.nodes.size();
  Vec3 d = rest_place(body, begin);
  if (options.to_body) {
    const Body& other = body_of(what, *options.to_body, bodies);
    const Anchor end = find(other, options.to);
    add_end(other, end, -1, tie);
    d -= rest_place(other, end);
  } else {
    tie.offset = options.to;
    d -= options.to;
  }
  tie.rest_length = options.rest_length.value_or(d.norm());
  if (!(tie.rest_length >= 0) || !std::isfinite(tie.rest_length))
    throw InputError(fmt::format("{}: the rest length must not be negative (m)", what));
  if (options.to_body == options.body && d.norm() == 0)
    throw InputError(fmt::format("{}: both of its ends are the same place of body '{}'", what, body.name));
  return tie;
}

namespace {

/// F a of the element's corners, the first of its nodes: a direction that turns and stretches with them.
void add_axis(const Body& body, std::size_t element, const Vec3& a, Tie& tie) {
  const Vec3 slopes = body.elements->inverse_edges()[element] * a;
  const std::array<double, 4> weights = {-slopes.sum(), slopes[0], slopes[1], slopes[2]};
  const std::size_t first = element * at(body.elements->reference().nodes());
  tie.axis_weights.assign(tie.nodes.size(), 0.0);
  for (std::size_t k = 0; k < 4; ++k) {
    const Index node = body.nodes.begin + body.elements->elements()[first + k];
    auto found = std::find(tie.nodes.begin(), tie.nodes.end(), node);
    if (found == tie.nodes.end()) {  // the place is on the face that is opposite to this corner
      tie.weights.push_back(0);
      tie.axis_weights.push_back(0);
      found = tie.nodes.insert(tie.nodes.end(), node);
    }
    tie.axis_weights[static_cast<std::size_t>(found - tie.nodes.begin())] = weights[k];
  }
}

/// Each vertex goes along a line, or over a plane, through where it is at rest. Of a body this turns with the element
/// that is nearest there; of a rigid one it is the same everywhere.
std::vector<Tie> make_sliding(const AttachmentOptions& options, const std::vector<Body>& bodies) {
  const std::string what = fmt::format("attachment '{}'", options.name);
  const Body& body = body_of(what, options.body, bodies);
  const Body* other = options.to_body ? &body_of(what, *options.to_body, bodies) : nullptr;
  if (!options.direction.allFinite() || !(options.direction.norm() > 0))
    throw InputError(fmt::format("{}: what slides needs a direction that is not zero", what));
  if (other && !other->is_solid())
    throw InputError(
        fmt::format("{}: body '{}' is no solid, and has no direction to slide along; let [contact] hold it there", what,
                    other->name));
  if (other && !other->rigid && options.freedom == TieFreedom::plane)
    throw InputError(fmt::format(
        "{}: body '{}' is soft, and its surface does not stay a plane; slide over a rigid body or the world, or take "
        "[contact] without friction",
        what, other->name));
  const double own = node_stiffness(body);
  const double stiffness =
      options.stiffness > 0 ? options.stiffness
                            : kTieOverElement * (other && !other->rigid ? std::min(own, node_stiffness(*other)) : own);
  check_tie(what, stiffness, options.damping);
  const Vec3 direction = options.direction.normalized();
  const std::optional<AnchorFinder> finder = other ? std::optional<AnchorFinder>(*other) : std::nullopt;
  std::vector<Tie> ties;
  for (Index i : body.nodes_of(options.vertices)) {
    Tie tie{{}, {}, Vec3::Zero(), stiffness, 0, options.damping};
    tie.freedom = options.freedom;
    const Anchor place{{i}, {1}, 0, -1};
    add_end(body, place, 1, tie);
    if (!other) {
      tie.offset = rest_place(body, place);
      tie.axis = direction;
    } else {
      const Anchor anchor = finder->find(rest_place(body, place));
      if (!other->rigid) check_near(what, body, anchor, *other);
      add_end(*other, anchor, -1, tie);
      add_axis(*other, at(anchor.element), direction, tie);
    }
    ties.push_back(std::move(tie));
  }
  return ties;
}

}  // namespace

std::vector<Tie> make_attachment(const AttachmentOptions& options, const std::vector<Body>& bodies) {
  const std::string what = fmt::format("attachment '{}'", options.name);
  const Body& body = body_of(what, options.body, bodies);
  if (!options.to_body && options.freedom == TieFreedom::none)
    throw InputError(
        fmt::format("{}: it needs a body to fasten '{}' to, or a direction to slide along", what, body.name));
  if (options.body == options.to_body)
    throw InputError(fmt::format("{}: body '{}' cannot be attached to itself; name another body", what, body.name));
  if (body.rigid)
    throw InputError(
        options.to_body
            ? fmt::format("{}: body '{}' is rigid; fasten the other one to it (body = \"{}\", to_body = \"{}\")", what,
                          body.name, body_of(what, *options.to_body, bodies).name, body.name)
            : fmt::format("{}: body '{}' is rigid, and slides by [[joint]] with kind = \"slider\"", what, body.name));
  if (options.vertices.empty()) throw InputError(fmt::format("{}: it selects no vertices", what));
  if (options.freedom != TieFreedom::none) return make_sliding(options, bodies);
  const Body& other = body_of(what, *options.to_body, bodies);
  const double stiffness = options.stiffness > 0
                               ? options.stiffness
                               : kTieOverElement * std::min(node_stiffness(body), node_stiffness(other));
  check_tie(what, stiffness, options.damping);
  const AnchorFinder finder(other);
  std::vector<Tie> ties;
  for (Index i : body.nodes_of(options.vertices)) {
    const Anchor own{{i}, {1}, 0, -1};
    const Vec3 place = rest_place(body, own);
    const Anchor anchor = finder.find(place);
    check_near(what, body, anchor, other);
    // Solids go on beyond their surface; from others it keeps its distance as a spring does.
    const bool keeps_distance = !other.is_solid() && anchor.distance > 1e-3 * size_of(other);
    Tie tie{{}, {}, Vec3::Zero(), stiffness, keeps_distance ? anchor.distance : 0, options.damping};
    add_end(body, own, 1, tie);
    add_end(other, anchor, -1, tie);
    ties.push_back(std::move(tie));
  }
  return ties;
}

}  // namespace pliant
