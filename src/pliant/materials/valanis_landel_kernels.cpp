// Curves are looked up point by point; decomposition, stress, Hessian and projection around them are the vector code
// that all laws of the stretches share.
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

struct OfCurves {
  static constexpr bool kSmooth = false;
  const ValanisLandelCurves& curves;

  HWY_INLINE InStretches evaluate(const Real s[3], Real mu, Real lambda) const {
    HWY_ALIGN double in[5][kBatch], out[10][kBatch];
    for (int i = 0; i < 3; ++i) s[i].store(in[i]);
    mu.store(in[3]);
    lambda.store(in[4]);
    const double* const stretches[3] = {in[0], in[1], in[2]};
    double* const rows[10] = {out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7], out[8], out[9]};
    evaluate_curves(curves, lanes(), stretches, in[3], in[4], rows);
    InStretches f;
    f.psi = Real::load(out[0]);
    for (int i = 0; i < 3; ++i) f.d[i] = Real::load(out[1 + i]);
    for (int k = 0; k < 6; ++k) f.dd[k] = Real::load(out[4 + k]);
    return f;
  }
};

void valanis_landel_stress_batch(const ValanisLandelCurves& curves, const Batch9& F, const Batch<2>& lame,
                                 Batch<1>& psi, Batch9& P) {
  stress_by_stretches(OfCurves{curves}, F, lame, psi, P);
}

void valanis_landel_hessian_batch(const ValanisLandelCurves& curves, const Batch9& F, const Batch<2>& lame,
                                  Projection projection, Batch45& H) {
  hessian_by_stretches(OfCurves{curves}, F, lame, projection, H);
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
