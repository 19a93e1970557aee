#include "pliant/render/picture_scene.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr std::size_t palette_size = 512;

/// Finite, and far enough from the largest double that squares and products stay finite.
bool is_drawable(const Vec3& x) { return x.allFinite() && x.cwiseAbs().maxCoeff() < 1e60; }

/// The colours of a map, made once.
std::span<const LinearColour> palette_of(ColourMap map) {
  static const std::array<std::vector<LinearColour>, 2> palettes = [] {
    std::array<std::vector<LinearColour>, 2> made;
    for (const ColourMap which : {ColourMap::lagoon, ColourMap::ember})
      for (std::size_t i = 0; i < palette_size; ++i)
        made[static_cast<std::size_t>(which)].push_back(
            to_linear(map_colour(which, static_cast<double>(i) / (palette_size - 1))));
    return made;
  }();
  return palettes[static_cast<std::size_t>(map)];
}

/// Whether every edge has a triangle on either side: then each directed edge occurs as often as its reverse, and
/// numbers drawn for the edges, plus for one direction and minus for the other, add up to zero.
bool is_closed(std::span<const Triangle> triangles) {
  std::uint64_t sum = 0;
  for (const Triangle& t : triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto a = static_cast<std::uint64_t>(t[k]), b = static_cast<std::uint64_t>(t[(k + 1) % 3]);
      // The finaliser of SplitMix64.
      std::uint64_t number = std::min(a, b) << 32U | std::max(a, b);
      number = (number ^ number >> 30U) * 0xbf58476d1ce4e5b9U;
      number = (number ^ number >> 27U) * 0x94d049bb133111ebU;
      number ^= number >> 31U;
      sum += a < b ? number : -number;
    }
  return sum == 0;
}

/// A corner's normal is the sum of the area vectors of the triangles around its vertex that make an angle below the
/// crease angle with its own triangle.
void smooth_normals(PictureScene& scene, const std::vector<Vec3>& areas, double crease_degrees) {
  std::vector<std::size_t> begin(scene.positions.size() + 1, 0);
  for (const auto& piece : scene.pieces) {
    for (Index v : piece.corners) ++begin[static_cast<std::size_t>(v) + 1];
  }
  for (std::size_t v = 1; v < begin.size(); ++v) begin[v] += begin[v - 1];
  std::vector<std::size_t> around(begin.back());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t p = 0; p < scene.pieces.size(); ++p) {
    for (Index v : scene.pieces[p].corners) around[next[static_cast<std::size_t>(v)]++] = p;
  }
  const double least_cosine = std::cos(crease_degrees * std::numbers::pi / 180);
  for_chunks(static_cast<Index>(scene.pieces.size()), 1024, [&](Index first, Index end) {
    for (auto p = static_cast<std::size_t>(first); p < static_cast<std::size_t>(end); ++p) {
      auto& piece = scene.pieces[p];
      for (std::size_t k = 0; k < 3; ++k) {
        const auto v = static_cast<std::size_t>(piece.corners[k]);
        Vec3 sum = Vec3::Zero();
        for (std::size_t i = begin[v]; i < begin[v + 1]; ++i) {
          if (scene.pieces[around[i]].normal.dot(piece.normal) >= least_cosine) sum += areas[around[i]];
        }
        const double length = sum.norm();
        piece.normals[k] = length > 0 ? Vec3(sum / length) : piece.normal;
      }
    }
  });
}

/// Bodies hand over the nodes of their inside as well, which would be projected for every light.
void drop_unseen_positions(PictureScene& scene) {
  std::vector<Index> number(scene.positions.size(), -1);
  Index count = 0;
  for (auto* pieces : {&scene.pieces, &scene.glass})
    for (auto& piece : *pieces)
      for (Index& v : piece.corners) {
        Index& n = number[static_cast<std::size_t>(v)];
        if (n < 0) n = count++;
        v = n;
      }
  std::vector<Vec3> positions(static_cast<std::size_t>(count));
  std::vector<double> values(positions.size());
  for (std::size_t v = 0; v < number.size(); ++v)
    if (number[v] >= 0) {
      positions[static_cast<std::size_t>(number[v])] = scene.positions[v];
      values[static_cast<std::size_t>(number[v])] = scene.values[v];
    }
  scene.positions = std::move(positions);
  scene.values = std::move(values);
}

}  // namespace

