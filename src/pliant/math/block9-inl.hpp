// A 3x3 block of nine doubles, by columns, in vectors of four lanes: two of them and one number. Values are only moved,
// so that whoever has no such vectors, and goes number by number, gets the same bits.
#if defined(PLIANT_MATH_BLOCK9_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_MATH_BLOCK9_INL_HPP
#undef PLIANT_MATH_BLOCK9_INL_HPP
#else
#define PLIANT_MATH_BLOCK9_INL_HPP
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

using BlockTag = hwy::HWY_NAMESPACE::CappedTag<double, 4>;
constexpr bool kHasBlocks = hwy::HWY_NAMESPACE::MaxLanes(BlockTag()) == 4;

struct Block9 {
  hwy::HWY_NAMESPACE::Vec<BlockTag> first, second;
  double last;
};

HWY_INLINE Block9 load_block(const double* from) {
  const BlockTag d;
  return {hwy::HWY_NAMESPACE::LoadU(d, from), hwy::HWY_NAMESPACE::LoadU(d, from + 4), from[8]};
}

/// Numbers 0 3 6 1 | 4 7 2 5 | 8 of what is there.
HWY_INLINE Block9 load_transposed_block(const double* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  const BlockTag d;
  if constexpr (kHasBlocks) {
    alignas(32) static constexpr std::int64_t kOuter[4] = {0, 3, 2, 1};
    const auto outer = hn::SetTableIndices(d, kOuter);
    const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + 4);
    const auto is_third = hn::Eq(hn::Iota(d, 0), hn::Set(d, 2.0));
    const auto turned_a = hn::TableLookupLanes(a, outer),
               turned_b = hn::TableLookupLanes(b, outer);  // 0 3 2 1, 4 7 6 5
    return {hn::IfThenElse(is_third, turned_b, turned_a), hn::IfThenElse(is_third, turned_a, turned_b), from[8]};
  } else {
    return load_block(from);  // never called
  }
}

/// into += block
HWY_INLINE void add_block(const Block9& block, double* into) {
  namespace hn = hwy::HWY_NAMESPACE;
  const BlockTag d;
  hn::StoreU(hn::Add(hn::LoadU(d, into), block.first), d, into);
  hn::StoreU(hn::Add(hn::LoadU(d, into + 4), block.second), d, into + 4);
  into[8] += block.last;
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#endif
