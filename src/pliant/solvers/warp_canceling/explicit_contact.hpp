#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pliant/sim/step_problem.hpp"
#include "pliant/solvers/warp_canceling/body_contact.hpp"

namespace pliant {

/// Penalty forces against colliders, between bodies and of bodies against themselves, with friction, of the positions
/// and velocities where a step begins: they enter the right-hand side alone, so that no contact changes the matrix
/// (warp-canceling, 4 and 6).
///
/// The force on a node at a depth d inside a collider is k w d along the normal, with k the collider's stiffness
/// (1/s^2) but at most c/h^2, beyond which explicit forces make a node overshoot. Its weight w (kg) is not the mass of
/// the node alone: within a step an elastic wave of speed s recruits the material under the node's area a to the depth
/// h s, so that w = max(m, rho a min(h s, L)); and the nodes of a body that touch together never weigh more than the
/// body. A body at rest then sinks in by g/k whatever the mesh, where the mass of its lowest nodes alone would let it
/// sink deep. Two surfaces that touch have the weight of both in series.
class ExplicitContact {
 public:
  /// `colliders`: those it pushes bodies out of, or none.
  ExplicitContact(std::shared_ptr<const Model> model, const ColliderPenalty* colliders,
                  const BodyContactOptions& options);

  bool empty() const { return !colliders_ && surfaces_.none(); }
  /// Adds the forces where the step begins, N.
  void add_forces(const StepProblem& problem, VecX& force);
  /// Contacts there were when forces were last asked for.
  Index touching() const { return touching_; }

 private:
  struct ColliderContact {
    Index node;
    std::size_t collider;
    double depth;
    Vec3 normal, surface_velocity;
  };
  double weight(Index node, double h) const;
  void find_colliders(const StepProblem& problem);
  void push(const StepProblem& problem, const ColliderContact& contact, double share, VecX& force) const;
  void push(const StepProblem& problem, const BodyContact& contact, double share, VecX& force) const;

  std::shared_ptr<const Model> model_;
  const ColliderPenalty* colliders_;
  BodyContacts surfaces_;
  // Per node:
  std::vector<double> area_;  ///< its share of the surface at rest, m^2
  std::vector<Index> body_;
  // Per body:
  std::vector<double> wave_speed_, extent_, mass_;
  std::vector<std::vector<ColliderContact>> found_;  ///< by chunk
  Index touching_ = 0;
};

}  // namespace pliant
