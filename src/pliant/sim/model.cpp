#include "pliant/sim/model.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "pliant/base/error.hpp"
#include "pliant/energies/assembler.hpp"
#include "pliant/sim/contact_body.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

namespace {

Mass assemble_mass(MassKind kind, Index nodes, const std::vector<Body>& bodies,
                   const std::shared_ptr<const BlockPattern>& pattern) {
  BlockMatrix consistent(pattern, 1);
  VecX lumped = VecX::Zero(nodes);
  for (const Body& body : bodies) {
    if (!body.is_solid()) {
      for (Index i = 0; i < body.nodes.size(); ++i) {
        const Index p = body.nodes.begin + i;
        const double mass = body.density * body.network->measure[static_cast<std::size_t>(i)];
        lumped[p] += mass;
        *consistent.block(pattern->find(p, p)) += mass;
      }
      continue;
    }
    if (body.rigid) {  // points, whichever mass others have
      for (Index p = body.nodes.begin; p < body.nodes.end; ++p) {
        lumped[p] += body.rigid->mass / 4;
        *consistent.block(pattern->find(p, p)) += body.rigid->mass / 4;
      }
      continue;
    }
    const FeMesh& mesh = *body.elements;
    const ReferenceElement& reference = mesh.reference();
    const std::size_t n = reference.nodes();
    for (Index e = 0; e < mesh.element_count(); ++e) {
      const double mass = body.density * mesh.volumes()[e];
      const auto element = mesh.elements().subspan(e * n, n);
      for (std::size_t a = 0; a < n; ++a) {
        const Index p = body.nodes.begin + element[a];
        lumped[p] += mass * reference.lumped_mass()[a];
        for (std::size_t b = 0; b < n; ++b) {
          const Index q = body.nodes.begin + element[b];
          if (p <= q) *consistent.block(pattern->find(p, q)) += mass * reference.mass()(a, b);
        }
      }
    }
  }
  return Mass(kind, std::move(consistent), std::move(lumped));
}

bool overlap_in_time(const Script& a, const Script& b) { return a.start < b.release && b.start < a.release; }

/// How many nodes two sets share.
std::size_t shared(const std::vector<Index>& a, const std::vector<Index>& b) {
  const std::set<Index> first(a.begin(), a.end());
  return std::count_if(b.begin(), b.end(), [&](Index i) { return first.contains(i); });
}

void check_shell(const ShellMaterial& shell, const std::string& name) {
  const auto fail = [&](const char* what) { throw InputError(fmt::format("body '{}': {}", name, what)); };
  if (!(shell.thickness > 0) || !std::isfinite(shell.thickness)) fail("the thickness of a shell must be positive (m)");
  if (!(shell.young > 0) || !std::isfinite(shell.young)) fail("Young's modulus of a shell must be positive (Pa)");
  if (!(shell.poisson > -1 && shell.poisson <= 0.5)) fail("Poisson's ratio of a shell lies between -1 and 0.5");
  if (!(shell.bending >= 0) || !std::isfinite(shell.bending)) fail("'bending' of a shell must not be negative");
  if (!(shell.strain_limit >= 0) || !std::isfinite(shell.strain_limit))
    fail("'strain_limit' of a shell must be positive, or 0 for none");
}

void require_finite(const Vec3& v, const std::string& what) {
  if (!v.allFinite()) throw InputError(what + " must be finite");
}

}  // namespace

std::span<const Vec3> Body::vertices() const { return is_solid() ? mesh->vertices() : network->vertices; }
std::span<const Triangle> Body::surface() const { return is_solid() ? mesh->surface() : network->triangles; }
const std::map<std::string, std::vector<Index>>& Body::sets() const {
  return is_solid() ? mesh->sets() : network->sets;
}
const std::string& Body::source() const { return is_solid() ? mesh->source() : network->source; }

std::vector<Index> Body::nodes_of(std::span<const Index> vertices) const {
  if (rigid) return vertices.empty() ? std::vector<Index>() : std::vector<Index>{0, 1, 2, 3};
  return is_solid() ? elements->nodes_of(vertices) : std::vector<Index>(vertices.begin(), vertices.end());
}

double Body::mass() const {
  if (rigid) return rigid->mass;
  return density *
         (is_solid() ? mesh->total_volume() : std::accumulate(network->measure.begin(), network->measure.end(), 0.0));
}

