// A row or column of six numbers is the first six of eight lanes, one of three the first three of four; the lanes
// behind run along with the neighbour's numbers and are dropped.
#include "pliant/linalg/multigrid/kernels.hpp"

#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/linalg/multigrid/kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::multigrid {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// N numbers in as many vectors as they need.
template <int N>
struct Lanes {
  static constexpr int kWidth = N == 3 ? 4 : 8;
  using D = hn::CappedTag<Real, kWidth>;
  using V = hn::Vec<D>;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  static constexpr int kParts = (N + kLanes - 1) / kLanes;
  V part[kParts];

  static HWY_INLINE Lanes zero() {
    Lanes v;
    for (int p = 0; p < kParts; ++p) v.part[p] = hn::Zero(D());
    return v;
  }
  static HWY_INLINE Lanes load(const Real* from) {
    Lanes v;
    for (int p = 0; p < kParts; ++p) v.part[p] = hn::LoadU(D(), from + p * kLanes);
    return v;
  }
  /// Writes kWidth numbers.
  HWY_INLINE void store(Real* to) const {
    for (int p = 0; p < kParts; ++p) hn::StoreU(part[p], D(), to + p * kLanes);
  }
  HWY_INLINE void add(Real factor, const Lanes& v) {
    const V f = hn::Set(D(), factor);
    for (int p = 0; p < kParts; ++p) part[p] = hn::MulAdd(f, v.part[p], part[p]);
  }
  HWY_INLINE void add_products(const Lanes& u, const Lanes& v) {
    for (int p = 0; p < kParts; ++p) part[p] = hn::MulAdd(u.part[p], v.part[p], part[p]);
  }
  HWY_INLINE void add(const Lanes& v) {
    for (int p = 0; p < kParts; ++p) part[p] = hn::Add(part[p], v.part[p]);
  }
};

/// Row i of A x.
template <int B>
HWY_INLINE Lanes<B> product_row(const MatrixView& A, Index i, const Real* x) {
  auto even = Lanes<B>::zero(), odd = Lanes<B>::zero();
  const std::int64_t end = A.start[i + 1];
  const Real* block = A.values + B * B * A.start[i];
  for (std::int64_t k = A.start[i]; k < end; ++k, block += B * B) {
    const Real* v = x + B * static_cast<std::int64_t>(A.columns[k]);
    for (int c = 0; c < B; c += 3) {
      even.add(v[c], Lanes<B>::load(block + B * c));
      odd.add(v[c + 1], Lanes<B>::load(block + B * (c + 1)));
      even.add(v[c + 2], Lanes<B>::load(block + B * (c + 2)));
    }
  }
  even.add(odd);
  return even;
}

/// The block of D^{-1} times t.
template <int B>
HWY_INLINE Lanes<B> precondition(const Real* inverse, const Real* t) {
  auto sum = Lanes<B>::zero();
  for (int c = 0; c < B; ++c) sum.add(t[c], Lanes<B>::load(inverse + B * c));
  return sum;
}

template <int B>
void smooth_rows(Range rows, const MatrixView& A, const SmoothingStep& step) {
  for (Index i = rows.begin; i < rows.end; ++i) {
    const std::int64_t first = B * static_cast<std::int64_t>(i);
    HWY_ALIGN Real t[8], z[8];
    product_row<B>(A, i, step.x).store(t);
    for (int c = 0; c < B; ++c) t[c] = step.f[first + c] - t[c];
    precondition<B>(A.inverse + B * first, t).store(z);
    for (int c = 0; c < B; ++c) {
      const Real d = step.momentum * step.d[first + c] + step.gain * z[c];
      step.d[first + c] = d;
      step.y[first + c] = step.x[first + c] + d;
    }
  }
}

template <int B>
void begin_rows(Range rows, const MatrixView& A, const SmoothingStep& step) {
  for (Index i = rows.begin; i < rows.end; ++i) {
    const std::int64_t first = B * static_cast<std::int64_t>(i);
    HWY_ALIGN Real z[8];
    precondition<B>(A.inverse + B * first, step.f + first).store(z);
    for (int c = 0; c < B; ++c) step.y[first + c] = step.d[first + c] = step.gain * z[c];
  }
}

