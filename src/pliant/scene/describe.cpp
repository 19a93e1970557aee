#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pliant/scene/scene.hpp"
#include "pliant/solvers/conjac/dynamic_nodes.hpp"
#include "pliant/solvers/newton/linear_choice.hpp"

namespace pliant {

namespace {

std::string format(const ParameterValue& value) {
  struct Writer {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return fmt::format("{}", i); }
    std::string operator()(double d) const { return fmt::format("{}", d); }
    std::string operator()(const std::string& s) const { return s; }
  };
  return std::visit(Writer{}, value);
}

std::string format(const Motion& motion) {
  std::string text;
  if (!motion.angle.keys.empty()) {
    const auto& last = motion.angle.keys.back();
    text += fmt::format("turns to {:.4g} degrees about {} by {:.4g} s", last.value * 57.29577951308232,
                        format_vector(motion.axis), last.time);
  }
  if (!motion.translation.keys.empty()) {
    const auto& last = motion.translation.keys.back();
    text += fmt::format("{}moves to {} m by {:.4g} s", text.empty() ? "" : ", ", format_vector(last.value), last.time);
  }
  return text.empty() ? "holds" : text;
}

std::string format(const LoadOptions& load) {
  const char* follows = load.follows ? "" : ", as at rest";
  switch (load.kind) {
    case LoadKind::force:
      return fmt::format("{} N", format_vector(load.vector));
    case LoadKind::traction:
      return fmt::format("{} Pa{}", format_vector(load.vector), load.follows ? ", turning with the surface" : "");
    case LoadKind::pressure:
      return fmt::format("a pressure of {:.4g} Pa{}", load.pressure, follows);
    case LoadKind::body_force:
      return fmt::format("{} N/m^3", format_vector(load.vector));
    case LoadKind::gas:
      return fmt::format("gas of {:.4g} Pa, {:.4g} Pa outside", load.gas.pressure, load.gas.outside);
  }
  return {};
}

std::string gravity_of(const Scene& scene) {
  if (scene.driven_gravity) return "by a function of time";
  return format_vector(scene.gravity) + " m/s^2" + (scene.gravity_keyframes.keys.empty() ? "" : " at first");
}

/// Young's modulus and Poisson's ratio, from the Lame pair.
std::string format(const Lame& lame) {
  const double young = lame.mu * (3 * lame.lambda + 2 * lame.mu) / (lame.lambda + lame.mu);
  const double poisson = lame.lambda / (2 * (lame.lambda + lame.mu));
  return fmt::format("E = {:.4g} Pa, nu = {:.6g}", young, poisson);
}

/// A step that is judged by lengths above the speed at which friction begins to slide may end before it does.
std::string describe_loose_tolerance(const Scene& scene, const ContactModel& contact) {
  const bool rubs = std::any_of(contact.friction.begin(), contact.friction.end(), [](double mu) { return mu > 0; });
  const auto criterion = scene.solver.parameters.find("criterion"),
             tolerance = scene.solver.parameters.find("tolerance");
  if (!rubs || criterion == scene.solver.parameters.end() || tolerance == scene.solver.parameters.end()) return {};
  const auto* kind = std::get_if<std::string>(&criterion->second);
  const auto* speed = std::get_if<double>(&tolerance->second);
  if (!kind || *kind != "step-length" || !speed || *speed <= contact.options.eps_v) return {};
  return fmt::format(
      "          warning: bodies that should slide may stick, since tolerance = {:.4g} m/s is above eps_v = {:.4g} "
      "m/s; "
      "take a smaller one, or criterion = \"auto\"\n",
      *speed, contact.options.eps_v);
}

/// Placement takes nodes inside bodies alone, of which there may be fewer than were asked for.
std::string describe_dynamic_nodes(const Scene& scene, const Model& model) {
  if (scene.solver.name != "conjac") return {};
  const ParameterMap& given = scene.solver.parameters;
  const auto asked = std::get<std::int64_t>(given.at("dynamic_nodes"));
  if (!std::get<std::string>(given.at("dynamic")).empty() || asked == DynamicNodeOptions{}.count) return {};
  const auto placed = static_cast<std::int64_t>(
      dynamic_nodes(model, {{}, static_cast<int>(asked), std::get<std::int64_t>(given.at("seed"))}).size());
  if (placed >= asked) return {};
  return fmt::format(
      "          note: {} of {} dynamic nodes are placed, since no more lie inside bodies; 'dynamic' names others, "
      "and dynamic = \"all\" takes them all\n",
      placed, asked);
}

std::string describe_range(double least, double most) {
  return least == most ? fmt::format("{:.4g}", most) : fmt::format("{:.4g} to {:.4g}", least, most);
}

/// What acts between any two that may touch.
std::string describe_friction(const ContactModel& contact) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  const ContactSurface& surface = *contact.surface;
  for (std::size_t pair = 0; pair < contact.friction.size(); ++pair) {
    if (!surface.touches[pair]) continue;
    least = std::min(least, contact.friction[pair]);
    most = std::max(most, contact.friction[pair]);
  }
  return least > most ? fmt::format("{:.4g}", contact.options.friction) : describe_range(least, most);
}

