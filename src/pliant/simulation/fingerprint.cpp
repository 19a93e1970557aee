#include "pliant/simulation/fingerprint.hpp"

namespace pliant {

namespace {

void add_motion(const Motion& motion, Hash& hash) {
  for (const auto& key : motion.translation.keys) {
    hash.add(key.time);
    hash.add(VecX(key.value));
  }
  hash.add(VecX(motion.axis));
  hash.add(VecX(motion.centre));
  for (const auto& key : motion.angle.keys) {
    hash.add(key.time);
    hash.add(key.value);
  }
  for (const Vec3& displacement : motion.field) hash.add(VecX(displacement));
  for (const auto& key : motion.field_scale.keys) {
    hash.add(key.time);
    hash.add(key.value);
  }
}

void add_factor(const LoadFactor& factor, Hash& hash) {
  for (const auto& key : factor.keyframes.keys) {
    hash.add(key.time);
    hash.add(key.value);
  }
  if (factor.driven) hash.add(std::string_view("driven"));  // how is known to whoever drives it
}

void add_nodes(const std::vector<Index>& nodes, Hash& hash) {
  hash.add(static_cast<std::int64_t>(nodes.size()));
  hash.add(nodes.data(), nodes.size() * sizeof(Index));
}

std::uint64_t hash_mesh(const Model& model) {
  Hash hash;
  hash.add(model.rest());
  for (const Body& body : model.bodies()) add_nodes(body.energy().stencils().nodes, hash);
  return hash.value();
}

std::uint64_t hash_materials(const Model& model) {
  Hash hash;
  // A law's constants and curves show in its energy somewhere off rest.
  Mat3 probe;
  probe << 1.3, 0.2, -0.1, 0.1, 0.8, 0.15, -0.2, 0.1, 1.1;
  for (const Body& body : model.bodies()) {
    for (double number : {body.damping.mass, body.damping.stiffness}) hash.add(number);
    if (body.shell) {
      const ShellMaterial& shell = body.shell->material();
      for (double number : {shell.young, shell.poisson, shell.thickness, shell.bending}) hash.add(number);
      if (shell.strain_limit > 0) hash.add(shell.strain_limit);
      continue;
    }
    if (body.rod) {
      const RodMaterial& rod = body.rod->material();
      for (double number : {rod.young, rod.radius, rod.bending}) hash.add(number);
      if (rod.rest_curvature) hash.add(*rod.rest_curvature);
      continue;
    }
    if (!body.is_solid()) {
      for (double stiffness : body.springs->stiffness()) hash.add(stiffness);
      continue;
    }
    if (body.rigid)
      for (const Vec3& p : body.rigid->vertices) hash.add(VecX(p));
    hash.add(body.law->info().name);
    for (const Lame& lame : body.lame) {
      hash.add(lame.mu);
      hash.add(lame.lambda);
      hash.add(Material{body.law, lame}.energy(probe));
    }
    for (const Fibres& fibres : body.fibres) {
      hash.add(fibres.law->info().name);
      for (const FibreParameters& p : fibres.parameters)
        for (double number : {p.stiffness, p.shape, p.active_stress}) hash.add(number);
      for (const Vec3& direction : fibres.directions) hash.add(VecX(direction));
      hash.add(static_cast<std::int64_t>(fibres.activation));
    }
  }
  for (const auto& energy : model.more_energies()) {
    hash.add(energy->name());
    add_nodes(energy->stencils().nodes, hash);
  }
  if (const TieEnergy* ties = model.ties())
    for (const Tie& tie : ties->ties()) {
      add_nodes(tie.nodes, hash);
      for (double weight : tie.weights) hash.add(weight);
      hash.add(VecX(tie.offset));
      for (double number : {tie.stiffness, tie.rest_length, tie.damping}) hash.add(number);
      if (tie.side != TieSide::always) hash.add(static_cast<std::int64_t>(tie.side));
      if (tie.freedom == TieFreedom::plane) hash.add(static_cast<std::int64_t>(tie.freedom));
      if (tie.slides()) {
        hash.add(VecX(tie.axis));
        for (double weight : tie.axis_weights) hash.add(weight);
      }
      if (!tie.motion) continue;
      for (const auto& key : tie.motion->value.keys) {
        hash.add(key.time);
        hash.add(key.value);
      }
      for (const Vec3& v : {tie.motion->centre, tie.motion->axis, tie.motion->place}) hash.add(VecX(v));
    }
  hash.add(static_cast<std::int64_t>(model.mass().kind()));
  hash.add(model.mass().lumped());
  return hash.value();
}

std::uint64_t hash_boundaries(const Model& model) {
  Hash hash;
  for (const Pin& pin : model.pins()) {
    add_nodes(pin.nodes, hash);
    for (bool axis : pin.axes) hash.add(std::int64_t{axis});
  }
  for (const Script& script : model.scripts()) {
    add_nodes(script.nodes, hash);
    add_motion(script.motion, hash);
    if (script.driven) hash.add(std::string_view("driven"));  // how is known to whoever drives it
    hash.add(static_cast<std::int64_t>(script.imposition));
    for (double number : {script.sigma, script.start, script.release}) hash.add(number);
  }
  if (model.colliders())
    for (const Collider& collider : model.colliders()->colliders()) {
      add_motion(collider.motion, hash);
      for (double number : {collider.stiffness, collider.friction}) hash.add(number);
      // A shape shows in its distances.
      for (const Vec3& p : {Vec3(0.1, 0.2, 0.3), Vec3(-7.1, 3.3, 2.9), Vec3(4.7, -5.9, 11.3), Vec3(-0.7, -13.1, -4.3)})
        hash.add(distance(collider.shape, p).value);
    }
  if (model.articulation())
    for (const Link& link : model.articulation()->links()) {
      hash.add(static_cast<std::int64_t>(link.parent));
      hash.add(static_cast<std::int64_t>(link.joint));
      hash.add(VecX(link.pivot));
      hash.add(VecX(link.axis));
      add_nodes(link.nodes, hash);
    }
  if (model.contact()) {
    const ContactModel& contact = *model.contact();
    const ContactOptions& o = contact.options;
    for (double number : {o.dhat, o.kappa, o.friction, o.eps_v}) hash.add(number);
    for (std::int64_t number : {std::int64_t{o.adaptive}, std::int64_t{o.friction_iterations}}) hash.add(number);
    for (double number : contact.friction) hash.add(number);
    for (std::uint8_t touches : contact.surface->touches) hash.add(std::int64_t{touches});
    hash.add(contact.rest);
    for (const auto* list : {&contact.obstacles, &contact.planes})
      for (const ContactModel::Placed& placed : *list) {
        add_motion(placed.motion, hash);
        for (double number : placed.plane.point) hash.add(number);
        for (double number : placed.plane.normal) hash.add(number);
      }
  }
  for (const Muscle& muscle : model.muscles())
    for (const auto& key : muscle.activation.keys) {
      hash.add(key.time);
      hash.add(key.value);
    }
  return hash.value();
}

void add_loads(const Model& model, Hash& hash) {
  if (model.has_driven_gravity()) hash.add(std::string_view("driven"));
  for (const auto& key : model.gravity_keyframes().keys) {
    hash.add(key.time);
    hash.add(VecX(key.value));
  }
  for (const DeadLoad& load : model.timed_loads()) {
    add_nodes(load.nodes, hash);
    for (const Vec3& force : load.forces) hash.add(VecX(force));
    add_factor(load.factor, hash);
  }
  for (const SurfaceLoad& load : model.surface_loads()) {
    hash.add(static_cast<std::int64_t>(load.kind));
    add_nodes(load.faces->stencils().nodes, hash);
    hash.add(VecX(load.traction));
    for (double number : {load.pressure, load.gas.pressure, load.gas.outside, load.gas.exponent}) hash.add(number);
    add_factor(load.factor, hash);
  }
}

std::uint64_t hash_solver(const SceneSolver& solver) {
  Hash hash;
  hash.add(solver.name);
  for (const auto& [key, value] : solver.parameters) {
    if (key == "history") continue;  // what is recorded does not change what is computed
    hash.add(key);
    hash.add(static_cast<std::int64_t>(value.index()));
    if (const auto* b = std::get_if<bool>(&value)) hash.add(std::int64_t{*b});
    if (const auto* i = std::get_if<std::int64_t>(&value)) hash.add(*i);
    if (const auto* d = std::get_if<double>(&value)) hash.add(*d);
    if (const auto* s = std::get_if<std::string>(&value)) hash.add(*s);
  }
  return hash.value();
}

}  // namespace

void Hash::add(const void* data, std::size_t bytes) {
  value_ = checksum({static_cast<const char*>(data), bytes}, value_);
}

void Hash::add(std::string_view text) {
  add(static_cast<std::int64_t>(text.size()));
  add(text.data(), text.size());
}

std::string Fingerprint::difference(const Fingerprint& other) const {
  std::string text;
  for (std::size_t i = 0; i < kParts; ++i)
    if (parts[i] != other.parts[i]) text += (text.empty() ? "" : ", ") + std::string(kNames[i]);
  return text;
}

Fingerprint fingerprint(const Scene& scene, const Model& model) {
  Hash forces;
  forces.add(model.external_force());
  forces.add(model.rest_state().v);
  add_loads(model, forces);
  Hash time;
  time.add(scene.dt);
  Hash mesh;
  mesh.add(static_cast<std::int64_t>(hash_mesh(model)));
  for (const SceneCut& cut : scene.cuts) {
    mesh.add(cut.time);
    mesh.add(static_cast<std::int64_t>(cut.body));
    if (const auto* plane = std::get_if<CutPlane>(&cut.surface)) {
      mesh.add(VecX(plane->point));
      mesh.add(VecX(plane->normal));
      mesh.add(plane->radius);
    } else {
      const auto& surface = std::get<TriangleMesh>(cut.surface);
      for (const Vec3& v : surface.vertices) mesh.add(VecX(v));
      for (const Triangle& t : surface.triangles) mesh.add(t.data(), sizeof t);
    }
  }
  return {{scene.cuts.empty() ? hash_mesh(model) : mesh.value(), hash_materials(model), hash_boundaries(model),
           forces.value(), time.value(), hash_solver(scene.solver)}};
}

Fingerprint fingerprint_of_boxes(const Scene& scene) {
  Hash mesh, materials, boundaries, forces, time;
  for (const SceneBody& body : scene.bodies) {
    const auto& box = std::get<BoxOptions>(*body.mesh.generator);
    for (const Vec3& v : {box.origin, box.size, body.mesh.scale, body.mesh.axis, body.mesh.centre, body.mesh.translate})
      mesh.add(VecX(v));
    for (Index cells : box.cells) mesh.add(static_cast<std::int64_t>(cells));
    mesh.add(static_cast<std::int64_t>(box.split));
    mesh.add(body.mesh.angle);
    materials.add(body.material);
    for (double number : {body.lame.mu, body.lame.lambda, body.density, body.damping.mass, body.damping.stiffness})
      materials.add(number);
    forces.add(VecX(body.velocity));
    forces.add(VecX(body.angular_velocity));
  }
  materials.add(static_cast<std::int64_t>(scene.mass));
  for (const ScenePin& pin : scene.pins) {
    boundaries.add(static_cast<std::int64_t>(pin.body));
    boundaries.add(pin.where.text);
    for (bool axis : pin.axes) boundaries.add(std::int64_t{axis});
  }
  for (const SceneScript& script : scene.scripts) {
    boundaries.add(static_cast<std::int64_t>(script.body));
    boundaries.add(script.where.text);
    add_motion(script.motion, boundaries);
    boundaries.add(static_cast<std::int64_t>(script.imposition));
    for (double number : {script.sigma, script.start, script.release}) boundaries.add(number);
  }
  for (const SceneCollider& collider : scene.colliders) {
    boundaries.add(collider.collider.name);
    boundaries.add(collider.collider.friction);
    add_motion(collider.collider.motion, boundaries);
  }
  forces.add(VecX(scene.gravity));
  if (scene.driven_gravity) forces.add(std::string_view("driven"));
  for (const auto& key : scene.gravity_keyframes.keys) {
    forces.add(key.time);
    forces.add(VecX(key.value));
  }
  time.add(scene.dt);
  return {
      {mesh.value(), materials.value(), boundaries.value(), forces.value(), time.value(), hash_solver(scene.solver)}};
}

}  // namespace pliant