template <int B>
void residual_rows(Range rows, const MatrixView& A, const Real* f, const Real* x, Real* r) {
  for (Index i = rows.begin; i < rows.end; ++i) {
    const std::int64_t first = B * static_cast<std::int64_t>(i);
    HWY_ALIGN Real t[8];
    product_row<B>(A, i, x).store(t);
    for (int c = 0; c < B; ++c) r[first + c] = f[first + c] - t[c];
  }
}

template <int B>
void restrict_rows(Range rows, const RectangularView& P, const SparseColumns& columns, const Real* r, Real* out) {
  for (Index a = rows.begin; a < rows.end; ++a) {
    auto sum = Lanes<6>::zero();
    for (const auto& [i, k] : columns.column(a)) {
      const Real* block = P.values + 6 * B * k;
      const Real* v = r + B * static_cast<std::int64_t>(i);
      for (int c = 0; c < B; ++c) sum.add(v[c], Lanes<6>::load(block + 6 * c));
    }
    HWY_ALIGN Real t[8];
    sum.store(t);
    for (int c = 0; c < 6; ++c) out[6 * static_cast<std::int64_t>(a) + c] = t[c];
  }
}

template <int B>
void prolong_rows(Range rows, const RectangularView& P, const Real* e, Real* x) {
  for (Index i = rows.begin; i < rows.end; ++i) {
    Lanes<6> sum[B];
    for (int c = 0; c < B; ++c) sum[c] = Lanes<6>::zero();
    for (std::int64_t k = P.start[i]; k < P.start[i + 1]; ++k) {
      const Real* block = P.values + 6 * B * k;
      const auto v = Lanes<6>::load(e + 6 * static_cast<std::int64_t>(P.columns[k]));
      for (int c = 0; c < B; ++c) sum[c].add_products(Lanes<6>::load(block + 6 * c), v);
    }
    for (int c = 0; c < B; ++c) {
      HWY_ALIGN Real t[8];
      sum[c].store(t);
      x[B * static_cast<std::int64_t>(i) + c] += ((t[0] + t[1]) + (t[2] + t[3])) + (t[4] + t[5]);
    }
  }
}

template <int B>
void smooth_prolongation_rows(Range rows, const MatrixView& A, const Real* Q, const std::int64_t* P_start,
                              const std::uint16_t* place, const std::int32_t* own, Real omega, Real* scratch,
                              Real* P_values) {
  for (Index i = rows.begin; i < rows.end; ++i) {
    const std::int64_t count = P_start[i + 1] - P_start[i];
    std::fill(scratch, scratch + 8 * B * count, Real(0));
    for (std::int64_t k = A.start[i]; k < A.start[i + 1]; ++k) {
      if (place[k] == 0xffff) continue;
      const Real* a = A.values + B * B * k;
      const Real* q = Q + 6 * B * static_cast<std::int64_t>(A.columns[k]);
      Real* out = scratch + 8 * B * static_cast<std::int64_t>(place[k]);
      Lanes<6> row[B];
      for (int c = 0; c < B; ++c) row[c] = Lanes<6>::load(q + 6 * c);
      for (int r = 0; r < B; ++r) {
        auto sum = Lanes<6>::load(out + 8 * r);
        for (int c = 0; c < B; ++c) sum.add(a[B * c + r], row[c]);
        sum.store(out + 8 * r);
      }
    }
    const Real* inverse = A.inverse + B * B * static_cast<std::int64_t>(i);
    Real* p = P_values + 6 * B * P_start[i];
    for (std::int64_t m = 0; m < count; ++m) {
      const Real* t = scratch + 8 * B * m;
      for (int r = 0; r < B; ++r, p += 6) {
        auto sum = Lanes<6>::zero();
        for (int c = 0; c < B; ++c) sum.add(-omega * inverse[B * c + r], Lanes<6>::load(t + 8 * c));
        HWY_ALIGN Real values[8];
        sum.store(values);
        const Real* q = Q + 6 * B * static_cast<std::int64_t>(i) + 6 * r;
        const Real is_own = m == own[i] ? Real(1) : Real(0);
        for (int c = 0; c < 6; ++c) p[c] = values[c] + is_own * q[c];
      }
    }
  }
}

