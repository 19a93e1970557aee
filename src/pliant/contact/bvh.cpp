#include "pliant/contact/bvh.hpp"

#include <oneapi/tbb/parallel_sort.h>

#include <cassert>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kGrain = 4096;

/// Puts two zero bits between each two of the lowest 21 bits.
std::uint64_t spread(std::uint64_t v) {
  v &= 0x1fffff;
  v = (v | v << 32) & 0x1f00000000ffff;
  v = (v | v << 16) & 0x1f0000ff0000ff;
  v = (v | v << 8) & 0x100f00f00f00f00f;
  v = (v | v << 4) & 0x10c30c30c30c30c3;
  v = (v | v << 2) & 0x1249249249249249;
  return v;
}

/// The place of a point on the Morton curve through a cube of edge 1/scale at `origin`.
std::uint64_t morton(const Vec3& p, const Vec3& origin, double scale) {
  std::uint64_t code = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double t = (p[axis] - origin[axis]) * scale * 2097151.0;
    const auto cell = t > 0 ? static_cast<std::uint64_t>(std::min(t, 2097151.0)) : 0;  // NaN goes to zero
    code |= spread(cell) << axis;
  }
  return code;
}

}  // namespace

void Bvh::build(std::span<const Aabb> boxes, std::span<const Kinds> kinds) {
  const auto n = static_cast<Index>(boxes.size());
  order_.resize(boxes.size());
  levels_ = 0;
  if (n == 0) return;
  std::int64_t total = 0;
  for (Index count = n;; count = (count + 3) / 4) {
    assert(levels_ < kMostLevels);
    start_[static_cast<std::size_t>(levels_)] = total;
    count_[static_cast<std::size_t>(levels_)] = count;
    ++levels_;
    total += count;
    if (count == 1) break;
  }
  nodes_.resize(static_cast<std::size_t>(total));

  Aabb centres;
  for (const Aabb& box : boxes) centres.include(box.centre());
  const double edge = (centres.max - centres.min).maxCoeff();
  const double scale = edge > 0 ? 1 / edge : 0;
  codes_.resize(boxes.size());
  for_chunks(n, kGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      codes_[static_cast<std::size_t>(i)] = {morton(boxes[static_cast<std::size_t>(i)].centre(), centres.min, scale),
                                             i};
  });
  // No two entries are equal, so that the sorted order is unique.
  tbb::parallel_sort(codes_.begin(), codes_.end());
  for (std::size_t i = 0; i < codes_.size(); ++i) order_[i] = codes_[i].second;
  sort_kinds(kinds);
  refit(boxes);
  built_extent_ = extent();
}

void Bvh::sort_kinds(std::span<const Kinds> kinds) {
  kinds_.assign(nodes_.size(), kinds.empty() ? kAll : 0);
  if (kinds.empty()) return;
  for (std::size_t p = 0; p < order_.size(); ++p) kinds_[p] = kinds[static_cast<std::size_t>(order_[p])];
  for (std::size_t level = 1; level < static_cast<std::size_t>(levels_); ++level)
    for (Index c = 0; c < count_[level - 1]; ++c)
      kinds_[static_cast<std::size_t>(start_[level] + c / 4)] |=
          kinds_[static_cast<std::size_t>(start_[level - 1] + c)];
}

void Bvh::update(std::span<const Aabb> boxes, std::span<const Kinds> kinds) {
  if (boxes.size() != order_.size() || boxes.empty()) return build(boxes, kinds);
  refit(boxes);
  if (!(extent() <= 2 * built_extent_)) build(boxes, kinds);
}

void Bvh::refit(std::span<const Aabb> boxes) {
  for_chunks(size(), kGrain, [&](Index begin, Index end) {
    for (Index p = begin; p < end; ++p)
      nodes_[static_cast<std::size_t>(p)] = boxes[static_cast<std::size_t>(order_[static_cast<std::size_t>(p)])];
  });
  for (std::size_t level = 1; level < static_cast<std::size_t>(levels_); ++level) {
    const Aabb* below = nodes_.data() + start_[level - 1];
    Aabb* here = nodes_.data() + start_[level];
    for_chunks(count_[level], kGrain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        Aabb box;
        for (Index c = 4 * i; c < std::min(4 * i + 4, count_[level - 1]); ++c) box.include(below[c]);
        here[i] = box;
      }
    });
  }
}

/// Sum of the boxes' edges over the level above the primitives, where a bad order shows first.
double Bvh::extent() const {
  if (levels_ < 2) return 0;
  return sum_chunks(count_[1], kGrain, [&](Index begin, Index end) {
    double sum = 0;
    for (Index i = begin; i < end; ++i) {
      const Aabb& box = nodes_[static_cast<std::size_t>(start_[1] + i)];
      sum += (box.max - box.min).sum();
    }
    return sum;
  });
}

}  // namespace pliant
