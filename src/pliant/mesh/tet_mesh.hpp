#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// What to do with vertices that no tetrahedron uses.
enum class Orphans { drop, reject };

/// Numbers given with the mesh, one row of `components` for each tetrahedron: the cell data of VTK and VTU files, the
/// $ElementData of Gmsh.
struct ElementField {
  int components = 1;          ///< 1: scalar, 3: vector, 9: tensor, row by row
  std::vector<double> values;  ///< row after row, in the order of the tets; the units are those of the file

  bool operator==(const ElementField&) const = default;
};

/// The raw content of a mesh file or a generator, unchecked.
struct MeshData {
  std::vector<Vec3> vertices;                      ///< metres
  std::vector<Tet> tets;                           ///< positive volume: (v1-v0) x (v2-v0) . (v3-v0) > 0
  std::vector<Index> regions;                      ///< one integer label per tet, or empty
  std::map<Index, std::string> region_names;       ///< of the labels that have one
  std::map<std::string, std::vector<Index>> sets;  ///< named vertex sets
  std::map<std::string, ElementField> element_fields;
  std::string source = "mesh";     ///< file or generator, for messages
  std::vector<std::string> notes;  ///< what a person should know about how it was read
  /// Of a part of a larger mesh: those of its boundary triangles that belong to tets here, and whose they are. None:
  /// the boundary is that of these tets.
  struct PartOfSurface {
    std::vector<Triangle> triangles;
    std::vector<Index> tets;
  };
  std::optional<PartOfSurface> surface;
};

/// A checked, immutable tetrahedral mesh: indices in range, coordinates and fields finite, every element positively
/// oriented and not degenerate, no orphan vertices.
class TetMesh {
 public:
  TetMesh() = default;
  /// Throws InputError naming the first bad element or vertex (and how many there are).
  explicit TetMesh(MeshData data, Orphans orphans = Orphans::drop);

  std::span<const Vec3> vertices() const { return data_.vertices; }
  std::span<const Tet> tets() const { return data_.tets; }
  /// One label per tet, or empty.
  std::span<const Index> regions() const { return data_.regions; }
  const std::map<Index, std::string>& region_names() const { return data_.region_names; }
  /// The tets of a region, ascending; it is known by its name or by its label as text ("3"). A name is tried first, and
  /// may belong to several labels. Throws InputError naming the nearest known one, or what there is.
  std::vector<Index> region_tets(std::string_view name) const;
  const std::map<std::string, ElementField>& element_fields() const { return data_.element_fields; }
  /// Boundary triangles, oriented outwards, in the order of their tets.
  std::span<const Triangle> surface() const { return surface_; }
  /// For each boundary triangle, the tet it belongs to.
  std::span<const Index> surface_tets() const { return surface_tets_; }
  const std::map<std::string, std::vector<Index>>& sets() const { return data_.sets; }
  const std::string& source() const { return data_.source; }
  /// Everything above as the plain data it was built from.
  const MeshData& data() const { return data_; }
  /// What was done to the data on the way here, for people: elements turned over, vertices dropped.
  const std::vector<std::string>& notes() const { return data_.notes; }
  /// How many orphan vertices were dropped when the mesh was built.
  Index dropped_vertices() const { return dropped_; }

  double volume(Index tet) const;
  double total_volume() const;

 private:
  MeshData data_;
  std::vector<Triangle> surface_;
  std::vector<Index> surface_tets_;
  Index dropped_ = 0;
};

}  // namespace pliant
