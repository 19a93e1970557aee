#include "pliant/linalg/explicit_kernels.hpp"

#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/linalg/explicit_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::dense {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

template <int Q>
void forward(Index rows, Index pivots, const float* w, const float* x, float* out) {
  const ExplicitTiles panel(rows, pivots);
  for (Index i = 0; i < panel.tiles * explicit_tile; ++i) {
    const float* row = w + panel.start(i / explicit_tile) + i % explicit_tile;
    const Index width = panel.width(i / explicit_tile);
    for (int q = 0; q < Q; ++q) {
      float sum = 0;
      for (Index j = 0; j < (width < pivots ? width : pivots); ++j) sum += row[8 * j] * x[row_width<Q> * j + q];
      out[row_width<Q> * i + q] = sum;
    }
    if (Q > 1) out[row_width<Q> * i + 3] = 0;
  }
}

template <int Q>
void backward(Index rows, Index pivots, const float* w, const float* v, float*, float* out) {
  const ExplicitTiles panel(rows, pivots);
  for (Index j = 0; j < pivots; ++j) {
    for (int q = 0; q < Q; ++q) {
      float sum = 0;
      for (Index t = 2 * (j / 16); t < panel.tiles; ++t) {
        const float* tile = w + panel.start(t) + 8 * j;
        for (Index i = 0; i < explicit_tile; ++i) sum += tile[i] * v[row_width<Q> * (explicit_tile * t + i) + q];
      }
      out[row_width<Q> * j + q] = sum;
    }
    if (Q > 1) out[row_width<Q> * j + 3] = 0;
  }
}

#else

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 8>;
using D4 = hn::CappedTag<float, 4>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kParts = 8 / kLanes;  // vectors in a tile's column
/// Panels of so many pivots are read from beyond the second cache, in steps the processor does not foresee.
constexpr Index kWide = 64;

/// T tiles of equal width, `distance` apart: each number of x meets 8 T rows.
template <int Q, int T>
HWY_INLINE void forward_tiles(Index columns, const float* HWY_RESTRICT w, std::int64_t distance,
                              const float* HWY_RESTRICT x, float* HWY_RESTRICT out) {
  const D d;
  constexpr int N = T * kParts;
  V total[N][Q];
  for (int n = 0; n < N; ++n) {
    for (int q = 0; q < Q; ++q) total[n][q] = hn::Zero(d);
  }
  for (Index j = 0; j < columns; ++j) {
    V factor[Q];
    for (int q = 0; q < Q; ++q) factor[q] = hn::Set(d, x[row_width<Q> * j + q]);
    for (int n = 0; n < N; ++n) {
      const V column = hn::LoadU(d, w + (n / kParts) * distance + 8 * j + (n % kParts) * kLanes);
      for (int q = 0; q < Q; ++q) total[n][q] = hn::MulAdd(column, factor[q], total[n][q]);
    }
  }
  for (int n = 0; n < N; ++n) {
    if constexpr (Q == 1) {
      hn::StoreU(total[n][0], d, out + n * kLanes);
    } else {
      hn::StoreInterleaved4(total[n][0], total[n][1], total[n][2], hn::Zero(d), d, out + 4 * n * kLanes);
    }
  }
}

template <int Q>
void forward(Index rows, Index pivots, const float* w, const float* x, float* out) {
  const ExplicitTiles panel(rows, pivots);
  constexpr Index step = explicit_tile * row_width<Q>;
  Index t = 0;
  while (t < panel.tiles) {
    const Index width = panel.width(t), columns = width < pivots ? width : pivots;
    const float* tile = w + panel.start(t);
    if (t + 4 <= panel.tiles && width == panel.padded_pivots) {
      forward_tiles<Q, 4>(columns, tile, 8 * width, x, out + t * step);
      t += 4;
    } else if (t + 2 <= panel.tiles) {
      forward_tiles<Q, 2>(columns, tile, 8 * width, x, out + t * step);
      t += 2;
    } else {
      forward_tiles<Q, 1>(columns, tile, 0, x, out + t * step);
      ++t;
    }
  }
}

/// Four lanes: the lower half plus the upper half where there are eight.
template <class Vector>
HWY_INLINE hn::Vec<D4> fold(Vector sum) {
  if constexpr (kParts == 1) {
    return hn::Add(hn::LowerHalf(D4(), sum), hn::UpperHalf(D4(), sum));
  } else {
    return sum;
  }
}

