#include "pliant/materials/isotropic.hpp"
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/materials/isotropic_stress.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "pliant/materials/isotropic-inl.hpp"

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

void isotropic_stress_batch(IsotropicLaw law, double shape, const Batch9& F, const Batch<2>& lame, Batch<1>& psi,
                            Batch9& P) {
  switch (law) {
    case IsotropicLaw::neo_hookean:
      return by_invariants<NeoHookean>(F, lame, psi, P);
    case IsotropicLaw::stable_neo_hookean:
      return by_invariants<StableNeoHookean>(F, lame, psi, P);
    case IsotropicLaw::st_venant_kirchhoff:
      return by_invariants<StVenantKirchhoff>(F, lame, psi, P);
    case IsotropicLaw::macklin_mueller:
      return by_invariants<MacklinMueller>(F, lame, psi, P);
    case IsotropicLaw::mooney_rivlin:
      return stress_by_stretches(OfRotation<MooneyRivlin>{{shape}}, F, lame, psi, P);
    case IsotropicLaw::fixed_corotated:
      return stress_by_stretches(OfRotation<FixedCorotated>(), F, lame, psi, P);
    case IsotropicLaw::linear_corotated:
      return stress_by_stretches(OfRotation<LinearCorotated>(), F, lame, psi, P);
    case IsotropicLaw::arap:
      return stress_by_stretches(OfRotation<Arap>(), F, lame, psi, P);
  }
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
