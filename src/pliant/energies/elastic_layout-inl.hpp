// Between the layout of a batch (one row per component, elements side by side) and plain arrays element by element.
// Four elements at a time are transposed in registers where vectors have four lanes; elsewhere, and at the ends of a
// range, numbers are moved one by one. Values are only moved, so that all ways give the same bits.
#if defined(PLIANT_ENERGIES_ELASTIC_LAYOUT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_ENERGIES_ELASTIC_LAYOUT_INL_HPP
#undef PLIANT_ENERGIES_ELASTIC_LAYOUT_INL_HPP
#else
#define PLIANT_ENERGIES_ELASTIC_LAYOUT_INL_HPP
#endif

#include "pliant/math/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2
constexpr bool kTransposes = true;

/// Rows become columns.
HWY_INLINE void transpose(Real rows[4]) {
  const Tag d;
  const auto a = hn::InterleaveLower(d, rows[0].v, rows[1].v), b = hn::InterleaveUpper(d, rows[0].v, rows[1].v);
  const auto e = hn::InterleaveLower(d, rows[2].v, rows[3].v), f = hn::InterleaveUpper(d, rows[2].v, rows[3].v);
  rows[0] = hn::ConcatLowerLower(d, e, a);
  rows[1] = hn::ConcatLowerLower(d, f, b);
  rows[2] = hn::ConcatUpperUpper(d, e, a);
  rows[3] = hn::ConcatUpperUpper(d, f, b);
}
#else
constexpr bool kTransposes = false;
HWY_INLINE void transpose(Real*) {}
#endif

/// The elements of a batch to be written: those of the vector that begins at `lane`, as far as they are among first to
/// last - 1. Element `lane` begins at the address given with it, the others follow in a distance of `stride`.
struct Elements {
  int lane, first, last;
  std::ptrdiff_t stride;
  HWY_INLINE bool four() const { return kTransposes && lane >= first && lane + 4 <= last; }
};

/// Four components of four elements.
HWY_INLINE void write_four(Real a, Real b, Real c, Real d, const Elements& elements, double* out) {
  Real rows[4] = {a, b, c, d};
  transpose(rows);
  for (int p = 0; p < 4; ++p) hn::StoreU(rows[p].v, Tag(), out + p * elements.stride);
}

/// One component of the elements that are wanted.
HWY_INLINE void write_one(Real component, const Elements& elements, double* out) {
  HWY_ALIGN double values[kBatch];
  component.store(values);
  for (int p = 0; p < lanes(); ++p) {
    const int element = elements.lane + p;
    if (element >= elements.first && element < elements.last) out[p * elements.stride] = values[p];
  }
}

/// Reads three numbers at x + offsets[p], minus those at x + origins[p], for the elements p = lane, lane + 1, ... of a
/// batch.
HWY_INLINE void read_differences(const double* x, const std::int32_t* offsets, const std::int32_t* origins, int lane,
                                 Real out[3]) {
#if HWY_TARGET == HWY_AVX2
  const Tag d;
  const Mask three = hn::FirstN(d, 3);  // the fourth number may lie beyond the end of x
  Real rows[4];
  for (int p = 0; p < 4; ++p) {
    rows[p] =
        Real(hn::MaskedLoad(three, d, x + offsets[lane + p])) - Real(hn::MaskedLoad(three, d, x + origins[lane + p]));
  }
  transpose(rows);
  for (int i = 0; i < 3; ++i) out[i] = rows[i];
#else
  HWY_ALIGN double values[3][kBatch];
  for (int p = 0; p < lanes(); ++p) {
    for (int i = 0; i < 3; ++i) values[i][p] = x[offsets[lane + p] + i] - x[origins[lane + p] + i];
  }
  for (int i = 0; i < 3; ++i) out[i] = Real::load(values[i]);
#endif
}

/// The edges x_a - x_0 of linear elements p = lane, lane + 1, ...: column a - 1 of G.
HWY_INLINE void read_edges(const double* x, const std::int32_t* offsets, int lane, Matrix3& G) {
#if HWY_TARGET == HWY_AVX2
  const Tag d;
  const Mask three = hn::FirstN(d, 3);
  Real origin[4];
  for (int p = 0; p < 4; ++p) origin[p] = hn::MaskedLoad(three, d, x + offsets[lane + p]);
  for (int a = 1; a < 4; ++a) {
    Real rows[4];
    for (int p = 0; p < 4; ++p)
      rows[p] = Real(hn::MaskedLoad(three, d, x + offsets[a * kBatch + lane + p])) - origin[p];
    transpose(rows);
    for (int i = 0; i < 3; ++i) G(i, a - 1) = rows[i];
  }
#else
  for (int a = 1; a < 4; ++a) read_differences(x, offsets + a * kBatch, offsets, lane, &G(0, a - 1));
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
