#include "pliant/linalg/solve_kernels.hpp"

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
using D = hn::CappedTag<double, 4>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

HWY_INLINE V load(const double* p) { return hn::LoadU(D(), p); }
HWY_INLINE V load(const float* p) { return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), p)); }
HWY_INLINE double sum(V v) { return hn::GetLane(hn::SumOfLanes(D(), v)); }

// Few right-hand sides: Q arrays, C columns of L at a time, so that C x Q factors or sums fill twelve registers.

template <int Q, int C, class T>
HWY_INLINE void apply_columns(Index rows, const T* HWY_RESTRICT l, std::int64_t stride, const double* x,
                              std::int64_t x_step, double* HWY_RESTRICT y, std::int64_t y_step) {
  const D d;
  V factor[C][Q];
  for (int c = 0; c < C; ++c) {
    for (int q = 0; q < Q; ++q) factor[c][q] = hn::Set(d, x[c + q * x_step]);
  }
  Index i = 0;
  for (; i + kLanes <= rows; i += kLanes) {
    V column[C];
    for (int c = 0; c < C; ++c) column[c] = load(l + i + c * stride);
    for (int q = 0; q < Q; ++q) {
      V value = hn::LoadU(d, y + i + q * y_step);
      for (int c = 0; c < C; ++c) value = hn::NegMulAdd(column[c], factor[c][q], value);
      hn::StoreU(value, d, y + i + q * y_step);
    }
  }
  for (; i < rows; ++i) {
    for (int q = 0; q < Q; ++q) {
      double value = y[i + q * y_step];
      for (int c = 0; c < C; ++c) value -= static_cast<double>(l[i + c * stride]) * x[c + q * x_step];
      y[i + q * y_step] = value;
    }
  }
}

template <int Q, class T>
void apply_few(Index rows, Index columns, const T* l, std::int64_t stride, const Values& x, const Values& y) {
  constexpr int C = Q == 1 ? 8 : Q == 2 ? 6 : Q == 3 ? 4 : 3;
  Index j = 0;
  for (; j + C <= columns; j += C)
    apply_columns<Q, C>(rows, l + j * stride, stride, x.data + j, x.step, y.data, y.step);
  for (; j < columns; ++j) apply_columns<Q, 1>(rows, l + j * stride, stride, x.data + j, x.step, y.data, y.step);
}

template <int Q, int C, class T>
HWY_INLINE void transposed_columns(Index rows, const T* HWY_RESTRICT l, std::int64_t stride, const double* x,
                                   std::int64_t x_step, double* HWY_RESTRICT y, std::int64_t y_step) {
  const D d;
  V total[C][Q];
  for (int c = 0; c < C; ++c) {
    for (int q = 0; q < Q; ++q) total[c][q] = hn::Zero(d);
  }
  Index i = 0;
  for (; i + kLanes <= rows; i += kLanes) {
    V value[Q];
    for (int q = 0; q < Q; ++q) value[q] = hn::LoadU(d, x + i + q * x_step);
    for (int c = 0; c < C; ++c) {
      const V column = load(l + i + c * stride);
      for (int q = 0; q < Q; ++q) total[c][q] = hn::MulAdd(column, value[q], total[c][q]);
    }
  }
  for (int c = 0; c < C; ++c) {
    for (int q = 0; q < Q; ++q) {
      double rest = sum(total[c][q]);
      for (Index k = i; k < rows; ++k) rest += static_cast<double>(l[k + c * stride]) * x[k + q * x_step];
      y[c + q * y_step] -= rest;
    }
  }
}

template <int Q, class T>
void transposed_few(Index rows, Index columns, const T* l, std::int64_t stride, const Values& x, const Values& y) {
  constexpr int C = Q == 1 ? 8 : Q == 2 ? 6 : Q == 3 ? 4 : 3;
  Index j = 0;
  for (; j + C <= columns; j += C)
    transposed_columns<Q, C>(rows, l + j * stride, stride, x.data, x.step, y.data + j, y.step);
  for (; j < columns; ++j) transposed_columns<Q, 1>(rows, l + j * stride, stride, x.data, x.step, y.data + j, y.step);
}

