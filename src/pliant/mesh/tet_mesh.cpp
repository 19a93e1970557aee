#include "pliant/mesh/tet_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/mesh/surface.hpp"
#include "pliant/mesh/tet_geometry.hpp"

namespace pliant {

namespace {

/// A tet counts as degenerate below this fraction of the cube of its longest edge (a regular one has 0.118): flat to
/// twelve digits, so that its inverse edge matrix would carry no correct digit.
constexpr double flatness = 1e-12;

/// Four ids per tet must fit into an Index (the surface numbers faces so), and so must the vertices.
constexpr std::size_t largest_count = static_cast<std::size_t>(std::numeric_limits<Index>::max()) / 4;

bool in_range(Index i, std::size_t count) { return i >= 0 && static_cast<std::size_t>(i) < count; }

void check_sizes(const MeshData& data) {
  if (data.tets.empty())
    throw InputError(data.source + ": the mesh has no tetrahedra; check that it was saved with volume elements.");
  if (data.tets.size() > largest_count || data.vertices.size() > largest_count) {
    throw InputError(
        fmt::format("{}: the mesh has {} vertices and {} tetrahedra, more than the {} this build can number; "
                    "use a coarser mesh.",
                    data.source, data.vertices.size(), data.tets.size(), largest_count));
  }
  if (!data.regions.empty() && data.regions.size() != data.tets.size()) {
    throw InputError(fmt::format("{}: {} region labels for {} tetrahedra; give one label for each, or none.",
                                 data.source, data.regions.size(), data.tets.size()));
  }
}

void check_fields(const MeshData& data) {
  for (const auto& [name, field] : data.element_fields) {
    const std::size_t expected = data.tets.size() * static_cast<std::size_t>(std::max(field.components, 0));
    if (field.components < 1 || field.values.size() != expected) {
      throw InputError(
          fmt::format("{}: the element field \"{}\" has {} values for {} tetrahedra with {} component(s); give "
                      "{} values.",
                      data.source, name, field.values.size(), data.tets.size(), field.components, expected));
    }
    const auto bad =
        std::find_if_not(field.values.begin(), field.values.end(), [](double v) { return std::isfinite(v); });
    if (bad == field.values.end()) continue;
    throw InputError(fmt::format("{}: the element field \"{}\" is {} in element {}; every value must be finite.",
                                 data.source, name, *bad, (bad - field.values.begin()) / field.components));
  }
}

void check_indices(const MeshData& data) {
  const std::size_t n = data.vertices.size();
  for (std::size_t t = 0; t < data.tets.size(); ++t) {
    const Tet& tet = data.tets[t];
    for (Index v : tet) {
      if (!in_range(v, n)) {
        throw InputError(
            fmt::format("{}: element {} (vertices {}) names vertex {}, but the vertices are numbered 0 to {}.",
                        data.source, t, fmt::join(tet, " "), v, static_cast<std::int64_t>(n) - 1));
      }
    }
  }
  for (const auto& [name, members] : data.sets) {
    for (Index v : members) {
      if (!in_range(v, n)) {
        throw InputError(
            fmt::format("{}: the vertex set \"{}\" names vertex {}, but the vertices are numbered 0 to {}.",
                        data.source, name, v, static_cast<std::int64_t>(n) - 1));
      }
    }
  }
}

void check_coordinates(const MeshData& data) {
  Index bad = 0;
  std::size_t first = 0;
  for (std::size_t v = 0; v < data.vertices.size(); ++v) {
    if (data.vertices[v].allFinite()) continue;
    if (bad++ == 0) first = v;
  }
  if (bad == 0) return;
  const Vec3& x = data.vertices[first];
  throw InputError(
      fmt::format("{}: vertex {} has a coordinate that is not a finite number ({} {} {}); {} such vertices. "
                  "Write the mesh again.",
                  data.source, first, x[0], x[1], x[2], bad));
}

/// Calls is_bad(tet) for every tet; throws InputError about the first bad one, with their number.
template <class IsBad>
void check_tets(const MeshData& data, const char* what, const char* remedy, IsBad&& is_bad) {
  Index bad = 0;
  std::size_t first = 0;
  for (std::size_t t = 0; t < data.tets.size(); ++t) {
    if (!is_bad(data.tets[t])) continue;
    if (bad++ == 0) first = t;
  }
  if (bad == 0) return;
  const Tet& tet = data.tets[first];
  throw InputError(fmt::format("{}: element {} (vertices {}) {}: volume {:.6g} m^3; {} such element(s) of {}. {}",
                               data.source, first, fmt::join(tet, " "), what, signed_volume(data.vertices, tet), bad,
                               data.tets.size(), remedy));
}

void check_shapes(const MeshData& data) {
  check_tets(data, "uses a vertex twice", "Remove it or repair the mesh.", [](Tet tet) {
    std::sort(tet.begin(), tet.end());
    return std::adjacent_find(tet.begin(), tet.end()) != tet.end();
  });
  const auto threshold = [&](const Tet& tet) {
    double longest = 0;  // squared
    for (const auto& [a, b] : tet_edges) {
      const Vec3 edge =
          data.vertices[static_cast<std::size_t>(tet[b])] - data.vertices[static_cast<std::size_t>(tet[a])];
      longest = std::max(longest, edge.squaredNorm());
    }
    return flatness * longest * std::sqrt(longest);
  };
  check_tets(data, "is inverted", "Swap two of its vertices, or repair the mesh.",
             [&](const Tet& tet) { return signed_volume(data.vertices, tet) < -threshold(tet); });
  // Written so that a NaN (coordinates so large that the volume overflows) is an error too.
  check_tets(data, "is degenerate (its corners lie in a plane)",
             "Remove it, or mesh the body again with a quality bound.",
             [&](const Tet& tet) { return !(signed_volume(data.vertices, tet) > threshold(tet)); });
}

/// Removes the vertices no tet uses and renumbers the rest, in their order, in tets, surface and sets. Returns how many
/// were removed.
Index remove_orphans(MeshData& data, std::vector<Triangle>& surface, Orphans orphans) {
  constexpr Index unused = -1;
  std::vector<Index> number(data.vertices.size(), unused);
  for (const Tet& tet : data.tets) {
    for (Index v : tet) number[static_cast<std::size_t>(v)] = 0;
  }
  const auto count = static_cast<Index>(std::count(number.begin(), number.end(), unused));
  if (count == 0) return 0;
  if (orphans == Orphans::reject) {
    const auto first = std::find(number.begin(), number.end(), unused) - number.begin();
    throw InputError(
        fmt::format("{}: vertex {} belongs to no tetrahedron; {} such vertices. Remove them, or let the mesh drop "
                    "them.",
                    data.source, first, count));
  }
  Index kept = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] == unused) continue;
    data.vertices[static_cast<std::size_t>(kept)] = data.vertices[v];
    number[v] = kept++;
  }
  data.vertices.resize(static_cast<std::size_t>(kept));
  for (Tet& tet : data.tets) {
    for (Index& v : tet) v = number[static_cast<std::size_t>(v)];
  }
  for (Triangle& triangle : surface) {
    for (Index& v : triangle) v = number[static_cast<std::size_t>(v)];
  }
  for (auto& [name, members] : data.sets) {
    for (Index& v : members) v = number[static_cast<std::size_t>(v)];
    std::erase(members, unused);
  }
  return count;
}

