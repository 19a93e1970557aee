#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pliant/sim/model.hpp"

namespace pliant {

/// Penalty forces against colliders, with friction, of the positions and velocities where a step begins: they enter the
/// right-hand side alone, so that no contact changes the matrix (warp-canceling, 4).
///
/// The force on a node inside a collider is k w |d| along the normal, with k the collider's stiffness (1/s^2) but at
/// most c/h^2, beyond which explicit forces make a node overshoot. Its weight w (kg) is not the mass of the node alone:
/// within a step an elastic wave of speed s recruits the material under the node's area a to the depth h s, so that
/// w = max(m, rho a min(h s, L)); and the nodes of a part that touch together never weigh more than the part. A body at
/// rest then sinks in by g/k whatever the mesh, where the mass of its lowest nodes alone would let it sink in deep.
class ExplicitContact {
 public:
  explicit ExplicitContact(std::shared_ptr<const Model> model);

  bool empty() const { return !model_->colliders(); }
  /// Adds the forces of this state, N.
  void add_forces(const State& state, double h, VecX& force);
  /// Nodes that were in contact when forces were last asked for.
  Index touching() const { return touching_; }

 private:
  struct Contact {
    Index node;  ///< among the colliders' stencils
    std::size_t collider;
    double depth;
    Vec3 normal, surface_velocity;
  };

  std::shared_ptr<const Model> model_;
  // Of each stencil of the colliders:
  std::vector<double> areas_;  ///< m^2, at rest
  std::vector<Index> bodies_;
  // Of each body:
  std::vector<double> wave_speed_, extent_, mass_;
  std::vector<std::vector<Contact>> found_;  ///< by chunk
  Index touching_ = 0;
};

}  // namespace pliant
