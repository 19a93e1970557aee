#include "pliant/materials/isotropic.hpp"
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/materials/isotropic_hessian.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "pliant/materials/isotropic-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

template <class Law>
void by_invariants(const Batch9& F, const Batch<2>& lame, Projection projection, Batch45& H) {
  if (is_pointwise(projection)) return hessian_by_stretches(ByStretches<Law>(), F, lame, projection, H);
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    invariant_hessian<Law>(load_matrix(F, lane), Real::load(lame.row[0] + lane), Real::load(lame.row[1] + lane), H,
                           lane);
  }
}

void isotropic_hessian_batch(IsotropicLaw law, double shape, const Batch9& F, const Batch<2>& lame,
                             Projection projection, Batch45& H) {
  visit_law(law, shape, [&]<class Law>(const Law& formula) {
    if constexpr (kInInvariants<Law>)
      by_invariants<Law>(F, lame, projection, H);
    else
      hessian_by_stretches(OfRotation<Law>{formula}, F, lame, projection, H);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(isotropic_hessian_batch);

void isotropic_hessian(IsotropicLaw law, double shape, const Batch9& F, const Batch<2>& lame, Projection projection,
                       Batch45& H) {
  HWY_DYNAMIC_DISPATCH(isotropic_hessian_batch)(law, shape, F, lame, projection, H);
}

}  // namespace pliant
#endif
