#include "pliant/io/catalogue_json.hpp"

#include <array>
#include <cmath>

namespace pliant {

using Json = nlohmann::ordered_json;

Json to_json(const Parameter& parameter) {
  constexpr std::array<const char*, 4> kinds = {"boolean", "integer", "number", "text"};
  Json json = {{"key", parameter.key},
               {"kind", parameter.choices.empty() ? kinds[parameter.fallback.index()] : "choice"}};
  std::visit([&](const auto& v) { json["default"] = v; }, parameter.fallback);
  json["unit"] = parameter.unit;
  json["summary"] = parameter.summary;
  if (!parameter.choices.empty()) json["choices"] = parameter.choices;
  if (std::isfinite(parameter.least)) json["least"] = parameter.least;
  if (std::isfinite(parameter.greatest)) json["greatest"] = parameter.greatest;
  return json;
}

Json to_json(const SolverEntry& solver) {
  Json parameters = Json::array();
  for (const Parameter& parameter : solver.parameters) parameters.push_back(to_json(parameter));
  return {{"name", solver.name},
          {"paper", solver.paper},
          {"summary", solver.summary},
          {"parameters", std::move(parameters)}};
}

}  // namespace pliant
