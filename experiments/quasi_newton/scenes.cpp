// The scenes of Table I. What the paper leaves open is taken from the authors' public code where that says anything
// (total mass 10, gravity 10, mu 80, lambda 20, swing of the bar), and one factor on all moduli is fitted to the
// printed error of Newton's iteration. Bodies that nothing is attached to are let go deformed: line-search counts near
// ten speak against collisions.

#include "experiments/quasi_newton/scenes.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace pliant::experiments {

namespace {

constexpr double kMass = 10, kGravity = 10;

double mesh_volume(const TetMesh& mesh) {
  double sum = 0;
  for (const Tet& t : mesh.tets()) {
    const Vec3& a = mesh.vertices()[static_cast<std::size_t>(t[0])];
    const auto edge = [&](int k) -> Vec3 {
      return mesh.vertices()[static_cast<std::size_t>(t[static_cast<std::size_t>(k)])] - a;
    };
    sum += edge(1).cross(edge(2)).dot(edge(3)) / 6;
  }
  return sum;
}

/// Let go from a pose that is stretched along the longest axis and bent about it.
void let_go_deformed(FrameScene& scene, const TetMesh& mesh, double stretch, double bend) {
  const int axis = longest_axis(mesh), up = (axis + 1) % 3;
  for (Index i = 0; i < scene.model->nodes(); ++i) {
    const Vec3 X = node(scene.model->rest(), i);
    Vec3 p = X;
    p[axis] *= stretch;
    p[up] += bend * X[axis] * X[axis] / scene.size;
    node(scene.start.x, i) = p;
  }
}

}  // namespace

BodyOptions ten_kilograms(std::shared_ptr<const TetMesh> mesh, const std::string& law, Lame lame) {
  BodyOptions body;
  body.density = kMass / mesh_volume(*mesh);
  body.mesh = std::move(mesh);
  body.material = {find_law(law), lame};
  return body;
}

FrameScene body_scene(const BodyOptions& body, const std::vector<Pin>& pins, const std::vector<Script>& scripts) {
  ModelBuilder builder;
  builder.add_body(body);
  for (const Pin& pin : pins) builder.add_pin(pin);
  for (const Script& script : scripts) builder.add_script(script);
  FrameScene scene;
  scene.model = builder.build();
  scene.start = scene.model->rest_state();
  scene.gravity = {0, -kGravity, 0};
  scene.size = extent_of(body.mesh ? body.mesh->vertices() : std::span<const Vec3>(body.network->vertices));
  return scene;
}

std::vector<Index> end_face(const TetMesh& mesh, int axis, bool upper) {
  double low = mesh.vertices()[0][axis], high = low;
  for (const Vec3& p : mesh.vertices()) {
    low = std::min(low, p[axis]);
    high = std::max(high, p[axis]);
  }
  std::vector<Index> nodes;
  for (std::size_t i = 0; i < mesh.vertices().size(); ++i) {
    const double p = mesh.vertices()[i][axis];
    if ((upper ? high - p : p - low) < 1e-3 * (high - low)) nodes.push_back(static_cast<Index>(i));
  }
  return nodes;
}

std::vector<Index> outermost(const TetMesh& mesh, const Vec3& direction, std::size_t count) {
  std::vector<Index> nodes(mesh.vertices().size());
  std::iota(nodes.begin(), nodes.end(), Index{0});
  const auto along = [&](Index i) { return mesh.vertices()[static_cast<std::size_t>(i)].dot(direction); };
  std::stable_sort(nodes.begin(), nodes.end(), [&](Index a, Index b) { return along(a) > along(b); });
  nodes.resize(std::min(count, nodes.size()));
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

int longest_axis(const TetMesh& mesh) {
  Vec3 low = mesh.vertices()[0], high = low;
  for (const Vec3& p : mesh.vertices()) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  int axis = 0;
  (high - low).maxCoeff(&axis);
  return axis;
}

Script swing(std::vector<Index> nodes, const Vec3& reach, double frames, double seconds) {
  Script script{"swing", std::move(nodes), {}, Imposition::direct};
  const double there = frames * kFrame;
  for (int k = 0; k * there <= seconds + there; ++k)
    script.motion.translation.keys.push_back({k * there, k % 2 == 1 ? reach : Vec3(Vec3::Zero())});
  return script;
}

FrameScene twisting_bar(const std::shared_ptr<const TetMesh>& mesh, Lame lame) {
  const int axis = longest_axis(*mesh);
  Script turned{"turned", end_face(*mesh, axis, true), {}, Imposition::direct};
  turned.motion.axis = Vec3::Unit(axis);
  turned.motion.angle.keys = {{0, 0.0}, {2, 2 * std::numbers::pi}};
  return body_scene(ten_kilograms(mesh, "neo-hookean", lame), {{"held", end_face(*mesh, axis, false)}}, {turned});
}

SpringNetwork paper_cloth(Index cells, double size) {
  SpringNetwork network;
  const Index n = cells + 1;
  const double edge = size / cells;
  const auto at_grid = [&](Index i, Index j) { return i + n * j; };
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) {
      network.vertices.emplace_back(i * edge, 0, j * edge);
      const double share = (i == 0 || i == cells ? 0.5 : 1) * (j == 0 || j == cells ? 0.5 : 1);
      network.measure.push_back(share * edge * edge);
      if (i < cells) network.springs.push_back({at_grid(i, j), at_grid(i + 1, j), SpringKind::structural});
      if (j < cells) network.springs.push_back({at_grid(i, j), at_grid(i, j + 1), SpringKind::structural});
      if (i + 1 < cells) network.springs.push_back({at_grid(i, j), at_grid(i + 2, j), SpringKind::bending});
      if (j + 1 < cells) network.springs.push_back({at_grid(i, j), at_grid(i, j + 2), SpringKind::bending});
      if (i == cells || j == cells) continue;
      const bool even = (i + j) % 2 == 0;
      const Index a = even ? at_grid(i, j) : at_grid(i + 1, j), b = even ? at_grid(i + 1, j + 1) : at_grid(i, j + 1);
      network.springs.push_back({std::min(a, b), std::max(a, b), SpringKind::shear});
      network.triangles.push_back({at_grid(i, j), at_grid(i, j + 1), at_grid(i + 1, j)});
      network.triangles.push_back({at_grid(i + 1, j), at_grid(i, j + 1), at_grid(i + 1, j + 1)});
    }
  return network;
}

