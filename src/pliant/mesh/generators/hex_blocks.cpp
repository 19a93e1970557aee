#include "pliant/mesh/generators/hex_blocks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "pliant/base/error.hpp"
#include "pliant/mesh/surface.hpp"

namespace pliant {

namespace {

using FiveTets = std::array<std::array<unsigned, 4>, 5>;

/// One tet through the corners with an even number of bits, one at each of the others; all of positive volume.
constexpr FiveTets from_even = {{{0, 5, 3, 6}, {1, 3, 0, 5}, {2, 0, 3, 6}, {4, 5, 0, 6}, {7, 3, 5, 6}}};

/// The mirror image in x, its two last corners swapped to keep the volume positive.
constexpr FiveTets mirrored(const FiveTets& tets) {
  FiveTets result{};
  for (std::size_t t = 0; t < tets.size(); ++t) {
    result[t] = {tets[t][0] ^ 1U, tets[t][1] ^ 1U, tets[t][3] ^ 1U, tets[t][2] ^ 1U};
  }
  return result;
}
constexpr FiveTets from_odd = mirrored(from_even);

}  // namespace

const FiveTets& five_tets(bool first_odd) { return first_odd ? from_odd : from_even; }

MeshData cut_into_tets(HexBlocks blocks) {
  MeshData data;
  data.tets.reserve(5 * blocks.cells.size());
  for (const auto& cell : blocks.cells) {
    for (const auto& corners : five_tets(blocks.odd[static_cast<std::size_t>(cell[0])] != 0)) {
      data.tets.push_back({cell[corners[0]], cell[corners[1]], cell[corners[2]], cell[corners[3]]});
    }
  }
  data.vertices = std::move(blocks.vertices);
  return data;
}

void add_usual_sets(MeshData& data) {
  Vec3 lower = data.vertices.front();
  Vec3 upper = lower;
  for (const Vec3& x : data.vertices) lower = lower.cwiseMin(x), upper = upper.cwiseMax(x);
  const double tolerance = 1e-9 * (upper - lower).maxCoeff();  // poles and rims come out of sines and cosines
  constexpr std::array<const char*, 6> names = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};
  for (int side = 0; side < 6; ++side) {
    const int axis = side / 2;
    const double plane = side % 2 == 0 ? lower[axis] : upper[axis];
    std::vector<Index>& set = data.sets[names[static_cast<std::size_t>(side)]];
    for (std::size_t v = 0; v < data.vertices.size(); ++v) {
      if (std::abs(data.vertices[v][axis] - plane) <= tolerance) set.push_back(static_cast<Index>(v));
    }
  }
  std::vector<std::uint8_t> on(data.vertices.size(), 0);
  const auto faces = extract_boundary(data.tets, static_cast<Index>(data.vertices.size()), data.source);
  for (const Triangle& triangle : faces.triangles) {
    for (Index v : triangle) on[static_cast<std::size_t>(v)] = 1;
  }
  std::vector<Index>& boundary = data.sets["boundary"];
  for (std::size_t v = 0; v < on.size(); ++v) {
    if (on[v]) boundary.push_back(static_cast<Index>(v));
  }
}

void check_length(const char* kind, const char* key, double value) {
  if (value > 0 && std::isfinite(value)) return;
  throw InputError(fmt::format("{}: {} is {}; give a positive length in metres.", kind, key, value));
}

void check_finite(const char* kind, const char* key, const Vec3& value) {
  constexpr std::array<char, 3> axis = {'x', 'y', 'z'};
  for (int a = 0; a < 3; ++a) {
    if (std::isfinite(value[a])) continue;
    throw InputError(
        fmt::format("{}: {} along {} is not a finite number.", kind, key, axis[static_cast<std::size_t>(a)]));
  }
}

void check_count(const char* kind, const char* key, Index value, Index least) {
  if (value >= least) return;
  throw InputError(fmt::format("{}: {} is {}; give at least {}.", kind, key, value, least));
}

void check_total(const char* kind, double vertices, double tets) {
  constexpr double most = std::numeric_limits<Index>::max() / 4.0;  // what TetMesh can number
  if (vertices <= most && tets <= most) return;
  throw InputError(
      fmt::format("{}: the options make {:.3g} vertices and {:.3g} tetrahedra, more than the {:.0f} that can be "
                  "numbered; use fewer cells.",
                  kind, vertices, tets, most));
}

}  // namespace pliant
