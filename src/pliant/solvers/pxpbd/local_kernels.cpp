// Derivations in docs/pxpbd.md. Symbols: V volume, A metric, k stiffness of a constraint times V, N = dC/dF, W = dJ/dF.
#include "pliant/solvers/pxpbd/local_kernels.hpp"

#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/solvers/pxpbd/local_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "pliant/energies/elastic_layout-inl.hpp"
#include "pliant/materials/laws-inl.hpp"
#include "pliant/math/svd3-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant::pbd {
namespace HWY_NAMESPACE {

using pliant::HWY_NAMESPACE::cofactor;
using pliant::HWY_NAMESPACE::for_svd;
using pliant::HWY_NAMESPACE::inner;
using pliant::HWY_NAMESPACE::lanes;
using pliant::HWY_NAMESPACE::load_matrix;
using pliant::HWY_NAMESPACE::Mask;
using pliant::HWY_NAMESPACE::Matrix3;
using pliant::HWY_NAMESPACE::Real;
using pliant::HWY_NAMESPACE::store_matrix;
using pliant::HWY_NAMESPACE::Svd;
using pliant::HWY_NAMESPACE::Symmetric3;
using pliant::HWY_NAMESPACE::Tag;
namespace hn = hwy::HWY_NAMESPACE;

// --- Between nodes and elements -------------------------------------------------------------------------------------

/// x, y, z of one corner of the elements lane, lane + 1, ...
HWY_INLINE void load_corner(const double* nodes, const Index* corner, int lane, Real out[3]) {
#if HWY_TARGET == HWY_AVX2
  Real rows[4];
  for (int p = 0; p < 4; ++p) rows[p] = hn::LoadU(Tag(), nodes + std::ptrdiff_t(kNodeStride) * corner[lane + p]);
  pliant::HWY_NAMESPACE::transpose(rows);
  for (int i = 0; i < 3; ++i) out[i] = rows[i];
#else
  HWY_ALIGN double values[3][kBatch];
  for (int p = 0; p < lanes(); ++p)
    for (int i = 0; i < 3; ++i) values[i][p] = nodes[std::ptrdiff_t(kNodeStride) * corner[lane + p] + i];
  for (int i = 0; i < 3; ++i) out[i] = Real::load(values[i]);
#endif
}

void gather_gradients_batch(const double* nodes, const ElementBatch& batch, Batch9& F) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    Real origin[3];
    load_corner(nodes, batch.nodes[0], lane, origin);
    Matrix3 edges;
    for (int a = 1; a < 4; ++a) {
      Real x[3];
      load_corner(nodes, batch.nodes[a], lane, x);
      for (int i = 0; i < 3; ++i) edges(i, a - 1) = x[i] - origin[i];
    }
    store_matrix(edges * load_matrix(batch.B, lane), F, lane);
  }
}

/// Columns 1 to 3 are Q g_a of the corners 1 to 3; that of corner 0 is minus their sum.
HWY_INLINE void corner_products(const ElementBatch& batch, const Batch9& Q, int lane, Real out[4][3]) {
  const Matrix3 D = pliant::HWY_NAMESPACE::times_transpose(load_matrix(Q, lane), load_matrix(batch.B, lane));
  for (int i = 0; i < 3; ++i) {
    for (int a = 1; a < 4; ++a) out[a][i] = D(i, a - 1);
    out[0][i] = -(D(i, 0) + D(i, 1) + D(i, 2));
  }
}

