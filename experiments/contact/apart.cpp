#include "experiments/contact/apart.hpp"

#include "pliant/contact/intersection.hpp"

namespace pliant::experiments {

IntersectionCheck::IntersectionCheck(std::shared_ptr<const Model> model) : model_(std::move(model)) {
  if (model_->contact()) broad_ = std::make_unique<BroadPhase>(model_->contact()->surface);
}

int IntersectionCheck::intersections(const State& state) {
  if (!broad_) return 0;
  const ContactModel& contact = *model_->contact();
  VecX x = contact.rest;
  x.head(state.x.size()) = state.x;
  for (const ContactModel::Placed& obstacle : contact.obstacles) {
    const RigidPose pose = obstacle.motion.pose(state.time);
    for (Index i = obstacle.positions.begin; i < obstacle.positions.end; ++i)
      node(x, i) = pose.from_rest(node(contact.rest, i));
  }
  auto found = static_cast<int>(find_intersections(*broad_, x).size());
  const ContactSurface& s = *contact.surface;
  for (const ContactModel::Placed& plane : contact.planes) {
    const RigidPose pose = plane.motion.pose(state.time);
    const Vec3 point = pose.from_rest(plane.plane.point), normal = pose.rotation * plane.plane.normal;
    for (Index i : s.points)
      if (i < contact.nodes &&
          s.touches[static_cast<std::size_t>(s.group[static_cast<std::size_t>(i)] * s.groups + plane.group)])
        found += !(normal.dot(Vec3(node(x, i)) - point) > 0);
  }
  return found;
}

}  // namespace pliant::experiments
