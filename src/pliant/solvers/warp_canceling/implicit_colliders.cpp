#include "pliant/solvers/warp_canceling/implicit_colliders.hpp"

#include "pliant/math/parallel.hpp"

namespace pliant {

void ImplicitColliders::linearise(const StepProblem& problem) {
  touching_.clear();
  if (!colliders_) return;
  const Stencils& stencils = colliders_->stencils();
  const Pose at_start = problem.pose(problem.x_n), predicted = problem.pose(problem.predicted);
  evaluate(at_start, at_start_);
  evaluate(predicted, predicted_);
  for (Index s = 0; s < stencils.count(); ++s) {
    const bool is_inside = at_start_.values[at(s)] > 0;
    if (!is_inside && !(predicted_.values[at(s)] > 0)) continue;
    ColliderTouch touch;
    touch.node = stencils.nodes[at(s)];
    touch.force = -Vec3::Map((is_inside ? at_start_ : predicted_).gradients.data() + 3 * at(s));
    colliders_->hessians(is_inside ? at_start : predicted, {s, s + 1}, Projection::analytic, touch.stiffness.data());
    if (!is_inside) touch.velocity = node(problem.v_n, touch.node);
    touching_.push_back(touch);
  }
}

void ImplicitColliders::evaluate(const Pose& pose, Evaluation& result) const {
  constexpr Index kGrain = 512;
  const Index count = colliders_->stencils().count();
  result.values.resize(at(count));
  result.gradients.resize(3 * at(count));
  for_chunks(count, kGrain, [&](Index begin, Index end) {
    colliders_->evaluate(pose, {begin, end}, result.values.data() + begin, result.gradients.data() + 3 * at(begin));
  });
}

}  // namespace pliant
