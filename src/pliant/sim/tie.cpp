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

std::vector<Tie> make_attachment(const AttachmentOptions& options, const std::vector<Body>& bodies) {
  const std::string what = fmt::format("attachment '{}'", options.name);
  const Body &body = body_of(what, options.body, bodies), &other = body_of(what, options.to_body, bodies);
  if (options.body == options.to_body)
    throw InputError(fmt::format("{}: body '{}' cannot be attached to itself; name another body", what, body.name));
  if (body.rigid)
    throw InputError(fmt::format("{}: body '{}' is rigid; fasten the other one to it (body = \"{}\", to_body = \"{}\")",
                                 what, body.name, other.name, body.name));
  if (options.vertices.empty()) throw InputError(fmt::format("{}: it selects no vertices", what));
  const double stiffness = options.stiffness > 0
                               ? options.stiffness
                               : kTieOverElement * std::min(node_stiffness(body), node_stiffness(other));
  check_tie(what, stiffness, options.damping);
  const AnchorFinder finder(other);
  // A tie across a gap pulls at the last element beside it by a lever as long as the gap.
  const double far =
      std::min(size_of(other) / 2, other.is_solid() && !other.rigid ? element_size(other) : size_of(other));
  std::vector<Tie> ties;
  for (Index i : body.nodes_of(options.vertices)) {
    const Anchor own{{i}, {1}, 0, -1};
    const Vec3 place = rest_place(body, own);
    const Anchor anchor = finder.find(place);
    if (anchor.distance > far)
      throw InputError(fmt::format(
          "{}: what is selected of body '{}' lies {:.3g} m away from body '{}', whose elements are {:.3g} m "
          "large; select what is near it, or bring the bodies together",
          what, body.name, anchor.distance, other.name, far));
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
