#include "mesh_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "pliant/mesh/quality.hpp"
#include "pliant/mesh/surface_check.hpp"

namespace pliant::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kDegree = std::numbers::pi / 180;
constexpr std::size_t kBins = 10;
constexpr std::size_t kWorst = 5;

std::string format(const Vec3& v) { return fmt::format("[{:.6g}, {:.6g}, {:.6g}]", v.x(), v.y(), v.z()); }

std::array<Index, kBins> histogram(const std::vector<double>& qualities) {
  std::array<Index, kBins> counts{};
  for (double q : qualities) ++counts[std::min(static_cast<std::size_t>(q * kBins), kBins - 1)];
  return counts;
}

/// The elements of least quality, worst first.
std::vector<Index> worst_elements(const std::vector<double>& qualities) {
  std::vector<Index> order(qualities.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t count = std::min(kWorst, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](Index a, Index b) {
                      const double qa = qualities[static_cast<std::size_t>(a)];
                      const double qb = qualities[static_cast<std::size_t>(b)];
                      return qa < qb || (qa == qb && a < b);
                    });
  order.resize(count);
  return order;
}

/// Least and largest dihedral angle of an element, degrees.
std::array<double, 2> angles(const TetMesh& mesh, Index t) {
  const Tet& tet = mesh.tets()[static_cast<std::size_t>(t)];
  const auto vertex = [&](std::size_t k) { return mesh.vertices()[static_cast<std::size_t>(tet[k])]; };
  const auto all = dihedral_angles(vertex(0), vertex(1), vertex(2), vertex(3));
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  return {*least / kDegree, *most / kDegree};
}

/// How many elements each label has.
std::map<Index, Index> count_regions(const TetMesh& mesh) {
  std::map<Index, Index> counts;
  for (Index label : mesh.regions()) ++counts[label];
  return counts;
}

std::string name_of(const TetMesh& mesh, Index label) {
  const auto found = mesh.region_names().find(label);
  return found == mesh.region_names().end() ? "" : found->second;
}

class Lines {
 public:
  /// The keyword is printed on the first line of several only.
  template <class... Arguments>
  void add(const std::string& keyword, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += fmt::format("  {:<12}{}\n", keyword == last_ ? "" : keyword,
                         fmt::format(format, std::forward<Arguments>(arguments)...));
    last_ = keyword;
  }
  std::string text(const std::string& title) const { return title + "\n" + text_; }

 private:
  std::string text_;
  std::string last_;
};

}  // namespace

std::string describe_mesh(const TetMesh& mesh) {
  const MeshQuality q = measure_quality(mesh);
  const std::vector<double> qualities = element_qualities(mesh);
  const Vec3 size = q.upper - q.lower;
  Lines lines;
  lines.add("vertices", "{}", q.vertices);
  lines.add("tetrahedra", "{}, in {} piece{}", q.tets, q.pieces, q.pieces == 1 ? "" : "s");
  lines.add("surface", "{} triangles, {:.6g} m^2", q.surface_triangles, q.surface_area);
  lines.add("bounds", "{} to {} m, {:.4g} x {:.4g} x {:.4g} m", format(q.lower), format(q.upper), size[0], size[1],
            size[2]);
  lines.add("volume", "{:.6g} m^3; elements {:.4g} to {:.4g} m^3", q.total_volume, q.volume.least, q.volume.most);
  lines.add("edges", "{}; {:.4g} to {:.4g} m, mean {:.4g} m", q.edges, q.edge_length.least, q.edge_length.most,
            q.edge_length.mean);
  lines.add("angles", "dihedral {:.3g} to {:.4g} degrees; radius-edge ratio at most {:.3g}", q.dihedral.least / kDegree,
            q.dihedral.most / kDegree, q.radius_edge);
  lines.add("quality", "mean ratio (1: regular, 0: flat) {:.3g} to {:.3g}, mean {:.3g}; {} below 0.1", q.quality.least,
            q.quality.most, q.quality.mean, q.poor);
  const auto counts = histogram(qualities);
  const Index most = *std::max_element(counts.begin(), counts.end());
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    constexpr double longest = 50;
    // A bin that is not empty shows at least one mark.
    const auto length = static_cast<std::size_t>(std::ceil(longest * counts[bin] / std::max(most, 1)));
    lines.add("quality", "{:.1f} to {:.1f} {:>9}  {}", static_cast<double>(bin) / kBins,
              static_cast<double>(bin + 1) / kBins, counts[bin], std::string(length, '#'));
  }
  for (Index t : worst_elements(qualities)) {
    const auto [least, largest] = angles(mesh, t);
    lines.add("worst", "element {} (vertices {}): mean ratio {:.3g}, dihedral {:.3g} to {:.4g} degrees", t,
              fmt::join(mesh.tets()[static_cast<std::size_t>(t)], " "), qualities[static_cast<std::size_t>(t)], least,
              largest);
  }
  const auto regions = count_regions(mesh);
  std::size_t shown = 0;
  for (const auto& [label, count] : regions) {
    constexpr std::size_t most_regions = 20;
    if (++shown > most_regions) {
      lines.add("regions", "... {} in all", regions.size());
      break;
    }
    const std::string name = name_of(mesh, label);
    lines.add("regions", "{}{}: {} elements", label, name.empty() ? "" : fmt::format(" \"{}\"", name), count);
  }
  for (const auto& [name, members] : mesh.sets()) lines.add("sets", "{}: {} vertices", name, members.size());
  for (const auto& [name, field] : mesh.element_fields()) {
    const auto [least, largest] = std::minmax_element(field.values.begin(), field.values.end());
    lines.add("fields", "{}: {} number{} per element, {:.6g} to {:.6g}", name, field.components,
              field.components == 1 ? "" : "s", *least, *largest);
  }
  for (const std::string& note : mesh.notes()) lines.add("notes", "{}", note);
  return lines.text(mesh.source());
}

