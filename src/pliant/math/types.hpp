#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pliant {

/// Indexes nodes, vertices and elements; meshes stay far below two thousand million of each.
using Index = std::int32_t;

/// An index as the standard library's containers want it.
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;
using Mat9 = Eigen::Matrix<double, 9, 9>;
/// Flat vector over nodes: x, y, z of node 0, then of node 1, ...
using VecX = Eigen::VectorXd;

using Tet = std::array<Index, 4>;
using Triangle = std::array<Index, 3>;

/// Half-open range [begin, end).
struct Range {
  Index begin = 0;
  Index end = 0;
  Index size() const { return end - begin; }
};

inline auto node(VecX& x, Index i) { return x.segment<3>(3 * Eigen::Index(i)); }
inline auto node(const VecX& x, Index i) { return x.segment<3>(3 * Eigen::Index(i)); }

}  // namespace pliant
