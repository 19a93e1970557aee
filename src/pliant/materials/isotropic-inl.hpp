// Stress, Hessian and analytic projection of every isotropic law, from the formulas of laws-inl.hpp.
//
// Functions of the invariants (I = |F|^2, II = tr C^2, J) are differentiated directly, with G = cof F = dJ/dF:
//   P = 2 Psi_I F + 4 Psi_II F C + Psi_J G,
//   d2Psi/dF2 = 2 Psi_I Id + 4 Psi_I_I F (x) F + Psi_II d2II + Psi_J_J G (x) G + Psi_J d2J.
//
// Functions of the stretches, and the projection of all laws, go by the basis M_ij = U e_i e_j^T V^T of the
// decomposition F = U diag(s) V^T. There P is diag(Psi_i) and the Hessian one 3x3 block Psi_ij on M_11, M_22, M_33 and,
// for each pair i < j, a 2x2 block on M_ij, M_ji with the eigenvalues flip = (Psi_i - Psi_j)/(s_i - s_j) and twist =
// (Psi_i + Psi_j)/(s_i + s_j) (Smith, de Goes, Kim 2019). Clamping the eigenvalues of these four blocks is the
// projection.
#if defined(PLIANT_MATERIALS_ISOTROPIC_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_MATERIALS_ISOTROPIC_INL_HPP
#undef PLIANT_MATERIALS_ISOTROPIC_INL_HPP
#else
#define PLIANT_MATERIALS_ISOTROPIC_INL_HPP
#endif

#include "pliant/materials/laws-inl.hpp"
#include "pliant/math/svd3-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

