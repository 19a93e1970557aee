// The isotropic laws, as formulas and nothing else; stress, Hessian and projection follow once for all of them in
// isotropic-inl.hpp. A law is one of two kinds:
//
// - a function of the invariants I = tr C = |F|^2, II = tr C^2 and J = det F (C = F^T F), linear in II: it needs no
// singular
//   value decomposition for the stress and the exact Hessian, and is smooth wherever it is finite;
// - a function of the principal stretches s1 >= s2 >= |s3|, written with the nearest rotation in mind: it has a true
//   singularity at s2 + s3 = 0, where that rotation is not unique.
//
// All vanish with their derivatives at F = I and equal linear elasticity with (mu, lambda) to second order there (ARAP
// with lambda = 0, the polynomial law with no stiffness at all). Names of derivatives: psi_i = dPsi/ds_i and so on.
//
// A new law is three things here: its formula, its name in IsotropicLaw, its line in visit_law; and its description in
// laws.cpp.
#ifndef PLIANT_MATERIALS_ISOTROPIC_LAW
#define PLIANT_MATERIALS_ISOTROPIC_LAW
namespace pliant {

enum class IsotropicLaw : int {
  neo_hookean,
  stable_neo_hookean,
  st_venant_kirchhoff,
  fixed_corotated,
  linear_corotated,
  arap,
  macklin_mueller,
  mooney_rivlin,
  polynomial,
};

}  // namespace pliant
#endif

#if defined(PLIANT_MATERIALS_LAWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_MATERIALS_LAWS_INL_HPP
#undef PLIANT_MATERIALS_LAWS_INL_HPP
#else
#define PLIANT_MATERIALS_LAWS_INL_HPP
#endif

#include "pliant/math/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

/// Psi and its derivatives by the invariants. Mixed derivatives and second ones by II are zero for all our laws.
struct InInvariants {
  Real psi;
  Real d_I, d_II, d_J;
  Real d_I_I, d_J_J;
};

/// Psi and its derivatives by the stretches; the Hessian packed: 00, 01, 11, 02, 12, 22.
struct InStretches {
  Real psi;
  Real d[3];
  Real dd[6];
};

/// mu/2 (I - 3) - mu log J + lambda/2 log^2 J; infinite for J <= 0, where the derivatives are those of mu/2 (I - 3).
struct NeoHookean {
  static constexpr bool kUsesSecondInvariant = false;
  static HWY_INLINE InInvariants evaluate(Real I, Real, Real J, Real mu, Real lambda) {
    const Mask inside = J > Real(0.0);
    const Real L = select(inside, log(J), 0.0);
    const Real inverse = select(inside, Real(1.0) / J, 0.0);
    const Real p = lambda * L - mu;
    InInvariants f;
    f.psi = select(inside, Real(0.5) * mu * (I - Real(3.0)) + L * (Real(0.5) * lambda * L - mu), HUGE_VAL);
    f.d_I = Real(0.5) * mu;
    f.d_II = 0.0;
    f.d_J = p * inverse;
    f.d_I_I = 0.0;
    f.d_J_J = (lambda - p) * (inverse * inverse);
    return f;
  }
};

/// m/2 (I - 3) + l/2 (J - a)^2 - m/2 log(I + 1), minus its value at rest; m = 4/3 mu, l = lambda + 5/6 mu and
/// a = 1 + 3/4 m/l make it linear elasticity with (mu, lambda) at rest (Smith, de Goes, Kim 2018, eqs. 14 to 16).
struct StableNeoHookean {
  static constexpr bool kUsesSecondInvariant = false;
  static HWY_INLINE InInvariants evaluate(Real I, Real, Real J, Real mu, Real lambda) {
    const Real m = Real(4.0 / 3.0) * mu;
    const Real l = lambda + Real(5.0 / 6.0) * mu;
    const Real la = l + Real(0.75) * m;  // l a
    const Real t = Real(1.0) / (I + Real(1.0));
    const Real strain = J - Real(1.0);
    InInvariants f;
    // l/2 ((J - a)^2 - (1 - a)^2) = (J - 1) (l/2 (J - 1) + l - l a)
    f.psi = Real(0.5) * m * ((I - Real(3.0)) - log(Real(0.25) * (I + Real(1.0)))) +
            strain * (Real(0.5) * l * strain + (l - la));
    f.d_I = Real(0.5) * m * (Real(1.0) - t);
    f.d_II = 0.0;
    f.d_J = l * J - la;
    f.d_I_I = Real(0.5) * m * (t * t);
    f.d_J_J = l;
    return f;
  }
};

