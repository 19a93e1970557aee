#include "pliant/mesh/tetrahedralise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "pliant/base/atomic_file.hpp"
#include "pliant/base/child_process.hpp"
#include "pliant/base/error.hpp"
#include "pliant/mesh/formats/surface_formats.hpp"
#include "pliant/mesh/formats/text_writer.hpp"
#include "pliant/mesh/lattice_fill.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/mesh/surface_check.hpp"
#include "pliant/mesh/surface_crossings.hpp"

// Both programs keep the triangles of the surface where they can. Gmsh gets each piece of the surface as an STL solid
// and a script that makes volumes of them, TetGen a list of facets with a point in each cavity.

namespace pliant {

namespace {

struct Piece {
  TriangleMesh mesh;  ///< with the vertices of the whole
  double volume = 0;  ///< negative: a cavity
};

std::vector<Piece> pieces_of(const TriangleMesh& surface, const SurfaceReport& report) {
  std::vector<Piece> pieces(static_cast<std::size_t>(report.pieces));
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    pieces[static_cast<std::size_t>(report.piece[t])].mesh.triangles.push_back(surface.triangles[t]);
  }
  for (Piece& piece : pieces) {
    piece.mesh.vertices = surface.vertices;
    piece.volume = examine_surface(piece.mesh).volume;
  }
  return pieces;
}

/// How far a ray runs until it hits a triangle (Moeller and Trumbore 1997); infinity if it misses.
double distance_to(const Vec3& origin, const Vec3& direction, const Vec3& a, const Vec3& b, const Vec3& c) {
  constexpr double miss = std::numeric_limits<double>::infinity();
  const Vec3 e1 = b - a;
  const Vec3 e2 = c - a;
  const Vec3 p = direction.cross(e2);
  const double determinant = e1.dot(p);
  if (determinant == 0) return miss;
  const Vec3 s = origin - a;
  const double u = s.dot(p) / determinant;
  const Vec3 q = s.cross(e1);
  const double v = direction.dot(q) / determinant;
  if (u < 0 || v < 0 || u + v > 1) return miss;
  const double t = e2.dot(q) / determinant;
  return t > 0 ? t : miss;
}

/// A point in the cavity a piece encloses: half way from the middle of its largest triangle to what lies opposite.
Vec3 point_in_cavity(const Piece& piece, const TriangleMesh& surface) {
  const auto corner = [&](const Triangle& t, std::size_t k) {
    return surface.vertices[static_cast<std::size_t>(t[k])];
  };
  const auto normal = [&](const Triangle& t) {
    return Vec3((corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0)));
  };
  const auto largest = std::max_element(
      piece.mesh.triangles.begin(), piece.mesh.triangles.end(),
      [&](const Triangle& a, const Triangle& b) { return normal(a).squaredNorm() < normal(b).squaredNorm(); });
  const Vec3 centre = (corner(*largest, 0) + corner(*largest, 1) + corner(*largest, 2)) / 3;
  const Vec3 direction = normal(*largest).normalized();  // out of the solid, into the cavity
  double distance = std::numeric_limits<double>::infinity();
  for (const Triangle& t : surface.triangles) {
    if (t == *largest) continue;
    distance = std::min(distance, distance_to(centre, direction, corner(t, 0), corner(t, 1), corner(t, 2)));
  }
  if (!std::isfinite(distance)) {
    throw InputError(surface.source + ": a piece that faces inwards is not a closed cavity of the others.");
  }
  return centre + distance / 2 * direction;
}

/// The piece without the vertices of the others.
TriangleMesh alone(const Piece& piece) {
  TriangleMesh mesh = piece.mesh;
  std::vector<Index> number(mesh.vertices.size(), -1);
  std::vector<Vec3> vertices;
  for (Triangle& triangle : mesh.triangles) {
    for (Index& v : triangle) {
      Index& n = number[static_cast<std::size_t>(v)];
      if (n < 0)
        n = static_cast<Index>(vertices.size()), vertices.push_back(mesh.vertices[static_cast<std::size_t>(v)]);
      v = n;
    }
  }
  mesh.vertices = std::move(vertices);
  return mesh;
}

[[noreturn]] void fail(const TriangleMesh& surface, const char* program, const ProcessResult& result) {
  std::string words = result.output;
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  throw InputError(
      fmt::format("{}: {} could not fill the surface ({}); the triangles may intersect. The end of its output:\n{}",
                  surface.source, program, result.ending, words));
}

MeshData run_gmsh(const TriangleMesh& surface, const std::vector<Piece>& pieces, double edge,
                  const std::filesystem::path& folder) {
  std::vector<std::size_t> bodies;
  std::vector<std::size_t> cavities;
  std::string script;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    (pieces[i].volume > 0 ? bodies : cavities).push_back(i + 1);
    const std::string file = fmt::format("piece{}.stl", i + 1);
    write_atomically(folder / file, write_stl(alone(pieces[i]), Encoding::text));
    append(script, "Merge \"{}\";\n", file);
  }
  for (std::size_t i = 1; i <= pieces.size(); ++i) append(script, "Surface Loop({0}) = {{{0}}};\n", i);
  if (bodies.size() > 1 && !cavities.empty()) {
    throw InputError(surface.source + ": several bodies with cavities are filled by TetGen only; choose it.");
  }
  for (std::size_t body : bodies) {
    append(script, "Volume({0}) = {{{0}{1}{2}}};\n", body, cavities.empty() ? "" : ", ", fmt::join(cavities, ", "));
  }
  if (edge > 0) append(script, "Mesh.MeshSizeMax = {0};\nMesh.CharacteristicLengthMax = {0};\n", edge);
  write_atomically(folder / "fill.geo", script);
  const auto out = folder / "filled.msh";
  const ProcessResult result = run_program(
      {"gmsh", (folder / "fill.geo").string(), "-3", "-optimize", "-format", "msh41", "-o", out.string(), "-v", "3"},
      folder / "log.txt");
  if (!result.succeeded || !std::filesystem::exists(out)) fail(surface, "Gmsh", result);
  return read_mesh_data(out);
}

