// Rotation-variant singular value decomposition of 3x3 matrices, and the symmetric 3x3 eigenproblem, for vectors of
// points.
//
// One-sided Jacobi: rotations applied from the right make the columns of B = F V orthogonal, pair by pair. It works on
// F itself, never on F^T F, so that small stretches keep full accuracy relative to the largest. A QR decomposition of
// the sorted B by Givens rotations then gives U and the stretches; since Givens rotations exist for any pair of
// numbers, rank one and zero matrices need no special case, and since all factors are rotations, det U = det V = 1 and
// the sign of det F ends in the last stretch.
//
// Every lane decides for itself whether a rotation is still needed (otherwise it is the identity, exactly), so that a
// point's result does not depend on which points share its vector. The loop ends when no lane needs one. A NaN needs
// none.
#if defined(PLIANT_MATH_SVD3_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_MATH_SVD3_INL_HPP
#undef PLIANT_MATH_SVD3_INL_HPP
#else
#define PLIANT_MATH_SVD3_INL_HPP
#endif

#include "pliant/math/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

/// F = U diag(s) V^T with rotations U, V and s[0] >= s[1] >= |s[2]|.
struct Svd {
  Matrix3 U;
  Real s[3];
  Matrix3 V;
};

struct Rotation {
  Real c, s;
};

/// The rotation that diagonalises [[app, apq], [apq, aqq]] with the smaller of the two possible angles; identity where
/// `active` is false. With d = aqq - app, b = 2 apq, h = hypot(d, b): tan = sign(d) b / (|d| + h), written without
/// dividing by d or b.
HWY_INLINE Rotation jacobi_rotation(Real app, Real apq, Real aqq, Mask active) {
  const Real d = aqq - app;
  const Real b = apq + apq;
  const Real b2 = b * b;
  const Real w = abs(d) + sqrt(mul_add(d, d, b2));
  const Real r = Real(1.0) / sqrt(mul_add(w, w, b2));
  const Real s = b * r;
  return {select(active, w * r, 1.0), select(active, select(d < Real(0.0), -s, s), 0.0)};
}

/// sqrt(x^2 + y^2) for x, y >= 0 from below, to 5%, and to second order in y/x: the largest of a few of its tangents.
HWY_INLINE Real rough_hypot(Real x, Real y) {
  return max(x, max(mul_add(x, 0.8, Real(0.6) * y), mul_add(x, 0.28, Real(0.96) * y)));
}

/// Nearly the rotation above, exactly orthogonal, at a third of the cost: tan(angle / 2) = b / (w + hypot(w, b)) with
/// w = |d| + hypot(d, b) is taken with rough_hypot, and sine and cosine follow from it without a root. The product of
/// the columns falls to a tenth or less of its size, and to its cube when it is small: no more sweeps than with the
/// exact angle.
HWY_INLINE Rotation rough_jacobi_rotation(Real app, Real apq, Real aqq, Mask active) {
  const Real d = aqq - app;
  const Real b = abs(apq + apq);
  const Real w = abs(d) + rough_hypot(abs(d), b);
  const Real h = w + rough_hypot(w, b);
  const Real h2 = h * h;
  const Real r = Real(1.0) / mul_add(b, b, h2);
  const Real c = neg_mul_add(b, b, h2) * r, s = (h + h) * (b * r);
  return {select(active, c, 1.0), select(active, copy_sign(s, d * apq), 0.0)};
}

/// Columns p and q of A: (a_p, a_q) <- (c a_p - s a_q, s a_p + c a_q).
HWY_INLINE void rotate_columns(Matrix3& A, int p, int q, Rotation r) {
  for (int i = 0; i < 3; ++i) {
    const Real ap = A(i, p), aq = A(i, q);
    A(i, p) = neg_mul_add(r.s, aq, r.c * ap);
    A(i, q) = mul_add(r.s, ap, r.c * aq);
  }
}

HWY_INLINE Real column_product(const Matrix3& A, int p, int q) {
  return mul_add(A(2, p), A(2, q), mul_add(A(1, p), A(1, q), A(0, p) * A(0, q)));
}

HWY_INLINE Matrix3 identity() {
  Matrix3 I;
  for (int c = 0; c < 9; ++c) I.m[c] = Real(c % 4 == 0 ? 1.0 : 0.0);
  return I;
}

