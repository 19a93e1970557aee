#pragma once

#include "pliant/materials/law.hpp"

namespace pliant {

/// The laws of laws-inl.hpp.
enum class IsotropicLaw {
  neo_hookean,
  stable_neo_hookean,
  st_venant_kirchhoff,
  fixed_corotated,
  linear_corotated,
  arap,
};

/// Law::stress and Law::hessian of an isotropic law.
void isotropic_stress(IsotropicLaw law, const Batch9& F, const Batch<2>& lame, Batch<1>& psi, Batch9& P);
void isotropic_hessian(IsotropicLaw law, const Batch9& F, const Batch<2>& lame, Projection projection, Batch45& H);

}  // namespace pliant
