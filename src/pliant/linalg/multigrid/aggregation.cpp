#include "pliant/linalg/multigrid/aggregation.hpp"

#include <cmath>

namespace pliant::multigrid {
namespace {

/// s_ij = |A_ij| / sqrt(|A_ii| |A_jj|) of every block, over the smaller of the largest ones of rows i and j; 0 on the
/// diagonal. Every node has a neighbour of strength 1 at least.
std::vector<Real> strengths(const SparseRows& rows, std::span<const Real> norms) {
  std::vector<Real> root(at(rows.rows()), 0), largest(at(rows.rows()), 0), strength(rows.columns.size(), 0);
  for (Index i = 0; i < rows.rows(); ++i)
    for (std::int64_t k = rows.start[at(i)]; k < rows.start[at(i) + 1]; ++k)
      if (rows.columns[at(k)] == i && norms[at(k)] > 0) root[at(i)] = 1 / std::sqrt(norms[at(k)]);
  for_chunks(rows.rows(), 4096, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (std::int64_t k = rows.start[at(i)]; k < rows.start[at(i) + 1]; ++k) {
        const Index j = rows.columns[at(k)];
        if (j == i) continue;
        strength[at(k)] = norms[at(k)] * root[at(i)] * root[at(j)];
        largest[at(i)] = std::max(largest[at(i)], strength[at(k)]);
      }
  });
  for_chunks(rows.rows(), 4096, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (std::int64_t k = rows.start[at(i)]; k < rows.start[at(i) + 1]; ++k)
        if (strength[at(k)] > 0) strength[at(k)] /= std::min(largest[at(i)], largest[at(rows.columns[at(k)])]);
  });
  return strength;
}

}  // namespace

Aggregates aggregate(const SparseRows& rows, std::span<const Real> norms, double threshold) {
  const std::vector<Real> strength = strengths(rows, norms);
  const auto limit = static_cast<Real>(threshold);
  constexpr Index kFree = -2;
  Aggregates result;
  result.of.assign(at(rows.rows()), kFree);
  const auto for_strong = [&](Index i, auto&& visit) {
    for (std::int64_t k = rows.start[at(i)]; k < rows.start[at(i) + 1]; ++k)
      if (strength[at(k)] > limit) visit(rows.columns[at(k)], strength[at(k)]);
  };
  for (Index i = 0; i < rows.rows(); ++i) {
    if (result.of[at(i)] != kFree) continue;
    bool is_alone = true, has_neighbours = false;
    for_strong(i, [&](Index j, Real) {
      has_neighbours = true;
      is_alone = is_alone && result.of[at(j)] == kFree;
    });
    if (!has_neighbours || !is_alone) continue;
    result.of[at(i)] = result.count;
    for_strong(i, [&](Index j, Real) { result.of[at(j)] = result.count; });
    ++result.count;
  }
  // What lies between groups, by the groups as they are now.
  const std::vector<Index> first = result.of;
  for (Index i = 0; i < rows.rows(); ++i) {
    if (first[at(i)] != kFree) continue;
    Real best = 0;
    for_strong(i, [&](Index j, Real s) {
      if (first[at(j)] < 0 || s <= best) return;
      best = s;
      result.of[at(i)] = first[at(j)];
    });
  }
  // What is coupled weakly to everything goes with the strongest of its weak neighbours.
  for (Index i = 0; i < rows.rows(); ++i) {
    if (result.of[at(i)] != kFree) continue;
    Real best = 0;
    Index group = kFree;
    for (std::int64_t k = rows.start[at(i)]; k < rows.start[at(i) + 1]; ++k) {
      const Index j = rows.columns[at(k)];
      if (j == i || result.of[at(j)] == -1 || strength[at(k)] <= best) continue;
      best = strength[at(k)];
      group = result.of[at(j)];
    }
    if (best == 0)
      group = -1;
    else if (group == kFree)
      group = result.count++;
    result.of[at(i)] = group;
  }
  return result;
}

}  // namespace pliant::multigrid
