#pragma once

#include "pliant/materials/law.hpp"

namespace pliant {

/// The laws of laws-inl.hpp, which lists them.
enum class IsotropicLaw : int;

/// Law::stress and Law::hessian of an isotropic law. `shape` is the constant of laws that have one (Mooney-Rivlin).
void isotropic_stress(IsotropicLaw law, double shape, const Batch9& F, const Batch<2>& lame, Batch<1>& psi, Batch9& P);
void isotropic_hessian(IsotropicLaw law, double shape, const Batch9& F, const Batch<2>& lame, Projection projection,
                       Batch45& H);

}  // namespace pliant
