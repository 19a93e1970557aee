#include "pliant/distributed/local_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw InputError(what + "; run the scene on one machine, without mpirun");
}

/// One entry, or those of some elements.
template <class T>
std::vector<T> of_elements(const std::vector<T>& values, const std::vector<Index>& elements) {
  if (values.size() <= 1) return values;
  std::vector<T> chosen;
  for (Index e : elements) chosen.push_back(values[at(e)]);
  return chosen;
}

/// The elements of a body as a mesh, with its vertices in the order of the body's: nodes within edges and faces then
/// lie in the order of the body's, too.
std::shared_ptr<const TetMesh> mesh_of(const TetMesh& whole, const std::vector<Index>& elements,
                                       std::vector<Index>& vertices) {
  for (Index e : elements) vertices.insert(vertices.end(), whole.tets()[at(e)].begin(), whole.tets()[at(e)].end());
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  MeshData data;
  data.source = whole.source();
  for (Index v : vertices) data.vertices.push_back(whole.vertices()[at(v)]);
  for (Index e : elements) {
    Tet tet = whole.tets()[at(e)];
    for (Index& v : tet)
      v = static_cast<Index>(std::lower_bound(vertices.begin(), vertices.end(), v) - vertices.begin());
    data.tets.push_back(tet);
  }
  return std::make_shared<const TetMesh>(std::move(data), Orphans::reject);
}

/// The nodes that colliders push out, each with its mass here. Those on the surface of the whole body: where the mesh
/// is divided there is none.
void add_penalty(const Model& whole, const std::vector<Index>& local_of, ModelBuilder& builder, const VecX& lumped) {
  const ColliderPenalty& penalty = *whole.colliders();
  std::vector<Index> nodes;
  std::vector<double> masses;
  for (Index i : penalty.stencils().nodes)
    if (const Index local = local_of[at(i)]; local >= 0) {
      nodes.push_back(local);
      masses.push_back(lumped[local]);
    }
  if (!nodes.empty())
    builder.add_energy(std::make_shared<ColliderPenalty>(std::move(nodes), std::move(masses), penalty.colliders()));
}

void add_boundaries(const Model& whole, const std::vector<Index>& local_of, ModelBuilder& builder) {
  for (Pin pin : whole.pins()) {
    std::erase_if(pin.nodes, [&](Index i) { return local_of[at(i)] < 0; });
    for (Index& i : pin.nodes) i = local_of[at(i)];
    if (!pin.nodes.empty()) builder.add_pin(std::move(pin));
  }
  for (const Script& script : whole.scripts()) {
    Script part = script;
    part.nodes.clear();
    part.motion.field.clear();
    for (std::size_t k = 0; k < script.nodes.size(); ++k) {
      const Index local = local_of[at(script.nodes[k])];
      if (local < 0) continue;
      part.nodes.push_back(local);
      if (!script.motion.field.empty()) part.motion.field.push_back(script.motion.field[k]);
    }
    if (!part.nodes.empty()) builder.add_script(std::move(part));
  }
}

/// Lumped masses of the bodies that were added, kg.
VecX lumped_mass(const ModelBuilder& builder, std::size_t bodies, std::size_t nodes) {
  VecX mass = VecX::Zero(static_cast<Eigen::Index>(nodes));
  for (std::size_t b = 0; b < bodies; ++b) {
    const Body& body = builder.body(b);
    const FeMesh& mesh = *body.elements;
    const auto size = static_cast<std::size_t>(mesh.reference().nodes());
    for (Index e = 0; e < mesh.element_count(); ++e)
      for (std::size_t a = 0; a < size; ++a)
        mass[body.nodes.begin + mesh.elements()[at(e) * size + a]] +=
            body.density * mesh.volumes()[at(e)] * mesh.reference().lumped_mass()[static_cast<Eigen::Index>(a)];
  }
  return mass;
}

