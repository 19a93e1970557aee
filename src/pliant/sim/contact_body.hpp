#pragma once

#include "pliant/contact/contact_model.hpp"
#include "pliant/sim/model.hpp"

namespace pliant {

/// What of a body can touch: its surface, through all of its nodes (a triangle of an element of order p becomes p^2
/// small ones); of springs without triangles, the springs themselves; of a rod its segments.
/// Of a rigid body, the points that its frame carries, behind all `nodes`.
ContactBody contact_body(const Body& body, Index nodes);

}  // namespace pliant
