// Few right-hand sides: groups of C columns of L at a time, so that C x Q factors or sums fill twelve registers. A
// group solves its own triangle and is then applied to the rows below in whole, aligned vectors; the memory of the next
// group is asked for meanwhile, since columns are too short for the processor to see them coming.
#include "pliant/linalg/solve_kernels.hpp"
#define PLIANT_WAITS_FOR_MEMORY
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/linalg/solve_few_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::dense {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of 32 bytes at most, and for float also halves of them: groups end at multiples of four.
template <class T>
using Tag = hn::CappedTag<T, 32 / sizeof(T)>;
template <class T>
using HalfTag = hn::CappedTag<T, 4>;
template <class T>
constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(Tag<T>()));
constexpr std::int64_t kLine = 64;

/// Columns a group has at most: with 1, 2 and 3 right-hand sides.
template <int Q>
constexpr int kColumns = Q == 1 ? 8 : 4;

/// One vector of rows loses L times the factors.
template <int Q, int C, class D, class T, class V>
HWY_INLINE void apply_vector(D d, const T* HWY_RESTRICT l, std::int64_t stride, const V (&factor)[C][Q],
                             T* HWY_RESTRICT y, std::int64_t step) {
  V column[C];
  for (int c = 0; c < C; ++c) column[c] = hn::LoadU(d, l + c * stride);
  for (int q = 0; q < Q; ++q) {
    V value = hn::LoadU(d, y + q * step);
    for (int c = 0; c < C; ++c) value = hn::NegMulAdd(column[c], factor[c][q], value);
    hn::StoreU(value, d, y + q * step);
  }
}

template <int Q, int C, class D, class T, class V>
HWY_INLINE void broadcast(D d, const T* x, std::int64_t step, V (&factor)[C][Q]) {
  for (int c = 0; c < C; ++c) {
    for (int q = 0; q < Q; ++q) factor[c][q] = hn::Set(d, x[c + q * step]);
  }
}

/// Rows [begin, end) of `values` lose L times the values x of C columns, which `l` points to.
template <int Q, int C, class T>
HWY_INLINE void apply_group(Index begin, Index end, const T* l, std::int64_t stride, const T* x, T* values,
                            std::int64_t step) {
  const Tag<T> d;
  Index i = begin;
  for (; i < end && i % (kLanes<T> < 4 ? kLanes<T> : 4) != 0; ++i) {
    for (int q = 0; q < Q; ++q) {
      T value = values[i + q * step];
      for (int c = 0; c < C; ++c) value -= l[i + c * stride] * x[c + q * step];
      values[i + q * step] = value;
    }
  }
  if (kLanes < T >> 4 && i < end && i % kLanes<T> != 0) {
    const HalfTag<T> half;
    hn::Vec<HalfTag<T>> factor[C][Q];
    broadcast<Q, C>(half, x, step, factor);
    apply_vector<Q, C>(half, l + i, stride, factor, values + i, step);
    i += 4;
  }
  hn::Vec<Tag<T>> factor[C][Q];
  broadcast<Q, C>(d, x, step, factor);
  constexpr Index line = kLine / static_cast<Index>(sizeof(T));
  for (; i + line <= end; i += line) {
    for (int c = 0; c < C; ++c) __builtin_prefetch(l + i + (C + c) * stride);
    for (Index k = 0; k < line; k += kLanes<T>) apply_vector<Q, C>(d, l + i + k, stride, factor, values + i + k, step);
  }
  for (; i < end; i += kLanes<T>) apply_vector<Q, C>(d, l + i, stride, factor, values + i, step);
}

template <int Q, int C, class D, class T, class V>
HWY_INLINE void sum_vector(D d, const T* HWY_RESTRICT l, std::int64_t stride, const T* HWY_RESTRICT x,
                           std::int64_t step, V (&total)[Q][C]) {
  V value[Q];
  for (int q = 0; q < Q; ++q) value[q] = hn::LoadU(d, x + q * step);
  for (int c = 0; c < C; ++c) {
    const V column = hn::LoadU(d, l + c * stride);
    for (int q = 0; q < Q; ++q) total[q][c] = hn::MulAdd(column, value[q], total[q][c]);
  }
}

/// Adds the sums of the lanes of C vectors.
template <int C, class D, class T, class V>
HWY_INLINE void add_sums(D d, const V (&vectors)[C], T (&sums)[C]) {
  int c = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) == 4) {
    // Four at once: two pairs are interleaved and added, then their halves.
    for (; c + 4 <= C; c += 4) {
      const V* v = vectors + c;
      const V ab = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
      const V ce = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
      const V four = hn::Add(hn::ConcatLowerLower(d, ce, ab), hn::ConcatUpperUpper(d, ce, ab));
      hn::StoreU(hn::Add(hn::LoadU(d, sums + c), four), d, sums + c);
    }
  }
#endif
  for (; c < C; ++c) sums[c] += hn::GetLane(hn::SumOfLanes(d, vectors[c]));
}