MeshData run_tetgen(const TriangleMesh& surface, const std::vector<Piece>& pieces, double edge,
                    const std::filesystem::path& folder) {
  std::string text = fmt::format("{} 3 0 0\n", surface.vertices.size());
  for (std::size_t v = 0; v < surface.vertices.size(); ++v) {
    const Vec3& x = surface.vertices[v];
    append(text, "{} {} {} {}\n", v, x[0], x[1], x[2]);
  }
  append(text, "{} 0\n", surface.triangles.size());
  for (const auto& [a, b, c] : surface.triangles) append(text, "3 {} {} {}\n", a, b, c);
  std::string holes;
  int count = 0;
  for (const Piece& piece : pieces) {
    if (piece.volume > 0) continue;
    const Vec3 x = point_in_cavity(piece, surface);
    append(holes, "{} {} {} {}\n", ++count, x[0], x[1], x[2]);
  }
  append(text, "{}\n{}0\n", count, holes);
  write_atomically(folder / "fill.smesh", text);
  // Radius-edge ratio 1.4; no element larger than a regular tetrahedron with the edge asked for.
  std::string switches = "-pYq1.4FQ";
  if (edge > 0) switches = fmt::format("-pYq1.4a{:.17f}FQ", edge * edge * edge / (6 * std::numbers::sqrt2));
  const ProcessResult result = run_program({"tetgen", switches, (folder / "fill.smesh").string()}, folder / "log.txt");
  if (!result.succeeded || !std::filesystem::exists(folder / "fill.1.ele")) fail(surface, "TetGen", result);
  return read_mesh_data(folder / "fill.1.ele");
}

Mesher choose(Mesher wish) {
  const bool gmsh = program_exists("gmsh");
  const bool tetgen = program_exists("tetgen");
  if (wish == Mesher::gmsh && !gmsh) throw InputError("Gmsh is not installed; install the package gmsh.");
  if (wish == Mesher::tetgen && !tetgen) throw InputError("TetGen is not installed; install the package tetgen.");
  if (wish != Mesher::any) return wish;
  if (gmsh) return Mesher::gmsh;
  if (tetgen) return Mesher::tetgen;
  throw InputError("filling a surface needs Gmsh or TetGen; install the package gmsh or tetgen.");
}

MeshData fill(const TriangleMesh& surface, const SurfaceReport& report, const TetrahedraliseOptions& options) {
  const std::vector<Piece> pieces = pieces_of(surface, report);
  const Mesher mesher = choose(options.mesher);
  const TemporaryFolder folder;
  return mesher == Mesher::gmsh ? run_gmsh(surface, pieces, options.edge, folder.path())
                                : run_tetgen(surface, pieces, options.edge, folder.path());
}

}  // namespace

bool is_installed(const std::string& program) { return program_exists(program); }

TetMesh tetrahedralise(TriangleMesh surface, const TetrahedraliseOptions& options) {
  if (!(options.edge >= 0) || !std::isfinite(options.edge)) {
    throw InputError(
        fmt::format("tetrahedralise: the edge length is {}; give a positive length in metres.", options.edge));
  }
  check_triangle_mesh(surface);
  std::vector<std::string> notes = surface.notes;
  if (const Index merged = merge_equal_vertices(surface); merged > 0) {
    notes.push_back(fmt::format("{} vertices at the same place as others were merged with them", merged));
  }
  SurfaceReport report = examine_surface(surface);
  check_closed(surface, report);
  const auto crossings = options.coarse > 0 ? decltype(surface_crossings(surface)){} : surface_crossings(surface);
  if (!crossings.empty()) {  // Gmsh would fill them without a word
    throw InputError(
        fmt::format("{}: the surface cannot be filled: it crosses itself, first where the triangles {} and {} do. "
                    "Repair it, for example with MeshLab or Blender, or fill it coarsely.",
                    surface.source, crossings.front()[0], crossings.front()[1]));
  }
  if (report.volume < 0) {
    for (Triangle& triangle : surface.triangles) std::swap(triangle[1], triangle[2]);
    report.volume = -report.volume;
    notes.push_back("the surface was turned: its triangles faced inwards");
  }
  MeshData data = options.coarse > 0 ? lattice_fill(surface, options.coarse) : fill(surface, report, options);
  data.source = surface.source;
  data.regions.clear();  // numbers the program made up
  data.region_names.clear();
  data.sets.clear();
  data.notes.insert(data.notes.begin(), notes.begin(), notes.end());
  TetMesh mesh(std::move(data));
  const double volume = mesh.total_volume();
  if (options.coarse == 0 && std::abs(volume - report.volume) > 1e-6 * report.volume) {
    throw InputError(
        fmt::format("{}: the surface encloses {:.6g} m^3, but {:.6g} m^3 were filled; its pieces may intersect.",
                    surface.source, report.volume, volume));
  }
  data = mesh.data();
  std::vector<Index>& boundary = data.sets["surface"];
  for (const Triangle& triangle : mesh.surface()) boundary.insert(boundary.end(), triangle.begin(), triangle.end());
  return TetMesh(std::move(data));
}

}  // namespace pliant