/// Rows and neighbours, from the partition.
void number_nodes(const Partition& partition, int rank, LocalModel& local) {
  std::vector<Index> before(at(partition.parts) + 1, 0), rows(partition.owner.size());
  for (int owner : partition.owner) ++before[at(owner) + 1];
  std::partial_sum(before.begin(), before.end(), before.begin());
  local.first_row = before[at(rank)];
  local.owned_count = before[at(rank) + 1] - before[at(rank)];
  local.all_nodes = static_cast<Index>(partition.owner.size());
  for (std::size_t i = 0; i < partition.owner.size(); ++i) rows[i] = before[at(partition.owner[i])]++;
  std::vector<Index> order(local.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return local.nodes[at(a)] < local.nodes[at(b)]; });
  std::vector<std::vector<Index>> shared(at(partition.parts));
  for (Index i : order) {
    const auto whole = at(local.nodes[at(i)]);
    for (std::int64_t k = partition.start[whole]; k < partition.start[whole + 1]; ++k)
      if (partition.copies[at(k)] != rank) shared[at(partition.copies[at(k)])].push_back(i);
  }
  for (std::size_t r = 0; r < shared.size(); ++r)
    if (!shared[r].empty()) local.neighbours.push_back({static_cast<int>(r), std::move(shared[r])});
  for (Index i : local.nodes) {
    local.owned.push_back(partition.owner[at(i)] == rank);
    local.row.push_back(rows[at(i)]);
  }
}

}  // namespace

void check_divisible(const Model& model) {
  for (const Body& body : model.bodies())
    if (!body.is_solid())
      refuse(fmt::format("body '{}' is {}, and these are not divided among processes yet", body.name,
                         body.is_link() ? "a rigid link"
                         : body.shell   ? "a shell"
                                        : "made of springs"));
  if (model.contact())
    throw InputError(
        model.contact()->options.bodies
            ? "[contact] between bodies is not divided among processes yet; run the scene on one machine, without "
              "mpirun"
            : "colliders as barriers are not divided among processes yet; set simulation.colliders = \"penalty\", or "
              "run the scene on one machine, without mpirun");
  if (model.articulation()) refuse("rigid links are not divided among processes yet");
  if (model.ties()) refuse("springs and attachments between bodies are not divided among processes yet");
  if (!model.more_energies().empty()) refuse("energies from code are not divided among processes yet");
  for (const SurfaceLoad& load : model.surface_loads())
    if (load.has_potential())
      refuse(fmt::format("load '{}' follows a closed surface, which is not divided among processes yet", load.name));
  for (const Script& script : model.scripts())
    if (script.driven) refuse(fmt::format("script '{}' is driven by code", script.name));
}

LocalModel local_model(const Model& whole, const Partition& partition, int rank) {
  LocalModel local;
  ModelBuilder builder;
  builder.set_mass(whole.mass().kind());
  for (const Muscle& muscle : whole.muscles()) builder.add_muscle(muscle);
  std::size_t bodies = 0;
  for (std::size_t b = 0; b < whole.bodies().size(); ++b) {
    const Body& body = whole.bodies()[b];
    std::vector<Index> elements, vertices;
    for (std::size_t e = 0; e < partition.of_element[b].size(); ++e)
      if (partition.of_element[b][e] == rank) elements.push_back(static_cast<Index>(e));
    if (elements.empty()) continue;
    BodyOptions options;
    options.name = body.name;
    options.mesh = mesh_of(*body.mesh, elements, vertices);
    options.material = {body.law, body.lame.front()};
    if (body.lame.size() > 1) options.lame = of_elements(body.lame, elements);
    for (Fibres fibres : body.fibres) {
      fibres.parameters = of_elements(fibres.parameters, elements);
      fibres.directions = of_elements(fibres.directions, elements);
      options.fibres.push_back(std::move(fibres));
    }
    options.order = body.elements->reference().order();
    options.density = body.density;
    options.damping = body.damping;
    const Body& part = builder.body(builder.add_body(std::move(options)));
    ++bodies;
    // Element by element, the same nodes in the same order.
    const auto size = static_cast<std::size_t>(part.elements->reference().nodes());
    local.nodes.resize(at(part.nodes.end), -1);
    for (std::size_t e = 0; e < elements.size(); ++e)
      for (std::size_t a = 0; a < size; ++a)
        local.nodes[at(part.nodes.begin + part.elements->elements()[e * size + a])] =
            body.nodes.begin + body.elements->elements()[at(elements[e]) * size + a];
  }
  std::vector<Index> local_of(at(whole.nodes()), -1);
  for (std::size_t i = 0; i < local.nodes.size(); ++i) local_of[at(local.nodes[i])] = static_cast<Index>(i);
  add_boundaries(whole, local_of, builder);
  if (whole.colliders()) add_penalty(whole, local_of, builder, lumped_mass(builder, bodies, local.nodes.size()));
  local.model = builder.build();
  number_nodes(partition, rank, local);
  return local;
}

}  // namespace pliant