std::vector<double> Model::activation(const State& state, double time) const {
  std::vector<double> values = state.activation;
  values.resize(muscles_.size(), 0.0);
  for (std::size_t m = 0; m < muscles_.size(); ++m)
    if (!muscles_[m].activation.keys.empty()) values[m] = muscles_[m].activation.at(time, 0.0);
  return values;
}

VecX Model::drawn_vectors(const VecX& v) const {
  VecX all = with_carried(v);
  Eigen::Index end = all.size();
  all.conservativeResize(end + 3 * static_cast<Eigen::Index>(tube_nodes_.size()));
  for (Index i : tube_nodes_) {
    all.segment<3>(end) = node(v, i);
    end += 3;
  }
  return all;
}

VecX Model::drawn(const VecX& x) const {
  VecX all = with_carried(x);
  if (tube_nodes_.empty()) return all;
  Eigen::Index end = all.size();
  all.conservativeResize(end + 3 * static_cast<Eigen::Index>(tube_nodes_.size()));
  for (const Body& body : bodies_) {
    if (!body.rod) continue;
    std::vector<Vec3> middle;
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) middle.emplace_back(node(x, i));
    for (const Vec3& p :
         rod_tube_corners(middle, body.rod->first_tangent(), body.rod->material().radius, body.rod->is_closed())) {
      all.segment<3>(end) = p;
      end += 3;
    }
  }
  return all;
}

bool Model::is_damped() const {
  return std::any_of(bodies_.begin(), bodies_.end(), [](const Body& body) { return !body.damping.none(); });
}

bool has_gas(const Model& model) {
  return std::any_of(model.surface_loads().begin(), model.surface_loads().end(),
                     [](const SurfaceLoad& load) { return load.kind == LoadKind::gas; });
}

Index ModelBuilder::add_muscle(Muscle muscle) {
  for (const auto& key : muscle.activation.keys)
    if (!(key.value >= 0 && key.value <= 1) || !std::isfinite(key.time))
      throw InputError(fmt::format("muscle '{}': activations lie between 0 and 1, not {} at {} s", muscle.name,
                                   key.value, key.time));
  muscles_.push_back(std::move(muscle));
  return static_cast<Index>(muscles_.size()) - 1;
}

std::size_t ModelBuilder::add_body(BodyOptions options) {
  if (!(options.density > 0) || !std::isfinite(options.density))
    throw InputError(
        fmt::format("body '{}': density must be positive ({}), not {}", options.name,
                    options.network && !options.shell && !options.rod ? "kg/m^2 for cloth and springs" : "kg/m^3",
                    options.density));
  require_finite(options.velocity, fmt::format("body '{}': velocity", options.name));
  require_finite(options.angular_velocity, fmt::format("body '{}': angular velocity", options.name));
  const RayleighDamping& damping = options.damping;
  if (!(damping.mass >= 0 && damping.stiffness >= 0) || !std::isfinite(damping.mass + damping.stiffness))
    throw InputError(fmt::format("body '{}': damping must not be negative", options.name));

  Body body;
  body.name = options.name;
  body.density = options.density;
  body.damping = options.damping;
  if (options.network)
    add_network(options, body);
  else
    add_solid(options, body);
  if (options.rigid) {
    body.rigid = options.rigid;
    body.first_carried = static_cast<Index>(carried_.size());
    const Index first = body.nodes.begin;
    for (const Vec3& p : body.rigid->vertices)
      carried_.push_back({{first, first + 1, first + 2, first + 3}, body.rigid->weights(p)});
  }
  if (body.rod) {
    body.first_tube = static_cast<Index>(tube_nodes_.size());
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i)
      tube_nodes_.insert(tube_nodes_.end(), at(RodTube::sides), i);
  }
  nodes_ = body.nodes.end;
  bodies_.push_back(std::move(body));
  options_.push_back(std::move(options));
  return bodies_.size() - 1;
}

