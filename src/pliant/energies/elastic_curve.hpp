#pragma once

#include "pliant/fem/fe_mesh.hpp"

namespace pliant {

/// The elements along a space-filling curve (Morton codes of their centroids): neighbours in the list share nodes,
/// which is what gathering positions and adding forces up costs least with. Meshes come in any order.
std::vector<Index> elements_along_curve(const FeMesh& mesh);

}  // namespace pliant
