#pragma once

#include "pliant/energies/pressure_energy.hpp"
#include "pliant/sim/model.hpp"

namespace pliant {

/// The faces of a body's surface, of all or of those whose corners are all among `vertices`; nodes as the model numbers
/// them. Throws InputError where there are none.
FaceSet surface_faces(const Body& body);
FaceSet surface_faces(const Body& body, std::span<const Index> vertices);

}  // namespace pliant