/// mu/2 (I - 3) + l/2 (J - 1 - mu/l)^2, minus its value at rest (Macklin, Mueller 2021); l = lambda + mu makes it
/// linear elasticity with (mu, lambda) at rest, where the paper's own lambda is this l.
struct MacklinMueller {
  static constexpr bool kUsesSecondInvariant = false;
  static HWY_INLINE InInvariants evaluate(Real I, Real, Real J, Real mu, Real lambda) {
    const Real l = lambda + mu, strain = J - Real(1.0);
    InInvariants f;
    f.psi = Real(0.5) * mu * (I - Real(3.0)) + strain * (Real(0.5) * l * strain - mu);
    f.d_I = Real(0.5) * mu;
    f.d_II = 0.0;
    f.d_J = l * strain - mu;
    f.d_I_I = 0.0;
    f.d_J_J = l;
    return f;
  }
};

/// mu/4 (II - 2 I + 3) + lambda/8 (I - 3)^2, that is mu |E|^2 + lambda/2 (tr E)^2 with the Green strain E = (C - 1)/2.
struct StVenantKirchhoff {
  static constexpr bool kUsesSecondInvariant = true;
  static HWY_INLINE InInvariants evaluate(Real I, Real II, Real, Real mu, Real lambda) {
    const Real trace = I - Real(3.0);
    InInvariants f;
    f.psi = Real(0.25) * mu * ((II - I) - trace) + Real(0.125) * lambda * (trace * trace);
    f.d_I = Real(0.25) * lambda * trace - Real(0.5) * mu;
    f.d_II = Real(0.25) * mu;
    f.d_J = 0.0;
    f.d_I_I = Real(0.25) * lambda;
    f.d_J_J = 0.0;
    return f;
  }
};

/// mu sum (s_i - 1)^2 + lambda/2 (J - 1)^2
struct FixedCorotated {
  static HWY_INLINE InStretches evaluate(const Real s[3], Real mu, Real lambda) {
    const Real c[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};  // dJ/ds_i
    const Real volume = s[0] * c[0] - Real(1.0);
    const Real mu2 = mu + mu;
    InStretches f;
    f.psi = Real(0.5) * lambda * (volume * volume);
    for (int i = 0; i < 3; ++i) {
      const Real e = s[i] - Real(1.0);
      f.psi = f.psi + mu * (e * e);
      f.d[i] = mu2 * e + lambda * volume * c[i];
      f.dd[packed(i, i)] = mu2 + lambda * (c[i] * c[i]);
    }
    f.dd[packed(0, 1)] = lambda * (c[0] * c[1] + volume * s[2]);
    f.dd[packed(0, 2)] = lambda * (c[0] * c[2] + volume * s[1]);
    f.dd[packed(1, 2)] = lambda * (c[1] * c[2] + volume * s[0]);
    return f;
  }
};

/// mu sum (s_i - 1)^2 + lambda/2 (s1 + s2 + s3 - 3)^2
struct LinearCorotated {
  static HWY_INLINE InStretches evaluate(const Real s[3], Real mu, Real lambda) {
    const Real e[3] = {s[0] - Real(1.0), s[1] - Real(1.0), s[2] - Real(1.0)};
    const Real trace = e[0] + e[1] + e[2];
    InStretches f;
    f.psi = mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) + Real(0.5) * lambda * (trace * trace);
    for (int i = 0; i < 3; ++i) {
      f.d[i] = (mu + mu) * e[i] + lambda * trace;
      for (int j = 0; j < i; ++j) f.dd[packed(j, i)] = lambda;
      f.dd[packed(i, i)] = (mu + mu) + lambda;
    }
    return f;
  }
};

/// mu sum (s_i - 1)^2 = mu |F - R|^2; lambda is ignored.
struct Arap {
  static HWY_INLINE InStretches evaluate(const Real s[3], Real mu, Real) {
    return LinearCorotated::evaluate(s, mu, 0.0);
  }
};

/// mu sum (s_i - 1)^4; lambda is ignored.
struct Polynomial {
  static HWY_INLINE InStretches evaluate(const Real s[3], Real mu, Real) {
    InStretches f;
    f.psi = 0.0;
    for (int i = 0; i < 3; ++i) {
      const Real e = s[i] - Real(1.0), ee = e * e;
      f.psi = f.psi + mu * (ee * ee);
      f.d[i] = Real(4.0) * mu * (ee * e);
      for (int j = 0; j < i; ++j) f.dd[packed(j, i)] = 0.0;
      f.dd[packed(i, i)] = Real(12.0) * mu * ee;
    }
    return f;
  }
};

