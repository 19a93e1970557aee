// The twisting mat of pitfalls (section 10.3.2, fig. 14): a soft thin mat is twisted at two opposite edges, winds onto
// itself, and is released. Self-contact all over, no friction, no gravity.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/pitfalls/contact_table.hpp"
#include "experiments/pitfalls/statistics.hpp"

namespace pliant::experiments {

MatOptions quick_mat() { return {.cells = 20, .turns = 2, .release = 1.5}; }

/// 1 x 1 m and 2 cm thick, one layer of cells; both edges across x turn, in opposite directions.
std::shared_ptr<const Model> mat_model(const MatOptions& options) {
  ModelBuilder builder;
  builder.set_mass(MassKind::consistent);
  BodyOptions body;
  body.name = "mat";
  body.mesh = std::make_shared<TetMesh>(box({.origin = {-0.5, -0.01, -0.5},
                                             .size = {1, 0.02, 1},
                                             .cells = {options.cells, 1, options.cells},
                                             .split = BoxSplit::twelve}));
  body.material = {find_law("neo-hookean"), lame_from_young(2e4, 0.4)};
  builder.add_body(body);
  for (double side : {-1.0, 1.0}) {
    Script edge;
    edge.name = side < 0 ? "left" : "right";
    edge.nodes = body.mesh->sets().at(side < 0 ? "x-min" : "x-max");
    edge.motion.axis = Vec3::UnitX();
    edge.motion.angle.keys = {{0, 0.0}, {options.release, side * std::numbers::pi * options.turns}};
    edge.sigma = 1e8;
    edge.release = options.release;
    builder.add_script(edge);
  }
  builder.set_contact({.dhat = 1.4e-3});
  return builder.build();
}

namespace {

void run_twisting_mat(Context& context) {
  const MatOptions options{static_cast<int>(context.number("cells")), context.number("turns"),
                           context.number("release")};
  ContactScene scene;
  scene.model = mat_model(options);
  scene.steps = static_cast<int>(std::lround(60 * context.number("duration")));
  scene.max_iterations = static_cast<int>(context.number("max_iterations"));
  scene.repeats = static_cast<int>(context.number("repeats"));
  const auto released = static_cast<std::size_t>(std::lround(60 * options.release));
  const std::size_t window = std::min<std::size_t>(60, static_cast<std::size_t>(scene.steps) - released);
  std::vector<double> kinetic;
  int touching = 0;
  scene.watch = [&](const State& state, const StepReport& report) {
    kinetic.push_back(kinetic_energy_at(*scene.model, state.v));
    touching += report.contacts > 0 && kinetic.size() <= released;
  };
  const std::vector<double> tolerances = contact_tolerances(context);
  const ContactRuns runs = run_contact_scene(context, scene, tolerances, 0, 1);
  if (context.stopped()) return;

  Decision before("pitfalls/fig-14/before-release"), coarse("pitfalls/fig-14/coarse-totals"),
      after("pitfalls/fig-14/after-release"), fine("pitfalls/fig-14/fine-totals");
  const auto sum = [&](const char* solver, std::size_t from, std::size_t to, double eps_d = kContactCoarse) {
    const auto& counts = runs.at({solver, eps_d}).per_step;
    double total = 0;
    for (std::size_t s = from; s < std::min(to, counts.size()); ++s) total += counts[s];
    return total;
  };
  for (Decision* d : {&before, &coarse, &after, &fine}) {
    needs_contact_runs(*d, runs, four_solvers(), d == &fine ? tolerances : std::vector{kContactCoarse});
    d->needs(3 * touching >= static_cast<int>(released),
             fmt::format("self-contact in a third of the steps before the release ({} of {})", touching, released));
    d->needs(options.turns >= 2, "two turns between the edges");
    note_totals(*d, runs);
  }
  const double N = sum("N", 0, released), PN = sum("PN", 0, released), PDN = sum("PDN", 0, released),
               KN = sum("KN", 0, released);
  const double middle = (N + PN + PDN) / 3, largest = std::max({N, PN, PDN});
  for (const auto& [name, value] : {std::pair{"N", N}, {"PN", PN}, {"PDN", PDN}})
    before.at_most(fmt::format("|{} - mean of three| / mean, up to the release", name), std::abs(value / middle - 1),
                   0.15);
  before.at_least("KN over the largest of the three, up to the release", KN / largest, 1.1);
  const auto total = [&](const char* solver, double eps_d = kContactCoarse) {
    return runs.at({solver, eps_d}).mean_iterations;
  };
  coarse.between("PN/PDN", total("PN") / total("PDN"), 0.9, 1.15);
  coarse.between("N/PDN", total("N") / total("PDN"), 1.2, 1.6);
  coarse.above("KN/N", total("KN") / total("N"), 1);

  const auto rise = [&](const char* solver) {
    return sum(solver, released, released + window) / sum(solver, released - window, released);
  };
  const double most_others = std::max(rise("PN"), rise("PDN"));
  after.at_least("N, after over before the release", rise("N"), 2);
  after.above("KN's ratio", rise("KN"), rise("N"));
  after.above("N's ratio against PN's and PDN's", rise("N"), most_others);
  after.above("KN's ratio against PN's and PDN's", rise("KN"), most_others);
  if (kinetic.size() > released) {
    const double later = *std::max_element(kinetic.begin() + std::ptrdiff_t(released),
                                           kinetic.begin() + std::ptrdiff_t(std::min(kinetic.size(), released + 30)));
    after.needs(later >= 10 * kinetic[released - 1],
                fmt::format("the release sets the mat in motion: kinetic energy rises tenfold ({:.3g} times)",
                            later / kinetic[released - 1]));
  }
  if (tolerances.size() == 2) {
    const auto f = [&](const char* solver) { return total(solver, kContactFine); };
    fine.below("N", f("N"), f("PDN")).at_most("PDN/N", f("PDN") / f("N"), 1.1).at_least("PN/N", f("PN") / f("N"), 1.2);
    fine.above("KN/N", f("KN") / f("N"), 1).between("KN, fine over coarse", f("KN") / total("KN"), 0.8, 1.25);
  }
  for (Decision* d : {&before, &coarse, &after, &fine}) context.decide(*d);
}

}  // namespace

Experiment twisting_mat() {
  return {"pitfalls/twisting-mat",
          "A soft mat is twisted onto itself and released (fig. 14)",
          {{"cells", "80", "20", "cells along an edge; 80 give the paper's 19.5 thousand vertices"},
           {"turns", "4.4", "2", "between the two edges at the release"},
           {"release", "11", "1.5", "when the mat is let go, s"},
           {"duration", "15", "2", "simulated seconds"},
           {"max_iterations", "6000", "600", "iterations after which a step has failed"},
           {"repeats", "2", "0", "further runs of each solver from perturbed starts, of which means are judged"}},
          run_twisting_mat};
}

}  // namespace pliant::experiments
