#include "pliant/io/catalogue_json.hpp"

#include <array>
#include <cmath>

namespace pliant {

using Json = nlohmann::ordered_json;

Json to_json(const Setting& parameter) {
  constexpr std::array<const char*, 5> kinds = {"boolean", "integer", "number", "text", "choice"};
  Json json = {{"key", parameter.name}, {"kind", kinds.at(static_cast<std::size_t>(parameter.kind))}};
  std::visit([&](const auto& v) { json["default"] = v; }, default_value(parameter));
  json["unit"] = parameter.unit;
  json["summary"] = parameter.summary;
  if (!parameter.choices.empty()) json["choices"] = parameter.choices;
  if (std::isfinite(parameter.limits.least)) json["least"] = parameter.limits.least;
  if (std::isfinite(parameter.limits.greatest)) json["greatest"] = parameter.limits.greatest;
  return json;
}

Json to_json(const SolverSupport& supports) {
  const auto names = [](const std::vector<Integrator>& integrators) {
    Json list = Json::array();
    for (Integrator integrator : integrators) list.push_back(to_string(integrator));
    return list;
  };
  Json json = {{"integrators", names(supports.integrators)},
               {"contact", names(supports.contact)},
               {"own_contact", supports.own_contact},
               {"colliders", supports.colliders},
               {"friction", supports.friction},
               {"links", supports.links},
               {"cloth", supports.cloth},
               {"fibres", supports.fibres},
               {"highest_order", supports.highest_order},
               {"consistent_mass", supports.consistent_mass},
               {"mass_damping", supports.mass_damping},
               {"stiffness_damping", supports.stiffness_damping},
               {"cuts", supports.cuts},
               {"cuts_in_contact", supports.cuts_in_contact},
               {"grabs", supports.grabs},
               {"energies", supports.energies}};
  if (!supports.laws.empty()) json["laws"] = supports.laws;
  return json;
}

Json to_json(const SolverEntry& solver) {
  Json parameters = Json::array(), variants = Json::array();
  for (const Setting& parameter : solver.parameters.keys) parameters.push_back(to_json(parameter));
  for (const SupportVariant& variant : solver.variants)
    variants.push_back(
        {{"parameter", variant.parameter}, {"value", variant.value}, {"supports", to_json(variant.supports)}});
  return {{"name", solver.name},
          {"paper", solver.paper},
          {"summary", solver.summary},
          {"supports", to_json(solver.supports)},
          {"variants", std::move(variants)},
          {"parameters", std::move(parameters)}};
}

Json to_json(const std::vector<SolverFit>& fits) {
  Json list = Json::array();
  for (const SolverFit& fit : fits)
    list.push_back({{"name", fit.solver->name}, {"refusal", fit.fits() ? Json(nullptr) : Json(fit.reason())}});
  return list;
}

}  // namespace pliant
