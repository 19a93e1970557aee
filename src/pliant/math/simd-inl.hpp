// One vector of doubles with ordinary operators, so that formulas read like the papers', and 3x3 matrices of them.
// Included once per instruction set (hence the toggling guard) inside Highway's foreach_target; everything is inline.
// Neither Eigen nor the standard library may be used here: their inline functions would be compiled for several
// instruction sets under one name.
//
// a * b + c is not contracted (the project compiles with -ffp-contract=off); mul_add says where a fused operation is
// meant.
#if defined(PLIANT_MATH_SIMD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_MATH_SIMD_INL_HPP
#undef PLIANT_MATH_SIMD_INL_HPP
#else
#define PLIANT_MATH_SIMD_INL_HPP
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "pliant/math/batch.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<double, kBatch>;
using Mask = hn::Mask<Tag>;

/// A vector of doubles, one per point of a batch.
struct Real {
  hn::Vec<Tag> v;

  Real() = default;
  HWY_INLINE Real(hn::Vec<Tag> x) : v(x) {}
  HWY_INLINE Real(double x) : v(hn::Set(Tag(), x)) {}
  static HWY_INLINE Real load(const double* p) { return hn::Load(Tag(), p); }
  HWY_INLINE void store(double* p) const { hn::Store(v, Tag(), p); }
};

HWY_INLINE int lanes() { return static_cast<int>(hn::Lanes(Tag())); }

HWY_INLINE Real operator+(Real a, Real b) { return hn::Add(a.v, b.v); }
HWY_INLINE Real operator-(Real a, Real b) { return hn::Sub(a.v, b.v); }
HWY_INLINE Real operator*(Real a, Real b) { return hn::Mul(a.v, b.v); }
HWY_INLINE Real operator/(Real a, Real b) { return hn::Div(a.v, b.v); }
HWY_INLINE Real operator-(Real a) { return hn::Neg(a.v); }
HWY_INLINE Mask operator>(Real a, Real b) { return hn::Gt(a.v, b.v); }
HWY_INLINE Mask operator<(Real a, Real b) { return hn::Lt(a.v, b.v); }
HWY_INLINE Mask operator<=(Real a, Real b) { return hn::Le(a.v, b.v); }
/// a b + c and c - a b, rounded once where the processor can.
HWY_INLINE Real mul_add(Real a, Real b, Real c) { return hn::MulAdd(a.v, b.v, c.v); }
HWY_INLINE Real neg_mul_add(Real a, Real b, Real c) { return hn::NegMulAdd(a.v, b.v, c.v); }
HWY_INLINE Real sqrt(Real a) { return hn::Sqrt(a.v); }
HWY_INLINE Real abs(Real a) { return hn::Abs(a.v); }
HWY_INLINE Real max(Real a, Real b) { return hn::Max(a.v, b.v); }
HWY_INLINE Real copy_sign(Real magnitude, Real sign) { return hn::CopySign(magnitude.v, sign.v); }
HWY_INLINE Real select(Mask m, Real yes, Real no) { return hn::IfThenElse(m, yes.v, no.v); }
HWY_INLINE bool any(Mask m) { return !hn::AllFalse(Tag(), m); }
/// Natural logarithm of a positive, normal or subnormal number; other lanes are unspecified, mask them out.
HWY_INLINE Real log(Real a) { return hn::Log(Tag(), a.v); }

/// Exponential, for arguments between -700 and 700.
HWY_INLINE Real exp(Real a) { return hn::Exp(Tag(), a.v); }

/// 3x3 matrix, column by column.
struct Matrix3 {
  Real m[9];
  HWY_INLINE Real& operator()(int i, int j) { return m[3 * j + i]; }
  HWY_INLINE const Real& operator()(int i, int j) const { return m[3 * j + i]; }
};

/// The matrices of points lane, lane + 1, ... of a batch.
HWY_INLINE Matrix3 load_matrix(const Batch9& batch, int lane) {
  Matrix3 A;
  for (int c = 0; c < 9; ++c) A.m[c] = Real::load(batch.row[c] + lane);
  return A;
}
HWY_INLINE void store_matrix(const Matrix3& A, Batch9& batch, int lane) {
  for (int c = 0; c < 9; ++c) A.m[c].store(batch.row[c] + lane);
}

HWY_INLINE Matrix3 operator*(const Matrix3& A, const Matrix3& B) {
  Matrix3 C;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      C(i, j) = mul_add(A(i, 2), B(2, j), mul_add(A(i, 1), B(1, j), A(i, 0) * B(0, j)));
    }
  }
  return C;
}
/// A B^T
HWY_INLINE Matrix3 times_transpose(const Matrix3& A, const Matrix3& B) {
  Matrix3 C;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      C(i, j) = mul_add(A(i, 2), B(j, 2), mul_add(A(i, 1), B(j, 1), A(i, 0) * B(j, 0)));
    }
  }
  return C;
}
/// The cofactor matrix, d det A / d A.
HWY_INLINE Matrix3 cofactor(const Matrix3& A) {
  Matrix3 C;
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3, l = (j + 2) % 3;
    for (int i = 0; i < 3; ++i) {
      const int m = (i + 1) % 3, n = (i + 2) % 3;
      C(i, j) = neg_mul_add(A(n, k), A(m, l), A(m, k) * A(n, l));
    }
  }
  return C;
}
/// Sum of products of all entries.
HWY_INLINE Real inner(const Matrix3& A, const Matrix3& B) {
  Real sum = A.m[0] * B.m[0];
  for (int c = 1; c < 9; ++c) sum = mul_add(A.m[c], B.m[c], sum);
  return sum;
}
/// det A from its cofactor matrix.
HWY_INLINE Real determinant(const Matrix3& A, const Matrix3& cof) {
  return mul_add(A.m[2], cof.m[2], mul_add(A.m[1], cof.m[1], A.m[0] * cof.m[0]));
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
