#include "pliant/materials/isotropic.hpp"
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/materials/isotropic_stress.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "pliant/materials/isotropic-inl.hpp"
#include "pliant/math/rotation3-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

template <class Law>
void by_invariants(const Batch9& F, const Batch<2>& lame, Batch<1>& psi, Batch9& P) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    Real energy;
    Matrix3 stress;
    invariant_stress<Law>(load_matrix(F, lane), Real::load(lame.row[0] + lane), Real::load(lame.row[1] + lane), energy,
                          stress);
    energy.store(psi.row[0] + lane);
    store_matrix(stress, P, lane);
  }
}

/// The corotated laws need the nearest rotation alone, not the stretches:
///   mu |F - R|^2 + lambda/2 v^2   with v = tr(R^T F) - 3 (linear), det F - 1 (fixed) or 0 (ARAP).
template <class Law>
HWY_INLINE void corotated_stress(const Matrix3& F, const Matrix3& R, Real mu, Real lambda, Real& psi, Matrix3& P) {
  Matrix3 e;
  for (int c = 0; c < 9; ++c) e.m[c] = F.m[c] - R.m[c];
  psi = mu * inner(e, e);
  const Real mu2 = mu + mu;
  for (int c = 0; c < 9; ++c) P.m[c] = mu2 * e.m[c];
  if constexpr (std::is_same_v<Law, Arap>) return;
  Matrix3 dv = R;
  Real v = inner(R, F) - Real(3.0);
  if constexpr (std::is_same_v<Law, FixedCorotated>) {
    dv = cofactor(F);
    v = determinant(F, dv) - Real(1.0);
  }
  const Real pressure = lambda * v;
  psi = mul_add(Real(0.5) * pressure, v, psi);
  for (int c = 0; c < 9; ++c) P.m[c] = mul_add(pressure, dv.m[c], P.m[c]);
}

/// With the strain e = R^T F - 1: Psi = mu tr e^4, P = 4 mu R e^3.
HWY_INLINE void polynomial_stress(const Matrix3& F, const Matrix3& R, Real mu, Real& psi, Matrix3& P) {
  Matrix3 e;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i <= j; ++i) {
      e(i, j) = mul_add(R(2, i), F(2, j), mul_add(R(1, i), F(1, j), R(0, i) * F(0, j)));
      e(j, i) = e(i, j);
    }
    e(j, j) = e(j, j) - Real(1.0);
  }
  const Matrix3 ee = e * e;
  psi = mu * inner(ee, ee);
  P = R * (e * ee);
  for (int c = 0; c < 9; ++c) P.m[c] = Real(4.0) * mu * P.m[c];
}

template <class Law>
void by_rotation(const Batch9& F, const Batch<2>& lame, Batch<1>& psi, Batch9& P) {
  for (int lane = 0; lane < kBatch; lane += kTogether * lanes()) {
    Matrix3 A[kTogether], R[kTogether];
    Mask good[kTogether];
    bool all_good = true;
    for (int n = 0; n < kTogether; ++n) A[n] = load_matrix(F, lane + n * lanes());
    nearest_rotation<kTogether>(A, R, good);
    for (int n = 0; n < kTogether; ++n) all_good &= hn::AllTrue(Tag(), good[n]);
    if (!all_good) {
      Svd svd[kTogether];
      decompose(F, lane, svd);
      for (int n = 0; n < kTogether; ++n) {
        const Matrix3 exact = times_transpose(svd[n].U, svd[n].V);
        for (int c = 0; c < 9; ++c) R[n].m[c] = select(good[n], R[n].m[c], exact.m[c]);
      }
    }
    for (int n = 0; n < kTogether; ++n) {
      const int at = lane + n * lanes();
      Real energy;
      Matrix3 stress;
      const Real mu = Real::load(lame.row[0] + at);
      if constexpr (std::is_same_v<Law, Polynomial>) {
        polynomial_stress(A[n], R[n], mu, energy, stress);
      } else {
        corotated_stress<Law>(A[n], R[n], mu, Real::load(lame.row[1] + at), energy, stress);
      }
      energy.store(psi.row[0] + at);
      store_matrix(stress, P, at);
    }
  }
}

/// Laws with a way to the stress that needs no stretches.
template <class Law>
constexpr bool kByRotation = std::is_same_v<Law, FixedCorotated> || std::is_same_v<Law, LinearCorotated> ||
                             std::is_same_v<Law, Arap> || std::is_same_v<Law, Polynomial>;

void isotropic_stress_batch(IsotropicLaw law, double shape, const Batch9& F, const Batch<2>& lame, Batch<1>& psi,
                            Batch9& P) {
  visit_law(law, shape, [&]<class Law>(const Law& formula) {
    if constexpr (kInInvariants<Law>)
      by_invariants<Law>(F, lame, psi, P);
    else if constexpr (kByRotation<Law>)
      by_rotation<Law>(F, lame, psi, P);
    else
      stress_by_stretches(OfRotation<Law>{formula}, F, lame, psi, P);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(isotropic_stress_batch);

void isotropic_stress(IsotropicLaw law, double shape, const Batch9& F, const Batch<2>& lame, Batch<1>& psi, Batch9& P) {
  HWY_DYNAMIC_DISPATCH(isotropic_stress_batch)(law, shape, F, lame, psi, P);
}

}  // namespace pliant
#endif
