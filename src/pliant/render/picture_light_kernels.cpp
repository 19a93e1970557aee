#include "pliant/render/picture_light_kernels.hpp"

#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/render/picture_light_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 8>;
using I = hn::Rebind<std::int32_t, D>;
using V = hn::Vec<D>;

struct V3 {
  V x, y, z;
};
HWY_INLINE V dot(const V3& a, const float* b) {
  const D d;
  return hn::MulAdd(a.x, hn::Set(d, b[0]), hn::MulAdd(a.y, hn::Set(d, b[1]), hn::Mul(a.z, hn::Set(d, b[2]))));
}
HWY_INLINE V3 load(const std::vector<float>* field, std::size_t i) {
  const D d;
  return {hn::LoadU(d, field[0].data() + i), hn::LoadU(d, field[1].data() + i), hn::LoadU(d, field[2].data() + i)};
}

/// 1 where lit, 0 in the shadow. A ramp one sample deep rather than a comparison, bilinear between four samples: no
/// jump, and softer besides.
HWY_INLINE V visible(const LightView& view, const float* image, int size, const V3& x) {
  const D d;
  const I di;
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0F);
  const V middle = hn::Set(d, 0.5F * static_cast<float>(size) - 0.5F);
  const V px = hn::Add(dot(x, view.u), middle), py = hn::Add(dot(x, view.v), middle);
  const V last = hn::Set(d, static_cast<float>(size - 1));
  const auto inside = hn::And(hn::And(hn::Ge(px, zero), hn::Ge(py, zero)), hn::And(hn::Lt(px, last), hn::Lt(py, last)));
  if (hn::AllFalse(d, inside)) return one;
  const auto column = hn::ConvertTo(di, hn::IfThenElseZero(inside, px)),
             row = hn::ConvertTo(di, hn::IfThenElseZero(inside, py));
  const V fx = hn::Sub(px, hn::ConvertTo(d, column)), fy = hn::Sub(py, hn::ConvertTo(d, row));
  const auto first = hn::Add(hn::Mul(row, hn::Set(di, size)), column);
  const V nearness = hn::Add(dot(x, view.direction), one);
  const auto lit = [&](int offset) {
    const V blocker = hn::GatherIndex(d, image + offset, first);
    return hn::Min(hn::Max(hn::Sub(nearness, blocker), zero), one);
  };
  const V a = lit(0), b = lit(1), c = lit(size), e = lit(size + 1);
  const V above = hn::MulAdd(fx, hn::Sub(b, a), a), below = hn::MulAdd(fx, hn::Sub(e, c), c);
  return hn::IfThenElse(inside, hn::MulAdd(fy, hn::Sub(below, above), above), one);
}

void AddLight(const LightView& view, const float* image, int size, float per_texel, float weight, float lamp_weight,
              LitPoints& points) {
  // Moved off the surface by a little more than a sample, a plane does not shadow itself however it is inclined.
  constexpr float kOffset = 1.6F;
  const D d;
  const V scale = hn::Set(d, per_texel), away = hn::Set(d, kOffset), zero = hn::Zero(d);
  for (std::size_t i = 0; i < points.size(); i += hn::Lanes(d)) {
    const V cosine = hn::Max(dot(load(points.normal, i), view.direction), zero);
    // Surfaces that look away from a light have no use for it.
    const auto faces = hn::Gt(cosine, zero);
    if (hn::AllFalse(d, faces)) continue;
    V seen = hn::Set(d, 1.0F);
    if (image) {
      const V3 p = load(points.position, i), o = load(points.offset, i);
      const V3 x = {hn::MulAdd(p.x, scale, hn::Mul(o.x, away)), hn::MulAdd(p.y, scale, hn::Mul(o.y, away)),
                    hn::MulAdd(p.z, scale, hn::Mul(o.z, away))};
      seen = visible(view, image, size, x);
    }
    seen = hn::IfThenElseZero(faces, seen);
    float* diffuse = points.diffuse.data() + i;
    hn::StoreU(hn::MulAdd(hn::Mul(seen, cosine), hn::Set(d, weight), hn::LoadU(d, diffuse)), d, diffuse);
    float* lamp = points.lamp.data() + i;
    hn::StoreU(hn::MulAdd(seen, hn::Set(d, lamp_weight), hn::LoadU(d, lamp)), d, lamp);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(AddLight);

void LitPoints::resize(std::size_t count) {
  for (auto* field : {position, normal, offset})
    for (int k = 0; k < 3; ++k) field[k].resize(count, 0.0F);
  diffuse.resize(count, 0.0F);
  lamp.resize(count, 0.0F);
}

void add_light(const LightView& view, const float* image, int size, float per_texel, float weight, float lamp_weight,
               LitPoints& points) {
  HWY_DYNAMIC_DISPATCH(AddLight)(view, image, size, per_texel, weight, lamp_weight, points);
}

}  // namespace pliant
#endif