/// Its frame is a tetrahedron of a law that is soft against nothing but strain, as stiff as the whole body would be.
std::size_t ModelBuilder::add_rigid(const RigidOptions& from) {
  constexpr double kPoisson = 0.25;
  auto shape = std::make_shared<const RigidShape>(make_rigid_shape(from));
  BodyOptions options;
  options.name = from.name;
  options.mesh = frame_mesh(*shape);
  const double volume = options.mesh->total_volume();
  options.material = {find_law("fixed-corotated"), lame_from_young(from.young * shape->volume / volume, kPoisson)};
  options.density = shape->mass / volume;
  options.velocity = from.velocity;
  options.angular_velocity = from.angular_velocity;
  options.rigid = std::move(shape);
  return add_body(std::move(options));
}

void ModelBuilder::add_joint(const JointOptions& options) {
  add_ties(TieGroup::Kind::joint, options.name, options.body, make_joint(options, bodies_));
}

void ModelBuilder::add_spring(const SpringOptions& options) {
  add_ties(TieGroup::Kind::spring, options.name, options.body, {make_spring(options, bodies_)});
}

void ModelBuilder::add_ties(TieGroup::Kind kind, const std::string& name, std::size_t body,
                            const std::vector<Tie>& ties) {
  const auto first = static_cast<Index>(ties_.size());
  ties_.insert(ties_.end(), ties.begin(), ties.end());
  tie_groups_.push_back({kind, name, body, {first, static_cast<Index>(ties_.size())}});
}

void ModelBuilder::add_solid(const BodyOptions& options, Body& body) const {
  if (!options.mesh || options.mesh->tets().empty())
    throw InputError(fmt::format("body '{}' has no elements", options.name));
  if (!options.material.law) throw InputError(fmt::format("body '{}' has no material", options.name));
  if (options.order < 1 || options.order > 3)
    throw InputError(fmt::format("body '{}': order must be 1, 2 or 3, not {}", options.name, options.order));
  body.mesh = options.mesh;
  body.elements = std::make_shared<FeMesh>(*options.mesh, options.order);
  body.law = options.material.law;
  body.lame = options.lame.empty() ? std::vector<Lame>{options.material.lame} : options.lame;
  if (body.lame.size() != 1 && body.lame.size() != options.mesh->tets().size())
    throw InputError(fmt::format("body '{}': {} material parameters for {} elements", options.name, body.lame.size(),
                                 options.mesh->tets().size()));
  body.fibres = options.fibres;
  for (const Fibres& fibres : body.fibres)
    if (fibres.activation >= static_cast<Index>(muscles_.size()))
      throw InputError(fmt::format("body '{}': its fibres follow muscle {}, but there are {}", options.name,
                                   fibres.activation, muscles_.size()));
  body.nodes = {nodes_, nodes_ + body.elements->node_count()};
  try {
    body.elastic = std::make_shared<ElasticEnergy>(*body.elements, body.law, body.lame, body.nodes.begin, body.fibres);
  } catch (const InputError& error) {
    throw InputError(fmt::format("body '{}': {}", options.name, error.what()));
  }
}

