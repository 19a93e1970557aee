#include "pliant/distributed/box_parts.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <map>

#include "pliant/base/error.hpp"
#include "pliant/mesh/surface.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

namespace {

const BoxOptions& box_of(const SceneBody& body) { return std::get<BoxOptions>(*body.mesh.generator); }

double elements_of(const BoxOptions& box) {
  const double per_cell = box.split == BoxSplit::five ? 5 : 6;
  return per_cell * box.cells[0] * box.cells[1] * box.cells[2];
}

void divide(const CellRange& cells, int parts, std::vector<CellRange>& into) {
  if (parts == 1) {
    into.push_back(cells);
    return;
  }
  const auto size = cells.size();
  const auto axis = static_cast<std::size_t>(std::max_element(size.begin(), size.end()) - size.begin());
  const int first = parts / 2;
  CellRange low = cells, high = cells;
  low.end[axis] = high.begin[axis] = cells.begin[axis] + static_cast<Index>(std::int64_t{size[axis]} * first / parts);
  if (low.size()[axis] == 0 || high.size()[axis] == 0) throw InputError("there are more processes than cells");
  divide(low, first, into);
  divide(high, parts - first, into);
}

/// One body's part: the mesh of a range of its cells, as the whole box would have them.
struct BoxPart {
  const BoxOptions& box;
  CellRange cells;
  Index first_node;  ///< of the body in the whole model

  Index vertices(std::size_t axis) const { return cells.end[axis] - cells.begin[axis] + 1; }
  std::array<Index, 3> place(Index vertex) const {
    const Index nx = vertices(0), ny = vertices(1);
    return {cells.begin[0] + vertex % nx, cells.begin[1] + vertex / nx % ny, cells.begin[2] + vertex / (nx * ny)};
  }
  Index whole_number(const std::array<Index, 3>& p) const {
    return first_node + p[0] + (box.cells[0] + 1) * (p[1] + (box.cells[1] + 1) * p[2]);
  }
  MeshData mesh() const;
};

/// Cells of boxes of five tets alternate, so that a part begins with the mirrored pattern where the sum of its first
/// cell's numbers is odd: then it is made with one more cell along an axis, which is cut off.
MeshData BoxPart::mesh() const {
  BoxOptions part = box;
  const bool is_shifted = box.split == BoxSplit::five && (cells.begin[0] + cells.begin[1] + cells.begin[2]) % 2 != 0;
  part.cells = cells.size();
  if (is_shifted) ++part.cells[2];
  MeshData data = pliant::box(part);
  if (is_shifted) {
    const Index layer = vertices(0) * vertices(1);
    const auto dropped = static_cast<std::ptrdiff_t>(5) * part.cells[0] * part.cells[1];
    data.vertices.erase(data.vertices.begin(), data.vertices.begin() + layer);
    data.tets.erase(data.tets.begin(), data.tets.begin() + dropped);
    for (Tet& tet : data.tets)
      for (Index& v : tet) v -= layer;
  }
  data.source = fmt::format("box {}x{}x{}", box.cells[0], box.cells[1], box.cells[2]);
  data.sets.clear();
  constexpr std::array<const char*, 6> names = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};
  for (const char* name : names) data.sets[name] = {};
  std::vector<Index>& boundary = data.sets["boundary"];
  for (Index v = 0; v < static_cast<Index>(data.vertices.size()); ++v) {
    const std::array<Index, 3> p = place(v);
    bool is_outside = false;
    for (std::size_t a = 0; a < 3; ++a) {
      const double fraction = static_cast<double>(p[a]) / box.cells[a];
      const auto axis = static_cast<Eigen::Index>(a);
      data.vertices[at(v)][axis] = box.origin[axis] + box.size[axis] * fraction;
      for (const bool last : {false, true})
        if (p[a] == (last ? box.cells[a] : 0)) {
          data.sets[names[2 * a + (last ? 1 : 0)]].push_back(v);
          is_outside = true;
        }
    }
    if (is_outside) boundary.push_back(v);
  }
  // Of the part's own surface, what lies on a side of the whole box.
  const BoundaryFaces faces = extract_boundary(data.tets, static_cast<Index>(data.vertices.size()), data.source);
  data.surface.emplace();
  for (std::size_t f = 0; f < faces.triangles.size(); ++f) {
    const Triangle& t = faces.triangles[f];
    bool is_outside = false;
    for (std::size_t a = 0; a < 3; ++a)
      for (const Index side : {Index{0}, box.cells[a]})
        is_outside = is_outside || std::all_of(t.begin(), t.end(), [&](Index v) { return place(v)[a] == side; });
    if (!is_outside) continue;
    data.surface->triangles.push_back(t);
    data.surface->tets.push_back(faces.tets[f]);
  }
  return data;
}

