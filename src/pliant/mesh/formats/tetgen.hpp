#pragma once

#include <string>
#include <string_view>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant {

/// A text and the name of its file in messages.
struct NamedText {
  std::string_view text;
  std::string file;
};

/// Reads TetGen's `.node` and `.ele` files, numbered from 0 or from 1. The first attribute of the elements is the
/// region if all its values are integers; the others, and those that are not, become element fields "attribute 1", ...
/// . Attributes and markers of points are passed over. Of ten-node tetrahedra the corners are read.
MeshData read_tetgen(const NamedText& nodes, const NamedText& elements);

struct TetgenFiles {
  std::string nodes;
  std::string elements;
};
/// Numbered from 0; the regions, if there are any, as the attribute.
TetgenFiles write_tetgen(const MeshData& data);

}  // namespace pliant
