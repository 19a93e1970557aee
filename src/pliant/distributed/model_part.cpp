#include "pliant/distributed/model_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "pliant/base/error.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/simulation/probe.hpp"

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
  chosen.reserve(elements.size());
  for (Index e : elements) chosen.push_back(values[at(e)]);
  return chosen;
}

/// The elements of a body as a mesh, with its vertices in the order of the body's: nodes within edges and faces then
/// lie in the order of the body's, too.
MeshData mesh_of(const TetMesh& whole, const std::vector<Index>& elements, std::vector<Index>& vertices) {
  std::vector<Index> local(whole.vertices().size(), -1);
  for (Index e : elements)
    for (Index v : whole.tets()[at(e)]) local[at(v)] = 0;
  MeshData data;
  data.source = whole.source();
  for (std::size_t v = 0; v < local.size(); ++v)
    if (local[v] == 0) {
      local[v] = static_cast<Index>(vertices.size());
      vertices.push_back(static_cast<Index>(v));
      data.vertices.push_back(whole.vertices()[v]);
    }
  for (Index e : elements) {
    Tet tet = whole.tets()[at(e)];
    for (Index& v : tet) v = local[at(v)];
    data.tets.push_back(tet);
  }
  std::vector<Index>& boundary = data.sets["boundary"];
  for (const Triangle& t : whole.surface())
    for (Index v : t)
      if (local[at(v)] >= 0) boundary.push_back(local[at(v)]);
  std::sort(boundary.begin(), boundary.end());
  boundary.erase(std::unique(boundary.begin(), boundary.end()), boundary.end());
  data.surface.emplace();
  for (std::size_t f = 0; f < whole.surface().size(); ++f) {
    const auto found = std::lower_bound(elements.begin(), elements.end(), whole.surface_tets()[f]);
    if (found == elements.end() || *found != whole.surface_tets()[f]) continue;
    Triangle t = whole.surface()[f];
    for (Index& v : t) v = local[at(v)];
    data.surface->triangles.push_back(t);
    data.surface->tets.push_back(static_cast<Index>(found - elements.begin()));
  }
  return data;
}

/// Nodes here of a list of the whole model's, and which of its entries they are.
struct Chosen {
  std::vector<Index> nodes;
  std::vector<std::size_t> entries;

  Chosen(const std::vector<Index>& whole, const std::vector<Index>& local_of) {
    for (std::size_t k = 0; k < whole.size(); ++k)
      if (const Index local = local_of[at(whole[k])]; local >= 0) {
        nodes.push_back(local);
        entries.push_back(k);
      }
  }
};

void add_boundaries(const Model& whole, const std::vector<Index>& local_of, ModelPart& part) {
  for (const Pin& pin : whole.pins()) part.pinned.push_back(Chosen(pin.nodes, local_of).nodes);
  for (const Script& script : whole.scripts()) {
    Chosen chosen(script.nodes, local_of);
    std::vector<Vec3>& field = part.script_fields.emplace_back();
    if (!script.motion.field.empty())
      for (std::size_t k : chosen.entries) field.push_back(script.motion.field[k]);
    part.scripted.push_back(std::move(chosen.nodes));
  }
}

/// What acts on a node is its owner's, what acts on a face that of the process that has its element.
void add_loads(const Model& whole, const Partition& partition, int rank, const std::vector<Index>& local_of,
               ModelPart& part) {
  const auto count = static_cast<Eigen::Index>(part.nodes.size());
  part.force.setZero(3 * count);
  part.velocity.resize(3 * count);
  const State initial = whole.rest_state();
  for (Index i = 0; i < count; ++i) {
    const Index there = part.nodes[at(i)];
    if (part.owned[at(i)]) node(part.force, i) = node(whole.external_force(), there);
    node(part.velocity, i) = node(initial.v, there);
  }
  for (const DeadLoad& load : whole.timed_loads()) {
    DeadLoad here{load.name, {}, {}, load.factor};
    for (std::size_t k = 0; k < load.nodes.size(); ++k)
      if (partition.owner[at(load.nodes[k])] == rank) {
        here.nodes.push_back(local_of[at(load.nodes[k])]);
        here.forces.push_back(load.forces[k]);
      }
    if (!here.nodes.empty()) part.timed_loads.push_back(std::move(here));
  }
  for (const SurfaceLoad& load : whole.surface_loads()) {
    // The process that has all of a face's nodes may not have its element: of all that do, the first counts.
    const Stencils& faces = load.faces->stencils();
    std::vector<Index> nodes;
    for (Index f = 0; f < faces.count(); ++f) {
      const auto is_of = [&](int r) {
        return std::all_of(faces[f], faces[f] + faces.size, [&](Index i) {
          const auto begin = partition.copies.begin() + partition.start[at(i)];
          const auto end = partition.copies.begin() + partition.start[at(i) + 1];
          return std::binary_search(begin, end, r);
        });
      };
      int first = 0;
      while (!is_of(first)) ++first;
      if (first != rank) continue;
      for (int a = 0; a < faces.size; ++a) nodes.push_back(local_of[at(faces[f][a])]);
    }
    if (nodes.empty()) continue;
    SurfaceLoad here = load;
    here.faces = std::make_shared<const FaceSet>(load.faces->reference().order(), std::move(nodes));
    part.surface_loads.push_back(std::move(here));
  }
}