void ModelBuilder::add_network(const BodyOptions& options, Body& body) const {
  const SpringNetwork& network = *options.network;
  const auto count = static_cast<Index>(network.vertices.size());
  const auto fail = [&](const std::string& what) {
    throw InputError(fmt::format("body '{}': {}", options.name, what));
  };
  if (options.shell) check_shell(*options.shell, options.name);
  if (options.shell && network.triangles.empty()) fail("a shell needs triangles");
  if (network.vertices.empty() || (network.springs.empty() && !options.shell))
    fail("a spring network needs vertices and springs");
  if (network.measure.size() != network.vertices.size())
    fail(fmt::format("{} shares of the area for {} vertices", network.measure.size(), count));
  for (Index i = 0; i < count; ++i)
    if (!network.vertices[static_cast<std::size_t>(i)].allFinite() ||
        !(network.measure[static_cast<std::size_t>(i)] > 0))
      fail(fmt::format("vertex {} has no finite position or no area, and so no mass", i));
  body.network = options.network;
  body.nodes = {nodes_, nodes_ + count};
  if (options.shell) {
    for (const Triangle& t : network.triangles)
      for (Index v : t)
        if (v < 0 || v >= count) fail(fmt::format("a triangle names vertex {}, but there are {}", v, count));
    try {
      body.shell = std::make_shared<ShellEnergy>(network.vertices, network.triangles, *options.shell, nodes_);
    } catch (const InputError& error) {
      fail(error.what());
    }
    return;
  }
  if (options.rod) {
    const bool is_closed = count > 2 && at(count) == network.springs.size();
    for (std::size_t k = 0; k < network.springs.size(); ++k)
      if (at(network.springs[k].a) != k || at(network.springs[k].b) != (k + 1) % at(count))
        fail(fmt::format("spring {} of a rod does not lead from vertex {} to the next", k, k));
    if (!is_closed && at(count) != network.springs.size() + 1)
      fail("the springs of a rod do not reach all its vertices");
    try {
      body.rod = std::make_shared<RodEnergy>(network.vertices, is_closed, *options.rod, nodes_);
    } catch (const InputError& error) {
      fail(error.what());
    }
    return;
  }
  const SpringStiffness& k = options.springs;
  if (!(k.structural >= 0 && k.shear >= 0 && k.bending >= 0) || !std::isfinite(k.structural + k.shear + k.bending))
    fail("the stiffness of springs must not be negative (N/m)");
  std::vector<Index> ends;
  std::vector<double> stiffness, rest;
  for (const Spring& spring : network.springs) {
    if (spring.a < 0 || spring.b < 0 || spring.a >= count || spring.b >= count || spring.a == spring.b)
      fail(fmt::format("a spring connects the vertices {} and {}, but there are {}", spring.a, spring.b, count));
    const double strength = spring.kind == SpringKind::structural ? k.structural
                            : spring.kind == SpringKind::shear    ? k.shear
                                                                  : k.bending;
    if (strength == 0) continue;
    ends.insert(ends.end(), {nodes_ + spring.a, nodes_ + spring.b});
    stiffness.push_back(strength);
    rest.push_back(
        (network.vertices[static_cast<std::size_t>(spring.a)] - network.vertices[static_cast<std::size_t>(spring.b)])
            .norm());
  }
  body.springs = std::make_shared<SpringEnergy>(std::move(ends), std::move(stiffness), std::move(rest));
}

void ModelBuilder::check_nodes(const std::vector<Index>& nodes, const std::string& what) const {
  if (nodes.empty()) throw InputError(what + " selects no nodes");
  for (Index i : nodes)
    if (i < 0 || i >= nodes_)
      throw InputError(fmt::format("{} names node {}, but there are {} nodes", what, i, nodes_));
}

void ModelBuilder::add_pin(Pin pin) {
  check_nodes(pin.nodes, fmt::format("pin '{}'", pin.name));
  for (const Script& script : scripts_)
    if (const std::size_t n = shared(pin.nodes, script.nodes))
      throw InputError(fmt::format("pin '{}' and script '{}' share {} nodes; a node is either held or moved", pin.name,
                                   script.name, n));
  pins_.push_back(std::move(pin));
}

void ModelBuilder::add_script(Script script) {
  check_nodes(script.nodes, fmt::format("script '{}'", script.name));
  if (!(script.sigma > 0)) throw InputError(fmt::format("script '{}': sigma must be positive (1/s^2)", script.name));
  if (!(script.start < script.release))
    throw InputError(fmt::format("script '{}' is released before it starts", script.name));
  if (!script.motion.field.empty() && script.motion.field.size() != script.nodes.size())
    throw InputError(fmt::format("script '{}': {} displacements for {} nodes", script.name, script.motion.field.size(),
                                 script.nodes.size()));
  if (script.driven && script.driven->positions.size() != script.nodes.size())
    throw InputError(fmt::format("script '{}': {} driven positions for {} nodes", script.name,
                                 script.driven->positions.size(), script.nodes.size()));
  for (const Pin& pin : pins_)
    if (const std::size_t n = shared(pin.nodes, script.nodes))
      throw InputError(fmt::format("pin '{}' and script '{}' share {} nodes; a node is either held or moved", pin.name,
                                   script.name, n));
  for (const Script& other : scripts_)
    if (const std::size_t n = overlap_in_time(script, other) ? shared(script.nodes, other.nodes) : 0)
      throw InputError(
          fmt::format("scripts '{}' and '{}' move the same {} nodes at the same time", other.name, script.name, n));
  scripts_.push_back(std::move(script));
}

