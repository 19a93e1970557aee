// What position-based solvers survive: random initial positions, steps ten times too large, extreme pulling; and the
// failure that is known, B-PXPBD with far too small a share of XPBD, which ends as a named outcome.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/pxpbd/pxpbd.hpp"
#include "experiments/pxpbd/scenes.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

/// The bar is 2 m long, and pulled by 18 m.
constexpr double kBarLength = 2, kPull = 18;

struct Trial {
  std::string abuse, solver, law;
  ParameterMap parameters;
};

std::shared_ptr<const Model> model_of(const Trial& trial, Index cells) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = pxpbd_box({2 * cells, cells, cells}, 1.0 / static_cast<double>(cells), trial.law, 1e4);
  builder.add_body(body);
  builder.add_pin({"left", body.mesh->sets().at("x-min")});
  if (trial.abuse == "pulled to ten times its length and back") {
    Script pull{"right", body.mesh->sets().at("x-max"), {}, Imposition::direct};
    pull.motion.translation.keys = {
        {0, Vec3::Zero()}, {1, Vec3(kPull, 0, 0)}, {2, Vec3(-1.9, 0, 0)}, {3, Vec3(0, 5, 0)}, {4, Vec3::Zero()}};
    builder.add_script(pull);
  }
  return builder.build();
}

State start_of(const Trial& trial, const Model& model) {
  State state = model.rest_state();
  if (trial.abuse != "random positions") return state;
  unsigned seed = 12345;
  for (Eigen::Index i = 0; i < state.x.size(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    if (node(model.rest(), static_cast<Index>(i / 3)).x() > 1e-9)
      state.x[i] = (i % 3 == 0 ? 2.0 : 1.0) * (seed >> 8) / 16777216.0;
  }
  return state;
}

void run_stability(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  const int steps = static_cast<int>(context.number("steps"));
  std::vector<Trial> trials;
  for (const char* abuse : {"random positions", "steps ten times too large", "pulled to ten times its length and back"})
    for (const char* law :
         {"fixed-corotated", "macklin-mueller", "stable-neo-hookean", "neo-hookean", "mooney-rivlin", "stvk"})
      for (const char* solver : {"xpbd", "b-pxpbd", "fp-pxpbd"}) {
        const bool has_constraints = std::string(law) == "fixed-corotated" || std::string(law) == "macklin-mueller";
        if (has_constraints || std::string(solver) == "fp-pxpbd") trials.push_back({abuse, solver, law, {}});
      }
  trials.push_back({"random positions", "b-pxpbd", "fixed-corotated", {{"zeta", 0.02}}});
  bool all = true;
  for (std::size_t t = 0; t < trials.size() && !context.stopped(); ++t) {
    const Trial& trial = trials[t];
    context.progress(static_cast<double>(t) / static_cast<double>(trials.size()), trial.abuse);
    const auto model = model_of(trial, cells);
    const auto stepper = make_stepper(model, trial.solver, trial.parameters);
    State state = start_of(trial, *model);
    const double h = trial.abuse == "steps ten times too large" ? 0.1 : 0.01;
    double furthest = 0, energy = 0;
    int done = 0;
    StepReport report;
    for (; done < steps && !context.stopped(); ++done) {
      report = stepper->step(state, h);
      if (!report.advanced()) break;
      furthest = std::max(furthest, (state.x - model->rest()).cwiseAbs().maxCoeff());
      energy = report.energy;
    }
    const double reach = kBarLength + (trial.abuse.starts_with("pulled") ? kPull : 0);
    const bool bounded = done == steps && state.x.allFinite() && furthest < 3 * reach;
    const bool is_known_failure = !trial.parameters.empty();
    context.row({{"abuse", trial.abuse},
                 {"solver", is_known_failure ? trial.solver + ", zeta 0.02" : trial.solver},
                 {"law", trial.law},
                 {"steps", done},
                 {"furthest", furthest},
                 {"at_the_end", (state.x - model->rest()).cwiseAbs().maxCoeff()},
                 {"energy", std::isfinite(energy) ? Json(energy) : Json("infinite")},
                 {"outcome", std::string(to_string(report.outcome))}});
    if (is_known_failure)
      context.check({"B-PXPBD with zeta 0.02 ends as a named outcome", "unstable when zeta is too small",
                     report.detail.empty() ? std::string(to_string(report.outcome)) : report.detail,
                     bounded || report.outcome == Outcome::not_finite});
    else
      all = all && bounded;
  }
  context.check({fmt::format("default settings stay bounded over {} steps of every abuse", steps), "robust", all, all});
}

}  // namespace

Experiment pxpbd_stability() {
  return {"pxpbd/stability",
          "Random positions, steps ten times too large, extreme pulling: which solvers stay bounded",
          {{"cells", "4", "2", "across the bar"}, {"steps", "1000", "200", "of every trial"}},
          run_stability};
}

}  // namespace pliant::experiments