void scatter_displacements_batch(const ElementBatch& batch, const Batch9& Q, const double* axes, double* nodes) {
  for (int lane = 0; lane < batch.count; lane += lanes()) {
    Real d[4][3];
    corner_products(batch, Q, lane, d);
#if HWY_TARGET == HWY_AVX2
    if (!axes && lane + 4 <= batch.count) {
      for (int a = 0; a < 4; ++a) {
        Real rows[4] = {d[a][0], d[a][1], d[a][2], 0.0};
        pliant::HWY_NAMESPACE::transpose(rows);
        for (int p = 0; p < 4; ++p) {
          double* x = nodes + std::ptrdiff_t(kNodeStride) * batch.nodes[a][lane + p];
          hn::StoreU(mul_add(Real(x[3]), rows[p], Real(hn::LoadU(Tag(), x))).v, Tag(), x);
        }
      }
      continue;
    }
#endif
    HWY_ALIGN double values[kBatch];
    for (int a = 0; a < 4; ++a)
      for (int i = 0; i < 3; ++i) {
        d[a][i].store(values);
        for (int p = 0; p < lanes() && lane + p < batch.count; ++p) {
          const Index n = batch.nodes[a][lane + p];
          double* x = nodes + std::ptrdiff_t(kNodeStride) * n;
          const double factor = axes ? axes[3 * std::ptrdiff_t(n) + i] : 1.0;
          // Fused like the vectors above, so that an element's lane does not change its bits.
          x[i] = __builtin_fma(x[3], factor * values[p], x[i]);
        }
      }
  }
}

void scatter_forces_batch(const ElementBatch& batch, const Batch9& Q, double* forces) {
  HWY_ALIGN double values[kBatch];
  for (int lane = 0; lane < batch.count; lane += lanes()) {
    Real d[4][3];
    corner_products(batch, Q, lane, d);
    for (int a = 0; a < 4; ++a)
      for (int i = 0; i < 3; ++i) {
        d[a][i].store(values);
        for (int p = 0; p < lanes() && lane + p < batch.count; ++p)
          forces[3 * std::ptrdiff_t(batch.nodes[a][lane + p]) + i] += values[p];
      }
  }
}

// --- Small algebra --------------------------------------------------------------------------------------------------

HWY_INLINE Symmetric3 load_symmetric(const Batch<6>& packed, int lane) {
  Symmetric3 A;
  for (int c = 0; c < 6; ++c) A.m[c] = Real::load(packed.row[c] + lane);
  return A;
}
HWY_INLINE Symmetric3 load_metric(const ElementBatch& batch, int lane) { return load_symmetric(batch.metric, lane); }

HWY_INLINE Matrix3 times(const Matrix3& N, const Symmetric3& A) {
  Matrix3 out;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      out(i, j) = mul_add(N(i, 2), A.m[packed_any(2, j)],
                          mul_add(N(i, 1), A.m[packed_any(1, j)], N(i, 0) * A.m[packed_any(0, j)]));
  return out;
}

/// (1 + s A)^{-1}, A positive semidefinite and s >= 0.
HWY_INLINE Symmetric3 resolvent(const Symmetric3& A, Real s) {
  Real m[6];
  for (int c = 0; c < 6; ++c) m[c] = s * A.m[c];
  for (int d : {0, 2, 5}) m[d] = m[d] + Real(1.0);
  Symmetric3 Y;
  Y.m[0] = neg_mul_add(m[4], m[4], m[2] * m[5]);
  Y.m[1] = neg_mul_add(m[1], m[5], m[3] * m[4]);
  Y.m[3] = neg_mul_add(m[2], m[3], m[1] * m[4]);
  Y.m[2] = neg_mul_add(m[3], m[3], m[0] * m[5]);
  Y.m[4] = neg_mul_add(m[0], m[4], m[1] * m[3]);
  Y.m[5] = neg_mul_add(m[1], m[1], m[0] * m[2]);
  const Real inverse = Real(1.0) / mul_add(m[3], Y.m[3], mul_add(m[1], Y.m[1], m[0] * Y.m[0]));
  for (int c = 0; c < 6; ++c) Y.m[c] = Y.m[c] * inverse;
  return Y;
}

// --- XPBD and B-PXPBD -----------------------------------------------------------------------------------------------

/// A constraint at F: its value, its gradient by F, and its stiffness per volume.
struct Constraint {
  Real C;
  Matrix3 N;
  Real stiffness;
};

/// Under the root of C1, so that its gradient exists at rest; 1e-12 shifts no stress by more than 1e-6 of mu.
constexpr double kEpsilon = 1e-12;

/// sqrt(|D|^2 + epsilon) and its gradient D / C.
HWY_INLINE Constraint norm_constraint(const Matrix3& D, Real stiffness) {
  Constraint c{sqrt(inner(D, D) + Real(kEpsilon)), D, stiffness};
  const Real inverse = Real(1.0) / c.C;
  for (Real& entry : c.N.m) entry = entry * inverse;
  return c;
}

