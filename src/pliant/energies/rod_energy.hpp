#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "pliant/energies/energy.hpp"

namespace pliant {

/// What a rod is made of: round, solid and the same all along.
struct RodMaterial {
  double young = 1e9;     ///< Pa
  double radius = 0.005;  ///< m
  double bending = 1;     ///< what its resistance to bending is multiplied by
  /// 1/m, everywhere; none: that of its points.
  std::optional<double> rest_curvature = std::nullopt;

  /// Resistance to a strain: Y pi r^2, N.
  double stretching_rigidity() const;
  /// Resistance to a curvature: Y pi r^4/4, with its factor, N m^2.
  double bending_rigidity() const;
};

/// A thin rod along a line of vertices that stretches and bends, and twists freely:
///
///   sum over segments   Y A/2 (l - l0)^2/l0,
///   sum over vertices   B/(2 m) (k - k0)^2,   k = |kb| = 2 tan(theta/2),   kb = 2 a x b/(1 + a.b),
///
/// with the directions a and b of the segments before and behind a vertex, theta the angle between them, kb the
/// discrete curvature binormal (Bergou, Wardetzky, Robinson, Audoly and Grinspun 2008) and m = (l0 + l0')/2 the length
/// that a vertex stands for. Departure from the paper: there is no material frame. For a round rod that resists twist
/// by nothing, the frame that costs least turns until it bends about the axis that it is bent about at rest, and what
/// is left of the energy is this. With k0 = 0 the energy is smooth in a and b; otherwise a vertex that is straight does
/// not know which way to bend, as a spring of no length does not know which way to push.
///
/// Rejected: theta in place of 2 tan(theta/2), which lets a segment fold back onto the one before it for a finite
/// energy. Rejected: an angle of twist for each segment, which is no position of a node, so that none of mass,
/// integrators, pins and solvers knows of it.
///
/// Stencils: the ends of each segment and the vertex behind it; the first end again where there is none, at the end of
/// an open rod, which does not bend there.
class RodEnergy final : public Energy {
 public:
  /// A segment from each vertex to the next; of a closed rod, from the last to the first as well. Throws InputError for
  /// segments without a length.
  RodEnergy(std::span<const Vec3> vertices, bool is_closed, const RodMaterial& material, Index first_node);

  std::string_view name() const override { return "rod"; }
  const Stencils& stencils() const override { return stencils_; }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;

  const RodMaterial& material() const { return material_; }
  bool is_closed() const { return is_closed_; }
  /// Of the segments at rest, m.
  std::span<const double> lengths() const { return length_; }
  /// The direction in which it begins at rest.
  const Vec3& first_tangent() const { return first_tangent_; }

  /// By segment: by how much it is longer than at rest, of a length of 1; and the greater of the changes of curvature
  /// at its ends, 1/m.
  struct Strain {
    double stretch = 0, curvature = 0;
    /// Of the fibre that is stretched most, and of the one that is strained most either way.
    double largest(double radius) const { return stretch + radius * curvature; }
    double most(double radius) const { return std::abs(stretch) + radius * curvature; }
  };
  std::vector<Strain> strains(const VecX& x) const;

  /// As of ShellEnergy: the matrix that stands for the Hessian at rest, alike along x, y and z.
  struct Row {
    Vec3 weights;
    double stiffness;
  };
  std::array<Row, 2> rest_rows(Index stencil) const;

 private:
  bool bends(Index stencil) const { return stiffness_[at(stencil)] > 0; }

  std::vector<double> length_;
  std::vector<double> next_length_;     ///< of the segment behind; its own where there is none
  std::vector<double> stiffness_;       ///< B/m at the vertex between a segment and the next, J; 0 where there is none
  std::vector<double> rest_curvature_;  ///< k0 there
  Vec3 first_tangent_;
  bool is_closed_ = false;
  RodMaterial material_;
  Stencils stencils_;
};

}  // namespace pliant