/// sums[q][c] = those of L's columns with the rows [begin, end) of the values.
template <int Q, int C, class T>
HWY_INLINE void sum_group(Index begin, Index end, const T* l, std::int64_t stride, const T* values, std::int64_t step,
                          T (&sums)[Q][C]) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  for (int q = 0; q < Q; ++q) {
    for (int c = 0; c < C; ++c) sums[q][c] = 0;
  }
  Index i = begin;
  for (; i < end && i % (kLanes<T> < 4 ? kLanes<T> : 4) != 0; ++i) {
    for (int q = 0; q < Q; ++q) {
      for (int c = 0; c < C; ++c) sums[q][c] += l[i + c * stride] * values[i + q * step];
    }
  }
  V total[Q][C];
  for (int q = 0; q < Q; ++q) {
    for (int c = 0; c < C; ++c) total[q][c] = hn::Zero(d);
  }
  if (kLanes < T >> 4 && i < end && i % kLanes<T> != 0) {
    const HalfTag<T> half;
    hn::Vec<HalfTag<T>> halves[Q][C];
    for (int q = 0; q < Q; ++q) {
      for (int c = 0; c < C; ++c) halves[q][c] = hn::Zero(half);
    }
    sum_vector<Q, C>(half, l + i, stride, values + i, step, halves);
    for (int q = 0; q < Q; ++q) add_sums<C>(half, halves[q], sums[q]);
    i += 4;
  }
  constexpr Index line = kLine / static_cast<Index>(sizeof(T));
  for (; i + line <= end; i += line) {
    for (int c = 0; c < C; ++c) __builtin_prefetch(l + i + (c - C) * stride);  // groups go from right to left
    for (Index k = 0; k < line; k += kLanes<T>) sum_vector<Q, C>(d, l + i + k, stride, values + i + k, step, total);
  }
  for (; i < end; i += kLanes<T>) sum_vector<Q, C>(d, l + i, stride, values + i, step, total);
  for (int q = 0; q < Q; ++q) {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (kLanes<T> == 8) {
      const HalfTag<T> half;
      hn::Vec<HalfTag<T>> folded[C];
      for (int c = 0; c < C; ++c)
        folded[c] = hn::Add(hn::LowerHalf(half, total[q][c]), hn::UpperHalf(half, total[q][c]));
      add_sums<C>(half, folded, sums[q]);
      continue;
    }
#endif
    add_sums<C>(d, total[q], sums[q]);
  }
}

/// A group's own triangle, `l` at its first diagonal entry.
template <int Q, int C, class T>
HWY_INLINE void solve_triangle(const T* l, std::int64_t stride, bool unit, T* x, std::int64_t step) {
  for (int c = 0; c < C; ++c) {
    const T inverse = unit ? T{1} : 1 / l[c + c * stride];
    for (int q = 0; q < Q; ++q) {
      T value = x[c + q * step];
      for (int p = 0; p < c; ++p) value -= l[c + p * stride] * x[p + q * step];
      x[c + q * step] = value * inverse;
    }
  }
}

template <int Q, int C, class T>
HWY_INLINE void solve_triangle_transposed(const T* l, std::int64_t stride, bool unit, const T (&sums)[Q][C], T* x,
                                          std::int64_t step) {
  for (int c = C - 1; c >= 0; --c) {
    const T inverse = unit ? T{1} : 1 / l[c + c * stride];
    for (int q = 0; q < Q; ++q) {
      T value = x[c + q * step] - sums[q][c];
      for (int p = c + 1; p < C; ++p) value -= l[p + c * stride] * x[p + q * step];
      x[c + q * step] = value * inverse;
    }
  }
}

/// Calls body with the first column and the size of each group: as wide as possible, then 4, 2, 1.
template <int Q, class Body>
HWY_INLINE void for_groups(Columns columns, Body&& body) {
  Index j = columns.begin;
  for (; j + kColumns<Q> <= columns.end; j += kColumns<Q>) body(j, hwy::SizeTag<kColumns<Q>>());
  for (; j + 4 <= columns.end; j += 4) body(j, hwy::SizeTag<4>());
  for (; j + 2 <= columns.end; j += 2) body(j, hwy::SizeTag<2>());
  if (j < columns.end) body(j, hwy::SizeTag<1>());
}

template <int Q, class Body>
HWY_INLINE void for_groups_backward(Columns columns, Body&& body) {
  const Index wide = columns.begin + (columns.end - columns.begin) / kColumns<Q> * kColumns<Q>;
  Index j = columns.end;
  if ((j - wide) % 2 != 0) body(j -= 1, hwy::SizeTag<1>());
  if ((j - wide) % 4 != 0) body(j -= 2, hwy::SizeTag<2>());
  if (j != wide) body(j -= 4, hwy::SizeTag<4>());
  while (j > columns.begin) body(j -= kColumns<Q>, hwy::SizeTag<kColumns<Q>>());
}

template <class Size>
constexpr int kSize = 0;
template <std::size_t N>
constexpr int kSize<hwy::SizeTag<N>> = static_cast<int>(N);