void find_neighbours(const Partition& partition, int rank, ModelPart& part) {
  std::vector<Index> order(part.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return part.nodes[at(a)] < part.nodes[at(b)]; });
  std::vector<std::vector<Index>> shared(at(partition.parts));
  for (Index i : order) {
    const auto whole = at(part.nodes[at(i)]);
    for (std::int64_t k = partition.start[whole]; k < partition.start[whole + 1]; ++k)
      if (partition.copies[at(k)] != rank) shared[at(partition.copies[at(k)])].push_back(i);
  }
  for (std::size_t r = 0; r < shared.size(); ++r)
    if (!shared[r].empty()) part.neighbours.push_back({static_cast<int>(r), std::move(shared[r])});
}

}  // namespace

void check_divisible(const Scene& scene) {
  if (!scene.cuts.empty()) refuse("cuts are not made on several processes");
  for (const SceneProbe& probe : scene.probes)
    if (std::find(probe.quantities.begin(), probe.quantities.end(), ProbeQuantity::cavity) != probe.quantities.end())
      refuse(fmt::format("probe '{}': a cavity is not measured on several processes", probe.name));
  if (scene.contact) refuse("[contact] between bodies is not divided among processes yet");
  for (const SceneScript& script : scene.scripts)
    if (script.driven) refuse(fmt::format("script '{}' is driven by code", script.name));
}

void check_divisible(const Model& model) {
  for (const Body& body : model.bodies())
    if (!body.is_solid() || body.rigid)
      refuse(fmt::format("body '{}' is {}, and these are not divided among processes yet", body.name,
                         body.rigid       ? "rigid"
                         : body.is_link() ? "a rigid link"
                         : body.shell     ? "a shell"
                         : body.rod       ? "a rod"
                                          : "made of springs"));
  if (model.articulation()) refuse("rigid links are not divided among processes yet");
  if (model.ties()) refuse("springs and attachments between bodies are not divided among processes yet");
  if (!model.more_energies().empty()) refuse("energies from code are not divided among processes yet");
  for (const SurfaceLoad& load : model.surface_loads())
    if (load.has_potential())
      refuse(fmt::format("load '{}' follows a closed surface, which is not divided among processes yet", load.name));
}

std::vector<std::vector<Index>> probed_vertices(const Scene& scene, const std::shared_ptr<const Model>& whole) {
  const ProbeSet valid(scene, whole);
  std::vector<std::vector<Index>> probed;
  for (const SceneProbe& probe : scene.probes) {
    probed.push_back(select(probe.where, whole->bodies()[probe.body]));
    std::sort(probed.back().begin(), probed.back().end());
  }
  return probed;
}

void look_at_part(Scene& scene, const ModelPart& part) {
  for (std::size_t k = 0; k < scene.probes.size(); ++k)
    scene.probes[k].where.any = {{VertexList{part.probed[k], VertexNumbering::mesh}}};
}

