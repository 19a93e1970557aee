#pragma once

#include "pliant/energies/energy.hpp"
#include "pliant/fem/reference_face.hpp"

namespace pliant {

/// Faces of bodies as surfaces x(u, v) over the nodes of their order, seen from outside, and what loads integrate over
/// them.
class FaceSet {
 public:
  FaceSet() = default;
  /// Nodes of each face in the order of ReferenceFace.
  FaceSet(int order, std::vector<Index> nodes);

  const Stencils& stencils() const { return stencils_; }
  const ReferenceFace& reference() const { return *reference_; }
  /// All nodes, ascending.
  const std::vector<Index>& nodes() const { return nodes_; }
  /// Whether every edge has a face on both sides: the surface has no rim.
  bool is_closed() const { return is_closed_; }

  Vec3 mean(const VecX& x) const;
  /// The integral of (x - origin) . n / 3: of a closed surface the volume within.
  double volume(const VecX& x, const Vec3& origin) const;
  /// Adds scale times the integrals of N_i n dA, m^2.
  void add_areas(const VecX& x, double scale, VecX& f) const;
  /// Adds scale times the derivatives of volume(x, origin), m^2: the same where there is no rim.
  void add_volume_gradient(const VecX& x, const Vec3& origin, double scale, VecX& f) const;
  /// Adds the integrals of N_i |n| times a traction, as it is, or turned with the surface from rest to x as a frame of
  /// its tangents turns.
  void add_traction(const VecX& x, const Vec3& traction, VecX& f) const;
  void add_turning_traction(const VecX& rest, const VecX& x, const Vec3& traction, VecX& f) const;
  /// Positions of a face's nodes about an origin, and their gradient with respect to (u, v): point, x_u, x_v.
  Mat3 frame(const VecX& x, Index face, int point, const Vec3& origin) const;

 private:
  const ReferenceFace* reference_ = nullptr;
  Stencils stencils_;
  std::vector<Index> nodes_;
  bool is_closed_ = false;
};

/// A pressure that follows a surface: p (V(x) - V^n) with V = 1/3 the integral of (x - c) . n over the faces. For a
/// closed surface V is the volume it encloses and the gradient is p times the integral of N n, exactly the pressure's
/// force; for one with a rim the difference is a force on the rim, which no potential has, and which a step takes from
/// where it begins (sim/load.hpp).
///
/// The Hessian is exact for Projection::none and zero for the others. The stiffness of a single face depends on the
/// origin c, all that matters is what is left where faces meet: its positive part would be an artefact.
class PressureEnergy final : public Energy {
 public:
  explicit PressureEnergy(const FaceSet& faces) : faces_(faces) {}

  std::string_view name() const override { return "pressure"; }
  const Stencils& stencils() const override { return faces_.stencils(); }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;

  /// Pa, against the outward normal, and where volumes are measured from, m. Values count from zero volume on until
  /// the next set_start().
  void set(double pressure, const Vec3& origin);
  void set_pressure(double pressure) { pressure_ = pressure; }
  /// Values count from the volume of these positions on.
  void set_start(const VecX& x);

 private:
  const FaceSet& faces_;
  double pressure_ = 0;
  Vec3 origin_ = Vec3::Zero();
  std::vector<double> start_;  ///< of each face, m^3
};

}  // namespace pliant
