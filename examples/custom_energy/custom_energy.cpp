// An energy of your own: a wind that presses on a surface along its normals, a follower of the deformation, by a
// potential. The pressure p inside a closed surface has the potential -p V, V the volume that the surface encloses: a
// sum over its triangles of det(a, b, c)/6. Value, gradient and Hessian of one triangle are all it takes; every solver
// that minimises can use it. Here it inflates a hollow ball.
#include <pliant/pliant.hpp>

#include <Eigen/Geometry>
#include <cstdio>

namespace {

using pliant::Index;
using pliant::Mat3;
using pliant::Pose;
using pliant::Projection;
using pliant::Range;
using pliant::Vec3;

class Pressure final : public pliant::Energy {
 public:
  /// Triangles by global node, facing out of the volume that the pressure (Pa) fills.
  Pressure(const std::vector<pliant::Triangle>& triangles, double pressure) : pressure_(pressure) {
    stencils_.size = 3;
    for (const pliant::Triangle& t : triangles) stencils_.nodes.insert(stencils_.nodes.end(), t.begin(), t.end());
  }
  std::string_view name() const override { return "pressure"; }
  const pliant::Stencils& stencils() const override { return stencils_; }

  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override {
    for (Index s = range.begin; s < range.end; ++s) {
      const auto [a, b, c] = corners(pose, s);
      *values++ = -pressure_ / 6 * a.dot(b.cross(c));
      if (!gradients) continue;
      for (const Vec3& g : {b.cross(c), c.cross(a), a.cross(b)}) {
        Eigen::Map<Vec3>{gradients} = -pressure_ / 6 * g;
        gradients += 3;
      }
    }
  }

  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override {
    for (Index s = range.begin; s < range.end; ++s) {
      const auto [a, b, c] = corners(pose, s);
      // d/db (b x c) = -[c]x and so on; blocks (0,0) (0,1) (1,1) (0,2) (1,2) (2,2). The volume is linear in each
      // corner, so that this matrix has no definite sign: a solver that asks for a projected one gets zero, the nearest
      // that is sure to be positive and still lets it converge.
      const Mat3 all[6] = {Mat3::Zero(), -cross(c), Mat3::Zero(), cross(b), -cross(a), Mat3::Zero()};
      for (const Mat3& block : all) {
        Eigen::Map<Mat3>{blocks} = projection == Projection::none ? Mat3(-pressure_ / 6 * block) : Mat3::Zero();
        blocks += 9;
      }
    }
  }

 private:
  static Mat3 cross(const Vec3& v) {
    return (Mat3() << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0).finished();
  }
  std::array<Vec3, 3> corners(const Pose& pose, Index s) const {
    const Index* n = stencils_[s];
    return {pliant::node(pose.x, n[0]), pliant::node(pose.x, n[1]), pliant::node(pose.x, n[2])};
  }

  pliant::Stencils stencils_;
  double pressure_;
};

}  // namespace

int main() try {
  // A balloon: the elements of a ball that lie outside half its radius.
  pliant::MeshData ball = pliant::sphere({.radius = 0.5, .cells = 12});
  std::erase_if(ball.tets, [&](const pliant::Tet& tet) {
    Vec3 centre = Vec3::Zero();
    for (Index i : tet) centre += ball.vertices[pliant::at(i)] / 4;
    return centre.norm() < 0.25;
  });
  ball.sets.clear();
  const auto mesh = std::make_shared<const pliant::TetMesh>(std::move(ball));

  // The hollow's surface faces into the hollow, out of the solid: seen from the gas it must face the other way.
  std::vector<pliant::Triangle> hollow;
  for (const pliant::Triangle& t : mesh->surface())
    if (mesh->vertices()[pliant::at(t[0])].norm() < 0.4) hollow.push_back({t[0], t[2], t[1]});

  pliant::Scene scene;
  scene.dt = 1.0 / 60;
  scene.gravity.setZero();
  scene.solver.name = "pod-newton";
  pliant::SceneBody body;
  body.name = "balloon";
  body.mesh.given = mesh;
  body.lame = pliant::lame_from_young(1e5, 0.45);  // Pa
  body.damping.mass = 5;                           // 1/s
  scene.bodies.push_back(body);
  scene.energies.push_back(std::make_shared<Pressure>(hollow, 2e4));

  pliant::Simulation simulation(scene);
  for (int frame = 0; frame < 60; ++frame) {
    const pliant::StepReport report = simulation.step();
    if (!simulation.took(report)) {
      std::fprintf(stderr, "%s\n", report.detail.c_str());
      return 1;
    }
  }
  const pliant::VecX& x = simulation.state()->x;
  double volume = 0, before = 0;
  for (const auto& [a, b, c] : hollow) {
    const auto& v = mesh->vertices();
    before += v[pliant::at(a)].dot(v[pliant::at(b)].cross(v[pliant::at(c)])) / 6;
    volume += pliant::node(x, a).dot(Vec3(pliant::node(x, b)).cross(Vec3(pliant::node(x, c)))) / 6;
  }
  std::printf("the hollow had %.4f m^3 and has %.4f m^3 after a second under 20 kPa\n", before, volume);
  return volume > before ? 0 : 1;
} catch (const pliant::InputError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
