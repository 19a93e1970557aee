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
  macklin_mueller,
  mooney_rivlin,
  polynomial,
};

/// Law::stress and Law::hessian of an isotropic law. `shape` is the constant of laws that have one (Mooney-Rivlin).
void isotropic_stress(IsotropicLaw law, double shape, const Batch9& F, const Batch<2>& lame, Batch<1>& psi, Batch9& P);
void isotropic_hessian(IsotropicLaw law, double shape, const Batch9& F, const Batch<2>& lame, Projection projection,
                       Batch45& H);

}  // namespace pliant