ModelPart part_of(const Scene& scene, const Model& whole, const Partition& partition, int rank,
                  const std::vector<std::vector<Index>>& probed) {
  ModelPart part;
  part.probed.resize(probed.size());
  part.all_nodes = whole.nodes();
  for (std::size_t b = 0; b < whole.bodies().size(); ++b) {
    const Body& body = whole.bodies()[b];
    std::vector<Index> elements, vertices;
    for (std::size_t e = 0; e < partition.of_element[b].size(); ++e)
      if (partition.of_element[b][e] == rank) elements.push_back(static_cast<Index>(e));
    if (elements.empty()) continue;
    ModelPart::OfBody of;
    of.number = b;
    of.mesh = mesh_of(*body.mesh, elements, vertices);
    for (std::size_t k = 0; k < probed.size(); ++k)
      for (std::size_t v = 0; v < vertices.size() && scene.probes[k].body == b; ++v)
        if (std::binary_search(probed[k].begin(), probed[k].end(), vertices[v]))
          part.probed[k].push_back(static_cast<Index>(v));
    of.lame = of_elements(body.lame, elements);
    for (const Fibres& fibres : body.fibres) {
      of.fibre_parameters.push_back(of_elements(fibres.parameters, elements));
      of.fibre_directions.push_back(of_elements(fibres.directions, elements));
    }
    const int order = body.elements->reference().order();
    if (order == 1) {
      for (Index v : vertices) part.nodes.push_back(body.nodes.begin + v);
    } else {  // element by element, the same nodes in the same order
      const FeMesh mesh(TetMesh(of.mesh, Orphans::reject), order);
      const auto size = static_cast<std::size_t>(mesh.reference().nodes()), first = part.nodes.size();
      part.nodes.resize(first + at(mesh.node_count()), -1);
      for (std::size_t e = 0; e < elements.size(); ++e)
        for (std::size_t a = 0; a < size; ++a)
          part.nodes[first + at(mesh.elements()[e * size + a])] =
              body.nodes.begin + body.elements->elements()[at(elements[e]) * size + a];
    }
    part.bodies.push_back(std::move(of));
  }
  std::vector<Index> local_of(at(whole.nodes()), -1);
  for (std::size_t i = 0; i < part.nodes.size(); ++i) {
    local_of[at(part.nodes[i])] = static_cast<Index>(i);
    part.owned.push_back(partition.owner[at(part.nodes[i])] == rank);
  }
  find_neighbours(partition, rank, part);
  add_boundaries(whole, local_of, part);
  add_loads(whole, partition, rank, local_of, part);
  return part;
}

std::shared_ptr<const Model> build_part(const Scene& scene, ModelPart part, std::shared_ptr<Sharing> sharing) {
  ModelBuilder builder;
  builder.set_mass(scene.mass);
  builder.set_gravity(scene.gravity);
  builder.set_gravity(scene.gravity_keyframes);
  for (const SceneMuscle& muscle : scene.muscles) builder.add_muscle(muscle.muscle);
  PartOptions as{std::move(sharing), {}, scene.bodies.size(), std::move(part.force), std::move(part.velocity)};
  for (ModelPart::OfBody& of : part.bodies) {
    const SceneBody& from = scene.bodies[of.number];
    as.bodies.push_back(of.number);
    BodyOptions options;
    options.name = from.name;
    options.mesh = std::make_shared<const TetMesh>(std::move(of.mesh), Orphans::reject);
    options.material = {from.law ? from.law : find_law(from.material), of.lame.front()};
    if (of.lame.size() > 1) options.lame = std::move(of.lame);
    for (std::size_t k = 0; k < from.fibres.size(); ++k) {
      Fibres fibres{from.fibres[k].law, of.fibre_parameters[k], of.fibre_directions[k], -1};
      for (std::size_t m = 0; m < scene.muscles.size(); ++m)
        if (scene.muscles[m].muscle.name == from.fibres[k].muscle) fibres.activation = static_cast<Index>(m);
      options.fibres.push_back(std::move(fibres));
    }
    options.order = from.order;
    options.density = from.density;
    options.damping = from.damping;
    builder.add_body(std::move(options));
  }
  for (std::size_t k = 0; k < scene.pins.size(); ++k)
    if (!part.pinned[k].empty()) builder.add_pin({scene.pins[k].name, part.pinned[k], scene.pins[k].axes});
  for (std::size_t k = 0; k < scene.scripts.size(); ++k) {
    const SceneScript& from = scene.scripts[k];
    if (part.scripted[k].empty()) continue;
    Script script{from.name, part.scripted[k], from.motion, from.imposition, from.sigma, from.start, from.release};
    script.motion.field = part.script_fields[k];
    builder.add_script(std::move(script));
  }
  const auto drive = [&](auto& load) {  // by code, which every process has
    for (const SceneLoad& from : scene.loads)
      if (from.name == load.name) load.factor.driven = from.load.factor.driven;
  };
  for (DeadLoad& load : part.timed_loads) {
    drive(load);
    builder.add_part_of_load(std::move(load));
  }
  for (SurfaceLoad& load : part.surface_loads) {
    drive(load);
    builder.add_part_of_load(std::move(load));
  }
  add_colliders(scene, builder);
  builder.make_part(std::move(as));
  return builder.build();
}

}  // namespace pliant
