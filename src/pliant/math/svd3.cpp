#include "pliant/math/svd3.hpp"

#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/math/svd3.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "pliant/math/svd3-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

void rotation_svd_batch(const Batch9& F, Batch9& U, Batch3& s, Batch9& V) {
  for_svd(F, [&](int lane, const Svd& svd) HWY_ATTR {
    store_matrix(svd.U, U, lane);
    store_matrix(svd.V, V, lane);
    for (int i = 0; i < 3; ++i) svd.s[i].store(s.row[i] + lane);
  });
}

void polar_batch(const Batch9& F, Batch9& R, Batch6& S) {
  for_svd(F, [&](int lane, const Svd& svd) HWY_ATTR {
    store_matrix(times_transpose(svd.U, svd.V), R, lane);
    Matrix3 scaled = svd.V;
    for (int c = 0; c < 9; ++c) scaled.m[c] = scaled.m[c] * svd.s[c / 3];
    for (int c = 0; c < 3; ++c) {
      for (int r = 0; r <= c; ++r) {
        const Real entry =
            mul_add(scaled(r, 2), svd.V(c, 2), mul_add(scaled(r, 1), svd.V(c, 1), scaled(r, 0) * svd.V(c, 0)));
        entry.store(S.row[packed(r, c)] + lane);
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(rotation_svd_batch);
HWY_EXPORT(polar_batch);

void rotation_svd(const Batch9& F, Batch9& U, Batch3& s, Batch9& V) {
  HWY_DYNAMIC_DISPATCH(rotation_svd_batch)(F, U, s, V);
}

void polar(const Batch9& F, Batch9& R, Batch6& S) { HWY_DYNAMIC_DISPATCH(polar_batch)(F, R, S); }

}  // namespace pliant
#endif