struct CorotatedPair {
  static HWY_INLINE Constraint first(const Matrix3& F, const Matrix3& R, Real mu, Real) {
    Matrix3 D;
    for (int c = 0; c < 9; ++c) D.m[c] = F.m[c] - R.m[c];
    return norm_constraint(D, mu + mu);
  }
  static HWY_INLINE Constraint second(const Matrix3& F, Real, Real lambda) {
    Constraint c{0.0, cofactor(F), lambda};
    c.C = determinant(F, c.N) - Real(1.0);
    return c;
  }
};

struct MacklinMuellerPair {
  static HWY_INLINE Constraint first(const Matrix3& F, const Matrix3&, Real mu, Real) { return norm_constraint(F, mu); }
  static HWY_INLINE Constraint second(const Matrix3& F, Real mu, Real lambda) {
    const Real l = lambda + mu;
    Constraint c{0.0, cofactor(F), l};
    c.C = determinant(F, c.N) - Real(1.0) - mu / l;
    return c;
  }
};

/// Calls body(lane, F, R, turning) with the nearest rotations and how much faster than at rest these turn with F, at
/// most: the largest |1 - 2/(s_i + s_j)|, not below 1. Only the corotated pair has use for them.
template <class Pair, class Body>
HWY_INLINE void for_lanes(const Batch9& F, Body&& body) {
  if constexpr (std::is_same_v<Pair, CorotatedPair>) {
    for_svd(F, [&](int lane, const Svd& svd) HWY_ATTR {
      const Real turning = max(Real(2.0) / max(svd.s[1] + svd.s[2], 1e-6) - Real(1.0), 1.0);
      body(lane, load_matrix(F, lane), pliant::HWY_NAMESPACE::times_transpose(svd.U, svd.V), turning);
    });
  } else {
    for (int lane = 0; lane < kBatch; lane += lanes()) {
      const Matrix3 f = load_matrix(F, lane);
      body(lane, f, f, Real(1.0));
    }
  }
}

/// Eq. (16), with numerator and denominator times k h^2: finite for a stiffness of zero too.
HWY_INLINE Real multiplier_change(const Constraint& c, const Symmetric3& A, Real kh2, Real multiplier) {
  const Real compliance = inner(c.N, times(c.N, A));
  return -(mul_add(kh2, c.C, multiplier) / mul_add(kh2, compliance, Real(1.0)));
}

/// XPBD's share in a visit to a constraint. The fixed-point step takes over the stress lambda N of the moment, so it
/// must be the shorter, the faster that stress turns with F (docs/pxpbd.md): by 2 mu, or by what the nearest rotation
/// turns where elements are thin, and for the volume in addition by its multiplier times d2J.
HWY_INLINE Real share_of_xpbd(const BlendMemory& memory, double blend, int lane, Real curvature) {
  const Real zeta = Real::load(memory.zeta.row[0] + lane), compliance = Real::load(memory.compliance.row[0] + lane);
  const Real chosen = Real(1.0) - Real(blend) / mul_add(compliance, curvature, Real(1.0));
  return select(compliance > Real(0.0), chosen, zeta);
}

