#pragma once

#include "pliant/energies/energy.hpp"
#include "pliant/energies/strain_limit.hpp"

namespace pliant {

/// What a shell is made of.
struct ShellMaterial {
  double young = 1e6;  ///< Pa
  double poisson = 0.3;
  double thickness = 1e-3;  ///< m
  double bending = 1;       ///< what its resistance to bending is multiplied by
  double strain_limit = 0;  ///< how far it stretches before it becomes much stiffer, of a length of 1; 0: no limit
};

/// A thin shell: a membrane of St. Venant and Kirchhoff's law in plane stress,
///
///   t A (mu tr E^2 + lambda'/2 (tr E)^2),   E = (F^T F - 1)/2,   lambda' = Y nu/(1 - nu^2),
///
/// on every triangle, and a plate's bending by the angles between it and its neighbours (discrete shells with the shape
/// operator of triangles: Grinspun, Gingold, Reisman and Zorin 2006),
///
///   A D/2 ((1 - nu) tr K^2 + nu (tr K)^2),   K = sum 2/(h_e + h_e') (theta_e - theta_e0) n_e n_e^T,
///   D = Y t^3/(12 (1 - nu^2)),
///
/// with areas, the heights h and h' of the two triangles above an edge and its normal n_e in the triangle's plane those
/// at rest, and theta_e0 the angles there. Each triangle has the share of an angle that its height has, so that a
/// constant moment M does the work |e| (n_e . M n_e) theta_e at every edge, as the continuous one does (Hellan,
/// Herrmann and Johnson): it balances without the vertices' doing on every mesh. On meshes of congruent triangles K is
/// exact for every constant curvature, too; on others a plate is too stiff, by some 4% where vertices were moved by
/// a quarter of an edge. An edge on the rim turns freely: K is least in it.
///
/// Rejected: K fitted to the three angles, exact for every curvature on every mesh. A constant moment then does not
/// balance, and a strip of squares cut along alternating diagonals is a third too soft.
/// Rejected: a stiffness for each edge alone (Grinspun, Hirani, Desbrun and Schroeder 2003). On a grid of squares cut
/// along the same diagonal it couples bending to twist, and a strip is a fifth too soft, however fine the grid.
///
/// With a strain limit s, each principal Green strain e above e_s = ((1 + s)^2 - 1)/2 adds
///
///   t A K Y/6 (e - e_s)^3/e_s,   K = 1000,
///
/// whose second derivative begins at zero: beyond the limit by a hundredth of it, the sheet is ten times as stiff, by a
/// tenth a hundred times. Rejected: a barrier, which is never passed; it has no value where a script or a start has
/// passed it already, and every solver would need a step length that keeps away from it.
///
/// Stencils: the corners of each triangle, then those beyond its edges 01, 12 and 20; the first corner where there is
/// none.
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
  /// products times the stiffness (N/m) sum up to it.
  struct Row {
    Eigen::Matrix<double, 6, 1> weights;
    double stiffness;
  };
  std::vector<Row> rest_rows(Index stencil) const;

 private:
  /// The corners of an edge's hinge, in the order of hinge_angle().
  std::array<Vec3, 4> hinge(const std::array<Vec3, 6>& x, int edge) const;
  void add_bending(Index stencil, const std::array<Vec3, 6>& x, Projection projection,
                   Eigen::Matrix<double, 18, 18>& H) const;
  bool is_limited() const { return limit_.stiffness > 0; }

  std::vector<Vec3> rest_;  ///< corners of each stencil at rest
  std::vector<Eigen::Matrix2d> inverse_edges_;
  std::vector<double> area_;   ///< m^2
  std::vector<Mat3> bending_;  ///< of each triangle, over the angles of its edges, J
  std::vector<Vec3> angles_;   ///< at rest
  ShellMaterial material_;
  double mu_ = 0, lambda_ = 0;  ///< times the thickness, N/m
  StrainLimit limit_;
  Stencils stencils_;
};

/// The areas of vertices: a third of those of the triangles about them.
std::vector<double> vertex_areas(std::span<const Vec3> vertices, std::span<const Triangle> triangles);

}  // namespace pliant
