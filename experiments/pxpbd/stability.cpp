// Section 3.3.3 of pxpbd: FP-PXPBD and B-PXPBD keep XPBD's stability: random positions, large steps, extreme
// stretching and squeezing, with one and four sweeps a step and nothing else.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/pxpbd/pxpbd.hpp"
#include "experiments/pxpbd/sweeps.hpp"
#include "experiments/random.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

constexpr double kAbusedLength = 2;  ///< m, twice its width

std::shared_ptr<const Model> abused_bar(const std::string& abuse, Index cells) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body =
      pxpbd_box({2 * cells, cells, cells}, 1.0 / static_cast<double>(cells), "fixed-corotated", 1e4);
  builder.add_body(body);
  builder.add_pin({"left", body.mesh->sets().at("x-min")});
  if (abuse == "stretched to five times" || abuse == "squeezed to a tenth") {
    const double by = abuse == "stretched to five times" ? 4 * kAbusedLength : -0.9 * kAbusedLength;
    Script right{"right", body.mesh->sets().at("x-max"), {}, Imposition::direct};
    right.motion.translation.keys = {{0, Vec3::Zero()}, {0.5, Vec3(by, 0, 0)}, {1, Vec3::Zero()}};
    builder.add_script(right);
  }
  return builder.build();
}

State abused_start(const std::string& abuse, const Model& model, int seed) {
  State state = model.rest_state();
  if (abuse != "random positions") return state;
  Random random(12345 + static_cast<unsigned>(seed));
  for (Index i = 0; i < model.nodes(); ++i)
    if (node(model.rest(), i).x() > 1e-9) node(state.x, i) = Vec3(2 * random.unit(), random.unit(), random.unit());
  return state;
}

void run_stability(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  const int steps = static_cast<int>(context.number("steps"));
  Decision decision("pxpbd/section-3.3.3/keeps-stability");
  int compared = 0;
  std::vector<std::pair<const char*, int>> trials = {
      {"random positions", 0}, {"steps of 0.1 s", 0}, {"stretched to five times", 0}, {"squeezed to a tenth", 0}};
  if (!context.quick()) trials.insert(trials.end(), {{"random positions", 1}, {"random positions", 2}});
  for (const auto& [abuse, seed] : trials)
    for (std::int64_t sweeps : {1, 4}) {
      if (context.stopped()) return;
      const auto model = abused_bar(abuse, cells);
      const double h = std::string(abuse) == "steps of 0.1 s" ? 0.1 : 0.01;
      // Two body sizes beyond what is prescribed.
      const double allowed =
          2 * kAbusedLength + (std::string(abuse) == "stretched to five times" ? 4 * kAbusedLength : 0);
      const auto is_stable = [&, abuse = abuse, seed = seed](const std::string& solver, ParameterMap parameters) {
        parameters["iterations"] = sweeps;
        const auto stepper = make_stepper(model, solver, sweeps_alone(std::move(parameters)));
        State state = abused_start(abuse, *model, seed);
        int done = 0;
        double farthest = 0;
        for (; done < steps; ++done) {
          if (!stepper->step(state, h).advanced() || !state.x.allFinite()) break;
          for (Index i = 0; i < model->nodes(); ++i)
            farthest = std::max(farthest, (node(state.x, i) - node(model->rest(), i)).norm());
          if (farthest > allowed) break;
        }
        context.row({{"abuse", abuse},
                     {"sweeps", sweeps},
                     {"solver", solver},
                     {"kappa", largest_kappa_of(model, h)},
                     {"steps", done},
                     {"farthest", farthest}});
        return done == steps;
      };
      const bool xpbd = is_stable("xpbd", {}), fp = is_stable("fp-pxpbd", {}),
                 blended = is_stable("b-pxpbd", {{"zeta", 0.5}});
      if (!xpbd) continue;
      ++compared;
      const std::string where =
          fmt::format("{}{}, {} sweeps", abuse, seed > 0 ? fmt::format(" ({})", seed + 1) : "", sweeps);
      decision.equal("FP-PXPBD stable (1) in: " + where, fp ? 1 : 0, 1)
          .equal("B-PXPBD stable (1) in: " + where, blended ? 1 : 0, 1);
      if (!fp || !blended)
        decision.because(fmt::format("{}: {} at kappa {:.2g}", where,
                                     fp ? "B-PXPBD with zeta = 0.5 is not stable" : "FP-PXPBD is not stable",
                                     largest_kappa_of(model, h)));
    }
  decision.needs(compared > 0, "XPBD is stable in some trial").note("trials in which XPBD is stable", compared);
  context.decide(decision);
}

}  // namespace

Experiment pxpbd_stability() {
  return {"pxpbd/stability",
          "Random positions, large steps, extreme stretching and squeezing: which solvers are stable where XPBD is",
          {{"cells", "4", "2", "across the bar"}, {"steps", "500", "200", "of every trial"}},
          run_stability};
}

}  // namespace pliant::experiments
