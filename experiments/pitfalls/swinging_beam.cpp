// The swinging beam of pitfalls (section 4.2, figs. 1-4 and 17): a rubber beam of 2 x 1 x 1 m, clamped at one end,
// falls under gravity for six seconds. It has no difficulty in it at all, and still projection costs iterations: the
// more, the finer the mesh and the stricter the tolerance.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/pitfalls/pitfalls.hpp"
#include "pliant/mesh/generators.hpp"

namespace pliant::experiments {

namespace {

constexpr double kSwingingBeamStep = 1.0 / 60;

std::shared_ptr<const Model> beam(int cells, int order, BoxSplit split, const std::string& law) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_mass(MassKind::consistent);
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box({.size = {2, 1, 1}, .cells = {2 * cells, cells, cells}, .split = split}));
  body.material = {find_law(law), lame_from_young(4e5, 0.4)};
  body.order = order;
  const std::size_t b = builder.add_body(body);
  builder.add_pin({"clamp", builder.body(b).elements->nodes_of(body.mesh->sets().at("x-min"))});
  return builder.build();
}

struct BeamRun {
  int cells, order;
  std::string law, solver, projection;
  double eps_a;

  bool operator==(const BeamRun&) const = default;
  /// Work grows roughly with the square of the nodes, and Projected Newton needs some four times the iterations.
  double cost() const { return std::pow(cells * order, 5.0) * (solver == "projected-newton" ? 4 : 1); }
};

/// Every run the figures need: all solvers on linear Neo-Hookean beams (figs. 1, 2), Newton and both projections on
/// higher orders (fig. 3) and on stable Neo-Hookean (fig. 17).
std::vector<BeamRun> plan(const Context& context) {
  std::vector<BeamRun> runs;
  for (const std::string& law : context.list("laws"))
    for (int order : context.integers("orders"))
      for (int across : context.integers("resolutions"))
        for (double eps_a : context.numbers("eps_a"))
          for (const std::string& solver : context.list("solvers")) {
            const bool base = order == 1 && law == "neo-hookean";
            const bool projects = solver == "projected-newton";
            if (!base && (eps_a > 0.1 || !(solver == "newton" || projects))) continue;
            const int cells = std::max(1, across / order);  // about the same number of nodes for every order
            if (!projects) runs.push_back({cells, order, law, solver, "-", eps_a});
            for (const std::string& projection : context.list("projections"))
              if (projects && (eps_a < 0.1 || projection == "analytic"))
                runs.push_back({cells, order, law, solver, projection, eps_a});
          }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const BeamRun& a, const BeamRun& b) { return a.cells * a.order < b.cells * b.order; });
  // Two resolutions may give the same number of cells at a higher order.
  std::vector<BeamRun> distinct;
  for (const BeamRun& r : runs)
    if (std::find(distinct.begin(), distinct.end(), r) == distinct.end()) distinct.push_back(r);
  return distinct;
}