// Many: G groups of four right-hand sides, R rows of Y at a time.

constexpr int kGroup = 4 / kLanes;  // vectors per group
constexpr Index kAhead = 24;        // rows ahead of use that are asked for
constexpr Index kTileRows = 48;     // of L, that stay in the cache for all groups

template <int G, int R, class T>
HWY_INLINE void apply_rows(Index columns, const T* HWY_RESTRICT l, std::int64_t stride, const double* HWY_RESTRICT x,
                           std::int64_t x_step, double* HWY_RESTRICT y, std::int64_t y_step) {
  const D d;
  constexpr int N = G * kGroup;
  V total[R][N];
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) total[r][n] = hn::LoadU(d, y + r * y_step + n * kLanes);
  }
  for (Index j = 0; j < columns; ++j) {
    V value[N];
    for (int n = 0; n < N; ++n) value[n] = hn::LoadU(d, x + j * x_step + n * kLanes);
    for (int r = 0; r < R; ++r) {
      const V factor = hn::Set(d, static_cast<double>(l[r + j * stride]));
      for (int n = 0; n < N; ++n) total[r][n] = hn::NegMulAdd(factor, value[n], total[r][n]);
    }
    // Tens of columns are read side by side, more than the processor follows by itself.
    __builtin_prefetch(l + j * stride + kAhead);
  }
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) hn::StoreU(total[r][n], d, y + r * y_step + n * kLanes);
  }
}

template <int G, int R, class T>
HWY_INLINE void transposed_rows(Index rows, const T* HWY_RESTRICT l, std::int64_t stride, const double* HWY_RESTRICT x,
                                std::int64_t x_step, double* HWY_RESTRICT y, std::int64_t y_step) {
  const D d;
  constexpr int N = G * kGroup;
  V total[R][N];
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) total[r][n] = hn::LoadU(d, y + r * y_step + n * kLanes);
  }
  for (Index i = 0; i < rows; ++i) {
    V value[N];
    for (int n = 0; n < N; ++n) value[n] = hn::LoadU(d, x + i * x_step + n * kLanes);
    if (i % 8 == 0) {
      for (int r = 0; r < R; ++r) __builtin_prefetch(l + i + r * stride + kTileRows);
    }
    for (int r = 0; r < R; ++r) {
      const V factor = hn::Set(d, static_cast<double>(l[i + r * stride]));
      for (int n = 0; n < N; ++n) total[r][n] = hn::NegMulAdd(factor, value[n], total[r][n]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) hn::StoreU(total[r][n], d, y + r * y_step + n * kLanes);
  }
}

template <int G>
constexpr int kRowsOf = G == 1   ? 8
                        : G == 2 ? 6
                        : G == 3 ? 4
                                 : 3;

template <int G, class T>
void apply_group(Index rows, Index columns, const T* l, std::int64_t stride, const double* x, std::int64_t x_step,
                 double* y, std::int64_t y_step) {
  constexpr int R = kRowsOf<G>;
  Index i = 0;
  for (; i + R <= rows; i += R) apply_rows<G, R>(columns, l + i, stride, x, x_step, y + i * y_step, y_step);
  for (; i < rows; ++i) apply_rows<G, 1>(columns, l + i, stride, x, x_step, y + i * y_step, y_step);
}

