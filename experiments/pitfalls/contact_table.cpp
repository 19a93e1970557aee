#include "experiments/pitfalls/contact_table.hpp"

#include <fmt/format.h>

namespace pliant::experiments {

ContactRuns run_contact_scene(Context& context, const ContactScene& scene, const std::vector<double>& tolerances,
                              double begin, double end) {
  ContactRuns runs;
  const double each = (end - begin) / (4 * double(tolerances.size()));
  for (double eps_d : tolerances)
    for (const char* solver : {"PDN", "N", "PN", "KN"}) {
      NewtonTrial trial;
      trial.model = scene.model;
      trial.options = contact_options(solver, eps_d);
      trial.options.max_iterations = scene.max_iterations;
      trial.steps = scene.steps;
      if (std::string(solver) == "PDN" && eps_d == kContactCoarse) trial.watch = scene.watch;
      runs[{solver, eps_d}] =
          run_trial(context, trial, {{"kappa", scene.model->contact()->stiffness()}}, begin, begin + each);
      TrialTotals& totals = runs[{solver, eps_d}];
      trial.watch = nullptr;
      trial.perturbation = 1e-12;
      double sum = totals.iterations;
      for (int r = 0; r < scene.repeats && totals.completed(); ++r) {
        trial.seed = static_cast<std::uint64_t>(r + 1);
        const TrialTotals repeat = run_trial(
            context, trial, {{"kappa", scene.model->contact()->stiffness()}, {"seed", r + 1}}, begin, begin + each);
        if (!repeat.completed()) static_cast<Totals&>(totals) = repeat;
        sum += repeat.iterations;
      }
      totals.mean_iterations = sum / (scene.repeats + 1);
      begin += each;
      if (context.stopped()) return {};
    }
  return runs;
}

void needs_contact_runs(Decision& decision, const ContactRuns& runs, const std::vector<std::string>& solvers,
                        const std::vector<double>& tolerances) {
  for (double eps_d : tolerances)
    for (const std::string& solver : solvers) {
      const auto found = runs.find({solver, eps_d});
      const std::string name = fmt::format("{} at eps_d {}", solver, eps_d);
      decision.needs(found != runs.end(), name + " runs");
      if (found == runs.end()) continue;
      needs_completed(decision, {{name, &found->second}});
      decision.needs(found->second.intersecting_steps == 0, name + " never intersects, by an exact test");
    }
}

void note_totals(Decision& decision, const ContactRuns& runs) {
  for (const auto& [key, t] : runs) {
    decision.note(fmt::format("iterations a step of {}, eps_d {}", key.first, key.second),
                  t.steps == 0 ? 0 : t.mean_iterations / t.steps);
    if (!t.completed())
      decision.note(fmt::format("{} at eps_d {} ends as {} after steps", key.first, key.second, t.outcome), t.steps);
  }
}

std::vector<double> contact_tolerances(const Context& context) {
  return context.quick() ? std::vector{kContactCoarse} : std::vector{kContactCoarse, kContactFine};
}

}  // namespace pliant::experiments
