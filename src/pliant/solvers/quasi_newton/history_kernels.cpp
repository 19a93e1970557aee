#include "pliant/solvers/quasi_newton/history_kernels.hpp"

#define PLIANT_WAITS_FOR_MEMORY
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/solvers/quasi_newton/history_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::history {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 4>;
using F = hn::Rebind<float, D>;
using V = hn::Vec<D>;
constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(D()));

HWY_INLINE V load(const float* p) { return hn::PromoteTo(D(), hn::LoadU(F(), p)); }
HWY_INLINE double sum(V v) { return hn::GetLane(hn::SumOfLanes(D(), v)); }

/// K vectors together: g is read once, and the sums do not wait for each other.
template <int K>
HWY_INLINE void dots_of(const float* const* v, const double* g, Index size, double* sums) {
  const D d;
  V total[K];
  for (int k = 0; k < K; ++k) total[k] = hn::Zero(d);
  Index i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const V value = hn::LoadU(d, g + i);
    for (int k = 0; k < K; ++k) total[k] = hn::MulAdd(load(v[k] + i), value, total[k]);
  }
  for (int k = 0; k < K; ++k) {
    sums[k] = sum(total[k]);
    for (Index j = i; j < size; ++j) sums[k] += static_cast<double>(v[k][j]) * g[j];
  }
}

template <int K>
HWY_INLINE void combine_of(const float* const* v, const double* weights, const double* in, Index size, double* out) {
  const D d;
  V weight[K];
  for (int k = 0; k < K; ++k) weight[k] = hn::Set(d, weights[k]);
  Index i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    V value = hn::LoadU(d, in + i);
    for (int k = 0; k < K; ++k) value = hn::MulAdd(load(v[k] + i), weight[k], value);
    hn::StoreU(value, d, out + i);
  }
  for (; i < size; ++i) {
    double value = in[i];
    for (int k = 0; k < K; ++k) value += static_cast<double>(v[k][i]) * weights[k];
    out[i] = value;
  }
}

void Dots(const float* const* v, Index count, const double* g, Index size, double* sums) {
  for (; count >= 5; count -= 5, v += 5, sums += 5) dots_of<5>(v, g, size, sums);
  switch (count) {
    case 4:
      return dots_of<4>(v, g, size, sums);
    case 3:
      return dots_of<3>(v, g, size, sums);
    case 2:
      return dots_of<2>(v, g, size, sums);
    case 1:
      return dots_of<1>(v, g, size, sums);
    default:
      return;
  }
}

void Combine(const float* const* v, Index count, const double* weights, const double* in, Index size, double* out) {
  for (; count >= 5; count -= 5, v += 5, weights += 5, in = out) combine_of<5>(v, weights, in, size, out);
  switch (count) {
    case 4:
      return combine_of<4>(v, weights, in, size, out);
    case 3:
      return combine_of<3>(v, weights, in, size, out);
    case 2:
      return combine_of<2>(v, weights, in, size, out);
    case 1:
      return combine_of<1>(v, weights, in, size, out);
    default:
      for (Index i = 0; i < size && in != out; ++i) out[i] = in[i];
  }
}

void Turn(const double* g, Index size, double* p, Descent* result) {
  const D d;
  V slope = hn::Zero(d), largest = hn::Zero(d), spoilt = hn::Zero(d);
  Index i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const V value = hn::Neg(hn::LoadU(d, p + i));
    hn::StoreU(value, d, p + i);
    slope = hn::MulAdd(value, hn::LoadU(d, g + i), slope);
    largest = hn::Max(largest, hn::Abs(value));
    spoilt = hn::MulAdd(value, hn::Zero(d), spoilt);  // a maximum may pass over NaN; 0 times infinity is one too
  }
  result->slope = sum(slope);
  double most = hn::GetLane(hn::MaxOfLanes(d, largest)), bad = sum(spoilt);
  for (; i < size; ++i) {
    p[i] = -p[i];
    result->slope += p[i] * g[i];
    const double size_of = p[i] < 0 ? -p[i] : p[i];
    if (size_of > most) most = size_of;
    bad += p[i] * 0;
  }
  result->largest = most + bad;
}

void Pair(double alpha, const double* dx, const double* g_new, const double* g, Index size, float* s, float* y,
          Curvature* result) {
  const D d;
  const F f;
  const V scale = hn::Set(d, alpha);
  V ss = hn::Zero(d), sy = hn::Zero(d), yy = hn::Zero(d);
  Index i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const V a = hn::Mul(scale, hn::LoadU(d, dx + i)), b = hn::Sub(hn::LoadU(d, g_new + i), hn::LoadU(d, g + i));
    hn::StoreU(hn::DemoteTo(f, a), f, s + i);
    hn::StoreU(hn::DemoteTo(f, b), f, y + i);
    ss = hn::MulAdd(a, a, ss);
    sy = hn::MulAdd(a, b, sy);
    yy = hn::MulAdd(b, b, yy);
  }
  *result = {sum(ss), sum(sy), sum(yy)};
  for (; i < size; ++i) {
    const double a = alpha * dx[i], b = g_new[i] - g[i];
    s[i] = static_cast<float>(a);
    y[i] = static_cast<float>(b);
    result->ss += a * a;
    result->sy += a * b;
    result->yy += b * b;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant::history
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant::history {

HWY_EXPORT(Dots);
HWY_EXPORT(Combine);
HWY_EXPORT(Turn);
HWY_EXPORT(Pair);

void dots(std::span<const float* const> vectors, const double* g, Index size, double* sums) {
  HWY_DYNAMIC_DISPATCH(Dots)(vectors.data(), static_cast<Index>(vectors.size()), g, size, sums);
}

void combine(std::span<const float* const> vectors, const double* weights, const double* in, Index size, double* out) {
  HWY_DYNAMIC_DISPATCH(Combine)(vectors.data(), static_cast<Index>(vectors.size()), weights, in, size, out);
}

Descent turn(const double* g, Index size, double* d) {
  Descent result;
  HWY_DYNAMIC_DISPATCH(Turn)(g, size, d, &result);
  return result;
}

Curvature pair(double alpha, const double* dx, const double* g_new, const double* g, Index size, float* s, float* y) {
  Curvature result;
  HWY_DYNAMIC_DISPATCH(Pair)(alpha, dx, g_new, g, size, s, y, &result);
  return result;
}

}  // namespace pliant::history
#endif
