#pragma once

#include <memory>
#include <string>

#include "pliant/sim/model.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

// What the experiments of pxpbd share: nu = 0.3, rho = 10 kg/m^3, boxes cut into five tetrahedra a cell (section 5).

/// A box of cells with the given edge, m.
BodyOptions pxpbd_box(std::array<Index, 3> cells, double edge, const std::string& law, double young);

/// With the sweeps of the paper and nothing after them.
ParameterMap sweeps_alone(ParameterMap parameters);

double volume_of(const TetMesh& mesh, const VecX& x);
/// Share of the vertices of all bodies that lie inside a tetrahedron of another body.
double interpenetration(const Model& model, const VecX& x);
/// Median wall time per element and iteration needs a quiet machine; this is the mean of a run.
struct Timer {
  double seconds = 0;
  int iterations = 0;
  void add(double more, int count) {
    seconds += more;
    iterations += count;
  }
  double ms_per_iteration() const { return iterations > 0 ? 1e3 * seconds / iterations : 0; }
};

}  // namespace pliant::experiments