template <int B>
void multiply(Range rows, const MatrixView& A, const RectangularView& P, const SparseRows& AP, Index* position,
              Real* scratch, Real* AP_values) {
  for (Index i = rows.begin; i < rows.end; ++i) {
    const auto columns = AP.row(i);
    const auto count = static_cast<std::int64_t>(columns.size());
    for (std::int64_t m = 0; m < count; ++m) position[columns[at(m)]] = static_cast<Index>(m);
    std::fill(scratch, scratch + 8 * B * count, Real(0));
    for (std::int64_t k = A.start[i]; k < A.start[i + 1]; ++k) {
      const Real* a = A.values + B * B * k;
      const Index j = A.columns[k];
      for (std::int64_t e = P.start[j]; e < P.start[j + 1]; ++e) {
        const Real* p = P.values + 6 * B * e;
        Real* out = scratch + 8 * B * static_cast<std::int64_t>(position[P.columns[e]]);
        Lanes<6> row[B];
        for (int c = 0; c < B; ++c) row[c] = Lanes<6>::load(p + 6 * c);
        for (int r = 0; r < B; ++r) {
          auto sum = Lanes<6>::load(out + 8 * r);
          for (int c = 0; c < B; ++c) sum.add(a[B * c + r], row[c]);
          sum.store(out + 8 * r);
        }
      }
    }
    Real* to = AP_values + 6 * B * AP.start[at(i)];
    for (std::int64_t r = 0; r < B * count; ++r)
      for (int c = 0; c < 6; ++c) *to++ = scratch[8 * r + c];
  }
}

template <int B>
void galerkin(Range rows, const RectangularView& P, const SparseColumns& columns, const RectangularView& AP,
              const SparseRows& coarse, const std::int64_t* mirror, Index* position, Real* scratch, Real* values) {
  for (Index a = rows.begin; a < rows.end; ++a) {
    const auto row = coarse.row(a);
    const auto count = static_cast<std::int64_t>(row.size());
    for (std::int64_t m = 0; m < count; ++m) position[row[at(m)]] = static_cast<Index>(m);
    std::fill(scratch, scratch + 48 * count, Real(0));
    for (const auto& [i, k] : columns.column(a)) {
      const Real* p = P.values + 6 * B * k;
      for (std::int64_t e = AP.start[i]; e < AP.start[i + 1]; ++e) {
        if (AP.columns[e] < a) continue;
        const Real* ap = AP.values + 6 * B * e;
        Real* out = scratch + 48 * static_cast<std::int64_t>(position[AP.columns[e]]);
        Lanes<6> right[B];
        for (int r = 0; r < B; ++r) right[r] = Lanes<6>::load(ap + 6 * r);
        for (int c = 0; c < 6; ++c) {
          auto sum = Lanes<6>::load(out + 8 * c);
          for (int r = 0; r < B; ++r) sum.add(p[6 * r + c], right[r]);
          sum.store(out + 8 * c);
        }
      }
    }
    for (std::int64_t m = 0; m < count; ++m) {
      if (row[at(m)] < a) continue;
      const std::int64_t k = coarse.start[at(a)] + m;
      Real *own = values + 36 * k, *other = values + 36 * mirror[k];
      const bool is_diagonal = row[at(m)] == a;
      for (int c = 0; c < 6; ++c)
        for (int r = is_diagonal ? c : 0; r < 6; ++r) {
          const Real value = scratch[48 * m + 8 * c + r];
          own[6 * r + c] = value;    // (c, r) of block (a, m), by columns
          other[6 * c + r] = value;  // (r, c) of its transpose
        }
    }
  }
}

