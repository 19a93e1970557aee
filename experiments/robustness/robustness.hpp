#pragma once

#include "experiments/experiment.hpp"
#include "pliant/mesh/tet_mesh.hpp"

namespace pliant::experiments {

/// What a stranger would try: any solver with any law on any mesh.
std::vector<Experiment> robustness_experiments();
Experiment real_bodies();

/// A box of 1 x 0.25 x 0.25 m, 4 n x n x n cells, whose inner vertices are anywhere near where they belong: slivers.
MeshData poor_box(Index cells);

}  // namespace pliant::experiments