/// A law of the invariants seen as one of the stretches, by the chain rule: I = sum s_i^2, II = sum s_i^4, J = s1 s2
/// s3.
template <class Law>
struct ByStretches {
  static constexpr bool kSmooth = true;
  static HWY_INLINE InStretches evaluate(const Real s[3], Real mu, Real lambda) {
    const Real q[3] = {s[0] * s[0], s[1] * s[1], s[2] * s[2]};
    const Real c[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
    const InInvariants f = Law::evaluate(q[0] + q[1] + q[2], mul_add(q[0], q[0], mul_add(q[1], q[1], q[2] * q[2])),
                                         s[0] * c[0], mu, lambda);
    const Real d_I = f.d_I + f.d_I, d_I_I = Real(4.0) * f.d_I_I;
    InStretches g;
    g.psi = f.psi;
    for (int i = 0; i < 3; ++i) {
      g.d[i] = mul_add(d_I, s[i], f.d_J * c[i]);
      g.dd[packed(i, i)] = d_I + mul_add(d_I_I, q[i], f.d_J_J * (c[i] * c[i]));
      if constexpr (Law::kUsesSecondInvariant) {
        g.d[i] = mul_add(Real(4.0) * f.d_II * q[i], s[i], g.d[i]);
        g.dd[packed(i, i)] = mul_add(Real(12.0) * f.d_II, q[i], g.dd[packed(i, i)]);
      }
    }
    for (int j = 1; j < 3; ++j) {
      for (int i = 0; i < j; ++i) {
        g.dd[packed(i, j)] = mul_add(d_I_I, s[i] * s[j], mul_add(f.d_J_J, c[i] * c[j], f.d_J * s[3 - i - j]));
      }
    }
    return g;
  }
};

/// A law written in the stretches.
template <class Law>
struct OfRotation : Law {
  static constexpr bool kSmooth = false;
};

/// The four blocks of the Hessian in the basis M_ij; pairs ordered 01, 02, 12.
struct Blocks {
  Symmetric3 diagonal;
  Real flip[3], twist[3];
};

/// Both quotients have removable singularities: by symmetry Psi_i = Psi_j where s_i = s_j, and, for laws smooth there,
/// Psi_i = -Psi_j where s_i = -s_j. With delta = |s_i -+ s_j| / |s|, the quotient loses eps / delta to rounding, and
/// its limit (Psi_ii + Psi_jj)/2 -+ Psi_ij, taken at the actual stretches, is off by delta^2, since the midpoint
/// cancels the odd term. They meet at delta = eps^(1/3), where both err by some 4e-11.
///
/// At s_i + s_j = 0 a law of the nearest rotation has a pole: the rotation jumps there, the twist goes to minus
/// infinity. We keep it finite by not letting the denominator fall below sqrt(eps) (stretches are of order one);
/// projected, it is zero long before.
template <class Law>
HWY_INLINE Blocks hessian_blocks(const InStretches& f, const Real s[3]) {
  constexpr double kNear = 6.055454452393343e-06;  // eps^(1/3)
  constexpr double kPole = 1.4901161193847656e-08;
  Blocks blocks;
  for (int c = 0; c < 6; ++c) blocks.diagonal.m[c] = f.dd[c];
  for (int j = 1, pair = 0; j < 3; ++j) {
    for (int i = 0; i < j; ++i, ++pair) {
      const Real mean = Real(0.5) * (f.dd[packed(i, i)] + f.dd[packed(j, j)]), mixed = f.dd[packed(i, j)];
      const Real near = Real(kNear) * s[i];
      const Real difference = s[i] - s[j], sum = s[i] + s[j];
      blocks.flip[pair] = select(difference <= near, mean - mixed, (f.d[i] - f.d[j]) / difference);
      if constexpr (Law::kSmooth) {
        blocks.twist[pair] = select(sum <= near, mean + mixed, (f.d[i] + f.d[j]) / sum);
      } else {
        blocks.twist[pair] = (f.d[i] + f.d[j]) / max(sum, kPole);
      }
    }
  }
  return blocks;
}

HWY_NOINLINE inline void project_blocks(Blocks& blocks) {
  project_positive(blocks.diagonal);
  for (int pair = 0; pair < 3; ++pair) {
    blocks.flip[pair] = max(blocks.flip[pair], 0.0);
    blocks.twist[pair] = max(blocks.twist[pair], 0.0);
  }
}

/// |A| = 2 A_+ - A. Twists that have a pole are clamped all the same.
HWY_NOINLINE inline void make_absolute(Blocks& blocks, bool has_pole) {
  const Blocks before = blocks;
  project_blocks(blocks);
  for (int c = 0; c < 6; ++c) blocks.diagonal.m[c] = mul_add(Real(2.0), blocks.diagonal.m[c], -before.diagonal.m[c]);
  for (int pair = 0; pair < 3; ++pair) {
    blocks.flip[pair] = max(before.flip[pair], -before.flip[pair]);
    if (!has_pole) blocks.twist[pair] = max(before.twist[pair], -before.twist[pair]);
  }
}

/// H = sum of the blocks in the basis M_ij. With p = (flip + twist)/2 and q = (flip - twist)/2 of each pair,
/// H_(ij)(kl) = sum_ac A_ac M_aa,ij M_cc,kl + sum_(a != b) q_ab M_aa,il M_bb,kj + sum_(a != b) p_ab U_ia U_ka V_jb
/// V_lb: three sums over a of one product each, instead of nine dyads. Out of line for the sake of compile time, as is
/// the projection before it.
HWY_NOINLINE inline void rotate_blocks(const Blocks& blocks, const Svd& svd, Batch45& H, int lane) {
  Real M[3][9], N[3][9], Q[3][9], uu[3][6], vv[3][6], W[3][6];
  for (int a = 0; a < 3; ++a) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) M[a][3 * j + i] = svd.U(i, a) * svd.V(j, a);
      for (int i = 0; i <= j; ++i) {
        uu[a][packed(i, j)] = svd.U(i, a) * svd.U(j, a);
        vv[a][packed(i, j)] = svd.V(i, a) * svd.V(j, a);
      }
    }
  }
  Real p[3], q[3];
  for (int k = 0; k < 3; ++k) {
    p[k] = Real(0.5) * (blocks.flip[k] + blocks.twist[k]);
    q[k] = Real(0.5) * (blocks.flip[k] - blocks.twist[k]);
  }
  const Real* A = blocks.diagonal.m;
  for (int c = 0; c < 9; ++c) {
    N[0][c] = mul_add(A[0], M[0][c], mul_add(A[1], M[1][c], A[3] * M[2][c]));
    N[1][c] = mul_add(A[1], M[0][c], mul_add(A[2], M[1][c], A[4] * M[2][c]));
    N[2][c] = mul_add(A[3], M[0][c], mul_add(A[4], M[1][c], A[5] * M[2][c]));
    Q[0][c] = mul_add(q[0], M[1][c], q[1] * M[2][c]);
    Q[1][c] = mul_add(q[0], M[0][c], q[2] * M[2][c]);
    Q[2][c] = mul_add(q[1], M[0][c], q[2] * M[1][c]);
  }
  for (int c = 0; c < 6; ++c) {
    W[0][c] = mul_add(p[0], vv[1][c], p[1] * vv[2][c]);
    W[1][c] = mul_add(p[0], vv[0][c], p[2] * vv[2][c]);
    W[2][c] = mul_add(p[1], vv[0][c], p[2] * vv[1][c]);
  }