std::string unknown_region(const MeshData& data, std::string_view name) {
  std::string message = fmt::format("{}: the mesh has no region \"{}\"", data.source, name);
  std::vector<std::string> known;
  for (const auto& [label, label_name] : data.region_names) known.push_back(label_name);
  for (Index label : std::set<Index>(data.regions.begin(), data.regions.end())) known.push_back(std::to_string(label));
  if (known.empty()) return message + "; its elements carry no region labels.";
  if (const std::string close = nearest(name, known); !close.empty()) {
    return message + fmt::format("; did you mean \"{}\"?", close);
  }
  constexpr std::size_t shown = 12;
  const bool more = known.size() > shown;
  if (more) known.resize(shown);
  return message + fmt::format("; it has {}{}.", fmt::join(known, ", "), more ? ", ..." : "");
}

}  // namespace

TetMesh::TetMesh(MeshData data, Orphans orphans) : data_(std::move(data)) {
  check_sizes(data_);
  check_indices(data_);
  check_coordinates(data_);
  check_fields(data_);
  check_shapes(data_);
  if (data_.surface) {
    surface_ = data_.surface->triangles;
    surface_tets_ = data_.surface->tets;
  } else {
    BoundaryFaces boundary = extract_boundary(data_.tets, static_cast<Index>(data_.vertices.size()), data_.source);
    surface_ = std::move(boundary.triangles);
    surface_tets_ = std::move(boundary.tets);
  }
  // Last, so that the messages above speak of the vertex numbers the user knows.
  dropped_ = remove_orphans(data_, surface_, orphans);
  if (dropped_ > 0) data_.notes.push_back(fmt::format("{} vertices without an element were dropped", dropped_));
  for (auto& [name, members] : data_.sets) {
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
  }
}

std::vector<Index> TetMesh::region_tets(std::string_view name) const {
  std::set<Index> labels;
  for (const auto& [label, label_name] : data_.region_names) {
    if (label_name == name) labels.insert(label);
  }
  if (labels.empty()) {
    Index label = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), label);
    const bool number = error == std::errc{} && end == name.data() + name.size();
    if (number && std::find(data_.regions.begin(), data_.regions.end(), label) != data_.regions.end()) {
      labels.insert(label);
    }
  }
  if (labels.empty()) throw InputError(unknown_region(data_, name));
  std::vector<Index> result;
  for (std::size_t t = 0; t < data_.regions.size(); ++t) {
    if (labels.contains(data_.regions[t])) result.push_back(static_cast<Index>(t));
  }
  return result;
}

double TetMesh::volume(Index tet) const {
  return signed_volume(data_.vertices, data_.tets[static_cast<std::size_t>(tet)]);
}

double TetMesh::total_volume() const {
  double sum = 0;
  for (const Tet& tet : data_.tets) sum += signed_volume(data_.vertices, tet);
  return sum;
}

}  // namespace pliant