PictureScene::PictureScene(std::span<const PictureSurface> surfaces, double crease_degrees) {
  std::vector<Vec3> areas;
  plain_.reserve(surfaces.size());
  for (std::size_t s = 0; s < surfaces.size(); ++s) {
    const PictureSurface& surface = surfaces[s];
    assert(surface.colour_values.empty() || surface.colour_values.size() == surface.positions.size());
    assert(surface.edge_bits.empty() || surface.edge_bits.size() == surface.triangles.size());
    const auto base = static_cast<Index>(positions.size());
    positions.insert(positions.end(), surface.positions.begin(), surface.positions.end());
    values.insert(values.end(), surface.colour_values.begin(), surface.colour_values.end());
    values.resize(positions.size(), 0.0);
    if (surface.colour_values.empty())
      palettes.emplace_back(&plain_.emplace_back(to_linear(surface.colour)), 1);
    else
      palettes.push_back(palette_of(surface.map));
    const bool closed = is_closed(surface.triangles);
    for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
      const auto& [a, b, c] = surface.triangles[t];
      const Vec3& x = surface.positions[static_cast<std::size_t>(a)];
      const Vec3& y = surface.positions[static_cast<std::size_t>(b)];
      const Vec3& z = surface.positions[static_cast<std::size_t>(c)];
      if (!is_drawable(x) || !is_drawable(y) || !is_drawable(z)) continue;
      const Vec3 area = (y - x).cross(z - x);
      const double length = area.norm();
      if (!(length > 0) || !std::isfinite(length)) continue;
      const Vec3 normal = area / length;
      (surface.glass ? glass : pieces)
          .push_back({.corners = {base + a, base + b, base + c},
                      .normals = {normal, normal, normal},
                      .normal = normal,
                      .surface = static_cast<Index>(s),
                      .edge_bits = surface.edge_bits.empty() ? std::uint8_t{7} : surface.edge_bits[t],
                      .throws_shadow = surface.throws_shadow,
                      .closed = closed});
      if (!surface.glass) areas.push_back(area);
    }
  }
  drop_unseen_positions(*this);
  smooth_normals(*this, areas, crease_degrees);

  constexpr double kFar = std::numeric_limits<double>::infinity();
  Vec3 lower = Vec3::Constant(kFar), upper = -lower;
  for (const Piece& piece : pieces) {
    for (std::size_t k = 0; k < 3 && piece.throws_shadow; ++k) {
      lower = lower.cwiseMin(corner(piece, k));
      upper = upper.cwiseMax(corner(piece, k));
    }
  }
  if (!(lower.x() <= upper.x())) return;
  centre = (lower + upper) / 2;
  for (const Piece& piece : pieces) {
    for (std::size_t k = 0; k < 3 && piece.throws_shadow; ++k)
      radius = std::max(radius, (corner(piece, k) - centre).norm());
  }
}

LinearColour PictureScene::colour(const Piece& piece, const std::array<double, 3>& barycentric) const {
  const std::span<const LinearColour> palette = palettes[static_cast<std::size_t>(piece.surface)];
  if (palette.size() == 1) return palette[0];
  double value = 0;
  for (std::size_t k = 0; k < 3; ++k) value += barycentric[k] * values[static_cast<std::size_t>(piece.corners[k])];
  if (std::isnan(value)) return to_linear(map_colour(ColourMap::lagoon, value));
  const double position = std::clamp(value, 0.0, 1.0) * (palette_size - 1);
  return palette[static_cast<std::size_t>(std::lround(position))];
}

}  // namespace pliant
