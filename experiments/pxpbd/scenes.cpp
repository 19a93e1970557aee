#include "experiments/pxpbd/scenes.hpp"

#include <Eigen/LU>
#include <algorithm>

#include "pliant/mesh/generators.hpp"

namespace pliant::experiments {

BodyOptions pxpbd_box(std::array<Index, 3> cells, double edge, const std::string& law, double young) {
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(
      box({.size = edge * Vec3(double(cells[0]), double(cells[1]), double(cells[2])), .cells = cells}));
  body.material = {find_law(law), lame_from_young(young, 0.3)};
  body.density = 10;
  return body;
}

ParameterMap sweeps_alone(ParameterMap parameters) {
  parameters["correction"] = "none";
  return parameters;
}

double volume_of(const TetMesh& mesh, const VecX& x) {
  double sum = 0;
  for (const Tet& t : mesh.tets()) {
    Mat3 edges;
    for (int a = 1; a < 4; ++a) edges.col(a - 1) = node(x, t[static_cast<std::size_t>(a)]) - node(x, t[0]);
    sum += edges.determinant() / 6;
  }
  return sum;
}

namespace {

struct Bounds {
  Vec3 low = Vec3::Constant(1e300), high = Vec3::Constant(-1e300);
  void include(const Vec3& p) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  bool holds(const Vec3& p) const { return (p.array() > low.array()).all() && (p.array() < high.array()).all(); }
};

}  // namespace

double interpenetration(const Model& model, const VecX& x) {
  std::size_t inside = 0;
  for (const Body& other : model.bodies()) {
    Bounds whole;
    std::vector<Bounds> boxes;
    std::vector<Mat3> inverse;
    for (Index i = other.nodes.begin; i < other.nodes.end; ++i) whole.include(node(x, i));
    for (const Tet& t : other.mesh->tets()) {
      Bounds& bounds = boxes.emplace_back();
      Mat3 edges;
      for (std::size_t a = 0; a < 4; ++a) {
        bounds.include(node(x, other.nodes.begin + t[a]));
        if (a > 0)
          edges.col(static_cast<Eigen::Index>(a) - 1) =
              node(x, other.nodes.begin + t[a]) - node(x, other.nodes.begin + t[0]);
      }
      inverse.push_back(edges.inverse());
    }
    for (Index i = 0; i < model.nodes(); ++i) {
      const Vec3 p = node(x, i);
      if ((i >= other.nodes.begin && i < other.nodes.end) || !whole.holds(p)) continue;
      for (std::size_t e = 0; e < boxes.size(); ++e) {
        if (!boxes[e].holds(p)) continue;
        const Vec3 b = inverse[e] * (p - node(x, other.nodes.begin + other.mesh->tets()[e][0]));
        if (b.minCoeff() > 0 && b.sum() < 1) {
          ++inside;
          break;
        }
      }
    }
  }
  return static_cast<double>(inside) / model.nodes();
}

}  // namespace pliant::experiments
