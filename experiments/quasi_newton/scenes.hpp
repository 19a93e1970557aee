#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pliant/sim/model.hpp"

namespace pliant::experiments {

/// A scene of Table I: what it is made of, and what the paper measured.
struct Table1Scene {
  std::string name, mesh_file, law;
  double mu, lambda;  ///< Pa; the paper's own units are arbitrary, and its values mostly not given
  int published_vertices;
  double published_ms, published_error, published_newton_ms, published_newton_error;
};

const std::vector<Table1Scene>& table1_scenes();

/// The model of a scene, on the mesh of its name in `folder` or, without one, on a generated stand-in; `scale` makes
/// the stand-in coarser. Lengths are brought to about a metre.
std::shared_ptr<const Model> table1_model(const Table1Scene& scene, const std::string& folder, double scale);

}  // namespace pliant::experiments
