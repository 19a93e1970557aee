#pragma once

namespace pliant {

/// Clamps the negative eigenvalues of a local Hessian of 4, 10 or 20 nodes (layout of Energy::hessians) at zero.
void project_element(int nodes, double* blocks);

}  // namespace pliant
