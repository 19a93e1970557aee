#include "pliant/sim/load.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "pliant/base/error.hpp"
#include "pliant/sim/model.hpp"
#include "pliant/sim/surface_faces.hpp"

namespace pliant {

namespace {

[[noreturn]] void fail(const LoadOptions& options, const std::string& what) {
  throw InputError(fmt::format("load '{}': {}", options.name, what));
}

void check(const LoadOptions& options) {
  if (options.vertices.empty()) fail(options, "it selects no vertices");
  if (!options.vector.allFinite() || !std::isfinite(options.pressure)) fail(options, "it must be finite");
  for (const auto& key : options.factor.keyframes.keys)
    if (!std::isfinite(key.value) || !std::isfinite(key.time)) fail(options, "its keyframes must be finite");
  const Gas& gas = options.gas;
  if (options.kind == LoadKind::gas && !(gas.pressure > 0 && gas.outside >= 0 && gas.exponent >= 1 &&
                                         std::isfinite(gas.pressure + gas.outside + gas.exponent)))
    fail(options, "a gas has a positive pressure, that outside is not negative, and its exponent is at least 1");
}

/// The forces on some nodes, out of those on all.
DeadLoad gather(const LoadOptions& options, const std::vector<Index>& nodes, const VecX& f) {
  DeadLoad load{options.name, nodes, {}, options.factor};
  for (Index i : nodes) load.forces.push_back(node(f, i));
  return load;
}

/// The integrals of N_i over the elements whose corners are all selected, times a force per volume.
DeadLoad body_force(const LoadOptions& options, const Body& body, Index nodes) {
  if (!body.is_solid())
    fail(options, fmt::format("body '{}' has no volume that a force per volume could act on; use force", body.name));
  std::vector<std::uint8_t> inside(body.vertices().size(), 0), touched(at(nodes), 0);
  for (Index v : options.vertices) inside[at(v)] = 1;
  const FeMesh& mesh = *body.elements;
  const ReferenceElement& reference = mesh.reference();
  const VecX share = reference.mass().rowwise().sum();
  VecX f = VecX::Zero(3 * Eigen::Index(nodes));
  for (Index e = 0; e < mesh.element_count(); ++e) {
    bool all = true;
    for (Index v : body.mesh->tets()[at(e)]) all = all && inside[at(v)];
    if (!all) continue;
    for (int a = 0; a < reference.nodes(); ++a) {
      const Index i = body.nodes.begin + mesh.elements()[at(e) * at(reference.nodes()) + at(a)];
      node(f, i) += mesh.volumes()[at(e)] * share[a] * options.vector;
      touched[at(i)] = 1;
    }
  }
  std::vector<Index> chosen;
  for (Index i = 0; i < nodes; ++i)
    if (touched[at(i)]) chosen.push_back(i);
  if (chosen.empty())
    fail(options, fmt::format("the selection has no element of body '{}': all four corners of an element must be in "
                              "it; enlarge the selection",
                              body.name));
  return gather(options, chosen, f);
}

}  // namespace

GasState gas_state(const SurfaceLoad& load, double factor, double volume) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!(volume > 0)) return {infinity, infinity, infinity};
  const Gas& gas = load.gas;
  const double amount = factor * gas.pressure, ratio = load.rest_volume / volume;
  const double inside = amount * std::pow(ratio, gas.exponent);
  // The energy is minus the integral of (inside - outside) dV from the volume at rest on.
  const double work = gas.exponent == 1
                          ? -amount * load.rest_volume * std::log(ratio)
                          : amount * load.rest_volume * (1 - std::pow(ratio, gas.exponent - 1)) / (gas.exponent - 1);
  return {inside - gas.outside, gas.exponent * inside / volume, -work + gas.outside * (volume - load.rest_volume)};
}

bool follows(const LoadOptions& options) {
  if (options.kind == LoadKind::gas) return true;
  return options.follows && (options.kind == LoadKind::pressure || options.kind == LoadKind::traction);
}