template <class Pair, bool kBlended>
void pair_update(double h2, double blend, const ElementBatch& batch, const Batch9& F, Multipliers& multipliers,
                 BlendMemory* memory, Batch9& Q) {
  for_lanes<Pair>(F, [&](int lane, Matrix3 f, const Matrix3& R, Real turning) HWY_ATTR {
    const Real mu = Real::load(batch.lame.row[0] + lane), lambda = Real::load(batch.lame.row[1] + lane);
    const Real vh2 = Real(h2) * Real::load(batch.volume.row[0] + lane);
    const Symmetric3 A = load_metric(batch, lane);
    Matrix3 total;
    for (int which = 0; which < 2; ++which) {
      const Constraint c = which == 0 ? Pair::first(f, R, mu, lambda) : Pair::second(f, mu, lambda);
      double* stored = multipliers.row[which] + lane;
      const Real before = Real::load(stored);
      const Real change = multiplier_change(c, A, vh2 * c.stiffness, before);
      const Real after = before + change;
      after.store(stored);
      Matrix3 move;
      if constexpr (kBlended) {
        const Real mu2 = mu + mu;
        const Real curvature = which == 0 ? mu2 * turning : mul_add(c.stiffness * abs(c.C), sqrt(inner(f, f)), mu2);
        const Real zeta = share_of_xpbd(*memory, blend, lane, curvature), rest = Real(1.0) - zeta;
        Matrix3 S = load_matrix(memory->S[which], lane);
        for (int e = 0; e < 9; ++e) {
          const Real fixed_point = after * c.N.m[e] - S.m[e];  // eq. (22) with the new multiplier
          move.m[e] = zeta * (change * c.N.m[e]) + rest * fixed_point;
          S.m[e] = S.m[e] + move.m[e];
        }
        store_matrix(S, memory->S[which], lane);
      } else {
        for (int e = 0; e < 9; ++e) move.m[e] = change * c.N.m[e];
      }
      if (which == 0) {
        const Matrix3 dF = times(move, A);
        for (int e = 0; e < 9; ++e) f.m[e] = f.m[e] + dF.m[e];
        total = move;
      } else {
        for (int e = 0; e < 9; ++e) total.m[e] = total.m[e] + move.m[e];
      }
    }
    store_matrix(total, Q, lane);
  });
}

void xpbd_update_batch(LocalLaw law, double h2, const ElementBatch& batch, const Batch9& F, Multipliers& multipliers,
                       Batch9& Q) {
  if (law == LocalLaw::corotated)
    pair_update<CorotatedPair, false>(h2, 0, batch, F, multipliers, nullptr, Q);
  else
    pair_update<MacklinMuellerPair, false>(h2, 0, batch, F, multipliers, nullptr, Q);
}

void blended_update_batch(LocalLaw law, double h2, double blend, const ElementBatch& batch, const Batch9& F,
                          Multipliers& multipliers, BlendMemory& memory, Batch9& Q) {
  if (law == LocalLaw::corotated)
    pair_update<CorotatedPair, true>(h2, blend, batch, F, multipliers, &memory, Q);
  else
    pair_update<MacklinMuellerPair, true>(h2, blend, batch, F, multipliers, &memory, Q);
}

template <class Pair>
void pair_residual(double h2, const ElementBatch& batch, const Batch9& F, const Multipliers& multipliers, Batch9& Q,
                   double* secondary2) {
  for_lanes<Pair>(F, [&](int lane, const Matrix3& f, const Matrix3& R, Real) HWY_ATTR {
    const Real mu = Real::load(batch.lame.row[0] + lane), lambda = Real::load(batch.lame.row[1] + lane);
    const Real vh2 = Real(h2) * Real::load(batch.volume.row[0] + lane);
    Matrix3 total;
    for (int e = 0; e < 9; ++e) total.m[e] = 0.0;
    Real square = 0.0;
    for (int which = 0; which < 2; ++which) {
      const Constraint c = which == 0 ? Pair::first(f, R, mu, lambda) : Pair::second(f, mu, lambda);
      const Real multiplier = Real::load(multipliers.row[which] + lane);
      const Real residual = mul_add(c.stiffness, c.C, multiplier / vh2);
      square = mul_add(residual, residual, square);
      for (int e = 0; e < 9; ++e) total.m[e] = mul_add(multiplier, c.N.m[e], total.m[e]);
    }
    store_matrix(total, Q, lane);
    square.store(secondary2 + lane);
  });
}

void constraint_residual_batch(LocalLaw law, double h2, const ElementBatch& batch, const Batch9& F,
                               const Multipliers& multipliers, Batch9& Q, double* secondary2) {
  if (law == LocalLaw::corotated)
    pair_residual<CorotatedPair>(h2, batch, F, multipliers, Q, secondary2);
  else
    pair_residual<MacklinMuellerPair>(h2, batch, F, multipliers, Q, secondary2);
}

