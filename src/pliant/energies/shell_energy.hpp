#pragma once

#include "pliant/energies/energy.hpp"

namespace pliant {

/// What a shell is made of.
struct ShellMaterial {
  double young = 1e6;  ///< Pa
  double poisson = 0.3;
  double thickness = 1e-3;  ///< m
  double bending = 1;       ///< what its resistance to bending is multiplied by
};

/// A thin shell: a membrane of St. Venant and Kirchhoff's law in plane stress,
///
///   t A (mu tr E^2 + lambda'/2 (tr E)^2),   E = (F^T F - 1)/2,   lambda' = Y nu/(1 - nu^2),
///
/// on every triangle, and bending about the edges between two of them (Grinspun, Hirani, Desbrun and Schroeder 2003),
///
///   D/2 |e|^2/(A_1 + A_2) (theta - theta_0)^2,   D = Y t^3/(12 (1 - nu^2)),
///
/// with the lengths and areas of the shell at rest and theta_0 its angle there. The factor makes a sheet that is bent
/// to a cylinder store D/2 kappa^2 per area, on a grid of squares cut along their diagonals and on one of equilateral
/// triangles alike. (The paper leaves the stiffness open.) Bending along one direction does not bend the sheet along
/// the other, as a plate's would by Poisson's ratio.
///
/// Stencils: the triangles, filled up with their first node, then the edges with the corners on both sides of them.
class ShellEnergy final : public Energy {
 public:
  /// Throws InputError for triangles without an area, and where more than two meet at an edge.
  ShellEnergy(std::span<const Vec3> vertices, std::span<const Triangle> triangles, const ShellMaterial& material,
              Index first_node);

  std::string_view name() const override { return "shell"; }
  const Stencils& stencils() const override { return stencils_; }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;

  const ShellMaterial& material() const { return material_; }
  Index triangle_count() const { return static_cast<Index>(area_.size()); }
  std::span<const double> areas() const { return area_; }
  /// Of the matrix that stands for the Hessian at rest alike along x, y and z: weights of the nodes of a stencil, whose
  /// products times the stiffness (N/m) sum up to it. Triangles have two rows of them, edges one.
  struct Row {
    Eigen::Vector4d weights;
    double stiffness;
  };
  std::vector<Row> rest_rows(Index stencil) const;

 private:
  std::vector<Vec3> rest_;  ///< corners of each stencil at rest
  std::vector<Eigen::Matrix2d> inverse_edges_;
  std::vector<double> area_;           ///< m^2
  std::vector<double> hinge_, angle_;  ///< stiffness of each edge, J, and its angle at rest
  ShellMaterial material_;
  double mu_ = 0, lambda_ = 0;  ///< times the thickness, N/m
  Stencils stencils_;
};

/// The areas of vertices: a third of those of the triangles about them.
std::vector<double> vertex_areas(std::span<const Vec3> vertices, std::span<const Triangle> triangles);

}  // namespace pliant
