#include "pliant/linalg/solve_kernels.hpp"

#define PLIANT_WAITS_FOR_MEMORY
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/linalg/solve_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::dense {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
template <class T>
using Tag = hn::CappedTag<T, 4>;
template <class T>
using V = hn::Vec<Tag<T>>;
template <class T>
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag<T>()));

// G groups of four right-hand sides, R rows of Y at a time.

template <class T>
constexpr int kGroup = 4 / kLanes<T>;  // vectors per group
constexpr Index kAhead = 24;           // rows ahead of use that are asked for
constexpr Index kTileRows = 48;        // of L, that stay in the cache for all groups

template <int G, int R, class T>
HWY_INLINE void apply_rows(Index columns, const T* HWY_RESTRICT l, std::int64_t stride, const T* HWY_RESTRICT x,
                           std::int64_t x_step, T* HWY_RESTRICT y, std::int64_t y_step) {
  const Tag<T> d;
  constexpr int N = G * kGroup<T>;
  V<T> total[R][N];
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) total[r][n] = hn::LoadU(d, y + r * y_step + n * kLanes<T>);
  }
  for (Index j = 0; j < columns; ++j) {
    V<T> value[N];
    for (int n = 0; n < N; ++n) value[n] = hn::LoadU(d, x + j * x_step + n * kLanes<T>);
    for (int r = 0; r < R; ++r) {
      const V<T> factor = hn::Set(d, l[r + j * stride]);
      for (int n = 0; n < N; ++n) total[r][n] = hn::NegMulAdd(factor, value[n], total[r][n]);
    }
    // Tens of columns are read side by side, more than the processor follows by itself.
    __builtin_prefetch(l + j * stride + kAhead);
  }
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) hn::StoreU(total[r][n], d, y + r * y_step + n * kLanes<T>);
  }
}

template <int G, int R, class T>
HWY_INLINE void transposed_rows(Index rows, const T* HWY_RESTRICT l, std::int64_t stride, const T* HWY_RESTRICT x,
                                std::int64_t x_step, T* HWY_RESTRICT y, std::int64_t y_step) {
  const Tag<T> d;
  constexpr int N = G * kGroup<T>;
  V<T> total[R][N];
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) total[r][n] = hn::LoadU(d, y + r * y_step + n * kLanes<T>);
  }
  for (Index i = 0; i < rows; ++i) {
    V<T> value[N];
    for (int n = 0; n < N; ++n) value[n] = hn::LoadU(d, x + i * x_step + n * kLanes<T>);
    if (i % 8 == 0) {
      for (int r = 0; r < R; ++r) __builtin_prefetch(l + i + r * stride + kTileRows);
    }
    for (int r = 0; r < R; ++r) {
      const V<T> factor = hn::Set(d, l[i + r * stride]);
      for (int n = 0; n < N; ++n) total[r][n] = hn::NegMulAdd(factor, value[n], total[r][n]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) hn::StoreU(total[r][n], d, y + r * y_step + n * kLanes<T>);
  }
}

template <int G>
constexpr int kRowsOf = G == 1   ? 8
                        : G == 2 ? 6
                        : G == 3 ? 4
                                 : 3;

template <int G, class T>
void apply_group(Index rows, Index columns, const T* l, std::int64_t stride, const T* x, std::int64_t x_step, T* y,
                 std::int64_t y_step) {
  constexpr int R = kRowsOf<G>;
  Index i = 0;
  for (; i + R <= rows; i += R) apply_rows<G, R>(columns, l + i, stride, x, x_step, y + i * y_step, y_step);
  for (; i < rows; ++i) apply_rows<G, 1>(columns, l + i, stride, x, x_step, y + i * y_step, y_step);
}

template <int G, class T>
void transposed_group(Index rows, Index columns, const T* l, std::int64_t stride, const T* x, std::int64_t x_step, T* y,
                      std::int64_t y_step) {
  constexpr int R = kRowsOf<G>;
  Index j = 0;
  for (; j + R <= columns; j += R)
    transposed_rows<G, R>(rows, l + j * stride, stride, x, x_step, y + j * y_step, y_step);
  for (; j < columns; ++j) transposed_rows<G, 1>(rows, l + j * stride, stride, x, x_step, y + j * y_step, y_step);
}

