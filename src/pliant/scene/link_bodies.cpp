#include "pliant/scene/scene.hpp"

namespace pliant {

namespace {

RigidJoint rigid_joint(JointKind kind) {
  return kind == JointKind::fixed ? RigidJoint::fixed : kind == JointKind::hinge ? RigidJoint::hinge : RigidJoint::ball;
}

/// Of mass: a link that is fixed needs no pivot.
Vec3 centre_of(const LinkOptions& link) {
  RigidOptions options;
  options.name = link.name;
  options.shape = link.shape;
  options.density = link.density;
  return make_rigid_shape(options).centre;
}

}  // namespace

void make_links_rigid(Scene& scene) {
  const std::size_t first = scene.bodies.size();
  const auto body_of = [&](Index link) { return first + static_cast<std::size_t>(link); };
  for (const SceneLink& from : scene.links) {
    SceneBody body;
    body.name = from.link.name;
    body.density = from.link.density;
    body.rigid = SceneRigid{from.link.shape};
    body.origin = from.origin;
    scene.bodies.push_back(std::move(body));
  }
  for (std::size_t l = 0; l < scene.links.size(); ++l) {
    const auto& [link, origin] = scene.links[l];
    if (link.joint == JointKind::free) continue;
    JointOptions joint;
    joint.name = link.name;
    joint.kind = rigid_joint(link.joint);
    joint.body = first + l;
    if (link.parent >= 0) joint.to_body = body_of(link.parent);
    joint.place = link.joint == JointKind::fixed ? centre_of(link) : link.pivot;
    joint.axis = link.axis;
    scene.joints.push_back({joint, origin});
  }
  for (SceneAttachment& attachment : scene.attachments)
    if (attachment.link) {
      attachment.to_body = body_of(static_cast<Index>(*attachment.link));
      attachment.link.reset();
    }
  scene.links.clear();
}

std::vector<SolverFit> solver_fits(const Scene& scene, const Model& model) {
  std::vector<SolverFit> fits = solver_fits(model, demands_of(scene));
  if (scene.links.empty()) return fits;
  Scene rigid = scene;
  make_links_rigid(rigid);
  const std::vector<SolverFit> others = solver_fits(*build_model(rigid), demands_of(scene));
  for (std::size_t i = 0; i < fits.size(); ++i)
    if (!fits[i].solver->supports.links) fits[i] = others[i];
  return fits;
}

}  // namespace pliant
