#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pliant/scene/scene.hpp"

namespace pliant::test {

/// What a step may depend on besides elasticity and inertia; each is a few lines of a scene.
struct Feature {
  std::string_view name, body, scene;
};

/// Of a bar that swings from one end.
inline constexpr Feature kFeatures[] = {
    {"plain", "", ""},
    {"mass damping", "damping = {mass = 2}\n", ""},
    {"stiffness damping", "damping = {stiffness = 0.02}\n", ""},
    {"collider", "",
     "[[collider]]\nsphere = {centre = [0.8, -0.35, 0.1], radius = 0.3}\nstiffness = 1e4\nfriction = 0.3\n"},
    {"penalty", "",
     "[[collider]]\nsphere = {centre = [0.8, -0.35, 0.1], radius = 0.3}\nstiffness = 1e4\nfriction = 0.3\n"},
    {"contact", "",
     "[[collider]]\nsphere = {centre = [0.8, -0.35, 0.1], radius = 0.3}\n[contact]\ndhat = 0.01\nfriction = 0.3\n"},
    {"cut", "", "[[cut]]\ntime = 0.07\nplane = {point = [0.5, 0, 0], normal = [1, 0, 0]}\n"},
    {"script and release", "",
     "[[script]]\nwhere = \"x-max\"\ntranslate = [0.1, 0.1, 0]\ntimes = [0, 0.1]\nrelease = 0.08\n"},
};

/// A bar of a law that every solver takes. Steps are of 1/64 s, a number without rounding.
inline std::string swinging_bar(const Feature& feature, const std::string& solver, const std::string& more = "") {
  return R"(version = 1
[simulation]
dt = 0.015625
frames = 12
)" + std::string(feature.name == "penalty" ? "colliders = \"penalty\"\n" : "") +
         R"([[body]]
name = "bar"
box = {size = [1, 0.2, 0.2], cells = [6, 1, 1]}
material = "fixed-corotated"
young = 1e5
poisson = 0.3
)" + std::string(feature.body) +
         "[[pin]]\nwhere = \"x-min\"\n" + std::string(feature.scene) +
         "[output]\npictures = false\n[solver]\nname = \"" + solver + "\"\non_failure = \"continue\"\n" + more;
}

/// Lines of [solver], each with another value of a parameter than its default: every other choice, every switch. The
/// first is empty.
inline std::vector<std::string> solver_settings(const SolverEntry& solver) {
  // Without a search, steps in contact hardly ever converge, and a thousand iterations say no more than thirty.
  const bool is_limited = solver.parameters.find("max_iterations") != nullptr;
  const auto more = [&](const std::string& key, const std::string& choice) {
    if (key == "line_search" && choice == "none" && is_limited) return "max_iterations = 30\n";
    return key == "schedule" ? "costs = \"flops\"\n" : "";  // seconds are never the same
  };
  std::vector<std::string> settings = {""};
  for (const Setting& parameter : solver.parameters.keys) {
    for (const std::string& choice : parameter.choices)
      if (parameter.name != "integrator" && parameter.fallback != '"' + choice + '"')
        settings.push_back(parameter.name + " = \"" + choice + "\"\n" + more(parameter.name, choice));
    if (parameter.kind == Kind::boolean)
      settings.push_back(parameter.name + (parameter.fallback == "true" ? " = false\n" : " = true\n"));
  }
  return settings;
}

}  // namespace pliant::test