nlohmann::ordered_json mesh_to_json(const TetMesh& mesh) {
  const MeshQuality q = measure_quality(mesh);
  const std::vector<double> qualities = element_qualities(mesh);
  const auto vector = [](const Vec3& v) { return Json::array({v.x(), v.y(), v.z()}); };
  const auto extent = [](const Extent& e) { return Json{{"least", e.least}, {"mean", e.mean}, {"most", e.most}}; };
  Json json = {
      {"source", mesh.source()},
      {"vertices", q.vertices},
      {"tetrahedra", q.tets},
      {"surface_triangles", q.surface_triangles},
      {"edges", q.edges},
      {"pieces", q.pieces},
      {"bounds_m", {vector(q.lower), vector(q.upper)}},
      {"volume_m3", q.total_volume},
      {"surface_area_m2", q.surface_area},
      {"element_volume_m3", extent(q.volume)},
      {"edge_length_m", extent(q.edge_length)},
      {"mean_ratio", extent(q.quality)},
      {"dihedral_degrees", extent({q.dihedral.least / kDegree, q.dihedral.mean / kDegree, q.dihedral.most / kDegree})},
      {"radius_edge_ratio_most", q.radius_edge},
      {"mean_ratio_histogram", histogram(qualities)}};
  json["worst"] = Json::array();
  for (Index t : worst_elements(qualities)) {
    json["worst"].push_back({{"element", t},
                             {"vertices", mesh.tets()[static_cast<std::size_t>(t)]},
                             {"mean_ratio", qualities[static_cast<std::size_t>(t)]}});
  }
  json["regions"] = Json::array();
  for (const auto& [label, count] : count_regions(mesh)) {
    json["regions"].push_back({{"label", label}, {"name", name_of(mesh, label)}, {"elements", count}});
  }
  json["sets"] = Json::object();
  for (const auto& [name, members] : mesh.sets()) json["sets"][name] = members.size();
  json["fields"] = Json::object();
  for (const auto& [name, field] : mesh.element_fields()) json["fields"][name] = {{"components", field.components}};
  json["notes"] = mesh.notes();
  return json;
}

std::string describe_surface(const TriangleMesh& mesh) {
  const SurfaceReport r = examine_surface(mesh);
  const Vec3 size = r.upper - r.lower;
  Lines lines;
  lines.add("vertices", "{}", mesh.vertices.size());
  lines.add("triangles", "{}, in {} piece{}", mesh.triangles.size(), r.pieces, r.pieces == 1 ? "" : "s");
  lines.add("bounds", "{} to {} m, {:.4g} x {:.4g} x {:.4g} m", format(r.lower), format(r.upper), size[0], size[1],
            size[2]);
  lines.add("area", "{:.6g} m^2", r.area);
  if (r.closed()) {
    lines.add("closed", "yes; it encloses {:.6g} m^3{}", std::abs(r.volume),
              r.volume < 0 ? " (its triangles face inwards)" : "");
  } else {
    lines.add("closed",
              "no: {} edges of one triangle, {} of more than two, {} between triangles oriented against each other",
              r.open_edges, r.crowded_edges, r.clashing_edges);
  }
  if (r.flat_triangles > 0) lines.add("flat", "{} triangles have no area", r.flat_triangles);
  for (const std::string& note : mesh.notes) lines.add("notes", "{}", note);
  return lines.text(mesh.source);
}

nlohmann::ordered_json surface_to_json(const TriangleMesh& mesh) {
  const SurfaceReport r = examine_surface(mesh);
  const auto vector = [](const Vec3& v) { return Json::array({v.x(), v.y(), v.z()}); };
  return {{"source", mesh.source},
          {"vertices", mesh.vertices.size()},
          {"triangles", mesh.triangles.size()},
          {"edges", r.edges},
          {"pieces", r.pieces},
          {"bounds_m", {vector(r.lower), vector(r.upper)}},
          {"area_m2", r.area},
          {"volume_m3", r.volume},
          {"closed", r.closed()},
          {"open_edges", r.open_edges},
          {"crowded_edges", r.crowded_edges},
          {"clashing_edges", r.clashing_edges},
          {"flat_triangles", r.flat_triangles},
          {"notes", mesh.notes}};
}

}  // namespace pliant::app