/// The processes that have the node at a place, ascending.
std::vector<int> copies_at(const std::array<Index, 3>& p, const std::vector<CellRange>& parts) {
  std::vector<int> found;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    bool has = true;
    for (std::size_t a = 0; a < 3; ++a) has = has && p[a] >= parts[r].begin[a] && p[a] <= parts[r].end[a];
    if (has) found.push_back(static_cast<int>(r));
  }
  return found;
}

/// Nodes of one selection, which somebody must have.
std::vector<Index> select_nodes(const std::string& name, const Selection& where, const TetMesh& mesh, Index first,
                                Team& team) {
  std::vector<Index> nodes = select(where, mesh);
  for (Index& i : nodes) i += first;
  if (!(team.maximum(static_cast<double>(nodes.size())) > 0))
    throw InputError(
        fmt::format("'{}': 'where' = {} selects no vertex; move or enlarge the selection", name, where.text));
  return nodes;
}

}  // namespace

bool is_made_of_boxes(const Scene& scene, double least_elements) {
  double elements = 0;
  for (const SceneBody& body : scene.bodies) {
    const bool is_box = body.mesh.generator && std::holds_alternative<BoxOptions>(*body.mesh.generator);
    if (!is_box || body.mesh.given || body.order != 1 || box_of(body).split == BoxSplit::twelve) return false;
    if (body.springs || body.shell || body.rod || body.rigid || !body.fibres.empty() || !body.regions.empty())
      return false;
    if (!body.young_field.empty() || !body.poisson_field.empty()) return false;
    elements += elements_of(box_of(body));
  }
  for (const ScenePin& pin : scene.pins)
    for (const auto& group : pin.where.any)
      for (const SelectionTest& test : group)
        if (std::holds_alternative<VertexList>(test)) return false;
  for (const SceneScript& script : scene.scripts) {
    if (!script.motion.field.empty()) return false;
    for (const auto& group : script.where.any)
      for (const SelectionTest& test : group)
        if (std::holds_alternative<VertexList>(test)) return false;
  }
  return scene.loads.empty() && scene.probes.empty() && scene.links.empty() && scene.attachments.empty() &&
         scene.springs.empty() && scene.joints.empty() && scene.energies.empty() && elements >= least_elements;
}

std::vector<CellRange> divide_cells(const std::array<Index, 3>& cells, int parts) {
  std::vector<CellRange> ranges;
  divide({{0, 0, 0}, cells}, parts, ranges);
  return ranges;
}

ModelPart box_part(const Scene& scene, Team& team) {
  ModelPart part;
  std::vector<std::shared_ptr<const TetMesh>> meshes;
  std::vector<Index> firsts;
  std::map<int, std::vector<Index>> shared;
  std::vector<Vec3> velocities;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const SceneBody& body = scene.bodies[b];
    const BoxOptions& box = box_of(body);
    const std::vector<CellRange> ranges = divide_cells(box.cells, team.size());
    const BoxPart here{box, ranges[at(team.rank())], part.all_nodes};
    ModelPart::OfBody of;
    of.number = b;
    of.lame = {body.lame};
    of.mesh = here.mesh();
    place(body.mesh, of.mesh.vertices);
    firsts.push_back(static_cast<Index>(part.nodes.size()));
    std::vector<Vec3> centre = {box.origin + 0.5 * box.size};
    place(body.mesh, centre);
    for (Index v = 0; v < static_cast<Index>(of.mesh.vertices.size()); ++v) {
      const std::array<Index, 3> p = here.place(v);
      const std::vector<int> copies = copies_at(p, ranges);
      for (int r : copies)
        if (r != team.rank()) shared[r].push_back(static_cast<Index>(part.nodes.size()));
      part.owned.push_back(copies.front() == team.rank());
      part.nodes.push_back(here.whole_number(p));
      velocities.push_back(body.velocity + body.angular_velocity.cross(of.mesh.vertices[at(v)] - centre.front()));
    }
    meshes.push_back(std::make_shared<const TetMesh>(of.mesh, Orphans::reject));
    part.bodies.push_back(std::move(of));
    part.all_nodes += (box.cells[0] + 1) * (box.cells[1] + 1) * (box.cells[2] + 1);
  }
  for (auto& [rank, nodes] : shared) part.neighbours.push_back({rank, std::move(nodes)});
  for (const ScenePin& pin : scene.pins)
    part.pinned.push_back(select_nodes(pin.name, pin.where, *meshes[pin.body], firsts[pin.body], team));
  for (const SceneScript& script : scene.scripts) {
    part.scripted.push_back(select_nodes(script.name, script.where, *meshes[script.body], firsts[script.body], team));
    part.script_fields.emplace_back();
  }
  part.velocity.resize(3 * static_cast<Eigen::Index>(part.nodes.size()));
  for (std::size_t i = 0; i < velocities.size(); ++i) node(part.velocity, static_cast<Index>(i)) = velocities[i];
  return part;
}

}  // namespace pliant
