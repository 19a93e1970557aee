#include "pliant/linalg/extend_add.hpp"

#include <algorithm>

#include "pliant/linalg/update_block.hpp"
#define PLIANT_WAITS_FOR_MEMORY
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/linalg/extend_add.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void add(std::int64_t count, const double* HWY_RESTRICT from, double* HWY_RESTRICT to) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + i)), d, to + i);
  for (; i < count; ++i) to[i] += from[i];
}

/// One column: scalar rows of child nodes [begin, end).
void AddColumn(int b, Index begin, Index end, const Index* to, const Index* runs, std::int64_t row_shift,
               const double* from, double* target) {
  for (Index i = begin, length; i < end; i += length) {
    length = runs[i] < end - i ? runs[i] : end - i;
    add(std::int64_t(b) * length, from + std::int64_t(b) * i, target + std::int64_t(b) * to[i] - row_shift);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(AddColumn);

void extend_add(int b, std::span<const Index> to, std::span<const Index> runs, Range rows, Range columns, double* child,
                const Front& parent) {
  const auto place = [&](Index row) {
    return static_cast<Index>(std::lower_bound(to.begin(), to.end(), row) - to.begin());
  };
  const Index begin = place(columns.begin), end = place(columns.end);
  const Index row_begin = place(rows.begin), row_end = place(rows.end);
  const auto child_rows = b * static_cast<Index>(to.size());
  for (Index j = begin; j < end; ++j) {
    for (int c = 0; c < b; ++c) {
      const Index target_column = b * to[static_cast<std::size_t>(j)] + c;
      const bool to_panel = target_column < parent.pivots;
      double* target = to_panel ? parent.panel + target_column * parent.stride
                                : update_block::column(parent.update, parent.rows, target_column - parent.pivots);
      HWY_DYNAMIC_DISPATCH(AddColumn)
      (b, std::max(j, row_begin), row_end, to.data(), runs.data(), to_panel ? 0 : parent.pivots,
       update_block::column(child, child_rows, b * j + c), target);
    }
  }
}

}  // namespace pliant
#endif