void ModelBuilder::add_collider(Collider collider) {
  check_shape(collider.shape, collider.name);
  if (!(collider.stiffness > 0) || !std::isfinite(collider.stiffness))
    throw InputError(fmt::format("collider '{}': stiffness must be positive (1/s^2)", collider.name));
  if (!(collider.friction >= 0) || !std::isfinite(collider.friction))
    throw InputError(fmt::format("collider '{}': friction must not be negative", collider.name));
  colliders_.push_back(std::move(collider));
}

Index ModelBuilder::add_link(const LinkOptions& options) {
  MassPoints points;
  try {
    check_shape(options.shape, options.name);
    points = mass_points(options.shape, options.density);
  } catch (const InputError& error) {
    throw InputError(fmt::format("link '{}': {}", options.name, error.what()));
  }
  auto network = std::make_shared<SpringNetwork>();
  network->vertices = points.positions;
  network->triangles = points.triangles;
  network->source = "link";
  for (double mass : points.masses) network->measure.push_back(mass / options.density);
  // The joint moves its points, no springs do: these have no stiffness, and only say that the points are one piece.
  for (Index i = 1; i < static_cast<Index>(points.positions.size()); ++i) network->springs.push_back({0, i});
  BodyOptions body;
  body.name = options.name;
  body.network = network;
  body.springs = {0, 0, 0};
  body.density = options.density;
  const std::size_t index = add_body(body);
  Link link{options.name, options.parent, options.joint, options.pivot, options.axis, {}};
  for (Index i = bodies_[index].nodes.begin; i < bodies_[index].nodes.end; ++i) link.nodes.push_back(i);
  links_.push_back(std::move(link));
  return static_cast<Index>(links_.size()) - 1;
}

void ModelBuilder::attach(Index link, std::span<const Index> nodes) {
  const std::vector<Index> all(nodes.begin(), nodes.end());
  Link& to = links_.at(static_cast<std::size_t>(link));
  check_nodes(all, fmt::format("what is attached to link '{}'", to.name));
  for (const Pin& pin : pins_)
    if (const std::size_t n = shared(pin.nodes, all))
      throw InputError(fmt::format("link '{}' and pin '{}' share {} nodes", to.name, pin.name, n));
  for (const Script& script : scripts_)
    if (const std::size_t n = shared(script.nodes, all))
      throw InputError(fmt::format("link '{}' and script '{}' share {} nodes", to.name, script.name, n));
  to.nodes.insert(to.nodes.end(), all.begin(), all.end());
}

void ModelBuilder::add_load(std::span<const Index> nodes, const Vec3& total_force) {
  require_finite(total_force, "load: force");
  loads_.push_back({{nodes.begin(), nodes.end()}, total_force});
  check_nodes(loads_.back().nodes, "load");
}

void ModelBuilder::add_load(LoadOptions options) {
  if (options.body >= bodies_.size())
    throw InputError(
        fmt::format("load '{}' acts on body {}, but there are {}", options.name, options.body, bodies_.size()));
  const VecX rest = rest_positions();
  if (follows(options))
    surface_loads_.push_back(surface_load(options, bodies_[options.body], rest));
  else
    dead_loads_.push_back(dead_load(options, bodies_[options.body], rest));
}

/// Of all bodies that there are by now.
VecX ModelBuilder::rest_positions() const {
  VecX rest(3 * Eigen::Index(nodes_));
  for (const Body& body : bodies_)
    for (Index i = 0; i < body.nodes.size(); ++i)
      node(rest, body.nodes.begin + i) = body.is_solid() ? body.elements->positions()[at(i)] : body.vertices()[at(i)];
  return rest;
}

void ModelBuilder::add_loads(Model& model) const {
  for (const Load& load : loads_)
    for (Index i : load.nodes) node(model.external_force_, i) += load.force / static_cast<double>(load.nodes.size());
  for (const DeadLoad& load : dead_loads_) {
    if (!load.factor.is_constant()) {
      model.timed_loads_.push_back(load);
      continue;
    }
    for (std::size_t k = 0; k < load.nodes.size(); ++k) node(model.external_force_, load.nodes[k]) += load.forces[k];
  }
}

