#include "pliant/solvers/pxpbd/background_grid.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "pliant/math/parallel.hpp"

namespace pliant::pbd {

namespace {

constexpr std::int64_t kHalf = std::int64_t{1} << 20;  ///< of the coordinates that fit into 21 bits
constexpr std::int64_t kEmpty = -1;

std::int64_t key_of(std::int64_t i, std::int64_t j, std::int64_t k) {
  return ((i + kHalf) << 42) | ((j + kHalf) << 21) | (k + kHalf);
}

std::size_t hash(std::int64_t key) {
  auto h = static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u;
  return static_cast<std::size_t>(h ^ (h >> 29));
}

}  // namespace

void BackgroundGrid::Table::clear(std::size_t expected) {
  std::size_t size = 64;
  while (size < 2 * expected) size *= 2;
  keys_.assign(std::max(size, keys_.size()), kEmpty);
  numbers_.resize(keys_.size());
  count_ = 0;
}

std::pair<Index, bool> BackgroundGrid::Table::insert(std::int64_t key) {
  if (2 * static_cast<std::size_t>(count_) >= keys_.size()) grow();
  const std::size_t mask = keys_.size() - 1;
  std::size_t slot = hash(key) & mask;
  while (keys_[slot] != kEmpty && keys_[slot] != key) slot = (slot + 1) & mask;
  if (keys_[slot] == key) return {numbers_[slot], false};
  keys_[slot] = key;
  numbers_[slot] = count_;
  return {count_++, true};
}

void BackgroundGrid::Table::grow() {
  std::vector<std::int64_t> keys(2 * keys_.size(), kEmpty);
  std::vector<Index> numbers(keys.size());
  const std::size_t mask = keys.size() - 1;
  for (std::size_t s = 0; s < keys_.size(); ++s) {
    if (keys_[s] == kEmpty) continue;
    std::size_t slot = hash(keys_[s]) & mask;
    while (keys[slot] != kEmpty) slot = (slot + 1) & mask;
    keys[slot] = keys_[s];
    numbers[slot] = numbers_[s];
  }
  keys_ = std::move(keys);
  numbers_ = std::move(numbers);
}

bool BackgroundGrid::cover(const VecX& x) {
  const auto count = static_cast<std::size_t>(x.size() / 3);
  const double limit = static_cast<double>(kHalf - 2) * spacing_;
  if (!x.allFinite() || (count > 0 && x.cwiseAbs().maxCoeff() > limit)) return false;
  cells_.clear(count);
  nodes_.clear(2 * count);
  cell_nodes_.clear();
  positions_.clear();
  points_.resize(count);
  for (std::size_t p = 0; p < count; ++p) {
    const Vec3 q = node(x, static_cast<Index>(p)) / spacing_,
               base(std::floor(q[0]), std::floor(q[1]), std::floor(q[2]));
    const auto i = static_cast<std::int64_t>(base[0]), j = static_cast<std::int64_t>(base[1]),
               k = static_cast<std::int64_t>(base[2]);
    const auto [cell, is_new] = cells_.insert(key_of(i, j, k));
    if (is_new) {
      std::array<Index, 8>& nodes = cell_nodes_.emplace_back();
      for (int corner = 0; corner < 8; ++corner) {
        const std::int64_t a = i + (corner & 1), b = j + ((corner >> 1) & 1), c = k + (corner >> 2);
        const auto [number, new_node] = nodes_.insert(key_of(a, b, c));
        nodes[static_cast<std::size_t>(corner)] = number;
        if (new_node)
          positions_.push_back(spacing_ * Vec3(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)));
      }
    }
    GridPoint& point = points_[p];
    point.nodes = cell_nodes_[static_cast<std::size_t>(cell)];
    const Vec3 f = q - base;
    for (std::size_t corner = 0; corner < 8; ++corner)
      point.weights[corner] =
          (corner & 1 ? f[0] : 1 - f[0]) * (corner & 2 ? f[1] : 1 - f[1]) * (corner & 4 ? f[2] : 1 - f[2]);
  }
  return true;
}

void transfer_to_grid(const BackgroundGrid& grid, const VecX& x, const VecX& v, const std::vector<Mat3>& C,
                      const VecX& point_mass, std::vector<double>& mass, std::vector<Vec3>& velocity) {
  mass.assign(static_cast<std::size_t>(grid.node_count()), 0.0);
  velocity.assign(mass.size(), Vec3::Zero());
  for (std::size_t p = 0; p < grid.points().size(); ++p) {
    const GridPoint& point = grid.points()[p];
    const auto index = static_cast<Index>(p);
    for (std::size_t c = 0; c < 8; ++c) {
      const auto i = static_cast<std::size_t>(point.nodes[c]);
      const double m = point.weights[c] * point_mass[index];
      mass[i] += m;
      velocity[i] += m * (node(v, index) + C[p] * (grid.position(point.nodes[c]) - node(x, index)));
    }
  }
  for (std::size_t i = 0; i < mass.size(); ++i)
    if (mass[i] > 0) velocity[i] /= mass[i];
}

VelocityGradients::VelocityGradients(Index points, std::span<const Index> stencils) {
  std::vector<std::pair<Index, Index>> edges;
  for (std::size_t s = 0; s + 4 <= stencils.size(); s += 4)
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < 4; ++b)
        if (a != b) edges.emplace_back(stencils[s + a], stencils[s + b]);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  start_.assign(static_cast<std::size_t>(points) + 1, 0);
  for (const auto& [from, to] : edges) {
    ++start_[static_cast<std::size_t>(from) + 1];
    neighbours_.push_back(to);
  }
  for (std::size_t p = 1; p < start_.size(); ++p) start_[p] += start_[p - 1];
}

/// Least squares over the neighbours, min sum m |v_q - v_p - C (x_q - x_p)|^2, held a little towards zero so that
/// points that have come together in a plane or a line have a solution too.
void VelocityGradients::fit(const VecX& x, const VecX& v, const VecX& mass, double spacing,
                            std::vector<Mat3>& C) const {
  constexpr double kHold = 1e-8;
  C.resize(start_.size() - 1);
  for_chunks(static_cast<Index>(C.size()), 1024, [&](Index begin, Index end) {
    for (Index p = begin; p < end; ++p) {
      const auto k = static_cast<std::size_t>(p);
      Mat3 moments = Mat3::Zero(), mixed = Mat3::Zero();
      double total = 0;
      for (Index e = start_[k]; e < start_[k + 1]; ++e) {
        const Index q = neighbours_[static_cast<std::size_t>(e)];
        const Vec3 dx = node(x, q) - node(x, p), dv = node(v, q) - node(v, p);
        moments += mass[q] * dx * dx.transpose();
        mixed += mass[q] * dv * dx.transpose();
        total += mass[q];
      }
      moments.diagonal().array() += kHold * total * spacing * spacing;
      C[k] = total > 0 ? Mat3(mixed * moments.inverse()) : Mat3(Mat3::Zero());
    }
  });
}

}  // namespace pliant::pbd
