#pragma once

#include "pliant/materials/fibre.hpp"

namespace pliant {

// The constant stiffness by which quasi-Newton methods see a material (quasi-newton, section 4.1, eq. 11): the slope k
// of the straight stress k (s - 1) that fits the material's stress f(s) best over a range of stretches,
//
//   k = argmin int_0.5^1.5 (k (s - 1) - f(s))^2 ds = 12 int_0.5^1.5 (s - 1) f(s) ds,
//
// with f = dPsi/ds_1 at the stretches (s, 1, 1); for a fibre f = psi'. Where the material is infinite inside the range,
// the range is clipped to where it is finite around s = 1, and 12 becomes 1 / int (s - 1)^2. Convergence depends little
// on the range (fig. 15).

/// The range of stretches; 1 must lie inside.
struct StretchRange {
  double low = 0.5, high = 1.5;
};

/// Pa. Zero or negative only for a material that does not resist.
double secant_stiffness(const Law& law, const Lame& lame, StretchRange range = {});
double secant_stiffness(const FibreLaw& law, const FibreParameters& parameters, double activation,
                        StretchRange range = {});

}  // namespace pliant
