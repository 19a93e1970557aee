#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pliant/sim/model.hpp"

namespace pliant::experiments {

/// A scene of Table I: what it is made of, and what the paper measured.
struct Table1Scene {
  std::string name, mesh_file, law;
  double size;  ///< largest extent, m: that of the authors' meshes, of which only the squirrel is brought to a size
  double mu, lambda;  ///< Pa; the paper's own units are arbitrary, and its values mostly not given
  int published_vertices;
  double published_ms, published_error, published_newton_ms, published_newton_error;
};

const std::vector<Table1Scene>& table1_scenes();

const Table1Scene& table1_scene(const std::string& name);

/// The mesh of a scene, or its stand-in, at its size and about the origin.
std::shared_ptr<const TetMesh> table1_mesh(const Table1Scene& scene, const std::string& folder, double scale);
/// Vertices within a twentieth of the extent of one end of an axis.
std::vector<Index> end_of(const TetMesh& mesh, int axis, bool upper);
int longest_axis(const TetMesh& mesh);

/// The model of a scene, on the mesh of its name in `folder` or, without one, on a generated stand-in; `scale` makes
/// the stand-in coarser.
std::shared_ptr<const Model> table1_model(const Table1Scene& scene, const std::string& folder, double scale);

}  // namespace pliant::experiments