void sqrt_energy_update_batch(double h2, const ElementBatch& batch, const Batch<1>& psi, const Batch9& stress,
                              Multipliers& multipliers, Batch9& Q) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    Constraint c;
    c.C = sqrt(Real::load(psi.row[0] + lane) + Real(kEpsilon));
    c.N = load_matrix(stress, lane);
    c.stiffness = 2.0;
    const Real scale = Real(0.5) / c.C;
    for (Real& entry : c.N.m) entry = entry * scale;
    const Real kh2 = c.stiffness * Real(h2) * Real::load(batch.volume.row[0] + lane);
    const Real before = Real::load(multipliers.row[0] + lane);
    const Real change = multiplier_change(c, load_metric(batch, lane), kh2, before);
    (before + change).store(multipliers.row[0] + lane);
    Matrix3 move;
    for (int e = 0; e < 9; ++e) move.m[e] = change * c.N.m[e];
    store_matrix(move, Q, lane);
  }
}

// --- FP-PXPBD -------------------------------------------------------------------------------------------------------

/// Stress of a law at F and the model c 1 + l W (x) W of its Hessian. c bounds the curvature in all directions but W
/// from above, so that a local step does not overshoot, and is 2 mu at rest; l makes it exact along W.
struct StressModel {
  Matrix3 P, W;
  Real c, l;
};

/// Largest stretch, from above and exact at rest and for axisymmetric F: the largest eigenvalue of a matrix C with
/// traces I = tr C, II = tr C^2 is at most I/3 + sqrt(2/3 (II - I^2/3)).
HWY_INLINE Real stretch_bound(const Matrix3& F, Real I) {
  Real II = 0.0;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i <= j; ++i) {
      const Real c = pliant::HWY_NAMESPACE::column_product(F, i, j);
      II = mul_add(i == j ? c : c + c, c, II);
    }
  const Real mean = Real(1.0 / 3.0) * I;
  return sqrt(mean + sqrt(Real(2.0 / 3.0) * max(neg_mul_add(mean, I, II), 0.0)));
}

/// l such that c + l |W|^2 is the curvature along W: Psi_J_J |W|^2 + `rest` of all else (d2J gives 2 J I / |W|^2).
HWY_INLINE Real exact_along(Real d_J_J, Real rest, Real c, Real W2) {
  return max(d_J_J + (rest - c) / max(W2, 1e-12), 0.0);
}

/// d2Psi = 2 mu (1 - dR/dF) + lambda W (x) W + lambda (J - 1) d2J; dR/dF >= 0, and |d2J| is the largest stretch.
HWY_INLINE StressModel corotated_model(const Matrix3& F, const Svd& svd, Real mu, Real lambda) {
  StressModel m;
  m.W = cofactor(F);
  const Matrix3 R = pliant::HWY_NAMESPACE::times_transpose(svd.U, svd.V);
  const Real pressure = lambda * (determinant(F, m.W) - Real(1.0)), mu2 = mu + mu;
  for (int e = 0; e < 9; ++e) m.P.m[e] = mul_add(mu2, F.m[e] - R.m[e], pressure * m.W.m[e]);
  m.c = mul_add(abs(pressure), svd.s[0], mu2);
  m.l = lambda;
  return m;
}

/// d2Psi = 2 Psi_I 1 + 4 Psi_I_I F (x) F + Psi_J_J W (x) W + Psi_J d2J.
template <class Law>
HWY_INLINE StressModel invariant_model(const Matrix3& F, Real mu, Real lambda) {
  StressModel m;
  m.W = cofactor(F);
  const Real I = inner(F, F);
  const Real J = determinant(F, m.W), W2 = inner(m.W, m.W);
  const auto f = Law::evaluate(I, 0.0, J, mu, lambda);
  const Real d_I = f.d_I + f.d_I;
  for (int e = 0; e < 9; ++e) m.P.m[e] = mul_add(d_I, F.m[e], f.d_J * m.W.m[e]);
  m.c = mul_add(abs(f.d_J), stretch_bound(F, I), mul_add(Real(4.0) * f.d_I_I, I, d_I));
  // F : W = 3 J
  const Real rest = d_I + (Real(36.0) * f.d_I_I * (J * J) + (f.d_J + f.d_J) * (J * I)) / max(W2, 1e-12);
  m.l = exact_along(f.d_J_J, rest, m.c, W2);
  return m;
}

