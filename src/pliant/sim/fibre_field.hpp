#pragma once

#include <filesystem>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// Fibre directions by a rule.
struct FibreField {
  enum class Kind {
    uniform,  ///< along `direction`
    helical,  ///< winding about the axis through `centre` along `direction`
  };
  Kind kind = Kind::uniform;
  Vec3 direction = Vec3::UnitX();
  Vec3 centre = Vec3::Zero();  ///< m
  double pitch = 0.5;          ///< rad, between the fibre and the circle about the axis; pi/2 is along the axis
};

/// One direction per tet, at its centroid. An element on the axis of a helix has it along the axis.
std::vector<Vec3> fibre_directions(const FibreField& field, const TetMesh& mesh);

/// The rows of an element field of the mesh with three components. Throws InputError naming the nearest field.
std::vector<Vec3> fibre_directions(const std::string& element_field, const TetMesh& mesh);

/// A text file with three numbers a line, one line per tet in the mesh's order; lines that begin with # are skipped.
/// Throws InputError with the line.
std::vector<Vec3> read_fibre_directions(const std::filesystem::path& file, const TetMesh& mesh);

}  // namespace pliant
