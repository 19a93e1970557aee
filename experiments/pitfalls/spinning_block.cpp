// Where the Armijo condition drowns in rounding: a free steel block spins. Its energy is dominated by stiffness, the
// decrease that the last iterations must show lies below the last digit of the energy, and a line search on energies
// alone fails. The robust line search of pitfalls (section 7) compares gradients there. The paper shows this with stiff
// impacts; the block needs no contact.

#include <fmt/format.h>

#include "experiments/pitfalls/pitfalls.hpp"
#include "pliant/mesh/generators.hpp"

namespace pliant::experiments {

namespace {

std::shared_ptr<const Model> steel_block() {
  ModelBuilder builder;
  builder.set_mass(MassKind::consistent);
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box({.size = {2, 1, 1}, .cells = {10, 5, 5}, .split = BoxSplit::six}));
  body.material = {find_law("neo-hookean"), lame_from_young(220e9, 0.3)};
  body.density = 8000;
  body.angular_velocity = {0, 0, 10};
  builder.add_body(body);
  return builder.build();
}

void run_spinning_block(Context& context) {
  const auto model = steel_block();
  double done = 0;
  for (const char* search : {"armijo", "robust"})
    for (const std::string& solver : newton_names()) {
      Simulation simulation{model,
                            solver,
                            {{"tolerance", 1e-4},
                             {"line_search", search},
                             {"turning", "linear"},
                             {"long_steps", "never"},
                             {"acceleration_mass", "factorised"}},
                            1.0 / 60,
                            static_cast<int>(context.number("steps"))};
      const Totals totals = simulate(
          simulation,
          [&](double share) { context.progress((done + share) / 8, fmt::format("{}, {}", solver, search)); },
          [&] { return context.stopped(); });
      ++done;
      if (context.stopped()) return;
      Json row = {{"line_search", search}};
      row.update(totals_row(simulation, totals, 1e-4));
      context.row(row);
    }
  for (const char* search : {"armijo", "robust"}) {
    const std::string expected = std::string(search) == "armijo" ? "line-search-failed" : "completed";
    int as_expected = 0;
    for (const Json& row : context.rows()) as_expected += row["line_search"] == search && row["outcome"] == expected;
    context.check({fmt::format("{} line search: {} with all four solvers", search, expected), "section 7", as_expected,
                   as_expected == 4});
  }
}

}  // namespace

Experiment spinning_block() {
  return {
      "pitfalls/spinning-block",
      "A spinning steel block on which a line search on energies alone fails and the robust one does not (section 7)",
      {{"steps", "60", "20", "time steps of 1/60 s"}},
      run_spinning_block};
}

}  // namespace pliant::experiments
