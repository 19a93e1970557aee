// The rotation nearest to a 3x3 matrix, for vectors of points, without a decomposition.
//
// R maximises tr(R^T F) over the rotations. With the stretches s_i of F (the last carries the sign of det F) the
// maximum is l = s1 + s2 + s3, the largest root of
//   p(l) = l^4 - 2 I l^2 - 8 J l + I^2 - 4 |G|^2,    I = |F|^2,  G = cof F,  J = det F,
// whose four roots are the sums of the stretches with an even number of minus signs: the characteristic polynomial of
// Horn's quaternion matrix. Newton's iteration from sqrt(3 I) >= l falls to it monotonically, since p is convex there.
// And since R = dl/dF, differentiating p(l) = 0 gives
//   R = ((l^2 + I) F + 2 l G - 2 F F^T F) / (l^3 - I l - 2 J),
// with the denominator 2 (s1 + s2)(s2 + s3)(s3 + s1). It vanishes where R is not unique; near there R loses digits, and
// `good` says so: take the singular value decomposition for those points.
//
// Every lane decides for itself when it has converged, so that a point's result does not depend on its neighbours.
#if defined(PLIANT_MATH_ROTATION3_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_MATH_ROTATION3_INL_HPP
#undef PLIANT_MATH_ROTATION3_INL_HPP
#else
#define PLIANT_MATH_ROTATION3_INL_HPP
#endif

#include "pliant/math/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

/// F F^T F
HWY_INLINE Matrix3 cube(const Matrix3& F) {
  Real C[3][3];
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i <= j; ++i) {
      C[i][j] = mul_add(F(2, i), F(2, j), mul_add(F(1, i), F(1, j), F(0, i) * F(0, j)));
      C[j][i] = C[i][j];
    }
  }
  Matrix3 A;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) A(i, j) = mul_add(F(i, 2), C[2][j], mul_add(F(i, 1), C[1][j], F(i, 0) * C[0][j]));
  }
  return A;
}

/// The largest root of p, where `good` at the end; N points at a time, since each division waits for the one before.
template <int N>
HWY_INLINE void sum_of_stretches(const Real* I, const Real* J, const Real* II, Real* l, Mask* good) {
  constexpr int kIterations = 12;
  constexpr double kSettled = 1e-8;        // of the step before the last: the convergence is quadratic
  constexpr double kLeastSlope = 1.0 / 8;  // of p over l^3: (s1 + s2)(s2 + s3)(s3 + s1) > l^3 / 64
  Mask active[N];
  for (int n = 0; n < N; ++n) {
    l[n] = sqrt(Real(3.0) * I[n]);
    active[n] = l[n] > Real(0.0);
  }
  for (int k = 0; k < kIterations; ++k) {
    bool more = false;
    for (int n = 0; n < N; ++n) {
      const Real l2 = l[n] * l[n], J8 = Real(8.0) * J[n];
      const Real constant = neg_mul_add(Real(4.0), II[n], I[n] * I[n]);
      const Real p = mul_add(mul_add(l2 - (I[n] + I[n]), l[n], -J8), l[n], constant);
      const Real slope = mul_add(Real(4.0) * l[n], l2 - I[n], -J8);
      const Real step = p / slope;
      l[n] = select(active[n], l[n] - step, l[n]);
      active[n] = hn::And(active[n], abs(step) > Real(kSettled) * l[n]);
      more |= any(active[n]);
    }
    if (!more) break;
  }
  for (int n = 0; n < N; ++n) {
    const Real l2 = l[n] * l[n];
    const Real slope = mul_add(Real(4.0) * l[n], l2 - I[n], Real(-8.0) * J[n]);
    good[n] = hn::And(hn::Not(active[n]), slope > Real(kLeastSlope) * l2 * l[n]);
  }
}

/// The nearest rotations of N vectors of matrices; unspecified where not `good`.
template <int N>
HWY_INLINE void nearest_rotation(const Matrix3* F, Matrix3* R, Mask* good) {
  Matrix3 G[N];
  Real I[N], J[N], II[N], l[N];
  for (int n = 0; n < N; ++n) {
    G[n] = cofactor(F[n]);
    I[n] = inner(F[n], F[n]);
    J[n] = determinant(F[n], G[n]);
    II[n] = inner(G[n], G[n]);
  }
  sum_of_stretches<N>(I, J, II, l, good);
  for (int n = 0; n < N; ++n) {
    const Real l2 = l[n] * l[n];
    const Real inverse = Real(1.0) / neg_mul_add(Real(2.0), J[n], l[n] * (l2 - I[n]));
    const Real f = (l2 + I[n]) * inverse, g = (l[n] + l[n]) * inverse, c = inverse + inverse;
    const Matrix3 A = cube(F[n]);
    for (int k = 0; k < 9; ++k) R[n].m[k] = neg_mul_add(c, A.m[k], mul_add(f, F[n].m[k], g * G[n].m[k]));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