/// Calls body with the number of groups, at most four, and the first right-hand side.
template <class Body>
HWY_INLINE void for_groups(Index count, Body&& body) {
  for (Index first = 0; first < count; first += 16) {
    const Index groups = (count - first < 16 ? count - first : Index{16}) / 4;
    if (groups == 4) {
      body(hwy::SizeTag<4>(), first);
    } else if (groups == 3) {
      body(hwy::SizeTag<3>(), first);
    } else if (groups == 2) {
      body(hwy::SizeTag<2>(), first);
    } else {
      body(hwy::SizeTag<1>(), first);
    }
  }
}

template <class Tag>
constexpr int kSize = 0;
template <std::size_t N>
constexpr int kSize<hwy::SizeTag<N>> = static_cast<int>(N);

template <class T>
void Apply(Index rows, Index columns, const T* l, std::int64_t stride, const Values<T>& x, const Values<T>& y) {
  for (Index i = 0; i < rows; i += kTileRows) {
    for_groups(x.count, [&](auto groups, Index first) {
      apply_group<kSize<decltype(groups)>>(rows - i < kTileRows ? rows - i : kTileRows, columns, l + i, stride,
                                           x.data + first, x.step, y.data + i * y.step + first, y.step);
    });
  }
}

template <class T>
void ApplyTransposed(Index rows, Index columns, const T* l, std::int64_t stride, const Values<T>& x,
                     const Values<T>& y) {
  for (Index i = 0; i < rows; i += kTileRows) {
    for_groups(x.count, [&](auto groups, Index first) {
      transposed_group<kSize<decltype(groups)>>(rows - i < kTileRows ? rows - i : kTileRows, columns, l + i, stride,
                                                x.data + i * x.step + first, x.step, y.data + first, y.step);
    });
  }
}

constexpr Index kTriangle = 8;

/// The diagonal block of up to kTriangle pivots, the diagonal as reciprocals.
template <class T>
struct Corner {
  T l[kTriangle][kTriangle];
  Corner(Index width, const T* from, std::int64_t stride, bool unit) {
    for (Index c = 0; c < width; ++c) {
      for (Index r = c + 1; r < width; ++r) l[r][c] = from[r + c * stride];
      l[c][c] = unit ? T{1} : 1 / from[c + c * stride];
    }
  }
};

template <class T>
HWY_INLINE void solve_corner(Index width, const Corner<T>& corner, const Values<T>& x) {
  const Tag<T> d;
  for (Index q = 0; q < x.count; q += kLanes<T>) {
    for (Index c = 0; c < width; ++c) {
      V<T> value = hn::LoadU(d, x.data + c * x.step + q);
      for (Index p = 0; p < c; ++p)
        value = hn::NegMulAdd(hn::Set(d, corner.l[c][p]), hn::LoadU(d, x.data + p * x.step + q), value);
      hn::StoreU(hn::Mul(value, hn::Set(d, corner.l[c][c])), d, x.data + c * x.step + q);
    }
  }
}

template <class T>
HWY_INLINE void solve_corner_transposed(Index width, const Corner<T>& corner, const Values<T>& x) {
  const Tag<T> d;
  for (Index q = 0; q < x.count; q += kLanes<T>) {
    for (Index c = width - 1; c >= 0; --c) {
      V<T> value = hn::LoadU(d, x.data + c * x.step + q);
      for (Index p = c + 1; p < width; ++p)
        value = hn::NegMulAdd(hn::Set(d, corner.l[p][c]), hn::LoadU(d, x.data + p * x.step + q), value);
      hn::StoreU(hn::Mul(value, hn::Set(d, corner.l[c][c])), d, x.data + c * x.step + q);
    }
  }
}