void Model::external_force(double time, VecX& f) const {
  f = external_force_;
  for (const DeadLoad& load : timed_loads_) {
    const double factor = load.factor.at(time);
    for (std::size_t k = 0; k < load.nodes.size(); ++k) node(f, load.nodes[k]) += factor * load.forces[k];
  }
  if (!driven_gravity_ && gravity_keyframes_.keys.empty()) return;
  const Vec3 acceleration = gravity(time);
  for (Index i = 0; i < nodes(); ++i) node(f, i) += node_mass_[i] * acceleration;
}

void ModelBuilder::add_energy(std::shared_ptr<const Energy> energy) {
  check_nodes(energy->stencils().nodes, fmt::format("energy '{}'", energy->name()));
  energies_.push_back(std::move(energy));
}

/// Penalties of the colliders, on all bodies or on links alone: what joints move, no barrier stops.
void ModelBuilder::add_penalty(Model& model, bool links_only) const {
  std::vector<Index> nodes;
  std::vector<double> masses;
  for (const Body& body : bodies_) {
    if (links_only && !body.is_link()) continue;
    std::vector<Index> vertices;
    for (const Triangle& t : body.surface()) vertices.insert(vertices.end(), t.begin(), t.end());
    if (part_) vertices = body.sets().at("boundary");  // also where the faces are others'
    if (!body.is_solid()) {                            // every vertex: a rope has no triangles
      vertices.resize(body.vertices().size());
      std::iota(vertices.begin(), vertices.end(), 0);
    }
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    for (Index i : body.nodes_of(vertices)) {
      nodes.push_back(body.nodes.begin + i);
      // A link is held up by the one or two of its vertices that touch.
      masses.push_back(body.is_link() ? body.mass() : model.mass_.lumped()[nodes.back()]);
    }
  }
  model.colliders_ = std::make_shared<ColliderPenalty>(std::move(nodes), std::move(masses), colliders_);
  model.energies_.push_back(model.colliders_.get());
}

void ModelBuilder::add_attachment(const AttachmentOptions& options) {
  add_ties(TieGroup::Kind::attachment, options.name, options.body, make_attachment(options, bodies_));
}

std::shared_ptr<const Model> ModelBuilder::build() {
  if (bodies_.empty()) throw InputError("a model needs at least one body");
  require_finite(gravity_, "gravity");
  auto model = std::make_shared<Model>();
  model->bodies_ = bodies_;
  const bool is_timed = driven_gravity_ || !gravity_keyframes_.keys.empty();
  for (const auto& key : gravity_keyframes_.keys) require_finite(key.value, "gravity");
  model->gravity_keyframes_ = gravity_keyframes_;
  model->driven_gravity_ = driven_gravity_;
  model->gravity_ = gravity_;
  model->gravity_ = model->gravity(0);
  model->pins_ = pins_;
  model->scripts_ = scripts_;
  model->muscles_ = muscles_;
  for (const Body& body : bodies_) model->energies_.push_back(&body.energy());
  model->more_energies_ = energies_;
  for (const auto& energy : energies_) model->energies_.push_back(energy.get());
  if (!ties_.empty()) {
    model->ties_ = std::make_shared<TieEnergy>(ties_);
    model->tie_groups_ = tie_groups_;
    model->energies_.push_back(model->ties_.get());
  }
  model->carried_ = carried_;
  model->tube_nodes_ = tube_nodes_;
  model->rest_ = rest_positions();
  model->surface_loads_ = surface_loads_;
  std::vector<PressureEnergy> pressures;  // for what they couple
  for (const SurfaceLoad& load : model->surface_loads_)
    if (load.has_potential()) pressures.emplace_back(*load.faces);
  std::vector<const Energy*> coupling = model->energies_;
  for (const PressureEnergy& pressure : pressures) coupling.push_back(&pressure);
  model->pattern_ = coupling_pattern(nodes_, coupling);
  model->mass_ = assemble_mass(mass_kind_, nodes_, bodies_, model->pattern_);

  VecX gravity(3 * Eigen::Index(nodes_));
  for (Index i = 0; i < nodes_; ++i) node(gravity, i) = is_timed ? Vec3(Vec3::Zero()) : gravity_;
  model->mass_.multiply(gravity, model->external_force_);
  if (part_) {
    model->sharing_ = part_->sharing;
    if (part_->force.size() > 0) model->external_force_ = part_->force;
  }
  if (is_timed) {
    VecX sums;
    model->mass_.multiply(VecX::Ones(3 * Eigen::Index(nodes_)), sums);
    model->node_mass_.resize(nodes_);
    for (Index i = 0; i < nodes_; ++i) model->node_mass_[i] = sums[3 * Eigen::Index(i)];
  }
  add_loads(*model);

  if (!links_.empty()) model->articulation_ = std::make_shared<Articulation>(links_, model->rest_);
  const bool by_barrier =
      contact_ || ((!colliders_.empty() || !obstacles_.empty()) && collider_law_ == ColliderLaw::barrier);
  if (by_barrier) {
    add_contact(*model);
  } else if (!obstacles_.empty()) {
    throw InputError(
        fmt::format("collider '{}' is a surface, which no penalty keeps bodies away from; leave "
                    "simulation.colliders = \"barrier\"",
                    obstacles_.front().name));
  }
  if (!colliders_.empty() && !by_barrier)
    for (const Body& body : bodies_)
      if (body.rigid)
        throw InputError(
            fmt::format("body '{}' is rigid, and colliders keep its nodes out, not its surface, by a penalty; leave "
                        "simulation.colliders = \"barrier\"",
                        body.name));
  if (!colliders_.empty() && (!by_barrier || !links_.empty())) add_penalty(*model, by_barrier);
  begin_bodies(*model);
  return model;
}

