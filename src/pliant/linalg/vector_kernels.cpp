#include "pliant/linalg/vector_kernels.hpp"

#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/linalg/vector_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::vectors {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
constexpr Index kParts = 8;
constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(D()));
constexpr Index kVectors = kParts / kLanes;

/// As many numbers as D has lanes, as doubles.
HWY_INLINE hn::Vec<D> load(const double* from) { return hn::LoadU(D(), from); }
HWY_INLINE hn::Vec<D> load(const float* from) {
  const hn::Rebind<float, D> narrow;
  return hn::PromoteTo(D(), hn::LoadU(narrow, from));
}

/// Sums in eight parts: number i belongs to part i mod 8.
struct Sum {
  hn::Vec<D> part[kVectors];
  double rest = 0;

  HWY_INLINE Sum() {
    for (Index v = 0; v < kVectors; ++v) part[v] = hn::Zero(D());
  }
  template <class T>
  HWY_INLINE void add_products(const T* a, const T* b) {
    for (Index v = 0; v < kVectors; ++v)
      part[v] = hn::Add(part[v], hn::Mul(load(a + v * kLanes), load(b + v * kLanes)));
  }
  HWY_INLINE double total() const {
    double parts[kParts];
    for (Index v = 0; v < kVectors; ++v) hn::StoreU(part[v], D(), parts + v * kLanes);
    return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7])) + rest;
  }
};

template <class T>
double dot_of(Index count, const T* a, const T* b) {
  Sum sum;
  Index i = 0;
  for (; i + kParts <= count; i += kParts) sum.add_products(a + i, b + i);
  for (; i < count; ++i) sum.rest += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum.total();
}

HWY_INLINE hn::Vec<D> widened(hn::Vec<D> v) { return v; }
HWY_INLINE hn::Vec<D> widened(hn::Vec<hn::Rebind<float, D>> v) { return hn::PromoteTo(D(), v); }

template <class T>
double advance_by(Index count, T alpha, const T* p, const T* q, T* x, T* r) {
  const hn::Rebind<T, D> d;
  const auto by = hn::Set(d, alpha);
  Sum sum;
  Index i = 0;
  for (; i + kParts <= count; i += kParts)
    for (Index v = 0; v < kVectors; ++v) {
      const Index k = i + v * kLanes;
      hn::StoreU(hn::Add(hn::LoadU(d, x + k), hn::Mul(by, hn::LoadU(d, p + k))), d, x + k);
      const auto left = hn::Sub(hn::LoadU(d, r + k), hn::Mul(by, hn::LoadU(d, q + k)));
      hn::StoreU(left, d, r + k);
      const auto wide = widened(left);
      sum.part[v] = hn::Add(sum.part[v], hn::Mul(wide, wide));
    }
  for (; i < count; ++i) {
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    sum.rest += static_cast<double>(r[i]) * static_cast<double>(r[i]);
  }
  return sum.total();
}

template <class T>
void turn_by(Index count, T beta, const T* z, T* p) {
  for (Index i = 0; i < count; ++i) p[i] = z[i] + beta * p[i];
}

/// A column is the first three of four lanes.
template <class T>
void blocks_times(Index nodes, const T* blocks, const T* r, T* z) {
  const hn::CappedTag<T, 4> d;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(hn::CappedTag<T, 4>()));
  if constexpr (lanes == 4) {
    for (Index i = 0; i < nodes; ++i, blocks += 9, r += 3, z += 3) {
      auto sum = hn::Mul(hn::LoadU(d, blocks), hn::Set(d, r[0]));
      sum = hn::MulAdd(hn::LoadU(d, blocks + 3), hn::Set(d, r[1]), sum);
      sum = hn::MulAdd(hn::LoadU(d, blocks + 6), hn::Set(d, r[2]), sum);
      HWY_ALIGN T row[4];
      hn::Store(sum, d, row);
      for (int c = 0; c < 3; ++c) z[c] = row[c];
    }
  } else {
    for (Index i = 0; i < nodes; ++i, blocks += 9, r += 3, z += 3)
      for (int c = 0; c < 3; ++c) z[c] = blocks[c] * r[0] + blocks[3 + c] * r[1] + blocks[6 + c] * r[2];
  }
}

double DotFloat(Index count, const float* a, const float* b) { return dot_of(count, a, b); }
double DotDouble(Index count, const double* a, const double* b) { return dot_of(count, a, b); }
double AdvanceFloat(Index count, float alpha, const float* p, const float* q, float* x, float* r) {
  return advance_by(count, alpha, p, q, x, r);
}
double AdvanceDouble(Index count, double alpha, const double* p, const double* q, double* x, double* r) {
  return advance_by(count, alpha, p, q, x, r);
}
void TurnFloat(Index count, float beta, const float* z, float* p) { turn_by(count, beta, z, p); }
void TurnDouble(Index count, double beta, const double* z, double* p) { turn_by(count, beta, z, p); }
void BlocksFloat(Index nodes, const float* blocks, const float* r, float* z) { blocks_times(nodes, blocks, r, z); }
void BlocksDouble(Index nodes, const double* blocks, const double* r, double* z) { blocks_times(nodes, blocks, r, z); }

}  // namespace HWY_NAMESPACE
}  // namespace pliant::vectors
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant::vectors {

HWY_EXPORT(DotFloat);
HWY_EXPORT(DotDouble);
HWY_EXPORT(AdvanceFloat);
HWY_EXPORT(AdvanceDouble);
HWY_EXPORT(TurnFloat);
HWY_EXPORT(TurnDouble);
HWY_EXPORT(BlocksFloat);
HWY_EXPORT(BlocksDouble);

double dot(Index count, const float* a, const float* b) { return HWY_DYNAMIC_DISPATCH(DotFloat)(count, a, b); }
double dot(Index count, const double* a, const double* b) { return HWY_DYNAMIC_DISPATCH(DotDouble)(count, a, b); }
double advance(Index count, float alpha, const float* p, const float* q, float* x, float* r) {
  return HWY_DYNAMIC_DISPATCH(AdvanceFloat)(count, alpha, p, q, x, r);
}
double advance(Index count, double alpha, const double* p, const double* q, double* x, double* r) {
  return HWY_DYNAMIC_DISPATCH(AdvanceDouble)(count, alpha, p, q, x, r);
}
void turn(Index count, float beta, const float* z, float* p) { HWY_DYNAMIC_DISPATCH(TurnFloat)(count, beta, z, p); }
void turn(Index count, double beta, const double* z, double* p) { HWY_DYNAMIC_DISPATCH(TurnDouble)(count, beta, z, p); }
void multiply_blocks(Index nodes, const float* blocks, const float* r, float* z) {
  HWY_DYNAMIC_DISPATCH(BlocksFloat)(nodes, blocks, r, z);
}
void multiply_blocks(Index nodes, const double* blocks, const double* r, double* z) {
  HWY_DYNAMIC_DISPATCH(BlocksDouble)(nodes, blocks, r, z);
}

}  // namespace pliant::vectors
#endif