void judge_swinging_beam(Context& context) {
  const auto& rows = context.rows();
  const auto find = [&](int cells, const std::string& solver, double eps_a) {
    return lookup(rows, {{"law", "neo-hookean"}, {"order", 1}, {"cells", cells}, {"solver", solver}, {"eps_a", eps_a}},
                  "iterations_per_step");
  };
  const std::vector<int> cells = context.integers("resolutions");
  double worst = 0, lowest = 1e9, highest = 0, most_extra = 0;
  Json newton = Json::array(), projected = Json::array();
  for (int m : cells) {
    const auto N = find(m, "newton", 0.01), coarse = find(m, "newton", 1.0), PN = find(m, "projected-newton", 0.01);
    if (!N || !PN) continue;
    for (const char* solver : {"pod-newton", "kinetic-newton"})
      if (const auto other = find(m, solver, 0.01)) worst = std::max(worst, std::abs(*other / *N - 1));
    lowest = std::min(lowest, *N);
    highest = std::max(highest, *N);
    if (coarse) most_extra = std::max(most_extra, *N - *coarse);
    newton.push_back(std::round(*N * 100) / 100);
    projected.push_back(std::round(*PN * 100) / 100);
  }
  if (newton.empty()) return;
  context.check({"pod-newton and kinetic-newton take as many iterations as newton (relative difference)", "the same",
                 worst, worst <= 0.02});
  context.check({"newton's iterations per step are almost constant over resolution (eps_a = 0.01)",
                 "almost constant, fig. 1", newton, highest <= 1.25 * lowest});
  context.check({"newton needs less than one more iteration for eps_a = 0.01 than for 1.0",
                 "often a single additional step, fig. 2", most_extra, most_extra < 1});
  context.check({"projected-newton's iterations per step grow with resolution (eps_a = 0.01)", "grow, fig. 1",
                 projected,
                 projected.size() < 2 || projected.back().get<double>() > 1.15 * projected.front().get<double>()});
  context.check({"projected-newton needs at least twice newton's iterations on the finest beam", "more than 2x, fig. 1",
                 projected.back().get<double>() / newton.back().get<double>(),
                 projected.back().get<double>() >= 2 * newton.back().get<double>()});

  double ratio = 0;
  for (const Json& row : rows) {
    if (row["projection"] != "analytic" || row["order"] != 3) continue;
    Json where = {{"law", row["law"]},
                  {"order", 3},
                  {"cells", row["cells"]},
                  {"projection", "numerical"},
                  {"eps_a", row["eps_a"]}};
    if (const auto numerical = lookup(rows, where, "iterations_per_step"))
      ratio = std::max(ratio, row["iterations_per_step"].get<double>() / *numerical);
  }
  if (ratio > 0)
    context.check({"analytic projection needs more iterations than numerical at cubic order (largest ratio)", 1.36,
                   ratio, ratio > 1.05});
}

void run_swinging_beam(Context& context) {
  const std::vector<BeamRun> runs = plan(context);
  const BoxSplit split = split_option(context);
  double total = 0, done = 0;
  for (const BeamRun& r : runs) total += r.cost();
  for (const BeamRun& r : runs) {
    const std::string what =
        fmt::format("{} {}, order {}, {} cells across, eps_a {}", r.law, r.solver, r.order, r.cells, r.eps_a);
    Simulation simulation{beam(r.cells, r.order, split, r.law),
                          r.solver,
                          {{"tolerance", r.eps_a}, {"acceleration_mass", "factorised"}},
                          kSwingingBeamStep,
                          static_cast<int>(std::lround(context.number("duration") / kSwingingBeamStep))};
    if (r.projection != "-") simulation.parameters["projection"] = r.projection;
    const Totals totals = simulate(
        simulation, [&](double share) { context.progress((done + share * r.cost()) / total, what); },
        [&] { return context.stopped(); });
    done += r.cost();
    if (context.stopped()) return;
    Json row = {{"law", r.law}, {"order", r.order}, {"cells", r.cells}, {"projection", r.projection}};
    row.update(totals_row(simulation, totals, r.eps_a));
    context.row(row);
  }
  judge_swinging_beam(context);
}

}  // namespace

Experiment swinging_beam() {
  return {"pitfalls/swinging-beam",
          "Iterations per step of a clamped beam falling under gravity, over resolution, order, law and projection "
          "(figs. 1-4, 17)",
          {{"resolutions", "6,10,15,20,30", "3,5,7", "cells across the beam, for linear elements; 2m x m x m cells"},
           {"split", "six", "six", "tetrahedra a cell is cut into: five or six"},
           {"orders", "1,2,3", "1,3", "element orders; higher orders use fewer cells, about the same number of nodes"},
           {"solvers", "newton,projected-newton,pod-newton,kinetic-newton",
            "newton,projected-newton,pod-newton,kinetic-newton", "solvers to compare"},
           {"projections", "analytic,numerical", "analytic,numerical", "how projected-newton projects"},
           {"laws", "neo-hookean,stable-neo-hookean", "neo-hookean", "materials"},
           {"eps_a", "1.0,0.01", "1.0,0.01", "tolerances of the acceleration criterion, m/s^2"},
           {"duration", "6", "1.5", "simulated seconds"}},
          run_swinging_beam};
}

}  // namespace pliant::experiments