template <int G, class T>
void transposed_group(Index rows, Index columns, const T* l, std::int64_t stride, const double* x, std::int64_t x_step,
                      double* y, std::int64_t y_step) {
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
void Apply(Index rows, Index columns, const T* l, std::int64_t stride, const Values& x, const Values& y) {
  switch (x.count) {
    case 1:
      return apply_few<1>(rows, columns, l, stride, x, y);
    case 2:
      return apply_few<2>(rows, columns, l, stride, x, y);
    case 3:
      return apply_few<3>(rows, columns, l, stride, x, y);
    case 4:
      return apply_few<4>(rows, columns, l, stride, x, y);
    default:
      for (Index i = 0; i < rows; i += kTileRows) {
        for_groups(x.count, [&](auto groups, Index first) {
          apply_group<kSize<decltype(groups)>>(rows - i < kTileRows ? rows - i : kTileRows, columns, l + i, stride,
                                               x.data + first, x.step, y.data + i * y.step + first, y.step);
        });
      }
  }
}

template <class T>
void ApplyTransposed(Index rows, Index columns, const T* l, std::int64_t stride, const Values& x, const Values& y) {
  switch (x.count) {
    case 1:
      return transposed_few<1>(rows, columns, l, stride, x, y);
    case 2:
      return transposed_few<2>(rows, columns, l, stride, x, y);
    case 3:
      return transposed_few<3>(rows, columns, l, stride, x, y);
    case 4:
      return transposed_few<4>(rows, columns, l, stride, x, y);
    default:
      for (Index i = 0; i < rows; i += kTileRows) {
        for_groups(x.count, [&](auto groups, Index first) {
          transposed_group<kSize<decltype(groups)>>(rows - i < kTileRows ? rows - i : kTileRows, columns, l + i, stride,
                                                    x.data + i * x.step + first, x.step, y.data + first, y.step);
        });
      }
  }
}

constexpr Index kTriangle = 8;

/// The diagonal block of up to kTriangle pivots, in double; the diagonal as reciprocals.
struct Corner {
  double l[kTriangle][kTriangle];
  template <class T>
  Corner(Index width, const T* from, std::int64_t stride, bool unit) {
    for (Index c = 0; c < width; ++c) {
      for (Index r = c + 1; r < width; ++r) l[r][c] = static_cast<double>(from[r + c * stride]);
      l[c][c] = unit ? 1.0 : 1 / static_cast<double>(from[c + c * stride]);
    }
  }
};

HWY_INLINE void solve_corner(Index width, const Corner& corner, const Values& x) {
  const D d;
  if (x.count <= few) {
    for (Index q = 0; q < x.count; ++q) {
      double* v = x.data + q * x.step;
      for (Index c = 0; c < width; ++c) {
        double value = v[c];
        for (Index p = 0; p < c; ++p) value -= corner.l[c][p] * v[p];
        v[c] = value * corner.l[c][c];
      }
    }
    return;
  }
  for (Index q = 0; q < x.count; q += kLanes) {
    for (Index c = 0; c < width; ++c) {
      V value = hn::LoadU(d, x.data + c * x.step + q);
      for (Index p = 0; p < c; ++p)
        value = hn::NegMulAdd(hn::Set(d, corner.l[c][p]), hn::LoadU(d, x.data + p * x.step + q), value);
      hn::StoreU(hn::Mul(value, hn::Set(d, corner.l[c][c])), d, x.data + c * x.step + q);
    }
  }
}

HWY_INLINE void solve_corner_transposed(Index width, const Corner& corner, const Values& x) {
  const D d;
  if (x.count <= few) {
    for (Index q = 0; q < x.count; ++q) {
      double* v = x.data + q * x.step;
      for (Index c = width - 1; c >= 0; --c) {
        double value = v[c];
        for (Index p = c + 1; p < width; ++p) value -= corner.l[p][c] * v[p];
        v[c] = value * corner.l[c][c];
      }
    }
    return;
  }
  for (Index q = 0; q < x.count; q += kLanes) {
    for (Index c = width - 1; c >= 0; --c) {
      V value = hn::LoadU(d, x.data + c * x.step + q);
      for (Index p = c + 1; p < width; ++p)
        value = hn::NegMulAdd(hn::Set(d, corner.l[p][c]), hn::LoadU(d, x.data + p * x.step + q), value);
      hn::StoreU(hn::Mul(value, hn::Set(d, corner.l[c][c])), d, x.data + c * x.step + q);
    }
  }
}

template <class T>
void SolveLower(Index n, const T* l, std::int64_t stride, bool unit, const Values& x) {
  for (Index j = 0; j < n; j += kTriangle) {
    const Index width = n - j < kTriangle ? n - j : kTriangle;
    const T* corner = l + j + j * stride;
    solve_corner(width, Corner(width, corner, stride, unit), x.from_row(j));
    const Index below = j + width;
    if (below < n) Apply(n - below, width, corner + width, stride, x.from_row(j), x.from_row(below));
  }
}

template <class T>
void SolveTransposed(Index n, const T* l, std::int64_t stride, bool unit, const Values& x) {
  for (Index j = (n - 1) / kTriangle * kTriangle; j >= 0; j -= kTriangle) {
    const Index width = n - j < kTriangle ? n - j : kTriangle, below = j + width;
    const T* corner = l + j + j * stride;
    if (below < n) ApplyTransposed(n - below, width, corner + width, stride, x.from_row(below), x.from_row(j));
    solve_corner_transposed(width, Corner(width, corner, stride, unit), x.from_row(j));
  }
}

#define PLIANT_FOR_TYPE(name, T)                                                                                   \
  void name##Apply(Index rows, Index columns, const T* l, std::int64_t stride, const Values& x, const Values& y) { \
    Apply(rows, columns, l, stride, x, y);                                                                         \
  }                                                                                                                \
  void name##Transposed(Index rows, Index columns, const T* l, std::int64_t stride, const Values& x,               \
                        const Values& y) {                                                                         \
    ApplyTransposed(rows, columns, l, stride, x, y);                                                               \
  }                                                                                                                \
  void name##Lower(Index n, const T* l, std::int64_t stride, bool unit, const Values& x) {                         \
    SolveLower(n, l, stride, unit, x);                                                                             \
  }                                                                                                                \
  void name##LowerTransposed(Index n, const T* l, std::int64_t stride, bool unit, const Values& x) {               \
    SolveTransposed(n, l, stride, unit, x);                                                                        \
  }
