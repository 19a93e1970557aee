#pragma once

#include <cctype>
#include <string>
#include <vector>

#include "pliant/solvers/catalogue.hpp"

namespace pliant::testing {

/// Every solver of the catalogue, in its order.
inline std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const SolverEntry& entry : solver_catalogue()) names.push_back(entry.name);
  return names;
}

/// A law that the solver takes and steps well.
inline std::string law_for(const std::string& solver) {
  for (const char* corotational : {"corotational", "corotational-cg", "stiffness-warping", "warp-canceling"})
    if (solver == corotational) return "linear-corotated";
  for (const char* by_constraints : {"xpbd", "b-pxpbd", "grid-b-pxpbd"})
    if (solver == by_constraints) return "fixed-corotated";
  return solver == "fp-pxpbd" ? "stable-neo-hookean" : "neo-hookean";
}

/// Words as GoogleTest wants the names of instances.
inline std::string identifier(std::string words) {
  for (char& c : words)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return words;
}

}  // namespace pliant::testing
