// The compressing box of pitfalls (section 10.2.3, fig. 11): all six sides of a box are driven by penalties, one stays,
// the opposite one comes down unevenly until the box is nearly flat, the four others follow. Only the interior is free.
// The paper does not give the motion; ours: a unit cube whose top comes down by `squash` of the height, with a wave of
// `wave` on top.

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "experiments/pitfalls/pitfalls.hpp"
#include "pliant/mesh/generators.hpp"

namespace pliant::experiments {

namespace {

constexpr double kCompressingBoxStep = 0.01;

std::shared_ptr<const Model> squashed_box(int cells, double squash, double wave, double duration) {
  ModelBuilder builder;
  builder.set_mass(MassKind::consistent);
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box({.cells = {cells, cells, cells}, .split = BoxSplit::six}));
  body.material = {find_law("neo-hookean"), lame_from_young(1e5, 0.4)};
  builder.add_body(body);
  const auto vertices = body.mesh->vertices();
  Script sides{"sides", body.mesh->sets().at("boundary"), {}, Imposition::penalty, 1e10};
  for (Index i : sides.nodes) {
    const Vec3& X = vertices[i];
    const double bump = std::sin(2 * std::numbers::pi * X.x()) * std::sin(2 * std::numbers::pi * X.y());
    sides.motion.field.push_back(Vec3(0, 0, -X.z() * (squash + wave * bump)));
  }
  sides.motion.field_scale.keys = {{0, 0}, {duration, 1}};
  builder.add_script(sides);
  return builder.build();
}

void run_compressing_box(Context& context) {
  const int cells = static_cast<int>(context.number("cells"));
  const auto model = squashed_box(cells, context.number("squash"), context.number("wave"), context.number("duration"));
  std::vector<std::pair<std::string, std::string>> runs;
  for (const char* search : {"robust", "armijo"})
    for (const std::string& solver : newton_names()) runs.emplace_back(solver, search);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const auto& [solver, search] = runs[r];
    Simulation simulation{model,
                          solver,
                          {{"tolerance", context.number("eps_a")},
                           {"line_search", search},
                           {"acceleration_mass", "factorised"},
                           {"max_iterations", std::int64_t(context.number("max_iterations"))}},
                          kCompressingBoxStep,
                          static_cast<int>(std::lround(context.number("duration") / kCompressingBoxStep))};
    const Totals totals = simulate(
        simulation,
        [&](double share) {
          context.progress((r + share) / runs.size(), fmt::format("{}, {} line search", solver, search));
        },
        [&] { return context.stopped(); });
    if (context.stopped()) return;
    Json row = {{"line_search", search}};
    row.update(totals_row(simulation, totals, context.number("eps_a")));
    row["simulated_s"] = totals.steps * kCompressingBoxStep;
    context.row(row);
  }
  const auto outcome = [&](const std::string& solver, const std::string& search) -> std::string {
    for (const Json& row : context.rows())
      if (row["solver"] == solver && row["line_search"] == search) return row["outcome"];
    return "not run";
  };
  for (const char* solver : {"newton", "kinetic-newton"})
    context.check({fmt::format("{} with the robust line search finishes", solver), "completed",
                   outcome(solver, "robust"), outcome(solver, "robust") == "completed"});
}

}  // namespace

Experiment compressing_box() {
  return {"pitfalls/compressing-box",
          "A box driven to nearly flat from all sides; which solvers and line searches get there (fig. 11)",
          {{"cells", "30", "6", "cells along each edge"},
           {"squash", "0.9", "0.9", "how far the top comes down, as a share of the height"},
           {"wave", "0.05", "0.05", "unevenness of the top, as a share of the height"},
           {"duration", "6", "0.5", "seconds that the motion takes"},
           {"max_iterations", "1000", "200", "iterations in one step at which a solver has failed"},
           {"eps_a", "0.01", "0.01", "tolerance of the acceleration criterion, m/s^2"}},
          run_compressing_box};
}

}  // namespace pliant::experiments
