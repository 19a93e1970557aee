#include "pliant/solvers/support.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "pliant/base/error.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant {

namespace {

constexpr std::array kIntegrators = {Integrator::implicit_euler, Integrator::implicit_midpoint,
                                     Integrator::quasistatic};

template <class T>
bool contains(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// The points of a rigid link are a body too.
bool is_link(const Model& model, const Body& body) {
  const Articulation* links = model.articulation();
  return links && std::any_of(links->links().begin(), links->links().end(),
                              [&](const Link& link) { return link.nodes.front() == body.nodes.begin; });
}

bool touches_itself(const Model& model, const Body& body) {
  return model.contact() && model.contact()->surface->may_touch(body.nodes.begin, body.nodes.begin);
}

bool has_friction(const Model& model) {
  const auto rubs = [](const Collider& collider) { return collider.friction > 0; };
  if (const ColliderPenalty* penalty = model.colliders())
    return std::any_of(penalty->colliders().begin(), penalty->colliders().end(), rubs);
  if (!model.contact()) return false;
  const std::vector<double>& friction = model.contact()->friction;
  return std::any_of(friction.begin(), friction.end(), [](double mu) { return mu > 0; });
}

/// What a body is that a solver does not take, and the bodies that are so.
struct BodyRefusal {
  std::string why, first;
  int others = 0;
};

void refuse_body(const Model& model, const Body& body, const SolverSupport& can, std::vector<BodyRefusal>& refused) {
  const auto refuse = [&](const std::string& why) {
    const auto found =
        std::find_if(refused.begin(), refused.end(), [&](const BodyRefusal& known) { return known.why == why; });
    if (found != refused.end())
      ++found->others;
    else
      refused.push_back({why, body.name});
  };
  if (!body.is_solid()) {
    if (!can.cloth && !is_link(model, body))
      refuse(fmt::format("is {}, and it moves solids only", body.shell ? "a shell"
                                                            : body.rod ? "a rod"
                                                                       : "made of springs"));
    return;
  }
  if (body.rigid) {
    if (!can.rigid) refuse("is rigid ([[rigid]]), and it moves soft bodies only");
    return;
  }
  const int order = body.elements->reference().order();
  if (order > can.highest_order)
    refuse(fmt::format("has elements of order {}, and it takes order {} only; set order = {}", order, can.highest_order,
                       can.highest_order));
  if (!can.fibres && !body.fibres.empty()) refuse("has fibres, which it does not support");
  if (const std::string& law = body.law->info().name; !can.laws.empty() && !contains(can.laws, law))
    refuse(fmt::format("is made of {}, and it takes the materials {} only", law, fmt::join(can.laws, ", ")));
  if (!can.mass_damping && body.damping.mass > 0) refuse("has damping.mass, which it does not support");
  if (!can.stiffness_damping && body.damping.stiffness > 0)
    refuse("has damping.stiffness, and it supports damping.mass only");
}

std::vector<std::string> refusals_of(const SolverSupport& can, const Model& model, const SceneDemands& demands) {
  std::vector<std::string> reasons;
  const std::string_view integrator = to_string(demands.integrator);
  if (!contains(can.integrators, demands.integrator))
    reasons.push_back(fmt::format("it has no integrator \"{}\"", integrator));
  if (model.contact()) {
    const bool colliders_alone = !model.contact()->options.bodies;
    const std::string_view asks = colliders_alone ? "colliders" : "[contact]";
    const std::string_view unless = colliders_alone ? ", or simulation.colliders = \"penalty\"" : "";
    if (can.contact.empty())
      reasons.push_back(colliders_alone ? std::string("it takes colliders only with simulation.colliders = \"penalty\"")
                                        : std::string("it has no contact between surfaces, which [contact] asks for"));
    else if (!contains(can.contact, demands.integrator))
      reasons.push_back(fmt::format("it cannot keep surfaces apart ({}) with integrator = \"{}\": take \"{}\"{}", asks,
                                    integrator, to_string(can.contact.front()), unless));
  }
  if (model.colliders() && !can.colliders) reasons.push_back("it has no colliders");
  if (!can.friction && has_friction(model)) reasons.push_back("it has no friction");
  if (model.articulation() && !can.links)
    reasons.push_back(
        "it has no coordinates of joints for rigid links; a scene that is loaded with it has [[rigid]] in place of "
        "[[link]]");
  if (!can.consistent_mass && model.mass().kind() == MassKind::consistent)
    reasons.push_back("it needs mass = \"lumped\"");
  if (!can.energies && !model.more_energies().empty())
    reasons.push_back(fmt::format("it does not support the energy '{}', which comes from code",
                                  model.more_energies().front()->name()));
  for (const SurfaceLoad& load : model.surface_loads()) {
    if (load.kind != LoadKind::gas) continue;
    if (can.gas == GasSupport::none)
      reasons.push_back(fmt::format("it does not take gas (load '{}'), only a pressure that is given", load.name));
    else if (can.gas == GasSupport::in_motion && demands.integrator == Integrator::quasistatic)
      reasons.push_back(
          fmt::format("it does not take gas (load '{}') with integrator = \"{}\": take \"{}\", with damping", load.name,
                      integrator, to_string(can.integrators.front())));
  }
  if (!can.cuts && !demands.cut_bodies.empty()) reasons.push_back("it cannot continue after a [[cut]]");
  for (std::size_t b : demands.cut_bodies)
    if (const Body& body = model.bodies()[b]; !can.cuts_in_contact && touches_itself(model, body))
      reasons.push_back(
          fmt::format("body '{}' touches itself ([contact]), and the two sides of its [[cut]] would begin at the same "
                      "place; set "
                      "contact.self = false",
                      body.name));
  std::vector<BodyRefusal> refused;
  for (const Body& body : model.bodies()) refuse_body(model, body, can, refused);
  for (const BodyRefusal& each : refused)
    reasons.push_back(fmt::format("body '{}'{} {}", each.first,
                                  each.others > 0 ? fmt::format(" (as {} more)", each.others) : "", each.why));
  return reasons;
}

const SolverSupport& support_of(const SolverEntry& solver, const SettingMap& parameters) {
  for (const SupportVariant& variant : solver.variants)
    if (parameters.at(variant.parameter) == SettingValue(variant.value)) return variant.supports;
  return solver.supports;
}

/// Implicit Euler is what a scene gets without asking: the solver's parameters may choose another integrator.
SceneDemands with_integrator_of(const SettingMap& parameters, SceneDemands demands) {
  const auto found = parameters.find("integrator");
  if (found != parameters.end() && demands.integrator == Integrator::implicit_euler)
    demands.integrator = integrator_of(std::get<std::string>(found->second));
  return demands;
}

/// The variant under which a solver would take the model.
std::string way_out(const SolverEntry& solver, const Model& model, const SceneDemands& demands) {
  for (const SupportVariant& variant : solver.variants)
    if (refusals_of(variant.supports, model, demands).empty())
      return fmt::format("{} = \"{}\"", variant.parameter, variant.value);
  return {};
}

std::string one_line(const std::vector<std::string>& reasons, const std::string& unless) {
  return fmt::format("{}{}", fmt::join(reasons, "; "), unless.empty() ? "" : fmt::format("; with {} it could", unless));
}

}  // namespace

std::string_view to_string(Integrator integrator) {
  switch (integrator) {
    case Integrator::implicit_euler:
      return "implicit-euler";
    case Integrator::implicit_midpoint:
      return "implicit-midpoint";
    case Integrator::quasistatic:
      return "quasistatic";
  }
  return {};
}

Integrator integrator_of(std::string_view name) {
  for (Integrator integrator : kIntegrators)
    if (to_string(integrator) == name) return integrator;
  throw InputError(fmt::format("there is no integrator \"{}\"", name));
}

std::vector<std::string> refusals(const SolverEntry& solver, const Model& model, const SettingMap& parameters,
                                  const SceneDemands& demands) {
  return refusals_of(support_of(solver, parameters), model, with_integrator_of(parameters, demands));
}

void check_support(const SolverEntry& solver, const Model& model, const SettingMap& parameters,
                   const SceneDemands& demands) {
  const std::vector<std::string> reasons = refusals(solver, model, parameters, demands);
  if (reasons.empty()) return;
  const SceneDemands all = with_integrator_of(parameters, demands);
  throw InputError(fmt::format("the solver '{}' cannot run this scene: {}. Solvers that can: {}", solver.name,
                               one_line(reasons, way_out(solver, model, all)), list_fitting(model, all)));
}

std::string SolverFit::reason() const { return one_line(refusals, unless); }

std::vector<SolverFit> solver_fits(const Model& model, const SceneDemands& demands) {
  std::vector<SolverFit> fits;
  for (const SolverEntry& solver : solver_catalogue()) {
    SolverFit fit{&solver, refusals_of(solver.supports, model, demands), {}};
    if (!fit.fits()) fit.unless = way_out(solver, model, demands);
    fits.push_back(std::move(fit));
  }
  return fits;
}

std::string list_fitting(const Model& model, const SceneDemands& demands) {
  std::vector<std::string> names;
  for (const SolverFit& fit : solver_fits(model, demands))
    if (fit.fits()) names.push_back(fit.solver->name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace pliant
