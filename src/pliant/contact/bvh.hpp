#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pliant/contact/aabb.hpp"

namespace pliant {

/// A linear bounding volume hierarchy: boxes sorted along a Morton curve (Lauterbach et al. 2009), and above them a
/// complete tree that joins four neighbours at a time. The tree needs no pointers: node i of level l holds the nodes
/// 4 i to 4 i + 3 of level l - 1, and level 0 is the boxes. So building is a sort and refitting one pass per level,
/// both parallel, and the tree is the same for any number of threads.
///
/// Rejected: Karras' radix tree, whose splits follow the bits of the curve. Its boxes are a little tighter, but it must
/// be walked through pointers and refitted with atomic counters.
///
/// Every primitive is of some kinds, the bits of a word, and a query names those it is for: what an obstacle can never
/// touch, the other obstacles above all, is left out at the root of its branch.
class Bvh {
 public:
  using Kinds = std::uint64_t;
  static constexpr Kinds kAll = ~Kinds{0};

  /// Without kinds, every primitive is of all.
  void build(std::span<const Aabb> boxes, std::span<const Kinds> kinds = {});
  /// New boxes for the same primitives and kinds. Keeps the order while the boxes of the tree have grown less than
  /// twofold since it was built, and else builds anew.
  void update(std::span<const Aabb> boxes, std::span<const Kinds> kinds = {});
  Index size() const { return static_cast<Index>(order_.size()); }

  /// Calls visit(primitive) for all of any of these kinds whose box overlaps the given one.
  template <class Visit>
  void query(const Aabb& box, Kinds kinds, Visit&& visit) const {
    walk(box, kinds, 0, visit);
  }
  /// For each primitive a at places `places` of the order, whose box is inflated by `distance`: calls visit(a, b) for
  /// the overlapping ones of kinds later(a) that come after it, which gives each pair of primitives that look for each
  /// other once, and for those of kinds anywhere(a), which do not look for others themselves.
  template <class Later, class Anywhere, class Visit>
  void query_pairs(Range places, double distance, Later&& later, Anywhere&& anywhere, Visit&& visit) const {
    for (Index p = places.begin; p < places.end; ++p) {
      Aabb box = nodes_[static_cast<std::size_t>(p)];
      box.inflate(distance);
      const Index a = order_[static_cast<std::size_t>(p)];
      const auto visit_b = [&](Index b) { visit(a, b); };
      if (const Kinds kinds = later(a)) walk(box, kinds, std::int64_t{p} + 1, visit_b);
      if (const Kinds kinds = anywhere(a)) walk(box, kinds, 0, visit_b);
    }
  }

 private:
  static constexpr int kMostLevels = 17;  ///< four to the sixteenth is more than an Index counts

  /// Visits places from `first` on.
  template <class Visit>
  void walk(const Aabb& box, Kinds kinds, std::int64_t first, Visit&& visit) const {
    if (order_.empty()) return;
    struct Entry {
      int level;
      Index node;
    };
    std::array<Entry, 3 * kMostLevels + 1> stack;
    int top = 0;
    if (levels_ == 1) {
      if (first <= 0 && (kinds & kinds_[0]) && box.overlaps(nodes_[0])) visit(order_[0]);
      return;
    }
    stack[static_cast<std::size_t>(top++)] = {levels_ - 1, 0};
    while (top > 0) {
      const Entry entry = stack[static_cast<std::size_t>(--top)];
      const int below = entry.level - 1;
      const Index begin = 4 * entry.node;
      const Index end = std::min(begin + 4, count_[static_cast<std::size_t>(below)]);
      const Aabb* boxes = nodes_.data() + start_[static_cast<std::size_t>(below)];
      const Kinds* of = kinds_.data() + start_[static_cast<std::size_t>(below)];
      if (below == 0) {
        for (Index c = begin; c < end; ++c)
          if (c >= first && (kinds & of[c]) && box.overlaps(boxes[c])) visit(order_[static_cast<std::size_t>(c)]);
        continue;
      }
      for (Index c = end; c-- > begin;)
        if ((std::int64_t{c} + 1) << (2 * below) > first && (kinds & of[c]) && box.overlaps(boxes[c]))
          stack[static_cast<std::size_t>(top++)] = {below, c};
    }
  }

  void sort_kinds(std::span<const Kinds> kinds);
  void refit(std::span<const Aabb> boxes);
  double extent() const;

  std::vector<Index> order_;  ///< the primitive at each place along the curve
  std::vector<Aabb> nodes_;   ///< level by level
  std::vector<Kinds> kinds_;  ///< of each of them, all that are below
  int levels_ = 0;
  std::array<std::int64_t, kMostLevels> start_{};
  std::array<Index, kMostLevels> count_{};
  double built_extent_ = 0;
  std::vector<std::pair<std::uint64_t, Index>> codes_;  ///< scratch
};

}  // namespace pliant
