#include "pliant/solvers/warp_canceling/corotated_kernels.hpp"

#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/solvers/warp_canceling/corotated_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "pliant/energies/elastic_layout-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

struct Vector3 {
  Real v[3];
};

HWY_INLINE Vector3 load_vector(const double (*row)[kBatch], int lane) {
  return {{Real::load(row[0] + lane), Real::load(row[1] + lane), Real::load(row[2] + lane)}};
}
HWY_INLINE Matrix3 load_rows(const double (*row)[kBatch], int lane) {
  Matrix3 A;
  for (int c = 0; c < 9; ++c) A.m[c] = Real::load(row[c] + lane);
  return A;
}
HWY_INLINE Vector3 times(const Matrix3& A, const Vector3& x) {
  Vector3 y;
  for (int i = 0; i < 3; ++i) y.v[i] = mul_add(A(i, 2), x.v[2], mul_add(A(i, 1), x.v[1], A(i, 0) * x.v[0]));
  return y;
}
/// A^T x
HWY_INLINE Vector3 transpose_times(const Matrix3& A, const Vector3& x) {
  Vector3 y;
  for (int j = 0; j < 3; ++j) y.v[j] = mul_add(A(2, j), x.v[2], mul_add(A(1, j), x.v[1], A(0, j) * x.v[0]));
  return y;
}
/// A^T B
HWY_INLINE Matrix3 transpose_times(const Matrix3& A, const Matrix3& B) {
  Matrix3 C;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) C(i, j) = mul_add(A(2, i), B(2, j), mul_add(A(1, i), B(1, j), A(0, i) * B(0, j)));
  return C;
}
HWY_INLINE Real dot(const Vector3& a, const Vector3& b) {
  return mul_add(a.v[2], b.v[2], mul_add(a.v[1], b.v[1], a.v[0] * b.v[0]));
}

/// b_a = grad N_a: the rows of the inverse edges for nodes 1 to 3, and minus their sum for node 0.
struct ShapeGradients {
  Vector3 b[4];
};
HWY_INLINE ShapeGradients shape_gradients(const ElementGeometry& geometry, int lane) {
  ShapeGradients g;
  for (int j = 0; j < 3; ++j) {
    for (int a = 1; a < 4; ++a) g.b[a].v[j] = Real::load(geometry.row[3 * j + a - 1] + lane);
    g.b[0].v[j] = -(g.b[1].v[j] + g.b[2].v[j] + g.b[3].v[j]);
  }
  return g;
}

/// lambda tr(W) 1 + mu (W + W^T)
HWY_INLINE Matrix3 linear_stress(const Matrix3& W, Real mu, Real lambda) {
  Matrix3 S;
  const Real pressure = lambda * (W(0, 0) + W(1, 1) + W(2, 2));
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) S(i, j) = mu * (W(i, j) + W(j, i));
  for (int i = 0; i < 3; ++i) S(i, i) = S(i, i) + pressure;
  return S;
}

void corotated_stress_batch(const Batch9& R, const Batch6& S, const Batch<2>& lame, Batch<1>& psi, Batch9& P) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    const Real mu = Real::load(lame.row[0] + lane), lambda = Real::load(lame.row[1] + lane);
    Matrix3 E;  // S - 1
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) E(i, j) = Real::load(S.row[packed_any(i, j)] + lane);
    for (int i = 0; i < 3; ++i) E(i, i) = E(i, i) - Real(1.0);
    const Real trace = E(0, 0) + E(1, 1) + E(2, 2);
    (mu * inner(E, E) + Real(0.5) * lambda * trace * trace).store(psi.row[0] + lane);
    for (int c = 0; c < 9; ++c) E.m[c] = (mu + mu) * E.m[c];
    for (int i = 0; i < 3; ++i) E(i, i) = mul_add(lambda, trace, E(i, i));
    store_matrix(load_matrix(R, lane) * E, P, lane);
  }
}

void corotated_impulse_batch(const Batch9& R, const Batch9& P, const NodeBatch& v, const ElementGeometry& geometry,
                             const Batch<2>& lame, double h, double scale, Batch9& impulse) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    Matrix3 edges;  // of the velocities
    for (int c = 0; c < 9; ++c) edges.m[c] = Real::load(v.row[3 + c] + lane);
    const Matrix3 rotation = load_matrix(R, lane);
    const Matrix3 W = transpose_times(rotation, edges * load_rows(geometry.row, lane));
    const Matrix3 S = linear_stress(W, Real::load(lame.row[0] + lane), Real::load(lame.row[1] + lane));
    const Matrix3 RS = rotation * S;
    for (int c = 0; c < 9; ++c)
      (-mul_add(Real(scale), RS.m[c], Real(h) * Real::load(P.row[c] + lane))).store(impulse.row[c] + lane);
  }
}