/// Where the distance at which surfaces begin to repel each other is that of a whole edge or body, everything touches
/// everything: steps then take for ever, and bodies are held apart by themselves.
std::string describe_wide_distance(const ContactModel& contact) {
  double length2 = 0, edges = 0;
  for (std::size_t e = 0; e < contact.surface->edges.size(); ++e)
    if (!contact.is_obstacle(contact.surface->edges[e][0])) {
      length2 += contact.edge_length2[e];
      ++edges;
    }
  const double length = edges > 0 ? std::sqrt(length2 / edges) : 0, dhat = contact.options.dhat;
  if (contact.size > 0 && dhat > 0.5 * contact.size)
    return fmt::format(
        "          warning: dhat = {:.4g} m is more than half of the smallest body, {:.4g} m: everything repels "
        "everything; take it below the edges, which are {:.2g} m long\n",
        dhat, contact.size, length);
  if (length > 0 && dhat > length)
    return fmt::format(
        "          warning: dhat = {:.4g} m is longer than the edges, which are {:.2g} m: steps will take long; take "
        "it "
        "smaller\n",
        dhat, length);
  return {};
}

/// That which acts: of a contact's pairs, one number or a range over the bodies.
std::string describe_friction(const Model& model, const Collider& collider) {
  if (!model.contact()) return fmt::format("{:.4g}", collider.friction);
  const ContactModel& contact = *model.contact();
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto* list : {&contact.obstacles, &contact.planes})
    for (const ContactModel::Placed& placed : *list)
      if (placed.name == collider.name)
        for (Index body = 0; body < static_cast<Index>(model.bodies().size()); ++body) {
          least = std::min(least, contact.friction_of(body, placed.group));
          most = std::max(most, contact.friction_of(body, placed.group));
        }
  return least > most ? fmt::format("{:.4g}", collider.friction) : describe_range(least, most);
}

/// What `linear = "auto"` of the Newton family is going to do, as far as it can be told before it runs.
std::string describe_linear_choice(const Scene& scene, const Model& model) {
  const auto linear = scene.solver.parameters.find("linear");
  if (linear == scene.solver.parameters.end() || linear->second != ParameterValue(std::string("auto"))) return {};
  const auto integrator = scene.solver.parameters.find("integrator");
  const bool is_static =
      integrator != scene.solver.parameters.end() && integrator->second == ParameterValue(std::string("quasistatic"));
  return fmt::format(
      "  linear  systems of {} nodes: {}\n", model.nodes(),
      model.nodes() < LinearChoice::kFewNodes ? "factorised"
      : is_static ? "conjugate gradients with multigrid or the factor at rest, or factorised, whichever costs less"
                  : "conjugate gradients; with multigrid or the factor at rest, or factorised, once that costs less");
}

/// Where what slides is free.
std::string format_way(const SceneAttachment& attachment) {
  if (attachment.freedom == TieFreedom::none) return "";
  return fmt::format(", slides {} {}", attachment.freedom == TieFreedom::line ? "along" : "over the plane across",
                     format_vector(attachment.direction));
}

double total_length(const RodEnergy& rod) { return std::accumulate(rod.lengths().begin(), rod.lengths().end(), 0.0); }

}  // namespace