/// c10 (J^(-2/3) I1 - 3) + c01 (J^(-4/3) I2 - 3) + K/2 (J - 1)^2 with I1 = sum s_i^2, I2 = sum s_i^2 s_j^2,
/// 2 (c10 + c01) = mu and K = lambda + 2/3 mu; infinite for J <= 0, where the derivatives are zero.
struct MooneyRivlin {
  double share;  ///< c01 / (c10 + c01)

  HWY_INLINE InStretches evaluate(const Real s[3], Real mu, Real lambda) const {
    const Real q[3] = {s[0] * s[0], s[1] * s[1], s[2] * s[2]};
    const Real c[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
    const Real J = s[0] * c[0], I1 = q[0] + q[1] + q[2];
    const Real I2 = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    const Mask inside = J > Real(0.0);
    const Real p = select(inside, exp(Real(-2.0 / 3.0) * log(J)), 0.0), pp = p * p;
    const Real c10 = Real(0.5 * (1 - share)) * mu * p, c01 = Real(0.5 * share) * mu * pp;
    const Real bulk = select(inside, lambda + Real(2.0 / 3.0) * mu, 0.0), volume = J - Real(1.0);
    const Real full10 = Real(1.5 * (1 - share)) * mu, full01 = Real(1.5 * share) * mu;
    InStretches f;
    f.psi = select(inside, (c10 * I1 - full10) + (c01 * I2 - full01) + Real(0.5) * bulk * (volume * volume), HUGE_VAL);
    Real t[3], A[3];
    for (int i = 0; i < 3; ++i) {
      t[i] = select(inside, Real(1.0) / s[i], 0.0);
      A[i] = I1 - q[i];
      const Real first = Real(2.0) * s[i] - Real(2.0 / 3.0) * I1 * t[i];
      const Real second = Real(2.0) * s[i] * A[i] - Real(4.0 / 3.0) * I2 * t[i];
      f.d[i] = c10 * first + c01 * second + bulk * volume * c[i];
      const Real tt = t[i] * t[i];
      f.dd[packed(i, i)] = c10 * (Real(10.0 / 9.0) * I1 * tt - Real(2.0 / 3.0)) +
                           c01 * (Real(28.0 / 9.0) * I2 * tt - Real(10.0 / 3.0) * A[i]) + bulk * (c[i] * c[i]);
    }
    for (int j = 1; j < 3; ++j) {
      for (int i = 0; i < j; ++i) {
        const Real tt = t[i] * t[j];
        const Real first = Real(4.0 / 9.0) * I1 * tt - Real(4.0 / 3.0) * (s[i] * t[j] + s[j] * t[i]);
        const Real second = Real(4.0) * s[i] * s[j] - Real(8.0 / 3.0) * (s[i] * A[i] * t[j] + s[j] * A[j] * t[i]) +
                            Real(16.0 / 9.0) * I2 * tt;
        f.dd[packed(i, j)] = c10 * first + c01 * second + bulk * (c[i] * c[j] + volume * s[3 - i - j]);
      }
    }
    return f;
  }
};

/// Calls `visit` with the law's formula; `shape` is the constant of laws that have one.
template <class Visitor>
void visit_law(IsotropicLaw law, double shape, Visitor visit) {
  switch (law) {
    case IsotropicLaw::neo_hookean:
      return visit(NeoHookean());
    case IsotropicLaw::stable_neo_hookean:
      return visit(StableNeoHookean());
    case IsotropicLaw::st_venant_kirchhoff:
      return visit(StVenantKirchhoff());
    case IsotropicLaw::fixed_corotated:
      return visit(FixedCorotated());
    case IsotropicLaw::linear_corotated:
      return visit(LinearCorotated());
    case IsotropicLaw::arap:
      return visit(Arap());
    case IsotropicLaw::macklin_mueller:
      return visit(MacklinMueller());
    case IsotropicLaw::mooney_rivlin:
      return visit(MooneyRivlin{shape});
    case IsotropicLaw::polynomial:
      return visit(Polynomial());
  }
}

/// Whether a formula is written in the invariants; else it is in the stretches.
template <class Law>
constexpr bool kInInvariants = requires {
  Law::kUsesSecondInvariant;
};

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