/// Where nothing has moved yet.
void ModelBuilder::begin_bodies(Model& model) const {
  State& initial = model.initial_;
  initial.activation = model.activation({}, 0);
  initial.x = model.rest_;
  if (part_) {
    initial.v = part_->velocity;
    return;
  }
  initial.v.setZero(3 * Eigen::Index(nodes_));
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const Range range = bodies_[b].nodes;
    Vec3 centre = Vec3::Zero();
    double mass = 0;
    for (Index i = range.begin; i < range.end; ++i) {
      centre += model.mass_.lumped()[i] * node(model.rest_, i);
      mass += model.mass_.lumped()[i];
    }
    centre /= mass;
    for (Index i = range.begin; i < range.end; ++i)
      node(initial.v, i) = options_[b].velocity + options_[b].angular_velocity.cross(node(model.rest_, i) - centre);
  }
}

/// Of a part of a larger model: bodies, all of them with all of their surface, are measured by all processes together,
/// and what is left of the surface here has shares of the areas.
void ModelBuilder::add_contact(Model& model) const {
  std::vector<ContactBody> touching;
  for (const Body& body : bodies_) {
    touching.push_back(contact_body(body, nodes_));
    touching.back().is_driven = body.is_link();
  }
  const ContactOptions options = contact_ ? *contact_ : ContactOptions{.bodies = false};
  ContactMeasures measures = measure_contact(model.rest_, touching, colliders_, carried_);
  if (!part_) {
    model.contact_ = make_contact_model(options, model.rest_, touching, colliders_, obstacles_, carried_, measures);
    return;
  }
  Sharing& sharing = *part_->sharing;
  std::vector<ContactMeasures::OfBody> all(part_->all_bodies);
  for (std::size_t b = 0; b < part_->bodies.size(); ++b) all[part_->bodies[b]] = measures.bodies[b];
  for (ContactMeasures::OfBody& body : all) {
    for (int axis = 0; axis < 3; ++axis) {
      body.box.min[axis] = sharing.minimum(body.box.min[axis]);
      body.box.max[axis] = sharing.maximum(body.box.max[axis]);
    }
    double sums[] = {body.length, body.edges, body.mass};
    sharing.sum(sums);
    body.length = sums[0], body.edges = sums[1], body.mass = sums[2];
    body.young = sharing.maximum(body.young);
  }
  measures.area = sharing.sum(measures.area);
  for (double& depth : measures.depths) depth = sharing.maximum(depth);
  measures.bodies = std::move(all);
  const auto contact = make_contact_model(options, model.rest_, touching, colliders_, obstacles_, carried_, measures);
  VecX area(nodes_);
  for (Index i = 0; i < nodes_; ++i) area[i] = contact->point_area[at(i)];
  sharing.sum_copies(area);
  contact->whole_area = contact->point_area;
  std::copy(area.begin(), area.end(), contact->whole_area.begin());
  model.contact_ = contact;
}

}  // namespace pliant
