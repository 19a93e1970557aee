#include "pliant/energies/block_kernels.hpp"

#define PLIANT_WAITS_FOR_MEMORY
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/energies/block_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "pliant/energies/block_places.hpp"
#include "pliant/math/block9-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void AddBlocks(const double* from, const std::uint32_t* words, std::ptrdiff_t count, double* places) {
  for (std::ptrdiff_t k = 0; k < count; ++k, from += 9) {
    if (words[k] == BlockPlaces::kNowhere) continue;
    double* to = places + 9 * static_cast<std::size_t>(words[k] >> 1);
    const bool is_transposed = words[k] & 1;
    if constexpr (kHasBlocks) {
      add_block(is_transposed ? load_transposed_block(from) : load_block(from), to);
    } else if (is_transposed) {
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) to[3 * c + r] += from[3 * r + c];
    } else {
      for (int e = 0; e < 9; ++e) to[e] += from[e];
    }
  }
}

void LeaveBlocks(const double* places, const std::int64_t* targets, std::ptrdiff_t count, double scale, double* blocks,
                 double* shared) {
  const BlockTag d;
  const auto scales = hn::Set(d, scale);
  for (std::ptrdiff_t p = 0; p < count; ++p, places += 9) {
    const std::int64_t target = targets[p];
    double* to = target >= 0 ? blocks + 9 * target : shared + 9 * ~target;
    if constexpr (kHasBlocks) {
      const Block9 at_place = load_block(places);
      const Block9 scaled = {hn::Mul(scales, at_place.first), hn::Mul(scales, at_place.second), scale * at_place.last};
      if (target >= 0) {
        add_block(scaled, to);
      } else {
        hn::StoreU(scaled.first, d, to);
        hn::StoreU(scaled.second, d, to + 4);
        to[8] = scaled.last;
      }
    } else if (target >= 0) {
      for (int e = 0; e < 9; ++e) to[e] += scale * places[e];
    } else {
      for (int e = 0; e < 9; ++e) to[e] = scale * places[e];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(AddBlocks);
HWY_EXPORT(LeaveBlocks);

void add_blocks(const double* from, const std::uint32_t* words, std::ptrdiff_t count, double* places) {
  HWY_DYNAMIC_DISPATCH(AddBlocks)(from, words, count, places);
}

void leave_blocks(const double* places, const std::int64_t* targets, std::ptrdiff_t count, double scale, double* blocks,
                  double* shared) {
  HWY_DYNAMIC_DISPATCH(LeaveBlocks)(places, targets, count, scale, blocks, shared);
}

}  // namespace pliant
#endif