template <int Q, class T>
void forward(const PanelOfFew<T>& p, Columns columns, Index row_end) {
  const std::int64_t step = p.values.step;
  for_groups<Q>(columns, [&](Index j, auto size) HWY_ATTR {
    constexpr int C = kSize<decltype(size)>;
    const T* l = p.panel + j * p.stride;
    T* x = p.values.data + j;
    solve_triangle<Q, C>(l + j, p.stride, p.diagonal == Diagonal::unit, x, step);
    apply_group<Q, C>(j + C, row_end, l, p.stride, x, p.values.data, step);
  });
}

template <int Q, class T>
void apply(const PanelOfFew<T>& p, Columns columns, Rows rows) {
  for_groups<Q>(columns, [&](Index j, auto size) HWY_ATTR {
    apply_group<Q, kSize<decltype(size)>>(rows.begin, rows.end, p.panel + j * p.stride, p.stride, p.values.data + j,
                                          p.values.data, p.values.step);
  });
}

template <int Q, class T>
void apply_transposed(const PanelOfFew<T>& p, Columns columns, Rows rows) {
  for_groups_backward<Q>(columns, [&](Index j, auto size) HWY_ATTR {
    constexpr int C = kSize<decltype(size)>;
    T sums[Q][C];
    sum_group<Q, C>(rows.begin, rows.end, p.panel + j * p.stride, p.stride, p.values.data, p.values.step, sums);
    for (int q = 0; q < Q; ++q) {
      for (int c = 0; c < C; ++c) p.values.data[j + c + q * p.values.step] -= sums[q][c];
    }
  });
}

template <int Q, class T>
void backward(const PanelOfFew<T>& p, Columns columns, Index row_end) {
  for_groups_backward<Q>(columns, [&](Index j, auto size) HWY_ATTR {
    constexpr int C = kSize<decltype(size)>;
    const T* l = p.panel + j * p.stride;
    T sums[Q][C];
    sum_group<Q, C>(j + C, row_end, l, p.stride, p.values.data, p.values.step, sums);
    solve_triangle_transposed<Q, C>(l + j, p.stride, p.diagonal == Diagonal::unit, sums, p.values.data + j,
                                    p.values.step);
  });
}

#define PLIANT_FOR_COUNT(function, arguments) \
  switch (p.values.count) {                   \
    case 1:                                   \
      return function<1> arguments;           \
    case 2:                                   \
      return function<2> arguments;           \
    default:                                  \
      return function<3> arguments;           \
  }
#define PLIANT_FOR_TYPE(name, T)                                                                                       \
  void name##Forward(const PanelOfFew<T>& p, Columns columns, Index row_end) {                                         \
    PLIANT_FOR_COUNT(forward, (p, columns, row_end))                                                                   \
  }                                                                                                                    \
  void name##Apply(const PanelOfFew<T>& p, Columns columns, Rows rows) { PLIANT_FOR_COUNT(apply, (p, columns, rows)) } \
  void name##Transposed(const PanelOfFew<T>& p, Columns columns, Rows rows) {                                          \
    PLIANT_FOR_COUNT(apply_transposed, (p, columns, rows))                                                             \
  }                                                                                                                    \
  void name##Backward(const PanelOfFew<T>& p, Columns columns, Index row_end) {                                        \
    PLIANT_FOR_COUNT(backward, (p, columns, row_end))                                                                  \
  }
PLIANT_FOR_TYPE(Double, double)
PLIANT_FOR_TYPE(Float, float)
#undef PLIANT_FOR_TYPE
#undef PLIANT_FOR_COUNT

}  // namespace HWY_NAMESPACE
}  // namespace pliant::dense
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant::dense {

#define PLIANT_FOR_TYPE(name, T)                                           \
  HWY_EXPORT(name##Forward);                                               \
  HWY_EXPORT(name##Apply);                                                 \
  HWY_EXPORT(name##Transposed);                                            \
  HWY_EXPORT(name##Backward);                                              \
  template <>                                                              \
  void PanelOfFew<T>::forward(Columns columns, Index row_end) const {      \
    HWY_DYNAMIC_DISPATCH(name##Forward)(*this, columns, row_end);          \
  }                                                                        \
  template <>                                                              \
  void PanelOfFew<T>::apply(Columns columns, Rows rows) const {            \
    HWY_DYNAMIC_DISPATCH(name##Apply)(*this, columns, rows);               \
  }                                                                        \
  template <>                                                              \
  void PanelOfFew<T>::apply_transposed(Columns columns, Rows rows) const { \
    HWY_DYNAMIC_DISPATCH(name##Transposed)(*this, columns, rows);          \
  }                                                                        \
  template <>                                                              \
  void PanelOfFew<T>::backward(Columns columns, Index row_end) const {     \
    HWY_DYNAMIC_DISPATCH(name##Backward)(*this, columns, row_end);         \
  }
PLIANT_FOR_TYPE(Double, double)
PLIANT_FOR_TYPE(Float, float)
#undef PLIANT_FOR_TYPE

}  // namespace pliant::dense
#endif
