#pragma once

#include <array>
#include <optional>
#include <span>

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

class Model;

/// A point of a surface held by a spring: what a hand or a mouse does to a running simulation. Part of the state, so
/// that it may come, move and go between any two steps of any solver without a new model.
struct Grab {
  std::array<Index, 3> nodes = {0, 0, 0};     ///< corners of the triangle the point lies on
  std::array<double, 3> weights = {1, 0, 0};  ///< its barycentric coordinates there
  Vec3 target = Vec3::Zero();                 ///< where it is pulled to, m
  double stiffness = 0;                       ///< N/m

  Vec3 point(const VecX& x) const {
    Vec3 sum = Vec3::Zero();
    for (std::size_t a = 0; a < 3; ++a) sum += weights[a] * node(x, nodes[a]);
    return sum;
  }
  /// 1/2 stiffness |point - target|^2 and its gradient by the point, N.
  double energy(const VecX& x) const { return 0.5 * stiffness * (point(x) - target).squaredNorm(); }
  Vec3 gradient(const VecX& x) const { return stiffness * (point(x) - target); }
  void add_gradient(const VecX& x, VecX& g) const {
    const Vec3 pull = gradient(x);
    for (std::size_t a = 0; a < 3; ++a) node(g, nodes[a]) += weights[a] * pull;
  }
  /// Whether it pulls at the same point as strongly, wherever to.
  bool same_spring(const Grab& other) const {
    return nodes == other.nodes && weights == other.weights && stiffness == other.stiffness;
  }
};

/// The first point of a surface that a ray from `eye` along `direction` meets, held where it is. The stiffness makes a
/// pull by a metre as strong as `strength` times the weight of the body (times 9.81 m/s^2, whatever gravity is).
std::optional<Grab> grab_along_ray(const Model& model, const VecX& x, const Vec3& eye, const Vec3& direction,
                                   double strength = 100);

/// Throws InputError for grabs of nodes that the model's matrices do not couple.
void check_grabs(const Model& model, std::span<const Grab> grabs);
/// H += scale times the Hessian of the grabs' energies.
void add_grab_hessian(std::span<const Grab> grabs, double scale, BlockMatrix& H);

}  // namespace pliant
