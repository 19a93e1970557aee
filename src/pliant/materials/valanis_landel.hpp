#pragma once

#include <memory>

#include "pliant/materials/curve.hpp"
#include "pliant/materials/law.hpp"

namespace pliant {

/// mu (sum_i a(s_i) + sum_(i<j) b(s_i s_j) + c(J)), plus, where asked for, the volume term of the Neo-Hookean law.
struct ValanisLandelCurves {
  Curve a, b, c;
  /// Adds -mu log J + lambda/2 log^2 J, infinite for J <= 0.
  bool logarithmic_volume = false;
};

/// A Valanis-Landel law of the curves given. Throws InputError when it is not stress-free at rest, that is unless
/// a'(1) + 2 b'(1) + c'(1) = 0 (the logarithmic volume adds -1).
std::shared_ptr<const Law> valanis_landel_law(LawInfo info, ValanisLandelCurves curves);

/// "valanis-landel" with the user's own curves in Pa: the law multiplies them by the material's `mu`, which is 1 unless
/// the stiffness varies over a body.
std::shared_ptr<const Law> valanis_landel_law(ValanisLandelCurves curves);

void valanis_landel_stress(const ValanisLandelCurves& curves, const Batch9& F, const Batch<2>& lame, Batch<1>& psi,
                           Batch9& P);
void valanis_landel_hessian(const ValanisLandelCurves& curves, const Batch9& F, const Batch<2>& lame,
                            Projection projection, Batch45& H);

}  // namespace pliant
