#pragma once

#include "pliant/energies/collider_penalty.hpp"
#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// conjac, section 4, "Bunny" (after McAdams 2011): the contact spring k ((1 - a) n n^T + a I)(x_s - x) pulls to the
/// closest point x_s, so its force is the penalty's own; held fixed, x_s adds a k (I - n n^T) to the stiffness. Adds
/// that for every node inside a collider.
void add_tangential_stiffness(const ColliderPenalty& penalty, double time, const VecX& x, double a, BlockMatrix& H);

}  // namespace pliant