#pragma GCC unroll 3
  for (int l = 0; l < 3; ++l) {
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
#pragma GCC unroll 3
      for (int j = 0; j <= l; ++j) {
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) {
          const int r = 3 * j + i, c = 3 * l + k;
          if (r > c) continue;
          const int ik = packed_any(i, k), jl = packed(j, l);
          Real h = 0.0;
          for (int a = 0; a < 3; ++a) {
            h = mul_add(M[a][r], N[a][c], h);
            h = mul_add(M[a][3 * l + i], Q[a][3 * j + k], h);
            h = mul_add(uu[a][ik], W[a][jl], h);
          }
          h.store(H.row[packed(r, c)] + lane);
        }
      }
    }
  }
}

/// Cauchy-Green C = F^T F and F F^T, packed.
HWY_INLINE Symmetric3 gram_columns(const Matrix3& F) {
  Symmetric3 C;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i <= j; ++i) C.m[packed(i, j)] = column_product(F, i, j);
  }
  return C;
}
HWY_INLINE Symmetric3 gram_rows(const Matrix3& F) {
  Symmetric3 B;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i <= j; ++i) {
      B.m[packed(i, j)] = mul_add(F(i, 2), F(j, 2), mul_add(F(i, 1), F(j, 1), F(i, 0) * F(j, 0)));
    }
  }
  return B;
}

/// tr C^2
HWY_INLINE Real second_invariant(const Symmetric3& C) {
  const Real off = mul_add(C.m[1], C.m[1], mul_add(C.m[3], C.m[3], C.m[4] * C.m[4]));
  return mul_add(C.m[0], C.m[0], mul_add(C.m[2], C.m[2], mul_add(C.m[5], C.m[5], off + off)));
}

template <class Law>
HWY_INLINE void invariant_stress(const Matrix3& F, Real mu, Real lambda, Real& psi, Matrix3& P) {
  const Matrix3 G = cofactor(F);
  Symmetric3 C;
  Real II = 0.0;
  if constexpr (Law::kUsesSecondInvariant) {
    C = gram_columns(F);
    II = second_invariant(C);
  }
  const InInvariants f = Law::evaluate(inner(F, F), II, determinant(F, G), mu, lambda);
  psi = f.psi;
  const Real d_I = f.d_I + f.d_I;
  for (int c = 0; c < 9; ++c) P.m[c] = mul_add(d_I, F.m[c], f.d_J * G.m[c]);
  if constexpr (Law::kUsesSecondInvariant) {
    const Real d_II = Real(4.0) * f.d_II;
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) {
        Real fc = F(i, 0) * C.m[packed_any(0, j)];
        fc = mul_add(F(i, 1), C.m[packed_any(1, j)], fc);
        fc = mul_add(F(i, 2), C.m[packed_any(2, j)], fc);
        P(i, j) = mul_add(d_II, fc, P(i, j));
      }
    }
  }
}