PLIANT_FOR_TYPE(Double, double)
PLIANT_FOR_TYPE(Float, float)
#undef PLIANT_FOR_TYPE

}  // namespace HWY_NAMESPACE
}  // namespace pliant::dense
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant::dense {

HWY_EXPORT(DoubleApply);
HWY_EXPORT(DoubleTransposed);
HWY_EXPORT(DoubleLower);
HWY_EXPORT(DoubleLowerTransposed);
HWY_EXPORT(FloatApply);
HWY_EXPORT(FloatTransposed);
HWY_EXPORT(FloatLower);
HWY_EXPORT(FloatLowerTransposed);

template <>
void solve_lower(Index n, const double* l, std::int64_t stride, Diagonal diagonal, const Values& x) {
  HWY_DYNAMIC_DISPATCH(DoubleLower)(n, l, stride, diagonal == Diagonal::unit, x);
}
template <>
void solve_lower(Index n, const float* l, std::int64_t stride, Diagonal diagonal, const Values& x) {
  HWY_DYNAMIC_DISPATCH(FloatLower)(n, l, stride, diagonal == Diagonal::unit, x);
}
template <>
void solve_lower_transposed(Index n, const double* l, std::int64_t stride, Diagonal diagonal, const Values& x) {
  HWY_DYNAMIC_DISPATCH(DoubleLowerTransposed)(n, l, stride, diagonal == Diagonal::unit, x);
}
template <>
void solve_lower_transposed(Index n, const float* l, std::int64_t stride, Diagonal diagonal, const Values& x) {
  HWY_DYNAMIC_DISPATCH(FloatLowerTransposed)(n, l, stride, diagonal == Diagonal::unit, x);
}
template <>
void subtract_apply(Index rows, Index columns, const double* l, std::int64_t stride, const Values& x, const Values& y) {
  HWY_DYNAMIC_DISPATCH(DoubleApply)(rows, columns, l, stride, x, y);
}
template <>
void subtract_apply(Index rows, Index columns, const float* l, std::int64_t stride, const Values& x, const Values& y) {
  HWY_DYNAMIC_DISPATCH(FloatApply)(rows, columns, l, stride, x, y);
}
template <>
void subtract_apply_transposed(Index rows, Index columns, const double* l, std::int64_t stride, const Values& x,
                               const Values& y) {
  HWY_DYNAMIC_DISPATCH(DoubleTransposed)(rows, columns, l, stride, x, y);
}
template <>
void subtract_apply_transposed(Index rows, Index columns, const float* l, std::int64_t stride, const Values& x,
                               const Values& y) {
  HWY_DYNAMIC_DISPATCH(FloatTransposed)(rows, columns, l, stride, x, y);
}

}  // namespace pliant::dense
#endif