/// One quasi-Newton step: with Y = (1 + h^2 V c A)^{-1} the equations dP = r + c dF + l W (W : dF), dF = -h^2 V dP A
/// have the solution dP = (r + l s W) Y, s = W : dF = -(W : r - W : r Y) / (c + l (W : W - W : W Y)) (eqs. (34), (49)).
HWY_INLINE void quasi_newton_step(const StressModel& m, const Symmetric3& A, Real vh2, Matrix3& P, Matrix3& Q) {
  Matrix3 r;
  for (int e = 0; e < 9; ++e) r.m[e] = m.P.m[e] - P.m[e];
  const Symmetric3 Y = resolvent(A, vh2 * m.c);
  const Matrix3 rY = times(r, Y), WY = times(m.W, Y);
  const Real numerator = inner(m.W, r) - inner(m.W, rY);
  const Real ls = -(m.l * (numerator / mul_add(m.l, inner(m.W, m.W) - inner(m.W, WY), m.c)));
  for (int e = 0; e < 9; ++e) {
    const Real dP = mul_add(ls, WY.m[e], rY.m[e]);
    P.m[e] = P.m[e] + dP;
    Q.m[e] = Q.m[e] - vh2 * dP;
  }
}

void moved_gradients_batch(const ElementBatch& batch, const Batch9& F0, const Batch9& Q, Batch9& F) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    Matrix3 f = load_matrix(F0, lane);
    const Matrix3 dF = times(load_matrix(Q, lane), load_metric(batch, lane));
    for (int e = 0; e < 9; ++e) f.m[e] = f.m[e] + dF.m[e];
    store_matrix(f, F, lane);
  }
}

/// The law's steps from F0; F is where each begins.
template <class Step>
void inner_steps(double h2, int inner_count, const ElementBatch& batch, const Batch9& F0, Batch9& F, Batch9& P,
                 Batch9& Q, Step&& step) {
  for (int c = 0; c < 9; ++c)
    for (int lane = 0; lane < kBatch; lane += lanes()) Real(0.0).store(Q.row[c] + lane);
  const auto apply = [&](int lane, const StressModel& m) HWY_ATTR {
    Matrix3 p = load_matrix(P, lane), q = load_matrix(Q, lane);
    const Real vh2 = Real(h2) * Real::load(batch.volume.row[0] + lane);
    quasi_newton_step(m, load_symmetric(batch.round_metric, lane), vh2, p, q);
    store_matrix(p, P, lane);
    store_matrix(q, Q, lane);
  };
  for (int k = 0; k < inner_count; ++k) {
    if (k > 0) moved_gradients_batch(batch, F0, Q, F);
    step(apply);
  }
}

void first_piola_update_batch(LocalLaw law, double h2, int inner_count, const ElementBatch& batch, const Batch9& F,
                              Batch9& P, Batch9& Q) {
  Batch9 moved = F;
  const auto mu = [&](int lane) HWY_ATTR { return Real::load(batch.lame.row[0] + lane); };
  const auto lambda = [&](int lane) HWY_ATTR { return Real::load(batch.lame.row[1] + lane); };
  const auto by_invariants = [&](auto model) HWY_ATTR {
    inner_steps(h2, inner_count, batch, F, moved, P, Q, [&](const auto& apply) HWY_ATTR {
      for (int lane = 0; lane < kBatch; lane += lanes())
        apply(lane, model(load_matrix(moved, lane), mu(lane), lambda(lane)));
    });
  };
  if (law == LocalLaw::corotated)
    inner_steps(h2, inner_count, batch, F, moved, P, Q, [&](const auto& apply) HWY_ATTR {
      for_svd(moved, [&](int lane, const Svd& svd) HWY_ATTR {
        apply(lane, corotated_model(load_matrix(moved, lane), svd, mu(lane), lambda(lane)));
      });
    });
  else if (law == LocalLaw::macklin_mueller)
    by_invariants([](const Matrix3& f, Real m, Real l)
                      HWY_ATTR { return invariant_model<pliant::HWY_NAMESPACE::MacklinMueller>(f, m, l); });
  else
    by_invariants([](const Matrix3& f, Real m, Real l)
                      HWY_ATTR { return invariant_model<pliant::HWY_NAMESPACE::StableNeoHookean>(f, m, l); });
}

