#include "pliant/scene/dynamic_selection.hpp"

#include <fmt/format.h>

#include <sstream>

#include "pliant/base/error.hpp"
#include "pliant/scene/selection.hpp"

namespace pliant {

std::string resolve_dynamic_nodes(const std::string& text, const Model& model) {
  std::string resolved;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const auto first = part.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    part = part.substr(first, part.find_last_not_of(" \t") - first + 1);
    const auto add = [&](const auto& item) { resolved += fmt::format("{}{}", resolved.empty() ? "" : ",", item); };
    if (part == "all" || part == "none" || part.find_first_not_of("0123456789") == std::string::npos) {
      add(part);
      continue;
    }
    const Selection selection{{parse_selection(part)}, part};
    std::string problem = fmt::format("'dynamic' = \"{}\" selects no vertex of any body", part);
    bool found = false;
    for (const Body& body : model.bodies()) {
      try {
        for (Index i : body.nodes_of(select(selection, body))) {
          add(body.nodes.begin + i);
          found = true;
        }
      } catch (const InputError& error) {
        problem = fmt::format("'dynamic': {}", error.what());  // a set that another body may have
      }
    }
    if (!found) throw InputError(problem);
  }
  return resolved;
}

}  // namespace pliant