/// Makes columns p and q of each B orthogonal; false when they were, to rounding, in every lane. A rotation is a long
/// chain of dependent divisions and square roots: N independent matrices at a time fill the waiting.
template <int N>
HWY_INLINE bool orthogonalise(Matrix3* B, Matrix3* V, int p, int q) {
  // The computed product of orthogonal columns is off by up to some 3 eps |b_p| |b_q|; with 4 eps the loop always ends,
  // and what is left of the product perturbs the stretches by less than an ulp of the largest.
  constexpr double kTolerance = 4 * 2.220446049250313e-16;
  Real app[N], aqq[N], apq[N];
  Mask active[N];
  bool rotate = false;
#pragma GCC unroll 4
  for (int n = 0; n < N; ++n) {
    app[n] = column_product(B[n], p, p);
    aqq[n] = column_product(B[n], q, q);
    apq[n] = column_product(B[n], p, q);
    active[n] = apq[n] * apq[n] > (kTolerance * kTolerance) * app[n] * aqq[n];
    rotate |= any(active[n]);
  }
  if (!rotate) return false;
  Rotation r[N];
#pragma GCC unroll 4
  for (int n = 0; n < N; ++n) r[n] = rough_jacobi_rotation(app[n], apq[n], aqq[n], active[n]);
#pragma GCC unroll 4
  for (int n = 0; n < N; ++n) {
    rotate_columns(B[n], p, q, r[n]);
    rotate_columns(V[n], p, q, r[n]);
  }
  return true;
}

/// Swaps columns p < q where q is the longer one, changing one sign so that the determinant stays.
HWY_INLINE void sort_columns(Matrix3& B, Matrix3& V, Real norms[3], int p, int q) {
  const Mask swap = norms[q] > norms[p];
  const Real n = norms[p];
  norms[p] = select(swap, norms[q], n);
  norms[q] = select(swap, n, norms[q]);
  for (int i = 0; i < 3; ++i) {
    const Real bp = B(i, p), vp = V(i, p);
    B(i, p) = select(swap, B(i, q), bp);
    B(i, q) = select(swap, -bp, B(i, q));
    V(i, p) = select(swap, V(i, q), vp);
    V(i, q) = select(swap, -vp, V(i, q));
  }
}

/// Rotates rows p and q of B so that B(q, column) = 0 and B(p, column) >= 0, and U so that U B stays the same.
HWY_INLINE void givens(Matrix3& B, Matrix3& U, int p, int q, int column) {
  const Real a = B(p, column), b = B(q, column);
  const Real r = sqrt(mul_add(a, a, b * b));
  const Mask zero = r <= Real(0.0);
  const Real inverse = Real(1.0) / r;
  const Real c = select(zero, 1.0, a * inverse), s = select(zero, 0.0, b * inverse);
  B(p, column) = r;
  for (int j = column + 1; j < 3; ++j) {
    const Real bp = B(p, j), bq = B(q, j);
    B(p, j) = mul_add(c, bp, s * bq);
    B(q, j) = neg_mul_add(s, bp, c * bq);
  }
  rotate_columns(U, p, q, {c, -s});
}

/// Decomposes N vectors of matrices.
template <int N>
HWY_INLINE void rotation_svd(const Matrix3* F, Svd* out) {
  Matrix3 B[N], V[N];
  for (int n = 0; n < N; ++n) {
    B[n] = F[n];
    V[n] = identity();
  }
  // Convergence is quadratic: four or five sweeps for ordinary matrices, two more for badly scaled ones.
  constexpr int kSweeps = 12;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool rotated = orthogonalise<N>(B, V, 0, 1);
    rotated |= orthogonalise<N>(B, V, 0, 2);
    rotated |= orthogonalise<N>(B, V, 1, 2);
    if (!rotated) break;
  }
  for (int n = 0; n < N; ++n) {
    Real norms[3];
    for (int j = 0; j < 3; ++j) norms[j] = column_product(B[n], j, j);
    sort_columns(B[n], V[n], norms, 0, 1);
    sort_columns(B[n], V[n], norms, 1, 2);
    sort_columns(B[n], V[n], norms, 0, 1);
    Matrix3 U = identity();
    givens(B[n], U, 0, 1, 0);
    givens(B[n], U, 0, 2, 0);
    givens(B[n], U, 1, 2, 1);
    out[n].U = U;
    out[n].V = V[n];
    for (int i = 0; i < 3; ++i) out[n].s[i] = B[n](i, i);
  }
}