/// With A = L L^T and dF = y L^T: (1 + h^2 V L^T H L) y = -h^2 V r L, positive definite also where corners are held and
/// A is singular.
void full_newton_step_batch(double h2, const ElementBatch& batch, const Batch9& r, const Batch45& H, Batch9& dF,
                            Batch9& dP) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    const Real vh2 = Real(h2) * Real::load(batch.volume.row[0] + lane);
    const Symmetric3 A = load_symmetric(batch.round_metric, lane);
    // Cholesky with columns of zeros where a pivot has vanished.
    const Real tiny = Real(1e-14) * (A.m[0] + A.m[2] + A.m[5]);
    const auto root = [&](Real pivot, Real& inverse) HWY_ATTR {
      const Mask positive = pivot > tiny;
      const Real value = sqrt(max(pivot, 0.0));
      inverse = select(positive, Real(1.0) / value, 0.0);
      return select(positive, value, 0.0);
    };
    Real i0, i1, i2;
    const Real l00 = root(A.m[0], i0);
    const Real l10 = A.m[1] * i0, l20 = A.m[3] * i0;
    const Real l11 = root(neg_mul_add(l10, l10, A.m[2]), i1);
    const Real l21 = neg_mul_add(l20, l10, A.m[4]) * i1;
    const Real l22 = root(A.m[5] - mul_add(l20, l20, l21 * l21), i2);
    const Real L[3][3] = {{l00, 0.0, 0.0}, {l10, l11, 0.0}, {l20, l21, l22}};

    const auto entry = [&](int a, int b) HWY_ATTR { return Real::load(H.row[packed_any(a, b)] + lane); };
    // Rows and columns are numbered 3 j + i as F is; L acts on j.
    Real T[9][9];
    for (int row = 0; row < 9; ++row)
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) {
          Real sum = 0.0;
          for (int b = j; b < 3; ++b) sum = mul_add(entry(row, 3 * b + i), L[b][j], sum);
          T[row][3 * j + i] = sum;
        }
    Real M[9][9];
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 3; ++i)
        for (int column = 0; column <= 3 * k + i; ++column) {
          Real sum = 0.0;
          for (int a = k; a < 3; ++a) sum = mul_add(L[a][k], T[3 * a + i][column], sum);
          M[3 * k + i][column] = column == 3 * k + i ? mul_add(vh2, sum, Real(1.0)) : vh2 * sum;
        }
    Real y[9];
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 3; ++i) {
        Real sum = 0.0;
        for (int a = k; a < 3; ++a) sum = mul_add(Real::load(r.row[3 * a + i] + lane), L[a][k], sum);
        y[3 * k + i] = -(vh2 * sum);
      }
    for (int c = 0; c < 9; ++c) {  // LDL^T in place: M = G D G^T, G below the diagonal
      Real pivot = M[c][c];
      for (int k = 0; k < c; ++k) pivot = neg_mul_add(M[c][k] * M[c][k], M[k][k], pivot);
      M[c][c] = pivot;
      const Real inverse = Real(1.0) / pivot;
      for (int row = c + 1; row < 9; ++row) {
        Real sum = M[row][c];
        for (int k = 0; k < c; ++k) sum = neg_mul_add(M[row][k] * M[k][k], M[c][k], sum);
        M[row][c] = sum * inverse;
      }
    }
    for (int row = 1; row < 9; ++row)
      for (int k = 0; k < row; ++k) y[row] = neg_mul_add(M[row][k], y[k], y[row]);
    for (int row = 0; row < 9; ++row) y[row] = y[row] / M[row][row];
    for (int row = 7; row >= 0; --row)
      for (int k = row + 1; k < 9; ++k) y[row] = neg_mul_add(M[k][row], y[k], y[row]);

    Real f[9];
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) {
        Real sum = 0.0;
        for (int k = 0; k <= j; ++k) sum = mul_add(y[3 * k + i], L[j][k], sum);
        f[3 * j + i] = sum;
        sum.store(dF.row[3 * j + i] + lane);
      }
    for (int row = 0; row < 9; ++row) {
      Real sum = Real::load(r.row[row] + lane);
      for (int c = 0; c < 9; ++c) sum = mul_add(entry(row, c), f[c], sum);
      sum.store(dP.row[row] + lane);
    }
  }
}

