#include "pliant/solvers/pxpbd/collider_forces.hpp"

#include "pliant/math/parallel.hpp"

namespace pliant::pbd {

void ColliderForces::begin_step(double end_time, double h) {
  if (!colliders_) return;
  h2_ = h * h;
  poses_.clear();
  for (const Collider& collider : colliders_->colliders()) poses_.push_back(collider.motion.pose(end_time));
  forces_.assign(poses_.size() * colliders_->stencils().nodes.size(), Vec3::Zero());
}

void ColliderForces::update(Nodes& nodes) {
  if (!colliders_) return;
  const auto& members = colliders_->stencils().nodes;
  const auto count = static_cast<Index>(members.size());
  for_chunks(count, 1024, [&](Index begin, Index end) {
    for (std::size_t c = 0; c < poses_.size(); ++c) {
      const Collider& collider = colliders_->colliders()[c];
      for (Index s = begin; s < end; ++s) {
        const Index i = members[static_cast<std::size_t>(s)];
        Vec3& force = forces_[c * members.size() + static_cast<std::size_t>(s)];
        const Vec3 w(nodes.inverse_mass(i, 0), nodes.inverse_mass(i, 1), nodes.inverse_mass(i, 2));
        const Vec3 without = nodes.position(i) + h2_ * w.cwiseProduct(force);
        const Distance d = distance(collider, poses_[c], without);
        if (!(d.value < 0) && force.isZero(0)) continue;
        const double k = collider.stiffness * colliders_->masses()[static_cast<std::size_t>(s)];
        const Vec3 updated = d.value < 0
                                 ? Vec3(k * d.value / (1 + h2_ * k * d.normal.dot(w.cwiseProduct(d.normal))) * d.normal)
                                 : Vec3(Vec3::Zero());
        Vec3::Map(nodes.data() + 4 * static_cast<std::size_t>(i)) -= h2_ * w.cwiseProduct(updated - force);
        force = updated;
      }
    }
  });
}

void ColliderForces::add_to(VecX& g, const Nodes& nodes) const {
  if (!colliders_) return;
  const auto& members = colliders_->stencils().nodes;
  for (std::size_t c = 0; c < poses_.size(); ++c)
    for (std::size_t s = 0; s < members.size(); ++s)
      for (int axis = 0; axis < 3; ++axis)
        if (nodes.inverse_mass(members[s], axis) > 0)
          g[3 * members[s] + axis] += h2_ * forces_[c * members.size() + s][axis];
}

}  // namespace pliant::pbd
