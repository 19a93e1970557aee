#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <map>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>

#include "pliant/base/complaints.hpp"
#include "pliant/base/error.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/mesh/write_mesh.hpp"
#include "pliant/scene/body_mesh.hpp"
#include "pliant/scene/dynamic_selection.hpp"
#include "pliant/scene/load_support.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

void place(const SceneMesh& source, std::vector<Vec3>& vertices) {
  const bool turns = source.angle != 0;
  const Mat3 rotation =
      turns ? Eigen::AngleAxisd(source.angle, source.axis).toRotationMatrix() : Mat3(Mat3::Identity());
  for (Vec3& p : vertices) {
    p = p.cwiseProduct(source.scale);
    if (turns) p = source.centre + rotation * (p - source.centre);
    p += source.translate;
  }
}

namespace {

/// Elements of a region: by the mesh's own name or number, or those whose vertices are all selected.
std::vector<Index> elements_of(const SceneRegion& region, const TetMesh& mesh) {
  const auto is_number = !region.name.empty() && region.name.find_first_not_of("0123456789") == std::string::npos;
  const auto named = [&] {
    return std::any_of(mesh.region_names().begin(), mesh.region_names().end(),
                       [&](const auto& entry) { return entry.second == region.name; });
  };
  if (!region.where && (is_number || named())) {
    if (mesh.regions().empty())
      throw InputError(
          fmt::format("region {} is a number, but {} has no region numbers; use 'where'", region.name, mesh.source()));
    return mesh.region_tets(region.name);
  }
  const Selection set{{{NamedSet{region.name}}}, region.name};
  std::vector<std::uint8_t> inside(mesh.vertices().size(), 0);
  for (Index v : select(region.where ? *region.where : set, mesh)) inside[static_cast<std::size_t>(v)] = 1;
  std::vector<Index> chosen;
  for (std::size_t e = 0; e < mesh.tets().size(); ++e) {
    const Tet& tet = mesh.tets()[e];
    if (std::all_of(tet.begin(), tet.end(), [&](Index v) { return inside[static_cast<std::size_t>(v)] != 0; }))
      chosen.push_back(static_cast<Index>(e));
  }
  if (chosen.empty()) throw InputError(fmt::format("region '{}' holds no element of {}", region.name, mesh.source()));
  return chosen;
}

/// One number per element from the mesh file.
const std::vector<double>& scalar_field(const std::string& name, const TetMesh& mesh) {
  const auto found = mesh.element_fields().find(name);
  if (found == mesh.element_fields().end()) {
    std::vector<std::string> names;
    for (const auto& [known, field] : mesh.element_fields()) names.push_back(known);
    throw InputError(fmt::format("{} has no element field '{}'; it has {}", mesh.source(), name,
                                 names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  }
  if (found->second.components != 1)
    throw InputError(fmt::format("the element field '{}' of {} has {} numbers per element; one is needed", name,
                                 mesh.source(), found->second.components));
  return found->second.values;
}

std::vector<Lame> lame_of(const SceneBody& body, const TetMesh& mesh) {
  std::vector<Lame> lame;
  if (!body.young_field.empty() || !body.poisson_field.empty()) {
    const Lame& l = body.lame;
    const double sum = l.lambda + l.mu;
    for (std::size_t e = 0; e < mesh.tets().size(); ++e) {
      const double young =
          body.young_field.empty() ? l.mu * (3 * l.lambda + 2 * l.mu) / sum : scalar_field(body.young_field, mesh)[e];
      const double poisson =
          body.poisson_field.empty() ? l.lambda / (2 * sum) : scalar_field(body.poisson_field, mesh)[e];
      try {
        lame.push_back(lame_from_young(young, poisson));
      } catch (const InputError& error) {
        throw InputError(fmt::format("element {} of {}: {}", e, mesh.source(), error.what()));
      }
    }
  }
  if (!body.regions.empty() && lame.empty()) lame.assign(mesh.tets().size(), body.lame);
  for (const SceneRegion& region : body.regions)
    for (Index e : at_origin(region.origin, [&] { return elements_of(region, mesh); }))
      lame[static_cast<std::size_t>(e)] = region.lame;
  return lame;
}

std::vector<Fibres> fibres_of(const SceneBody& body, const TetMesh& mesh, const std::vector<SceneMuscle>& muscles) {
  std::vector<Fibres> all;
  for (const SceneFibres& from : body.fibres) {
    Fibres fibres{from.law, {from.parameters}, {}, -1};
    fibres.directions = at_origin(from.origin, [&] {
      if (from.field) return fibre_directions(*from.field, mesh);
      return from.file.empty() ? fibre_directions(from.element_field, mesh) : read_fibre_directions(from.file, mesh);
    });
    for (std::size_t m = 0; m < muscles.size(); ++m)
      if (muscles[m].muscle.name == from.muscle) fibres.activation = static_cast<Index>(m);
    all.push_back(std::move(fibres));
  }
  return all;
}

}  // namespace

std::shared_ptr<const TetMesh> make_mesh(const SceneMesh& source) {
  const bool stays = source.scale == Vec3::Ones() && source.angle == 0 && source.translate.isZero(0);
  if (source.given && stays) return source.given;
  MeshData data = source.given       ? source.given->data()
                  : source.generator ? generate(*source.generator)
                                     : read_mesh_data(source.file);
  place(source, data.vertices);
  return std::make_shared<const TetMesh>(std::move(data));
}

namespace {

bool is_surface(const SceneMesh& source) {
  return source.surface || (!source.file.empty() && is_surface_file(source.file));
}

TriangleMesh make_surface(const SceneMesh& source) {
  TriangleMesh surface = source.surface ? *source.surface : read_surface(source.file);
  if (source.surface) check_triangle_mesh(surface);
  place(source, surface.vertices);
  return surface;
}

/// Triangles that meet at places and share no vertices there fall apart at the first step.
void note_seams(SpringNetwork& network) {
  const auto less = [&](Index a, Index b) {
    const Vec3 &p = network.vertices[at(a)], &q = network.vertices[at(b)];
    return std::tie(p.x(), p.y(), p.z(), a) < std::tie(q.x(), q.y(), q.z(), b);
  };
  std::vector<Index> order(network.vertices.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), less);
  std::size_t copies = 0;
  for (std::size_t k = 1; k < order.size(); ++k)
    copies += network.vertices[at(order[k])] == network.vertices[at(order[k - 1])];
  if (copies == 0) return;
  network.notes.push_back(fmt::format(
      "{} of {} vertices lie where others do: triangles that do not share their vertices are not joined, and "
      "fall apart; `pliant mesh convert FILE welded.stl` welds them, unless they are meant to be pieces of their own",
      copies, network.vertices.size()));
}

/// Drops vertices that no triangle has.
void keep_corners(SpringNetwork& network) {
  std::vector<Index> number(network.vertices.size(), -1);
  for (const Triangle& t : network.triangles)
    for (Index v : t) number[at(v)] = 0;
  std::vector<Vec3> vertices;
  for (std::size_t v = 0; v < number.size(); ++v)
    if (number[v] == 0) {
      number[v] = static_cast<Index>(vertices.size());
      vertices.push_back(network.vertices[v]);
    }
  for (Triangle& t : network.triangles)
    for (Index& v : t) v = number[at(v)];
  for (auto& [name, set] : network.sets) {
    std::erase_if(set, [&](Index v) { return number[at(v)] < 0; });
    for (Index& v : set) v = number[at(v)];
  }
  std::erase_if(network.sets, [](const auto& set) { return set.second.empty(); });
  network.vertices = std::move(vertices);
}

std::shared_ptr<const SpringNetwork> make_network(const SceneMesh& source) {
  if (!source.cloth) return std::make_shared<const SpringNetwork>(edge_springs(*make_mesh(source)));
  SpringNetwork network = cloth(*source.cloth);
  const double area = source.scale.x() * source.scale.z();
  for (double& share : network.measure) share *= area;
  place(source, network.vertices);
  return std::make_shared<const SpringNetwork>(std::move(network));
}

/// Turns triangles so that neighbours agree on which side is out, as most of a connected piece have it. A strip with a
/// half turn cannot be told.
void orient_alike(std::vector<Triangle>& triangles) {
  std::map<std::pair<Index, Index>, std::vector<std::size_t>> sides;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) sides[std::minmax(triangles[t][k], triangles[t][(k + 1) % 3])].push_back(t);
  const auto goes = [&](std::size_t t, Index from, Index to) {
    const Triangle& corners = triangles[t];
    for (std::size_t k = 0; k < 3; ++k)
      if (corners[k] == from && corners[(k + 1) % 3] == to) return true;
    return false;
  };
  enum : std::uint8_t { unseen, kept, turned };
  std::vector<std::uint8_t> way(triangles.size(), unseen);
  for (std::size_t first = 0; first < triangles.size(); ++first) {
    if (way[first] != unseen) continue;
    way[first] = kept;
    std::vector<std::size_t> piece = {first};
    std::size_t count = 0;
    for (std::size_t next = 0; next < piece.size(); ++next) {
      const std::size_t t = piece[next];
      count += way[t] == turned;
      for (std::size_t k = 0; k < 3; ++k) {
        const Index from = triangles[t][k], to = triangles[t][(k + 1) % 3];
        for (std::size_t other : sides[std::minmax(from, to)]) {
          if (other == t || way[other] != unseen) continue;
          const bool clashes = goes(other, from, to);
          way[other] = clashes == (way[t] == kept) ? turned : kept;
          piece.push_back(other);
        }
      }
    }
    const std::uint8_t minority = 2 * count <= piece.size() ? turned : kept;
    for (std::size_t t : piece)
      if (way[t] == minority) std::swap(triangles[t][1], triangles[t][2]);
  }
}

/// The triangles of a surface file or a sheet, or those on the outside of any other mesh, with the sets these have.
std::shared_ptr<const SpringNetwork> make_shell(const SceneMesh& source, double thickness) {
  SpringNetwork network;
  if (source.cloth) {
    network = cloth(*source.cloth);
    network.springs.clear();
    place(source, network.vertices);
  } else if (is_surface(source)) {
    TriangleMesh surface = make_surface(source);
    network.vertices = std::move(surface.vertices);
    network.triangles = std::move(surface.triangles);
    network.sets = std::move(surface.sets);
    network.source = surface.source;
  } else {
    const auto mesh = make_mesh(source);
    network.vertices.assign(mesh->vertices().begin(), mesh->vertices().end());
    network.triangles.assign(mesh->surface().begin(), mesh->surface().end());
    network.sets = mesh->sets();
    network.source = mesh->source();
  }
  orient_alike(network.triangles);
  keep_corners(network);
  note_seams(network);
  network.measure = vertex_areas(network.vertices, network.triangles);
  for (double& share : network.measure) share *= thickness;
  return std::make_shared<const SpringNetwork>(std::move(network));
}

/// Its vertices stand for shares of the volume.
std::shared_ptr<const SpringNetwork> make_rod(const SceneMesh& source, double radius) {
  RodLine line = *source.rod;
  place(source, line.points);
  SpringNetwork network = rod_network(line);
  for (double& share : network.measure) share *= std::numbers::pi * radius * radius;
  return std::make_shared<const SpringNetwork>(std::move(network));
}

BodyOptions to_options(const SceneBody& body, const std::vector<SceneMuscle>& muscles) {
  BodyOptions options;
  options.name = body.name;
  options.density = body.density;
  options.velocity = body.velocity;
  options.angular_velocity = body.angular_velocity;
  options.damping = body.damping;
  if (body.shell) {
    options.network = make_shell(body.mesh, body.shell->thickness);
    options.shell = body.shell;
    return options;
  }
  if (body.rod) {
    options.network = at_origin(body.origin, [&] { return make_rod(body.mesh, body.rod->radius); });
    options.rod = body.rod;
    return options;
  }
  if (body.springs) {
    options.network = make_network(body.mesh);
    options.springs = *body.springs;
    return options;
  }
  // A generator knows no place; a mesh file's messages name the file.
  options.mesh = at_origin(body.mesh.generator ? body.origin : "", [&] { return make_mesh(body.mesh); });
  options.material = {body.law ? body.law : find_law(body.material), body.lame};
  options.order = body.order;
  options.lame = lame_of(body, *options.mesh);
  options.fibres = fibres_of(body, *options.mesh, muscles);
  return options;
}

RigidOptions to_rigid(const SceneBody& body) {
  RigidOptions options;
  options.name = body.name;
  options.density = body.density;
  options.young = body.rigid->young;
  options.friction = body.rigid->friction;
  options.velocity = body.velocity;
  options.angular_velocity = body.angular_velocity;
  options.shape = body.rigid->shape;
  const SceneMesh& mesh = body.mesh;
  if (options.shape) {
    options.placed.rotation = Eigen::AngleAxisd(mesh.angle, mesh.axis).toRotationMatrix();
    options.placed.centre = mesh.centre;
    options.placed.translation = mesh.translate;
    return options;
  }
  options.surface =
      std::make_shared<const TriangleMesh>(is_surface(mesh) ? make_surface(mesh) : surface_of(*make_mesh(mesh)));
  return options;
}

std::vector<Index> vertices_of(const Selection& where, const Body& body) {
  std::vector<Index> vertices = select(where, body);
  if (vertices.empty()) {
    const InBox box = bounding_box(body.rigid ? std::span<const Vec3>(body.rigid->vertices) : body.vertices());
    throw InputError(fmt::format(
        "'where' = {} selects no vertex of body '{}', which lies between {} and {} m; move or enlarge the selection",
        where.text, body.name, format_vector(box.min), format_vector(box.max)));
  }
  return vertices;
}

/// Global nodes of a selection of a body's vertices.
std::vector<Index> nodes_of(const Selection& where, const Body& body) {
  std::vector<Index> nodes = body.nodes_of(vertices_of(where, body));
  for (Index& i : nodes) i += body.nodes.begin;
  return nodes;
}

LoadOptions to_options(const SceneLoad& from, const Body& body) {
  LoadOptions options = from.load;
  options.name = from.name;
  options.body = from.body;
  options.vertices = vertices_of(from.where, body);
  return options;
}

void add_driven_script(const SceneScript& script, ModelBuilder& builder) {
  const Body& body = builder.body(script.body);
  const std::vector<Index> nodes = nodes_of(script.where, body);
  const std::span<const Vec3> rest = body.is_solid() ? body.elements->positions() : body.vertices();
  script.driven->positions.clear();
  for (Index i : nodes) script.driven->positions.push_back(rest[static_cast<std::size_t>(i - body.nodes.begin)]);
  builder.add_script(
      {script.name, nodes, {}, script.imposition, script.sigma, script.start, script.release, script.driven});
}

/// Bodies that are attached or joined to each other touch where they are, and do not repel each other, unless a pair
/// says so.
ContactOptions with_attached_pairs(const Scene& scene) {
  ContactOptions options = scene.contact->options;
  std::vector<std::pair<std::size_t, std::size_t>> fastened;
  for (const SceneAttachment& attachment : scene.attachments)
    if (attachment.to_body) fastened.emplace_back(attachment.body, *attachment.to_body);
  for (const SceneJoint& from : scene.joints)
    if (from.joint.to_body) fastened.emplace_back(from.joint.body, *from.joint.to_body);
  for (const auto& [body, other] : fastened) {
    const std::string &first = scene.bodies[body].name, &second = scene.bodies[other].name;
    const bool is_given = std::any_of(options.pairs.begin(), options.pairs.end(), [&](const auto& pair) {
      return (pair.first == first && pair.second == second) || (pair.first == second && pair.second == first);
    });
    if (!is_given) options.pairs.push_back({first, second, options.friction, false});
  }
  return options;
}

}  // namespace

