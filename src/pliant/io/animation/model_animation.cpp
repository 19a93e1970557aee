#include <algorithm>
#include <cmath>

#include "pliant/io/animation/draw.hpp"
#include "pliant/io/fields.hpp"
#include "pliant/io/obstacles.hpp"

namespace pliant {

namespace {

/// The stretch at vertices of the mesh: the mean over the elements around.
std::vector<float> stretch_at_vertices(const Body& body, const VecX& x) {
  const ElementFields fields = element_fields(body, x);
  std::vector<float> sum(body.vertices().size(), 0), count(body.vertices().size(), 0);
  const auto spread_over = [&](const auto& corners, double value) {
    for (Index v : corners) {
      sum[at(v)] += static_cast<float>(std::isfinite(value) ? value : 1.0);
      ++count[at(v)];
    }
  };
  for (std::size_t e = 0; e < fields.stretch.size(); ++e)
    if (body.is_solid())
      spread_over(body.mesh->tets()[e], fields.stretch[e]);
    else
      spread_over(body.surface()[e], fields.stretch[e]);
  for (std::size_t v = 0; v < sum.size(); ++v) sum[v] = count[v] > 0 ? sum[v] / count[v] : 1.0f;
  return sum;
}

AnimatedSurface animate_rigid(const Body& body, const std::vector<VecX>& positions) {
  AnimatedSurface surface;
  surface.name = body.name;
  surface.is_rigid = true;
  surface.triangles = body.rigid->triangles;
  for (const VecX& x : positions) {
    std::vector<float>& frame = surface.positions.emplace_back();
    surface.values.emplace_back(body.rigid->vertices.size(), 1.0f);
    for (const Vec3& rest : body.rigid->vertices) {
      const std::array<double, 4> weights = body.rigid->weights(rest);
      Vec3 p = Vec3::Zero();
      for (std::size_t k = 0; k < 4; ++k) p += weights[k] * node(x, body.nodes.begin + static_cast<Index>(k));
      for (int k = 0; k < 3; ++k) frame.push_back(static_cast<float>(p[k]));
    }
  }
  return surface;
}

/// The tube of a rod: at the corners about a vertex the mean of the segments that meet there.
AnimatedSurface animate_rod(const Model& model, const Body& body, const std::vector<VecX>& positions) {
  AnimatedSurface surface;
  surface.name = body.name;
  surface.triangles = rod_tube(body.nodes.size(), body.rod->is_closed()).triangles;
  const Index first = model.nodes() + static_cast<Index>(model.carried().size()) + body.first_tube;
  const std::size_t count = at(body.nodes.size());
  for (const VecX& x : positions) {
    const ElementFields fields = element_fields(body, x);
    const VecX all = model.drawn(x);
    std::vector<float>& frame = surface.positions.emplace_back();
    std::vector<float>& values = surface.values.emplace_back();
    const std::size_t segments = fields.stretch.size();
    for (std::size_t v = 0; v < count; ++v) {
      const double before = fields.stretch[v > 0 ? v - 1 : body.rod->is_closed() ? segments - 1 : 0];
      const double value = 0.5 * (before + fields.stretch[std::min(v, segments - 1)]);
      for (Index side = 0; side < RodTube::sides; ++side) {
        const Vec3 p = node(all, first + static_cast<Index>(v) * RodTube::sides + side);
        for (int k = 0; k < 3; ++k) frame.push_back(static_cast<float>(p[k]));
        values.push_back(static_cast<float>(value));
      }
    }
  }
  return surface;
}

AnimatedSurface animate(const Model& model, const Body& body, const std::vector<VecX>& positions) {
  if (body.rod) return animate_rod(model, body, positions);
  if (body.rigid) return animate_rigid(body, positions);
  AnimatedSurface surface;
  surface.name = body.name;
  surface.triangles.assign(body.surface().begin(), body.surface().end());
  std::vector<Index> number(body.vertices().size(), -1), vertices;
  for (Triangle& t : surface.triangles)
    for (Index& v : t) {
      if (number[at(v)] < 0) {
        number[at(v)] = static_cast<Index>(vertices.size());
        vertices.push_back(v);
      }
      v = number[at(v)];
    }
  for (const VecX& x : positions) {
    const std::vector<float> stretch = stretch_at_vertices(body, x);
    std::vector<float>& frame = surface.positions.emplace_back();
    std::vector<float>& values = surface.values.emplace_back();
    for (Index v : vertices) {
      const Vec3 p = node(x, body.nodes.begin + v);
      for (int k = 0; k < 3; ++k) frame.push_back(static_cast<float>(p[k]));
      values.push_back(stretch[at(v)]);
    }
  }
  return surface;
}

AnimatedSurface animate(const ObstacleShell& shell, const std::vector<double>& times) {
  AnimatedSurface surface;
  surface.name = shell.name;
  surface.is_collider = true;
  surface.colour = kColliderColour;
  surface.triangles = shell.mesh.triangles;
  for (double time : times) {
    std::vector<float>& frame = surface.positions.emplace_back();
    for (const Vec3& p : shell.positions_at(time))
      for (int k = 0; k < 3; ++k) frame.push_back(static_cast<float>(p[k]));
  }
  if (std::all_of(surface.positions.begin(), surface.positions.end(),
                  [&](const auto& p) { return p == surface.positions.front(); }))
    surface.positions.resize(1);
  return surface;
}

}  // namespace

Animation animation_of(const Scene& scene, const Model& model, const std::vector<double>& times,
                       const std::vector<VecX>& positions) {
  Animation animation;
  animation.name = scene.name;
  animation.times = times;
  animation.field = "stretch";
  if (scene.gravity.norm() > 0) animation.up = -scene.gravity.normalized();
  for (std::size_t b = 0; b < model.bodies().size(); ++b) {
    const Body& body = model.bodies()[b];
    if (body.surface().empty() && !body.rod) continue;
    AnimatedSurface& surface = animation.surfaces.emplace_back(animate(model, body, positions));
    surface.colour = body_colour(b);
  }
  animation.uncolour_rigid();
  animation.fit_range();
  for (const ObstacleShell& shell : obstacle_shells(scene, model)) animation.surfaces.push_back(animate(shell, times));
  return animation;
}

}  // namespace pliant
