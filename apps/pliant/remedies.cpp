#include "remedies.hpp"

#include <fmt/format.h>

#include "pliant/solvers/catalogue.hpp"

namespace pliant::app {

namespace {

std::string line(const std::string& what, const std::string& how) { return fmt::format("  {:<26}{}\n", what, how); }

/// Nothing where the solver has no such key, or has this value already.
std::string option(const Scene& scene, const std::string& what, const std::string& key, const std::string& value) {
  const auto given = scene.solver.parameters.find(key);
  const bool is_given = given != scene.solver.parameters.end() && given->second == ParameterValue(value);
  if (!find_solver(scene.solver.name).parameters.find(key) || is_given) return {};
  return line(what, fmt::format("--set solver.{}={}", key, value));
}

std::string other_solver(const Scene& scene) {
  const std::string robust = SceneSolver().name;
  return scene.solver.name == robust || !scene.links.empty() ? "" : line("another solver:", "--solver " + robust);
}

/// A tenth of each that is not given by keyframes alone.
std::string weaker_loads(const Scene& scene) {
  std::string text;
  const auto add = [&](const SceneLoad& load, const std::string& key, const std::string& value) {
    text += line(text.empty() ? "weaker loads:" : "", fmt::format("--set load.{}.{}={}", load.name, key, value));
  };
  for (const SceneLoad& load : scene.loads) {
    const Vec3 v = 0.1 * load.load.vector;
    const std::string vector = fmt::format("'[{:.6g}, {:.6g}, {:.6g}]'", v[0], v[1], v[2]);
    switch (load.load.kind) {
      case LoadKind::force:
        add(load, "force", vector);
        break;
      case LoadKind::traction:
        add(load, "traction", vector);
        break;
      case LoadKind::body_force:
        add(load, "body_force", vector);
        break;
      case LoadKind::pressure:
        add(load, "pressure", fmt::format("{:.6g}", 0.1 * load.load.pressure));
        break;
      case LoadKind::gas:
        break;
    }
  }
  return text;
}

/// Where surfaces were pressed together until the barrier could give no more.
std::string stiffer_barrier(const Scene& scene, const StepReport& report) {
  if (!scene.contact || scene.contact->options.adaptive || report.contacts == 0) return {};
  return line("a barrier that stiffens:", "--set contact.adaptive=true");
}

}  // namespace

std::string remedies(const Scene& scene, const StepReport& report) {
  // Frames stay when they were.
  const std::string smaller =
      line("a smaller time step:",
           fmt::format("--set simulation.dt={:.6g} --set output.every={}", scene.dt / 2, 2 * scene.output.every));
  // Where Newton's method ends the sweeps, its tolerance is what counts.
  const std::string of_sweeps = option(scene, "a looser tolerance:", "correction_tolerance", "0.001");
  const std::string looser = of_sweeps.empty() ? option(scene, "a looser tolerance:", "tolerance", "0.1") : of_sweeps;
  const std::string onwards = line("continuing regardless:", "--set solver.on_failure=continue");
  switch (report.outcome) {
    case Outcome::converged:
    case Outcome::budget_spent:
    case Outcome::stagnated:
    case Outcome::interrupted:
      return {};
    case Outcome::diverged:
    case Outcome::factorisation_failed:
      return weaker_loads(scene) + stiffer_barrier(scene, report) + other_solver(scene) + smaller;
    case Outcome::iteration_limit:
      return weaker_loads(scene) + stiffer_barrier(scene, report) +
             option(scene, "more iterations:", "max_iterations", "10000") + other_solver(scene) + looser + smaller +
             onwards;
    case Outcome::line_search_failed:
      return weaker_loads(scene) + option(scene, "the robust line search:", "line_search", "robust") +
             other_solver(scene) + smaller + onwards;
    case Outcome::out_of_memory:
      return line("a solver without a factor:", "--solver fp-pxpbd") +
             line("conjugate gradients:", "--solver pod-newton --set solver.linear=pcg") +
             "  a coarser mesh or a lower order\n";
    case Outcome::inverted_start:
      return smaller + line("a gentler boundary:", "--set script.NAME.imposition=penalty") +
             line("a law that survives it:", "--set body.0.material=stable-neo-hookean");
    case Outcome::intersecting_start:
      return line("bodies further apart:", "--set body.NAME.translate=\"[X, Y, Z]\", what is said above added to it");
    case Outcome::not_finite:
      return weaker_loads(scene) + smaller +
             "  softer materials, slower scripts, or a coarser mesh: the numbers overflowed\n";
  }
  return {};
}

}  // namespace pliant::app