TriangleMesh read_visual(const SceneBody& body) {
  return at_origin(body.origin, [&] {
    TriangleMesh surface = read_surface(body.visual->file);
    place(*body.visual, surface.vertices);
    return surface;
  });
}

void add_colliders(const Scene& scene, ModelBuilder& builder) {
  for (const SceneCollider& collider : scene.colliders)
    at_origin(collider.origin, [&] {
      if (collider.surface.empty()) return builder.add_collider(collider.collider);
      TriangleMesh surface = read_surface(collider.surface);
      for (Vec3& p : surface.vertices) p = collider.scale * p + collider.shift;
      const double friction = collider.collider.friction;
      builder.add_obstacle({collider.collider.name, std::make_shared<const TriangleMesh>(std::move(surface)),
                            collider.collider.motion, friction > 0 ? friction : -1});
    });
  builder.set_collider_law(scene.collider_law);
}

std::shared_ptr<const Model> build_model(const Scene& scene) {
  ModelBuilder builder;
  builder.set_gravity(scene.gravity);
  builder.set_gravity(scene.gravity_keyframes);
  builder.drive_gravity(scene.driven_gravity);
  builder.set_mass(scene.mass);
  Complaints wrong;
  // Each part by itself; what is wrong with one does not hide what is wrong with the next.
  const auto each = [&](const auto& parts, auto&& add) {
    for (const auto& part : parts) wrong.gather([&] { at_origin(part.origin, [&] { add(part); }); });
  };
  each(scene.muscles, [&](const SceneMuscle& muscle) { builder.add_muscle(muscle.muscle); });
  each(scene.bodies, [&](const SceneBody& body) {
    if (body.rigid)
      builder.add_rigid(to_rigid(body));
    else
      builder.add_body(to_options(body, scene.muscles));
  });
  wrong.report();  // all else names bodies by their numbers
  each(scene.pins, [&](const ScenePin& pin) {
    builder.add_pin({pin.name, nodes_of(pin.where, builder.body(pin.body)), pin.axes});
  });
  each(scene.scripts, [&](const SceneScript& script) {
    if (script.driven) return add_driven_script(script, builder);
    builder.add_script({script.name, nodes_of(script.where, builder.body(script.body)), script.motion,
                        script.imposition, script.sigma, script.start, script.release});
  });
  each(scene.loads, [&](const SceneLoad& load) { builder.add_load(to_options(load, builder.body(load.body))); });
  wrong.gather([&] { add_colliders(scene, builder); });
  if (scene.contact) builder.set_contact(with_attached_pairs(scene));
  each(scene.links, [&](const SceneLink& link) { builder.add_link(link.link); });
  each(scene.attachments, [&](const SceneAttachment& attachment) {
    const Body& body = builder.body(attachment.body);
    if (attachment.link)
      builder.attach(static_cast<Index>(*attachment.link), nodes_of(attachment.where, body));
    else
      builder.add_attachment({attachment.name, attachment.body, vertices_of(attachment.where, body), attachment.to_body,
                              attachment.stiffness, attachment.damping, attachment.freedom, attachment.direction});
  });
  each(scene.joints, [&](const SceneJoint& joint) { builder.add_joint(joint.joint); });
  each(scene.springs, [&](const SceneSpring& spring) { builder.add_spring(spring.spring); });
  wrong.report();
  for (const auto& energy : scene.energies) builder.add_energy(energy);
  return at_origin(scene.contact ? scene.contact->origin : "", [&] { return builder.build(); });
}

SceneDemands demands_of(const Scene& scene) {
  SceneDemands demands;
  for (const SceneCut& cut : scene.cuts) demands.cut_bodies.push_back(cut.body);
  if (const auto named = scene.solver.parameters.find("integrator"); named != scene.solver.parameters.end())
    demands.integrator = integrator_of(std::get<std::string>(named->second));
  return demands;
}

std::unique_ptr<Stepper> make_stepper(const Scene& scene, std::shared_ptr<const Model> model) {
  return at_origin(scene.solver.origin, [&] {
    ParameterMap parameters = scene.solver.parameters;
    if (const auto dynamic = parameters.find("dynamic"); dynamic != parameters.end())
      dynamic->second = resolve_dynamic_nodes(std::get<std::string>(dynamic->second), *model);
    return make_stepper(std::move(model), scene.solver.name, parameters, demands_of(scene));
  });
}

}  // namespace pliant
