#include "pliant/simulation/visual_mesh.hpp"

#include <fmt/format.h>

#include <map>

#include "pliant/base/error.hpp"
#include "pliant/contact/aabb.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/sim/anchor.hpp"

namespace pliant {

namespace {

constexpr Index kVertexGrain = 4096;

/// Gives each pair of a vertex and a place in the texture a vertex of its own.
void split_by_texture(TriangleMesh& surface, std::vector<std::array<double, 2>>& texture) {
  const TriangleMesh::Look& look = surface.look;
  if (look.places.empty()) return;
  std::map<std::pair<Index, Index>, Index> number;
  std::vector<Vec3> vertices;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      Index& v = surface.triangles[t][k];
      const Index place = look.corners[t][k];
      const auto [found, is_new] = number.try_emplace({v, place}, static_cast<Index>(vertices.size()));
      if (is_new) {
        vertices.push_back(surface.vertices[at(v)]);
        texture.push_back(place < 0 ? std::array<double, 2>{0, 0} : look.places[at(place)]);
      }
      v = found->second;
    }
  surface.vertices = std::move(vertices);
}

/// A surface that is not about its body is in other units, or of another one.
void check_nearness(const SceneBody& from, const Body& of, const TriangleMesh& surface) {
  Aabb body, visual;
  for (const Vec3& p : of.vertices()) body.include(p);
  for (const Vec3& p : surface.vertices) visual.include(p);
  const double size = (body.max - body.min).norm();
  const double beyond = (body.min - visual.min).cwiseMax(visual.max - body.max).maxCoeff();
  if (beyond <= size) return;
  throw InputError(fmt::format(
      "{}{}the visual mesh of body '{}' reaches {:.3g} m beyond it, which is {:.3g} m large; is it in other units, or "
      "another place? It is scaled, turned and moved with the body's mesh",
      from.origin, from.origin.empty() ? "" : ": ", of.name, beyond, size));
}

}  // namespace

VisualMesh::VisualMesh(const SceneBody& from, std::size_t body, const Body& of) : body_(body) {
  if (!of.is_solid())
    throw InputError(fmt::format("{}{}body '{}' is no solid, which a visual mesh could move with; leave 'visual' out",
                                 from.origin, from.origin.empty() ? "" : ": ", of.name));
  TriangleMesh surface = read_visual(from);
  split_by_texture(surface, texture_);
  vertex_count_ = surface.vertices.size();
  triangles_ = std::move(surface.triangles);
  materials_ = std::move(surface.look.materials);
  if (!materials_.empty()) material_ = std::move(surface.look.material);
  per_vertex_ = of.elements->reference().nodes();
  const auto stride = at(per_vertex_);
  nodes_.assign(stride * vertex_count_, of.nodes.begin);
  weights_.assign(stride * vertex_count_, 0.0);
  check_nearness(from, of, surface);
  const AnchorFinder finder(of);
  for_chunks(vertices(), kVertexGrain / 16, [&](Index begin, Index end) {
    for (Index v = begin; v < end; ++v) {
      const Anchor anchor = finder.find(surface.vertices[at(v)]);
      for (std::size_t a = 0; a < anchor.nodes.size(); ++a) {
        nodes_[stride * at(v) + a] = of.nodes.begin + anchor.nodes[a];
        weights_[stride * at(v) + a] = anchor.weights[a];
      }
    }
  });
}

void VisualMesh::positions(const VecX& x, std::span<double> out) const {
  const auto stride = at(per_vertex_);
  for_chunks(vertices(), kVertexGrain, [&](Index begin, Index end) {
    for (Index v = begin; v < end; ++v) {
      Vec3 sum = Vec3::Zero();
      for (std::size_t a = stride * at(v); a < stride * (at(v) + 1); ++a) sum += weights_[a] * node(x, nodes_[a]);
      Vec3::Map(out.data() + 3 * at(v)) = sum;
    }
  });
}

std::vector<double> VisualMesh::values(std::span<const double> at_nodes) const {
  const auto stride = at(per_vertex_);
  std::vector<double> out(vertex_count_, 0.0);
  for_chunks(vertices(), kVertexGrain, [&](Index begin, Index end) {
    for (Index v = begin; v < end; ++v)
      for (std::size_t a = stride * at(v); a < stride * (at(v) + 1); ++a)
        out[at(v)] += weights_[a] * at_nodes[at(nodes_[a])];
  });
  return out;
}

std::vector<VisualMesh> visual_meshes(const Scene& scene, const Model& model) {
  std::vector<VisualMesh> meshes;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b)
    if (scene.bodies[b].visual) meshes.emplace_back(scene.bodies[b], b, model.bodies()[b]);
  return meshes;
}

}  // namespace pliant
