#include "pliant/solvers/conjac/turning_frame.hpp"

namespace pliant {

TurningFrame::TurningFrame(const Model& model, Turning turning) : model_(model), turning_(turning), parts_(model) {}

void TurningFrame::begin(const StepProblem& problem, std::span<const std::uint8_t> held) {
  problem_ = &problem;
  parts_.set_boundary(problem);
  // Inertia is known for lumped mass, and energies from code may pull bodies about.
  if (turning_ == Turning::linear || model_.mass().kind() != MassKind::lumped || !model_.more_energies().empty())
    parts_.hold_all();
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i]) parts_.hold(static_cast<Index>(i / 3));
  hold_touching(problem);
  model_.mass().multiply(problem.v_n, momentum_);
  momentum_ += problem.h * problem.explicit_force;
  parts_.advance(momentum_, problem.x_n, problem.h, y_, u_, a_);
}

void TurningFrame::keep_momentum(const VecX& x, VecX& v) const {
  parts_.keep_momentum(momentum_, problem_->x_n, problem_->h, x, v);
}

/// Penalties of colliders are linearised where the step begins: what presses on one, or is about to, stays there.
void TurningFrame::hold_touching(const StepProblem& problem) {
  const ColliderPenalty* penalty = model_.colliders();
  if (!penalty || parts_.none()) return;
  const std::vector<Index>& nodes = penalty->stencils().nodes;
  for (const Collider& collider : penalty->colliders()) {
    const RigidPose pose = collider.motion.pose(problem.end);
    for (Index i : nodes)
      if (distance(collider, pose, node(problem.x_n, i)).value < 0 ||
          distance(collider, pose, node(problem.predicted, i)).value < 0)
        parts_.hold(i);
  }
}

}  // namespace pliant
