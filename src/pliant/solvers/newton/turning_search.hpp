#pragma once

#include "pliant/solvers/free_parts.hpp"
#include "pliant/solvers/newton/obstacle_drive.hpp"

namespace pliant {

/// A search along curves on which bodies turn as rigid bodies do (docs/newton.md, "Stiff bodies that turn").
///
/// Along the tangent, a turn by an angle is a stretch by half its square. A stiff body that is light or small pays more
/// for that than anything gains by the turn, so that steps along the line are short however far it has to turn. Here
/// each body turns by the rotation that fits the direction, and the rest of the direction turns with it.
class TurningSearch {
 public:
  explicit TurningSearch(StepFunction& function) : function_(function) {}

  /// Where `found`, the search along the line, had to shorten the step of a body that turns: looks for a lower energy
  /// on the curves, and leaves it in `trial` and `found`.
  void improve(const Iterate& current, const Ray& ray, const LineSearchOptions& options, ObstacleDrive& obstacles,
               LineSearchResult& found, Iterate& trial);

 private:
  /// The rigid motion of a body that fits the direction best.
  struct Turn {
    Range nodes;
    Vec3 centre, shift, omega;
  };
  /// About the centre of mass, or about the axis that stays where it is: bodies in flight turn about the one, those
  /// that a pin or a contact holds at a corner about the other.
  enum class Axis { of_mass, at_rest };

  double fit(const VecX& x, const VecX& dx);
  void move(const VecX& x, const VecX& dx, double alpha, Axis axis, VecX& to) const;

  StepFunction& function_;
  std::vector<Turn> turns_;
  VecX along_;
  Iterate tried_;
};

}  // namespace pliant