void multiply_hessian_batch(const Batch45& H, const Batch9& dF, Batch9& out) {
  for (int lane = 0; lane < kBatch; lane += lanes())
    for (int row = 0; row < 9; ++row) {
      Real sum = 0.0;
      for (int c = 0; c < 9; ++c)
        sum = mul_add(Real::load(H.row[packed_any(row, c)] + lane), Real::load(dF.row[c] + lane), sum);
      sum.store(out.row[row] + lane);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant::pbd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant::pbd {

HWY_EXPORT(gather_gradients_batch);
HWY_EXPORT(scatter_displacements_batch);
HWY_EXPORT(scatter_forces_batch);
HWY_EXPORT(xpbd_update_batch);
HWY_EXPORT(blended_update_batch);
HWY_EXPORT(constraint_residual_batch);
HWY_EXPORT(sqrt_energy_update_batch);
HWY_EXPORT(first_piola_update_batch);
HWY_EXPORT(full_newton_step_batch);
HWY_EXPORT(moved_gradients_batch);
HWY_EXPORT(multiply_hessian_batch);

void gather_gradients(const double* nodes, const ElementBatch& batch, Batch9& F) {
  HWY_DYNAMIC_DISPATCH(gather_gradients_batch)(nodes, batch, F);
}
void scatter_displacements(const ElementBatch& batch, const Batch9& Q, const double* axes, double* nodes) {
  HWY_DYNAMIC_DISPATCH(scatter_displacements_batch)(batch, Q, axes, nodes);
}
void scatter_forces(const ElementBatch& batch, const Batch9& Q, double* forces) {
  HWY_DYNAMIC_DISPATCH(scatter_forces_batch)(batch, Q, forces);
}
void xpbd_update(LocalLaw law, double h2, const ElementBatch& batch, const Batch9& F, Multipliers& multipliers,
                 Batch9& Q) {
  HWY_DYNAMIC_DISPATCH(xpbd_update_batch)(law, h2, batch, F, multipliers, Q);
}
void blended_update(LocalLaw law, double h2, double blend, const ElementBatch& batch, const Batch9& F,
                    Multipliers& multipliers, BlendMemory& memory, Batch9& Q) {
  HWY_DYNAMIC_DISPATCH(blended_update_batch)(law, h2, blend, batch, F, multipliers, memory, Q);
}
void constraint_residual(LocalLaw law, double h2, const ElementBatch& batch, const Batch9& F,
                         const Multipliers& multipliers, Batch9& Q, double* secondary2) {
  HWY_DYNAMIC_DISPATCH(constraint_residual_batch)(law, h2, batch, F, multipliers, Q, secondary2);
}
void sqrt_energy_update(double h2, const ElementBatch& batch, const Batch<1>& psi, const Batch9& stress,
                        Multipliers& multipliers, Batch9& Q) {
  HWY_DYNAMIC_DISPATCH(sqrt_energy_update_batch)(h2, batch, psi, stress, multipliers, Q);
}
void first_piola_update(LocalLaw law, double h2, int inner, const ElementBatch& batch, const Batch9& F, Batch9& P,
                        Batch9& Q) {
  HWY_DYNAMIC_DISPATCH(first_piola_update_batch)(law, h2, inner, batch, F, P, Q);
}
void full_newton_step(double h2, const ElementBatch& batch, const Batch9& r, const Batch45& H, Batch9& dF, Batch9& dP) {
  HWY_DYNAMIC_DISPATCH(full_newton_step_batch)(h2, batch, r, H, dF, dP);
}
void moved_gradients(const ElementBatch& batch, const Batch9& F0, const Batch9& Q, Batch9& F) {
  HWY_DYNAMIC_DISPATCH(moved_gradients_batch)(batch, F0, Q, F);
}
void multiply_hessian(const Batch45& H, const Batch9& dF, Batch9& out) {
  HWY_DYNAMIC_DISPATCH(multiply_hessian_batch)(H, dF, out);
}

}  // namespace pliant::pbd
#endif