/// The sums of the lanes of four vectors.
HWY_INLINE hn::Vec<D4> sum_four(V a, V b, V c, V e) {
  const D d;
  const hn::RepartitionToWide<D> wide;
  const V ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const V ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto ab2 = hn::BitCast(wide, ab), ce2 = hn::BitCast(wide, ce);
  const V sum =
      hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, ab2, ce2)), hn::BitCast(d, hn::InterleaveUpper(wide, ab2, ce2)));
  return fold(sum);
}

template <int Q>
void backward(Index rows, Index pivots, const float* w, const float* v, float* scratch, float* out) {
  const D d;
  const ExplicitTiles panel(rows, pivots);
  const float* values = v;  // by tiles, the Q columns one after the other
  if constexpr (Q > 1) {
    for (Index n = 0; n < panel.tiles * kParts; ++n) {
      V x, y, z, unused;
      hn::LoadInterleaved4(d, v + 4 * n * kLanes, x, y, z, unused);
      float* tile = scratch + (n / kParts) * 24 + (n % kParts) * kLanes;
      hn::StoreU(x, d, tile);
      hn::StoreU(y, d, tile + 8);
      hn::StoreU(z, d, tile + 16);
    }
    values = scratch;
  }
  for (Index j = 0; j < pivots; j += 4) {
    V total[4][Q];
    for (int c = 0; c < 4; ++c) {
      for (int q = 0; q < Q; ++q) total[c][q] = hn::Zero(d);
    }
    for (Index t = 2 * (j / 16); t < panel.tiles; ++t) {
      const float* HWY_RESTRICT tile = w + panel.start(t) + 8 * j;
      if (pivots >= kWide) {
        __builtin_prefetch(tile + 32);
        __builtin_prefetch(tile + 48);
      }
      for (int p = 0; p < kParts; ++p) {
        V value[Q];
        for (int q = 0; q < Q; ++q) value[q] = hn::LoadU(d, values + t * 8 * Q + q * 8 + p * kLanes);
        for (int c = 0; c < 4; ++c) {
          const V column = hn::LoadU(d, tile + 8 * c + p * kLanes);
          for (int q = 0; q < Q; ++q) total[c][q] = hn::MulAdd(column, value[q], total[c][q]);
        }
      }
    }
    const D4 d4;
    if constexpr (Q == 1) {
      hn::StoreU(sum_four(total[0][0], total[1][0], total[2][0], total[3][0]), d4, out + j);
    } else {
      hn::StoreInterleaved4(sum_four(total[0][0], total[1][0], total[2][0], total[3][0]),
                            sum_four(total[0][1], total[1][1], total[2][1], total[3][1]),
                            sum_four(total[0][2], total[1][2], total[2][2], total[3][2]), hn::Zero(d4), d4,
                            out + 4 * j);
    }
  }
}

#endif

void Forward1(Index rows, Index pivots, const float* w, const float* x, float* out) {
  forward<1>(rows, pivots, w, x, out);
}
void Forward3(Index rows, Index pivots, const float* w, const float* x, float* out) {
  forward<3>(rows, pivots, w, x, out);
}
void Backward1(Index rows, Index pivots, const float* w, const float* v, float* scratch, float* out) {
  backward<1>(rows, pivots, w, v, scratch, out);
}
void Backward3(Index rows, Index pivots, const float* w, const float* v, float* scratch, float* out) {
  backward<3>(rows, pivots, w, v, scratch, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant::dense
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant::dense {

HWY_EXPORT(Forward1);
HWY_EXPORT(Forward3);
HWY_EXPORT(Backward1);
HWY_EXPORT(Backward3);

template <>
void explicit_forward<1>(Index rows, Index pivots, const float* w, const float* x, float* out) {
  HWY_DYNAMIC_DISPATCH(Forward1)(rows, pivots, w, x, out);
}
template <>
void explicit_forward<3>(Index rows, Index pivots, const float* w, const float* x, float* out) {
  HWY_DYNAMIC_DISPATCH(Forward3)(rows, pivots, w, x, out);
}
template <>
void explicit_backward<1>(Index rows, Index pivots, const float* w, const float* v, float* scratch, float* out) {
  HWY_DYNAMIC_DISPATCH(Backward1)(rows, pivots, w, v, scratch, out);
}
template <>
void explicit_backward<3>(Index rows, Index pivots, const float* w, const float* v, float* scratch, float* out) {
  HWY_DYNAMIC_DISPATCH(Backward3)(rows, pivots, w, v, scratch, out);
}

}  // namespace pliant::dense
#endif
