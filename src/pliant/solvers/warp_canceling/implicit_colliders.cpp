#include "pliant/solvers/warp_canceling/implicit_colliders.hpp"

#include "pliant/math/parallel.hpp"

namespace pliant {

void ImplicitColliders::linearise(const StepProblem& problem) {
  constexpr Index kGrain = 512;
  touching_.clear();
  if (!colliders_) return;
  const Stencils& stencils = colliders_->stencils();
  const Pose pose = problem.pose(problem.predicted);
  values_.resize(at(stencils.count()));
  gradients_.resize(3 * at(stencils.count()));
  for_chunks(stencils.count(), kGrain, [&](Index begin, Index end) {
    colliders_->evaluate(pose, {begin, end}, values_.data() + begin, gradients_.data() + 3 * at(begin));
  });
  for (Index s = 0; s < stencils.count(); ++s) {
    if (!(values_[at(s)] > 0)) continue;
    ColliderTouch touch{stencils.nodes[at(s)], -Vec3::Map(gradients_.data() + 3 * at(s)), {}};
    colliders_->hessians(pose, {s, s + 1}, Projection::analytic, touch.stiffness.data());
    touching_.push_back(touch);
  }
}

}  // namespace pliant