constexpr int kTogether = 2;  ///< vectors decomposed together

/// Decomposes kTogether vectors of a batch. Kept out of line: it is long, and every law would have a copy of its own,
/// which costs minutes of compilation and gains nothing.
HWY_NOINLINE inline void decompose(const Batch9& F, int lane, Svd svd[kTogether]) {
  Matrix3 A[kTogether];
  for (int n = 0; n < kTogether; ++n) A[n] = load_matrix(F, lane + n * lanes());
  rotation_svd<kTogether>(A, svd);
}

/// Calls body(lane, svd) for every vector of a batch.
template <class Body>
HWY_INLINE void for_svd(const Batch9& F, Body&& body) {
  static_assert(kBatch % (kTogether * static_cast<int>(hn::MaxLanes(Tag()))) == 0);
  for (int lane = 0; lane < kBatch; lane += kTogether * lanes()) {
    Svd svd[kTogether];
    decompose(F, lane, svd);
    for (int n = 0; n < kTogether; ++n) body(lane + n * lanes(), svd[n]);
  }
}

/// Symmetric 3x3 matrix, packed upper triangle: 00, 01, 11, 02, 12, 22.
struct Symmetric3 {
  Real m[6];
};

/// Rotates coordinates p and q (k is the third) of a symmetric matrix; false when nothing was left to do.
HWY_INLINE bool diagonalise(Symmetric3& A, Matrix3& Q, int p, int q, Real tolerance) {
  const int k = 3 - p - q;
  const int kp = packed_any(k, p), kq = packed_any(k, q);
  Real &app = A.m[packed(p, p)], &aqq = A.m[packed(q, q)], &apq = A.m[packed(p, q)], &akp = A.m[kp], &akq = A.m[kq];
  const Mask active = abs(apq) > tolerance;
  if (!any(active)) return false;
  const Rotation r = jacobi_rotation(app, apq, aqq, active);
  const Real t = r.s / r.c * apq;
  app = app - t;
  aqq = aqq + t;
  apq = select(active, 0.0, apq);
  const Real ap = akp, aq = akq;
  akp = neg_mul_add(r.s, aq, r.c * ap);
  akq = mul_add(r.s, ap, r.c * aq);
  rotate_columns(Q, p, q, r);
  return true;
}

/// Clamps the negative eigenvalues of A at zero. Lanes that are positive definite already stay as they are.
HWY_INLINE void project_positive(Symmetric3& A) {
  // Pivots of a Cholesky decomposition without division: leading minors.
  const Real minor = neg_mul_add(A.m[1], A.m[1], A.m[0] * A.m[2]);
  const Real c0 = neg_mul_add(A.m[4], A.m[4], A.m[2] * A.m[5]);
  const Real c1 = neg_mul_add(A.m[1], A.m[5], A.m[4] * A.m[3]);
  const Real c2 = neg_mul_add(A.m[2], A.m[3], A.m[1] * A.m[4]);
  const Real det = mul_add(A.m[3], c2, mul_add(A.m[1], c1, A.m[0] * c0));
  const Mask indefinite = hn::Not(hn::And(hn::And(A.m[0] > Real(0.0), minor > Real(0.0)), det > Real(0.0)));
  if (!any(indefinite)) return;

  Symmetric3 D = A;
  Matrix3 Q = identity();
  Real scale = 0.0;
  for (int c = 0; c < 6; ++c) scale = max(scale, abs(A.m[c]));
  const Real tolerance = scale * 2.220446049250313e-16;
  constexpr int kSweeps = 12;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool rotated = diagonalise(D, Q, 0, 1, tolerance);
    rotated |= diagonalise(D, Q, 0, 2, tolerance);
    rotated |= diagonalise(D, Q, 1, 2, tolerance);
    if (!rotated) break;
  }
  const Real e[3] = {max(D.m[0], 0.0), max(D.m[2], 0.0), max(D.m[5], 0.0)};
  for (int c = 0; c < 3; ++c) {
    for (int r = 0; r <= c; ++r) {
      const Real value = mul_add(e[2] * Q(r, 2), Q(c, 2), mul_add(e[1] * Q(r, 1), Q(c, 1), e[0] * Q(r, 0) * Q(c, 0)));
      A.m[packed(r, c)] = select(indefinite, value, A.m[packed(r, c)]);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
