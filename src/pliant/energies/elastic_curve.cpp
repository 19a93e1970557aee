#include "pliant/energies/elastic_curve.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

namespace pliant {

namespace {

/// The lowest 20 bits, two zeros between each.
std::uint64_t spread(std::uint64_t bits) {
  bits = (bits | bits << 32) & 0x001f00000000ffff;
  bits = (bits | bits << 16) & 0x001f0000ff0000ff;
  bits = (bits | bits << 8) & 0x100f00f00f00f00f;
  bits = (bits | bits << 4) & 0x10c30c30c30c30c3;
  return (bits | bits << 2) & 0x1249249249249249;
}

}  // namespace

std::vector<Index> elements_along_curve(const FeMesh& mesh) {
  const auto count = static_cast<std::size_t>(mesh.element_count());
  const auto nodes = static_cast<std::size_t>(mesh.reference().nodes());
  std::vector<Vec3> centres(count, Vec3::Zero());
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t a = 0; a < 4; ++a)
      centres[e] += 0.25 * mesh.positions()[static_cast<std::size_t>(mesh.elements()[e * nodes + a])];
    low = low.cwiseMin(centres[e]);
    high = high.cwiseMax(centres[e]);
  }
  const double size = count > 0 ? std::max((high - low).maxCoeff(), std::numeric_limits<double>::min()) : 1;
  std::vector<std::uint64_t> code(count, 0);
  for (std::size_t e = 0; e < count; ++e)
    for (int i = 0; i < 3; ++i)
      code[e] |= spread(static_cast<std::uint64_t>(1048575.0 * (centres[e][i] - low[i]) / size)) << i;
  std::vector<Index> order(count);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return code[static_cast<std::size_t>(a)] < code[static_cast<std::size_t>(b)];
  });
  return order;
}

}  // namespace pliant
