#pragma once

#include "pliant/materials/law.hpp"
#include "pliant/scene/keys.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// What `material` and `solver.name` may be, in the order of the lists that the program prints.
inline std::vector<std::string> material_names() {
  std::vector<std::string> names;
  for (const auto& law : laws()) names.push_back(law->info().name);
  return names;
}
inline std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const SolverEntry& solver : solver_catalogue()) names.push_back(solver.name);
  return names;
}

/// Keys that several sections share.
inline Setting name_key(const std::string& what) {
  return {.name = "name",
          .kind = Kind::text,
          .summary = "Name of the " + what + " in messages and results; must be unique.",
          .example = "\"" + what + "-a\""};
}
inline Setting body_key(const std::string& summary = "The body it acts on; needed when there are several.",
                        const std::string& example = "\"beam\"") {
  return {.name = "body", .kind = Kind::text, .summary = summary, .example = example};
}
inline Setting where_key(const std::string& what, bool required) {
  return {.name = "where",
          .kind = Kind::selection,
          .summary = what + " See [Selections](#selections).",
          .example = "\"x-min\"",
          .required = required,
          .section = &selection_keys()};
}

}  // namespace pliant
