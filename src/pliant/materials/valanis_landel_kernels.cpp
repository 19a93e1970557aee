// Laws of the user's own curves, a vector of points at a time.
#include "pliant/materials/valanis_landel.hpp"
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/materials/valanis_landel_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "pliant/materials/isotropic-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

struct CurveValues {
  Real value, d, dd;
};

HWY_INLINE CurveValues evaluate_polynomial(const Curve::Data& curve, Real s) {
  const Real t = s - Real(1.0);
  CurveValues f{0.0, 0.0, 0.0};
  for (int k = curve.degrees; k-- > 0;) {
    f.dd = mul_add(f.dd, t, f.d + f.d);
    f.d = mul_add(f.d, t, f.value);
    f.value = mul_add(f.value, t, Real(curve.coefficients[k]));
  }
  return f;
}

/// The piece of a point is the number of knots at or below it. A NaN ends in the first one and stays a NaN.
HWY_INLINE CurveValues evaluate_spline(const Curve::Data& curve, Real s) {
  constexpr hn::RebindToSigned<Tag> integers{};
  constexpr std::int64_t kStride = sizeof(Curve::Piece) / sizeof(double);
  static_assert(kStride == 6, "left, value and four coefficients, read by number below");
  const auto stride = hn::Set(integers, kStride);
  auto at = hn::Zero(integers);
  for (int k = 0; k < curve.knot_count; ++k) {
    const Mask beyond = Real(curve.knots[k]) <= s;
    at = hn::Add(at, hn::And(hn::BitCast(integers, hn::VecFromMask(Tag(), beyond)), stride));
  }
  const double* pieces = &curve.pieces->left;
  const auto entry = [&](int k) HWY_ATTR { return Real(hn::GatherIndex(Tag(), pieces + k, at)); };
  const Real t = s - entry(0), c0 = entry(2), c1 = entry(3), c2 = entry(4), c3 = entry(5);
  CurveValues f;
  const Real integral = mul_add(t, mul_add(t, mul_add(t, Real(0.25) * c3, Real(1.0 / 3) * c2), Real(0.5) * c1), c0);
  f.value = mul_add(t, integral, entry(1));
  f.d = mul_add(t, mul_add(t, mul_add(t, c3, c2), c1), c0);
  f.dd = mul_add(t, mul_add(t, Real(3.0) * c3, c2 + c2), c1);
  return f;
}

HWY_INLINE CurveValues evaluate_curve(const Curve::Data& curve, Real s) {
  return curve.knot_count > 0 ? evaluate_spline(curve, s) : evaluate_polynomial(curve, s);
}

/// -log J + r/2 log^2 J with r = lambda/mu, added to c; false where J <= 0.
HWY_INLINE Mask add_logarithmic_volume(Real J, Real ratio, CurveValues& c) {
  const Mask outside = J <= Real(0.0);
  const Real L = select(outside, 0.0, log(J)), inverse = select(outside, 0.0, Real(1.0) / J);
  const Real slope = ratio * L - Real(1.0);
  c.value = c.value + L * (Real(0.5) * ratio * L - Real(1.0));
  c.d = mul_add(slope, inverse, c.d);
  c.dd = mul_add((ratio - slope) * inverse, inverse, c.dd);
  return hn::Not(outside);
}

struct OfCurves {
  static constexpr bool kSmooth = false;
  Curve::Data a, b, c;
  bool logarithmic_volume;

  explicit OfCurves(const ValanisLandelCurves& curves)
      : a(curves.a.data()), b(curves.b.data()), c(curves.c.data()), logarithmic_volume(curves.logarithmic_volume) {}

  HWY_INLINE InStretches evaluate(const Real s[3], Real mu, Real lambda) const {
    InStretches f;
    f.psi = 0.0;
    for (int i = 0; i < 3; ++i) {
      const CurveValues of_a = evaluate_curve(a, s[i]);
      f.psi = f.psi + of_a.value;
      f.d[i] = of_a.d;
      f.dd[packed(i, i)] = of_a.dd;
      for (int j = 0; j < i; ++j) f.dd[packed(j, i)] = 0.0;
    }
    if (b.degrees + b.knot_count > 0) {
      for (int j = 1; j < 3; ++j) {
        for (int i = 0; i < j; ++i) {
          const CurveValues of_b = evaluate_curve(b, s[i] * s[j]);
          f.psi = f.psi + of_b.value;
          f.d[i] = mul_add(of_b.d, s[j], f.d[i]);
          f.d[j] = mul_add(of_b.d, s[i], f.d[j]);
          f.dd[packed(i, i)] = mul_add(of_b.dd * s[j], s[j], f.dd[packed(i, i)]);
          f.dd[packed(j, j)] = mul_add(of_b.dd * s[i], s[i], f.dd[packed(j, j)]);
          f.dd[packed(i, j)] = mul_add(of_b.dd * s[i], s[j], of_b.d);
        }
      }
    }
    const Real g[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};  // dJ/ds_i
    const Real J = s[0] * g[0];
    CurveValues of_c = evaluate_curve(c, J);
    Mask inside = hn::FirstN(Tag(), static_cast<std::size_t>(lanes()));
    if (logarithmic_volume) inside = add_logarithmic_volume(J, lambda / mu, of_c);
    f.psi = select(inside, mu * (f.psi + of_c.value), HUGE_VAL);
    for (int j = 0; j < 3; ++j) {
      f.d[j] = mu * mul_add(of_c.d, g[j], f.d[j]);
      for (int i = 0; i <= j; ++i) {
        Real dd = mul_add(of_c.dd * g[i], g[j], f.dd[packed(i, j)]);
        if (i != j) dd = mul_add(of_c.d, s[3 - i - j], dd);
        f.dd[packed(i, j)] = mu * dd;
      }
    }
    return f;
  }
};

void valanis_landel_stress_batch(const ValanisLandelCurves& curves, const Batch9& F, const Batch<2>& lame,
                                 Batch<1>& psi, Batch9& P) {
  stress_by_stretches(OfCurves(curves), F, lame, psi, P);
}

void valanis_landel_hessian_batch(const ValanisLandelCurves& curves, const Batch9& F, const Batch<2>& lame,
                                  Projection projection, Batch45& H) {
  hessian_by_stretches(OfCurves(curves), F, lame, projection, H);
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(valanis_landel_stress_batch);
HWY_EXPORT(valanis_landel_hessian_batch);

void valanis_landel_stress(const ValanisLandelCurves& curves, const Batch9& F, const Batch<2>& lame, Batch<1>& psi,
                           Batch9& P) {
  HWY_DYNAMIC_DISPATCH(valanis_landel_stress_batch)(curves, F, lame, psi, P);
}

void valanis_landel_hessian(const ValanisLandelCurves& curves, const Batch9& F, const Batch<2>& lame,
                            Projection projection, Batch45& H) {
  HWY_DYNAMIC_DISPATCH(valanis_landel_hessian_batch)(curves, F, lame, projection, H);
}

}  // namespace pliant
#endif