FrameScene cloth_scene(Index cells, double factor) {
  BodyOptions body;
  constexpr double kSize = 10;
  body.network = std::make_shared<SpringNetwork>(paper_cloth(cells, kSize));
  body.springs = {80 * factor, 80 * factor, 20 * factor};  // the authors' stretch and bending springs
  body.density = kMass / (kSize * kSize);
  return body_scene(body, {{"corners", {0, cells}}}, {});
}

const std::vector<Table1Row>& table1_rows() {
  static const std::vector<Table1Row> rows = {
      {"thin-sheet", "thin sheet", "thin_sheet", "polynomial", 80, 0, 16, 60, 12, 21, 4, 2.7e-8, 8.8e-4, 4.4, 184,
       10.8},
      {"sphere-spline-a", "sphere, spline A", "sphere", "spline-a", 80, 20, 8, 60, 12, 21, 4, 2.7e-7, 6.9e-4, 21.2, 188,
       24.5},
      {"sphere-spline-b", "sphere, spline B", "sphere", "spline-b", 80, 20, 0.25, 60, 12, 21, 4, 6.9e-6, 2.5e-4, 19.7,
       187, 21.8},
      {"shaking-bar", "shaking bar", "longbar", "linear-corotated", 80, 20, 1, 120, 24, 40, 8, 1.6e-4, 4.4e-3, 7.2, 171,
       10.1},
      {"ditto", "ditto", "ditto", "neo-hookean", 80, 20, 0.25, 60, 12, 21, 4, 3e-5, 1.6e-3, 17.8, 305, 11.7},
      {"hippo", "hippo", "hippo", "linear-corotated", 80, 20, 1, 60, 12, 21, 4, 2.2e-3, 3.7e-2, 40.6, 640, 11.9},
      {"twisting-bar", "twisting bar", "longbar2", "neo-hookean", 80, 20, 4, 60, 12, 21, 4, 9.4e-5, 7.9e-3, 45.6, 681,
       10.6},
      {"cloth", "cloth", "", "springs", 80, 0, 4, 90, 15, 30, 5, 9.3e-4, 1.2e-2, 42.3, 798, 10.0},
      {"squirrel", "squirrel", "squirrel_modified", "polynomial", 80, 0, 1e3, 400, 20, 60, 5, 8.3e-8, 9.1e-6, 153, 2400,
       10.7},
      {"squirrel-large", "large squirrel", "dog", "polynomial", 80, 0, 1, 60, 10, 0, 0, 1.5e-5, 5.4e-5, 706, 15800,
       10.5},
  };
  return rows;
}

const Table1Row& table1_row(const std::string& id) {
  const auto& rows = table1_rows();
  return *std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.id == id; });
}

FrameScene table1_frame_scene(const Table1Row& row, const MeshData& data, double factor) {
  const auto mesh = std::make_shared<TetMesh>(data);
  const Lame lame{row.mu * factor, row.lambda * factor};
  if (row.id == "twisting-bar") return twisting_bar(mesh, lame);
  const BodyOptions body = ten_kilograms(mesh, row.law, lame);
  const double seconds = row.frames * kFrame, size = extent_of(mesh->vertices());
  if (row.mesh == "sphere")
    return body_scene(body, {}, {swing(outermost(*mesh, Vec3::UnitY(), 49), {0, 0.5 * size, 0}, 10, seconds)});
  if (row.id == "shaking-bar") {
    std::vector<Index> handle;
    for (std::size_t i = 0; i < mesh->vertices().size(); ++i)
      if (std::abs(mesh->vertices()[i].x() - 1.25) < 1e-3) handle.push_back(static_cast<Index>(i));
    return body_scene(body, {}, {swing(handle, {0, 2, 0}, 10, seconds)});
  }
  if (row.id == "squirrel" || row.id == "squirrel-large") {  // fig. 2: driven to and fro by its foot, without weight
    FrameScene scene =
        body_scene(body, {}, {swing(outermost(*mesh, -Vec3::UnitY(), 137), {0.1 * size, 0, 0}, 15, seconds)});
    scene.gravity.setZero();
    scene.least_strain = 0.05;
    return scene;
  }
  FrameScene scene = body_scene(body, {}, {});
  let_go_deformed(scene, *mesh, row.id == "thin-sheet" ? 1.15 : 1.5, row.id == "thin-sheet" ? 0.2 : 0);
  if (row.id == "thin-sheet") scene.least_strain = 0.05;
  return scene;
}

}  // namespace pliant::experiments
