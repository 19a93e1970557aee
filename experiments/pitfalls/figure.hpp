#pragma once

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant::experiments {

/// In place of the armadillo: a figure with legs, trunk, arms and head, 2 m tall and half a metre deep, cut out of a
/// grid with `cells` cells per metre.
MeshData figure(int cells);

}  // namespace pliant::experiments