template <class T>
void SolveLower(Index n, const T* l, std::int64_t stride, bool unit, const Values<T>& x) {
  for (Index j = 0; j < n; j += kTriangle) {
    const Index width = n - j < kTriangle ? n - j : kTriangle;
    const T* corner = l + j + j * stride;
    solve_corner(width, Corner<T>(width, corner, stride, unit), x.from_row(j));
    const Index below = j + width;
    if (below < n) Apply(n - below, width, corner + width, stride, x.from_row(j), x.from_row(below));
  }
}

template <class T>
void SolveTransposed(Index n, const T* l, std::int64_t stride, bool unit, const Values<T>& x) {
  for (Index j = (n - 1) / kTriangle * kTriangle; j >= 0; j -= kTriangle) {
    const Index width = n - j < kTriangle ? n - j : kTriangle, below = j + width;
    const T* corner = l + j + j * stride;
    if (below < n) ApplyTransposed(n - below, width, corner + width, stride, x.from_row(below), x.from_row(j));
    solve_corner_transposed(width, Corner<T>(width, corner, stride, unit), x.from_row(j));
  }
}

#define PLIANT_FOR_TYPE(name, T)                                                                        \
  void name##Apply(Index rows, Index columns, const T* l, std::int64_t stride, const Values<T>& x,      \
                   const Values<T>& y) {                                                                \
    Apply(rows, columns, l, stride, x, y);                                                              \
  }                                                                                                     \
  void name##Transposed(Index rows, Index columns, const T* l, std::int64_t stride, const Values<T>& x, \
                        const Values<T>& y) {                                                           \
    ApplyTransposed(rows, columns, l, stride, x, y);                                                    \
  }                                                                                                     \
  void name##Lower(Index n, const T* l, std::int64_t stride, bool unit, const Values<T>& x) {           \
    SolveLower(n, l, stride, unit, x);                                                                  \
  }                                                                                                     \
  void name##LowerTransposed(Index n, const T* l, std::int64_t stride, bool unit, const Values<T>& x) { \
    SolveTransposed(n, l, stride, unit, x);                                                             \
  }
PLIANT_FOR_TYPE(Double, double)
PLIANT_FOR_TYPE(Float, float)
#undef PLIANT_FOR_TYPE

}  // namespace HWY_NAMESPACE
}  // namespace pliant::dense
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant::dense {

#define PLIANT_FOR_TYPE(name, T)                                                                                 \
  HWY_EXPORT(name##Apply);                                                                                       \
  HWY_EXPORT(name##Transposed);                                                                                  \
  HWY_EXPORT(name##Lower);                                                                                       \
  HWY_EXPORT(name##LowerTransposed);                                                                             \
  template <>                                                                                                    \
  void solve_lower(Index n, const T* l, std::int64_t stride, Diagonal diagonal, const Values<T>& x) {            \
    HWY_DYNAMIC_DISPATCH(name##Lower)(n, l, stride, diagonal == Diagonal::unit, x);                              \
  }                                                                                                              \
  template <>                                                                                                    \
  void solve_lower_transposed(Index n, const T* l, std::int64_t stride, Diagonal diagonal, const Values<T>& x) { \
    HWY_DYNAMIC_DISPATCH(name##LowerTransposed)(n, l, stride, diagonal == Diagonal::unit, x);                    \
  }                                                                                                              \
  template <>                                                                                                    \
  void subtract_apply(Index rows, Index columns, const T* l, std::int64_t stride, const Values<T>& x,            \
                      const Values<T>& y) {                                                                      \
    HWY_DYNAMIC_DISPATCH(name##Apply)(rows, columns, l, stride, x, y);                                           \
  }                                                                                                              \
  template <>                                                                                                    \
  void subtract_apply_transposed(Index rows, Index columns, const T* l, std::int64_t stride, const Values<T>& x, \
                                 const Values<T>& y) {                                                           \
    HWY_DYNAMIC_DISPATCH(name##Transposed)(rows, columns, l, stride, x, y);                                      \
  }
PLIANT_FOR_TYPE(Double, double)
PLIANT_FOR_TYPE(Float, float)
#undef PLIANT_FOR_TYPE

}  // namespace pliant::dense
#endif