void warp_error_batch(const Batch9& R, const NodeRotationBatch& N, const NodeRotationBatch& Q, const NodeVectorBatch& u,
                      const ElementGeometry& geometry, const Batch<2>& lame, const Batch<1>& weight, Batch<1>& error) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    const ShapeGradients g = shape_gradients(geometry, lane);
    const Matrix3 rotation = load_matrix(R, lane);
    Matrix3 U, W;  // sum_a u_a b_a^T, and the same with every u_a seen from the frame it was assembled in
    for (int c = 0; c < 9; ++c) U.m[c] = W.m[c] = 0.0;
    for (int a = 0; a < 4; ++a) {
      const Vector3 ua = load_vector(u.row + 3 * a, lane);
      const Vector3 wa =
          transpose_times(load_rows(Q.row + 9 * a, lane), transpose_times(load_rows(N.row + 9 * a, lane), ua));
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) {
          U(i, j) = mul_add(ua.v[i], g.b[a].v[j], U(i, j));
          W(i, j) = mul_add(wa.v[i], g.b[a].v[j], W(i, j));
        }
    }
    const Real mu = Real::load(lame.row[0] + lane), lambda = Real::load(lame.row[1] + lane);
    const Matrix3 fresh = rotation * linear_stress(transpose_times(rotation, U), mu, lambda);
    const Matrix3 stale = linear_stress(W, mu, lambda);
    Real sum = 0.0;
    for (int a = 0; a < 4; ++a) {
      const Vector3 f = times(fresh, g.b[a]);
      const Vector3 s =
          times(load_rows(N.row + 9 * a, lane), times(load_rows(Q.row + 9 * a, lane), times(stale, g.b[a])));
      const Vector3 d = {{f.v[0] - s.v[0], f.v[1] - s.v[1], f.v[2] - s.v[2]}};
      sum = sum + dot(d, d);
    }
    (Real::load(weight.row[0] + lane) * sqrt(sum)).store(error.row[0] + lane);
  }
}

/// Writes one 3x3 block, a vector per entry.
HWY_INLINE void write_warped(const Real K[9], const Elements& elements, double* block) {
  if (elements.four()) {
    write_four(K[0], K[1], K[2], K[3], elements, block);
    write_four(K[4], K[5], K[6], K[7], elements, block + 4);
    write_one(K[8], elements, block + 8);
    return;
  }
  for (int c = 0; c < 9; ++c) write_one(K[c], elements, block + c);
}

void warp_blocks_batch(const Batch9& R, const NodeRotationBatch& N, const ElementGeometry& geometry,
                       const Batch<2>& lame, double scale, int first, int last, NodeRotationBatch& Q, double* blocks) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    if (lane + lanes() <= first || lane >= last) continue;
    const Elements elements{lane, first, last, 90};
    double* out = blocks + (lane - first) * 90;
    const ShapeGradients g = shape_gradients(geometry, lane);
    const Matrix3 rotation = load_matrix(R, lane);
    const Real weight = Real(scale) * Real::load(geometry.row[9] + lane);
    const Real mu = weight * Real::load(lame.row[0] + lane), lambda = weight * Real::load(lame.row[1] + lane);
    Matrix3 q[4];
    Vector3 qb[4][4];  // Q_a b_b
    for (int a = 0; a < 4; ++a) {
      q[a] = transpose_times(load_rows(N.row + 9 * a, lane), rotation);
      for (int c = 0; c < 9; ++c) {
        double* row = Q.row[9 * a + c];
        if (lane >= first && lane + lanes() <= last) {
          q[a].m[c].store(row + lane);
        } else {
          HWY_ALIGN double values[kBatch];
          q[a].m[c].store(values);
          for (int p = 0; p < lanes(); ++p)
            if (lane + p >= first && lane + p < last) row[lane + p] = values[p];
        }
      }
      for (int b = 0; b < 4; ++b) qb[a][b] = times(q[a], g.b[b]);
    }
    for (int b = 0; b < 4; ++b) {
      for (int a = 0; a <= b; ++a) {
        const Real shear = mu * dot(g.b[a], g.b[b]);
        Real K[9];
        if (a == b) {
          for (int c = 0; c < 9; ++c) K[c] = c % 4 == 0 ? shear : Real(0.0);
        } else {
          const Matrix3 turn = times_transpose(q[a], q[b]);
          for (int c = 0; c < 9; ++c) K[c] = shear * turn.m[c];
        }
        for (int j = 0; j < 3; ++j)
          for (int i = 0; i < 3; ++i) {
            // For a = b the products are grouped so that the block is symmetric to the last bit.
            const Real pressure = lambda * (qb[a][a].v[i] * qb[b][b].v[j]);
            const Real cross = mu * (qb[a][b].v[i] * qb[b][a].v[j]);
            K[3 * j + i] = K[3 * j + i] + (pressure + cross);
          }
        write_warped(K, elements, out + 9 * packed(a, b));
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(corotated_stress_batch);
HWY_EXPORT(corotated_impulse_batch);
HWY_EXPORT(warp_error_batch);
HWY_EXPORT(warp_blocks_batch);

void corotated_stress(const Batch9& R, const Batch6& S, const Batch<2>& lame, Batch<1>& psi, Batch9& P) {
  HWY_DYNAMIC_DISPATCH(corotated_stress_batch)(R, S, lame, psi, P);
}

void corotated_impulse(const Batch9& R, const Batch9& P, const NodeBatch& v, const ElementGeometry& geometry,
                       const Batch<2>& lame, double h, double scale, Batch9& impulse) {
  HWY_DYNAMIC_DISPATCH(corotated_impulse_batch)(R, P, v, geometry, lame, h, scale, impulse);
}

void warp_error(const Batch9& R, const NodeRotationBatch& N, const NodeRotationBatch& Q, const NodeVectorBatch& u,
                const ElementGeometry& geometry, const Batch<2>& lame, const Batch<1>& weight, Batch<1>& error) {
  HWY_DYNAMIC_DISPATCH(warp_error_batch)(R, N, Q, u, geometry, lame, weight, error);
}

void warp_blocks(const Batch9& R, const NodeRotationBatch& N, const ElementGeometry& geometry, const Batch<2>& lame,
                 double scale, int first, int last, NodeRotationBatch& Q, double* blocks) {
  HWY_DYNAMIC_DISPATCH(warp_blocks_batch)(R, N, geometry, lame, scale, first, last, Q, blocks);
}

}  // namespace pliant
#endif