DeadLoad dead_load(const LoadOptions& options, const Body& body, const VecX& rest) {
  check(options);
  if (body.rigid && options.kind != LoadKind::force)
    fail(options, fmt::format("body '{}' is rigid, and takes 'force' alone", body.name));
  const auto nodes = static_cast<Index>(rest.size() / 3);
  if (options.kind == LoadKind::body_force) return body_force(options, body, nodes);
  VecX f = VecX::Zero(rest.size());
  if (options.kind == LoadKind::force && body.rigid) {  // at its surface's vertices
    std::vector<Index> frame;
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) frame.push_back(i);
    for (Index v : options.vertices) {
      const std::array<double, 4> weights = body.rigid->weights(body.rigid->vertices[at(v)]);
      for (std::size_t k = 0; k < 4; ++k)
        node(f, frame[k]) += weights[k] / static_cast<double>(options.vertices.size()) * options.vector;
    }
    return gather(options, frame, f);
  }
  if (options.kind == LoadKind::force) {
    std::vector<Index> pulled = body.nodes_of(options.vertices);
    for (Index& i : pulled) i += body.nodes.begin;
    for (Index i : pulled) node(f, i) += options.vector / static_cast<double>(pulled.size());
    return gather(options, pulled, f);
  }
  const FaceSet faces = surface_faces(body, options.vertices);
  if (options.kind == LoadKind::traction) {
    faces.add_traction(rest, options.vector, f);
  } else {
    faces.add_areas(rest, -options.pressure, f);
  }
  return gather(options, faces.nodes(), f);
}

SurfaceLoad surface_load(const LoadOptions& options, const Body& body, const VecX& rest) {
  check(options);
  if (body.rigid) fail(options, fmt::format("body '{}' is rigid, and takes 'force' alone", body.name));
  const auto faces = std::make_shared<const FaceSet>(surface_faces(body, options.vertices));
  SurfaceLoad load{options.name, options.kind, faces, options.pressure, options.vector, options.gas, 0, options.factor};
  if (options.kind != LoadKind::gas) return load;
  if (!faces->is_closed())
    fail(options, fmt::format("gas needs a closed surface, and the selected faces of body '{}' have a rim; select all "
                              "of a cavity's wall",
                              body.name));
  load.rest_volume = -faces->volume(rest, faces->mean(rest));
  if (load.rest_volume < 0 && body.shell) {  // what is within a shell is its cavity, whichever way it faces
    std::vector<Index> turned = faces->stencils().nodes;
    for (std::size_t k = 0; k < turned.size(); k += 3) std::swap(turned[k + 1], turned[k + 2]);
    load.faces = std::make_shared<const FaceSet>(1, std::move(turned));
    load.rest_volume = -load.rest_volume;
  }
  if (!(load.rest_volume > 0))
    fail(options, fmt::format("the selected surface of body '{}' encloses the body, not a cavity within it; select "
                              "the wall of the cavity, such as \"inner\"",
                              body.name));
  return load;
}

std::vector<Vec3> add_surface_forces(const std::vector<SurfaceLoad>& loads, const VecX& rest, const VecX& x,
                                     double time, VecX& fixed, VecX& explicit_force) {
  std::vector<Vec3> origins;
  for (const SurfaceLoad& load : loads) {
    const FaceSet& faces = *load.faces;
    const double factor = load.factor.at(time);
    origins.push_back(faces.mean(x));
    if (load.kind == LoadKind::traction) {
      faces.add_turning_traction(rest, x, factor * load.traction, fixed);
      faces.add_turning_traction(rest, x, factor * load.traction, explicit_force);
      continue;
    }
    const double pressure = load.kind == LoadKind::gas
                                ? gas_state(load, factor, -faces.volume(x, origins.back())).pressure
                                : factor * load.pressure;
    faces.add_areas(x, -pressure, explicit_force);
    // The volume over an open surface is no potential of the pressure on it, and has no bound: a step that went by it
    // could gain energy for ever by stretching the surface.
    if (!faces.is_closed()) faces.add_areas(x, -pressure, fixed);
  }
  return origins;
}

}  // namespace pliant