void Smooth(Range rows, const MatrixView& A, const SmoothingStep& step) {
  A.b == 3 ? smooth_rows<3>(rows, A, step) : smooth_rows<6>(rows, A, step);
}
void BeginSmoothing(Range rows, const MatrixView& A, const SmoothingStep& step) {
  A.b == 3 ? begin_rows<3>(rows, A, step) : begin_rows<6>(rows, A, step);
}
void Residual(Range rows, const MatrixView& A, const Real* f, const Real* x, Real* r) {
  A.b == 3 ? residual_rows<3>(rows, A, f, x, r) : residual_rows<6>(rows, A, f, x, r);
}
void Restrict(Range rows, const RectangularView& P, const SparseColumns& columns, const Real* r, Real* out) {
  P.b == 3 ? restrict_rows<3>(rows, P, columns, r, out) : restrict_rows<6>(rows, P, columns, r, out);
}
void Prolong(Range rows, const RectangularView& P, const Real* e, Real* x) {
  P.b == 3 ? prolong_rows<3>(rows, P, e, x) : prolong_rows<6>(rows, P, e, x);
}
void SmoothProlongation(Range rows, const MatrixView& A, const Real* Q, const std::int64_t* P_start,
                        const std::uint16_t* place, const std::int32_t* own, Real omega, Real* scratch,
                        Real* P_values) {
  A.b == 3 ? smooth_prolongation_rows<3>(rows, A, Q, P_start, place, own, omega, scratch, P_values)
           : smooth_prolongation_rows<6>(rows, A, Q, P_start, place, own, omega, scratch, P_values);
}
void Multiply(Range rows, const MatrixView& A, const RectangularView& P, const SparseRows& AP, Index* position,
              Real* scratch, Real* AP_values) {
  A.b == 3 ? multiply<3>(rows, A, P, AP, position, scratch, AP_values)
           : multiply<6>(rows, A, P, AP, position, scratch, AP_values);
}
void Galerkin(Range rows, const RectangularView& P, const SparseColumns& columns, const RectangularView& AP,
              const SparseRows& coarse, const std::int64_t* mirror, Index* position, Real* scratch, Real* values) {
  P.b == 3 ? galerkin<3>(rows, P, columns, AP, coarse, mirror, position, scratch, values)
           : galerkin<6>(rows, P, columns, AP, coarse, mirror, position, scratch, values);
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant::multigrid
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant::multigrid {

HWY_EXPORT(Smooth);
HWY_EXPORT(BeginSmoothing);
HWY_EXPORT(Residual);
HWY_EXPORT(Restrict);
HWY_EXPORT(Prolong);
HWY_EXPORT(SmoothProlongation);
HWY_EXPORT(Multiply);
HWY_EXPORT(Galerkin);

void smooth(Range rows, const MatrixView& A, const SmoothingStep& step) { HWY_DYNAMIC_DISPATCH(Smooth)(rows, A, step); }
void begin_smoothing(Range rows, const MatrixView& A, const SmoothingStep& step) {
  HWY_DYNAMIC_DISPATCH(BeginSmoothing)(rows, A, step);
}
void residual(Range rows, const MatrixView& A, const Real* f, const Real* x, Real* r) {
  HWY_DYNAMIC_DISPATCH(Residual)(rows, A, f, x, r);
}
void restrict_to(Range coarse_rows, const RectangularView& P, const SparseColumns& columns, const Real* r, Real* out) {
  HWY_DYNAMIC_DISPATCH(Restrict)(coarse_rows, P, columns, r, out);
}
void add_prolonged(Range rows, const RectangularView& P, const Real* e, Real* x) {
  HWY_DYNAMIC_DISPATCH(Prolong)(rows, P, e, x);
}
void smooth_prolongation(Range rows, const MatrixView& A, const Real* Q, const std::int64_t* P_start,
                         const std::uint16_t* place, const std::int32_t* own, Real omega, Real* scratch,
                         Real* P_values) {
  HWY_DYNAMIC_DISPATCH(SmoothProlongation)(rows, A, Q, P_start, place, own, omega, scratch, P_values);
}
void multiply_rows(Range rows, const MatrixView& A, const RectangularView& P, const SparseRows& AP, Index* position,
                   Real* scratch, Real* AP_values) {
  HWY_DYNAMIC_DISPATCH(Multiply)(rows, A, P, AP, position, scratch, AP_values);
}
void galerkin_rows(Range coarse_rows, const RectangularView& P, const SparseColumns& columns, const RectangularView& AP,
                   const SparseRows& coarse, const std::int64_t* mirror, Index* position, Real* scratch, Real* values) {
  HWY_DYNAMIC_DISPATCH(Galerkin)(coarse_rows, P, columns, AP, coarse, mirror, position, scratch, values);
}

}  // namespace pliant::multigrid
#endif