std::string describe(const Scene& scene, const Model& model) {
  std::string text = fmt::format("{}{}\n", scene.name, scene.title.empty() ? "" : ": " + scene.title);
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const SceneBody& from = scene.bodies[b];
    const Body& body = model.bodies()[b];
    const InBox box = bounding_box(body.rigid ? std::span<const Vec3>(body.rigid->vertices) : body.vertices());
    if (body.rigid) {
      text += fmt::format("  rigid   {}: {:.4g} kg, {} vertices, {} triangles, {} to {} m\n", body.name, body.mass(),
                          body.rigid->vertices.size(), body.rigid->triangles.size(), format_vector(box.min),
                          format_vector(box.max));
      continue;
    }
    if (body.shell) {
      const ShellMaterial& shell = body.shell->material();
      text += fmt::format("  body    {}: {} vertices, {} triangles, {} to {} m\n", body.name, body.vertices().size(),
                          body.surface().size(), format_vector(box.min), format_vector(box.max));
      text += fmt::format("          a shell of {:.4g} m, E = {:.4g} Pa, nu = {:.4g}, {:.4g} kg/m^3, {:.4g} kg{}\n",
                          shell.thickness, shell.young, shell.poisson, from.density, body.mass(),
                          shell.strain_limit > 0 ? fmt::format(", stretches by {:.4g}", shell.strain_limit) : "");
      for (const std::string& note : body.network->notes) text += fmt::format("          note: {}\n", note);
      continue;
    }
    if (body.rod) {
      const RodMaterial& rod = body.rod->material();
      text +=
          fmt::format("  rod     {}: {} segments, {:.4g} m long, {} to {} m\n", body.name, body.rod->lengths().size(),
                      total_length(*body.rod), format_vector(box.min), format_vector(box.max));
      text += fmt::format("          radius {:.4g} m, E = {:.4g} Pa, {:.4g} kg/m^3, {:.4g} kg\n", rod.radius, rod.young,
                          from.density, body.mass());
      continue;
    }
    if (!body.is_solid()) {
      text += fmt::format("  body    {}: {} vertices, {} springs, {} to {} m\n", body.name, body.vertices().size(),
                          body.springs->stencils().count(), format_vector(box.min), format_vector(box.max));
      text += fmt::format("          {:.4g} kg\n", body.mass());
      continue;
    }
    text += fmt::format("  body    {}: {} vertices, {} tets, order {} ({} nodes), {} to {} m\n", body.name,
                        body.mesh->vertices().size(), body.mesh->tets().size(), from.order, body.nodes.size(),
                        format_vector(box.min), format_vector(box.max));
    text += fmt::format("          {}, {}, {:.4g} kg/m^3, {:.4g} kg\n", from.material,
                        body.lame.size() > 1 ? "stiffness varies" : format(body.law->linearised(body.lame[0])),
                        from.density, body.mass());
    for (const SceneFibres& fibres : from.fibres)
      text += fmt::format("          fibres {}: {:.4g} Pa{}\n", fibres.law->info().name, fibres.parameters.stiffness,
                          fibres.muscle.empty() ? "" : fmt::format(", activated by {}", fibres.muscle));
    if (!body.damping.none())
      text += fmt::format("          damping {:.4g} 1/s of mass, {:.4g} s of stiffness\n", body.damping.mass,
                          body.damping.stiffness);
    for (const SceneRegion& region : from.regions)
      text += fmt::format("          region {}: {}\n", region.name, format(region.lame));
    for (const std::string& note : body.mesh->notes()) text += fmt::format("          note: {}\n", note);
  }
  for (std::size_t i = 0; i < scene.pins.size(); ++i) {
    std::string axes;
    for (std::size_t a = 0; a < 3; ++a)
      if (scene.pins[i].axes[a]) axes += "xyz"[a];
    text += fmt::format("  pin     {}: {} nodes of {}, axes {}\n", scene.pins[i].name, model.pins()[i].nodes.size(),
                        scene.bodies[scene.pins[i].body].name, axes);
  }
  for (std::size_t i = 0; i < scene.scripts.size(); ++i) {
    const SceneScript& script = scene.scripts[i];
    text += fmt::format("  script  {}: {} nodes of {}, {}{}\n", script.name, model.scripts()[i].nodes.size(),
                        scene.bodies[script.body].name, format(script.motion),
                        script.release < std::numeric_limits<double>::infinity()
                            ? fmt::format(", released at {:.4g} s", script.release)
                            : "");
  }
  for (const SceneLoad& load : scene.loads)
    text += fmt::format("  load    {}: {} on {}{}\n", load.name, format(load.load), scene.bodies[load.body].name,
                        load.load.factor.is_constant() ? "" : ", over time");
  for (const SceneProbe& probe : scene.probes)
    text += fmt::format(
        "  probe   {}: {}\n", probe.name,
        probe.tie_kind ? probe.tie : fmt::format("{} on {}", probe.where.text, scene.bodies[probe.body].name));
  for (const SceneCollider& from : scene.colliders) {
    static const char* const kShapes[] = {"plane", "sphere", "box", "cylinder", "capsule", "torus", "bowl"};
    text += fmt::format("  collider {}: {}, {}, friction {}\n", from.collider.name,
                        from.surface.empty() ? kShapes[from.collider.shape.index()] : from.surface.string(),
                        format(from.collider.motion), describe_friction(model, from.collider));
  }
  const bool bodies_touch = (model.contact() && model.contact()->options.bodies) || scene.solver.name == "grid-b-pxpbd";
  if (!bodies_touch && model.bodies().size() > 1)
    text += "  contact none between bodies, which pass through each other; a section [contact] lets them touch\n";
  if (model.contact()) {
    const ContactModel& contact = *model.contact();
    text +=
        fmt::format("  contact {} points, {} edges, {} triangles; dhat {:.4g} m, kappa {:.4g} Pa, friction {}\n",
                    contact.surface->points.size(), contact.surface->edges.size(), contact.surface->triangles.size(),
                    contact.options.dhat, contact.stiffness(), describe_friction(contact));
    for (const auto* list : {&contact.obstacles, &contact.planes})
      for (const ContactModel::Placed& placed : *list)
        if (placed.withdrawn > 0)
          text += fmt::format("          a body begins in touch with '{}', which is therefore taken {:.2g} m smaller\n",
                              placed.name, placed.withdrawn);
    text += describe_wide_distance(contact);
    text += describe_loose_tolerance(scene, contact);
  }
  static const char* const kJoints[] = {"fixed", "hinge", "ball", "free"};
  for (const SceneLink& from : scene.links)
    text += fmt::format(
        "  link    {}: {} to {}\n", from.link.name, kJoints[static_cast<int>(from.link.joint)],
        from.link.parent < 0 ? "the world" : scene.links[static_cast<std::size_t>(from.link.parent)].link.name);
  if (!scene.links.empty() && (model.contact() || model.colliders()))
    text += "          links are pushed by analytic colliders alone, by their penalty; bodies get out of their way\n";
  for (const SceneAttachment& attachment : scene.attachments)
    text += fmt::format("  attachment {}: {} to {}{}\n", attachment.name, scene.bodies[attachment.body].name,
                        attachment.to_body ? scene.bodies[*attachment.to_body].name
                        : attachment.link  ? scene.links[*attachment.link].link.name
                                           : "the world",
                        format_way(attachment));
  constexpr std::array kRigidJoints = {"fixed", "hinge", "ball", "slider"};
  for (const SceneJoint& from : scene.joints)
    text += fmt::format("  joint   {}: {}, {} to {}\n", from.joint.name,
                        kRigidJoints[static_cast<std::size_t>(from.joint.kind)], scene.bodies[from.joint.body].name,
                        from.joint.to_body ? scene.bodies[*from.joint.to_body].name : "the world");
  for (std::size_t i = 0; i < scene.springs.size(); ++i) {
    const SpringOptions& spring = scene.springs[i].spring;
    const Tie& tie = model.ties()->ties()[model.ties()->ties().size() - scene.springs.size() + i];
    text += fmt::format(
        "  spring  {}: {} to {}, {:.4g} N/m, {:.4g} m long at rest{}\n", spring.name, scene.bodies[spring.body].name,
        spring.to_body ? scene.bodies[*spring.to_body].name : format_vector(spring.to), spring.stiffness,
        tie.rest_length, spring.damping > 0 ? fmt::format(", damped by {:.4g} N s/m", spring.damping) : "");
  }
  for (const SceneCut& cut : scene.cuts)
    text += fmt::format("  cut     {}: {} by a {} at {:.4g} s\n", cut.name, scene.bodies[cut.body].name,
                        std::holds_alternative<CutPlane>(cut.surface) ? "plane" : "surface", cut.time);
  text += fmt::format("  time    {} step{} of {:.6g} s = {:.4g} s, a frame every {} step{}, gravity {}, {} mass\n",
                      scene.steps, scene.steps == 1 ? "" : "s", scene.dt, static_cast<double>(scene.steps) * scene.dt,
                      scene.output.every, scene.output.every == 1 ? "" : "s", gravity_of(scene),
                      scene.mass == MassKind::lumped ? "lumped" : "consistent");
  text += fmt::format("  solver  {}", scene.solver.name);
  // Only what differs from the solver's own defaults: the rest is in the list of solvers.
  std::string changed;
  for (const Setting& parameter : find_solver(scene.solver.name).parameters.keys) {
    const ParameterValue& value = scene.solver.parameters.at(parameter.name);
    if (value != default_value(parameter)) changed += fmt::format(", {} = {}", parameter.name, format(value));
  }
  text += fmt::format("{}; {} when a step fails\n", changed.empty() ? " with its defaults" : changed,
                      scene.solver.on_failure == OnFailure::stop ? "stops" : "continues");
  return text + describe_dynamic_nodes(scene, model) + describe_linear_choice(scene, model);
}

std::string describe_solvers(const Scene& scene, const Model& model) {
  const std::vector<SolverFit> fits = solver_fits(scene, model);
  std::vector<std::string> names;
  std::string others;
  for (const SolverFit& fit : fits) {
    if (fit.fits())
      names.push_back(fit.solver->name);
    else
      others += fmt::format("          not {}: {}\n", fit.solver->name, fit.reason());
  }
  return fmt::format("  solvers that could run this scene: {}\n{}",
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")), others);
}

}  // namespace pliant