/// d2J / dF(i,j) dF(k,l) for j < l: plus or minus the one entry of F in neither row nor column, 0 when i = k.
HWY_INLINE Real second_determinant(const Matrix3& F, int i, int j, int k, int l) {
  const int m = 3 - i - k, n = 3 - j - l;
  const bool even = ((k - i + 3) % 3 == 1) == ((l - j + 3) % 3 == 1);
  return even ? F(m, n) : -F(m, n);
}

template <class Law>
HWY_INLINE void invariant_hessian(const Matrix3& F, Real mu, Real lambda, Batch45& H, int lane) {
  const Matrix3 G = cofactor(F);
  Symmetric3 C, B;
  Real II = 0.0;
  if constexpr (Law::kUsesSecondInvariant) {
    C = gram_columns(F);
    B = gram_rows(F);
    II = second_invariant(C);
  }
  const InInvariants f = Law::evaluate(inner(F, F), II, determinant(F, G), mu, lambda);
  const Real d_I = f.d_I + f.d_I, d_I_I = Real(4.0) * f.d_I_I, d_II = Real(4.0) * f.d_II;
#pragma GCC unroll 3
  for (int l = 0; l < 3; ++l) {
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      const int c = 3 * l + k;
      const Real column_F = d_I_I * F.m[c], column_G = f.d_J_J * G.m[c];
#pragma GCC unroll 3
      for (int j = 0; j <= l; ++j) {
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) {
          const int r = 3 * j + i;
          if (r > c) continue;
          Real h = mul_add(column_F, F.m[r], column_G * G.m[r]);
          if (r == c) h = h + d_I;
          if (i != k && j != l) h = mul_add(f.d_J, second_determinant(F, i, j, k, l), h);
          if constexpr (Law::kUsesSecondInvariant) {
            // d2(tr C^2)/4: delta_ik C_jl + F_il F_kj + delta_jl (F F^T)_ik
            Real t = F(i, l) * F(k, j);
            if (i == k) t = t + C.m[packed(j, l)];
            if (j == l) t = t + B.m[packed_any(i, k)];
            h = mul_add(d_II, t, h);
          }
          h.store(H.row[packed(r, c)] + lane);
        }
      }
    }
  }
}

template <class Law>
HWY_INLINE void stretch_stress(const Law& law, const Svd& svd, Real mu, Real lambda, Real& psi, Matrix3& P) {
  const InStretches f = law.evaluate(svd.s, mu, lambda);
  psi = f.psi;
  Matrix3 scaled;
  for (int c = 0; c < 9; ++c) scaled.m[c] = svd.U.m[c] * f.d[c / 3];
  P = times_transpose(scaled, svd.V);
}

template <class Law>
HWY_INLINE void stretch_hessian(const Law& law, const Svd& svd, Real mu, Real lambda, Projection projection, Batch45& H,
                                int lane) {
  Blocks blocks = hessian_blocks<Law>(law.evaluate(svd.s, mu, lambda), svd.s);
  if (projection == Projection::analytic) project_blocks(blocks);
  if (projection == Projection::absolute) make_absolute(blocks, !Law::kSmooth);
  rotate_blocks(blocks, svd, H, lane);
}

/// The same for whole batches.
template <class Law>
void stress_by_stretches(const Law& law, const Batch9& F, const Batch<2>& lame, Batch<1>& psi, Batch9& P) {
  for_svd(F, [&](int lane, const Svd& svd) HWY_ATTR {
    Real energy;
    Matrix3 stress;
    stretch_stress(law, svd, Real::load(lame.row[0] + lane), Real::load(lame.row[1] + lane), energy, stress);
    energy.store(psi.row[0] + lane);
    store_matrix(stress, P, lane);
  });
}

template <class Law>
void hessian_by_stretches(const Law& law, const Batch9& F, const Batch<2>& lame, Projection projection, Batch45& H) {
  for_svd(F, [&](int lane, const Svd& svd) HWY_ATTR {
    stretch_hessian(law, svd, Real::load(lame.row[0] + lane), Real::load(lame.row[1] + lane), projection, H, lane);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
