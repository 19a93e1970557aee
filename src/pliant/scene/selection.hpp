#pragma once

#include <string>
#include <variant>
#include <vector>

#include "pliant/sim/model.hpp"

namespace pliant {

/// A point or vector in messages, with four digits.
std::string format_vector(const Vec3& v);

/// Ways to pick vertices, all by their rest positions.
struct InBox {
  Vec3 min, max;  ///< m, borders included
};
struct InSphere {
  Vec3 centre;
  double radius;  ///< m
};
/// The half space the normal points away from, border included.
struct BehindPlane {
  Vec3 point, normal;
};
/// Compares one coordinate with a number.
struct Comparison {
  enum class Sign { less, less_equal, greater, greater_equal };
  int axis;  ///< 0, 1, 2
  Sign sign;
  double value;  ///< m
};
/// A named set of the mesh, or one that every mesh has: all, boundary, x-min, x-max, y-min, y-max, z-min, z-max.
struct NamedSet {
  std::string name;
};
/// Whose numbers a list of vertices has: the file's, which mean nothing once vertices were dropped, or the TetMesh's.
enum class VertexNumbering { file, mesh };
struct VertexList {
  std::vector<Index> vertices;
  VertexNumbering numbering = VertexNumbering::file;
};
using SelectionTest = std::variant<InBox, InSphere, BehindPlane, Comparison, NamedSet, VertexList>;

/// Any of the groups; a group selects what all its tests select.
struct Selection {
  std::vector<std::vector<SelectionTest>> any;
  std::string text;  ///< as the user wrote it, for messages
};

/// "x < 0.1", "x < 0.1 and y >= 0.5", or the name of a set. Throws InputError.
std::vector<SelectionTest> parse_selection(const std::string& text);

/// What selections look at: the vertices of a mesh or a body, which must outlive it.
struct VertexView {
  std::span<const Vec3> vertices;
  std::span<const Triangle> surface;
  const std::map<std::string, std::vector<Index>>& sets;
  const std::string& source;
  Index dropped = 0;  ///< vertices without an element

  VertexView(const TetMesh& mesh)
      : vertices(mesh.vertices()),
        surface(mesh.surface()),
        sets(mesh.sets()),
        source(mesh.source()),
        dropped(mesh.dropped_vertices()) {}
  /// Of a rigid body, its surface.
  VertexView(const Body& body)
      : vertices(body.rigid ? std::span<const Vec3>(body.rigid->vertices) : body.vertices()),
        surface(body.rigid ? std::span<const Triangle>(body.rigid->triangles) : body.surface()),
        sets(body.sets()),
        source(body.source()),
        dropped(body.is_solid() ? body.mesh->dropped_vertices() : 0) {}
};

/// The selected vertices, increasing. Throws InputError for unknown sets and vertices out of range; may be empty.
std::vector<Index> select(const Selection& selection, const VertexView& mesh);

/// Lowest and highest coordinates.
InBox bounding_box(std::span<const Vec3> vertices);

}  // namespace pliant
