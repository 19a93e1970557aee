#include "experiments/pitfalls/pitfalls.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/contact/apart.hpp"
#include "experiments/measure.hpp"

namespace pliant::experiments {

std::vector<Experiment> pitfalls_experiments() {
  return {swinging_beam(), projection(),      newton_theory(),  line_search_study(), criteria(),
          twisting_beam(), compressing_box(), slingshot(),      spinning_block(),    basic_impact(),
          twisting_mat(),  rollers(),         friction_twist(), contact_limits(),    overview()};
}

const std::vector<std::string>& newton_names() {
  static const std::vector<std::string> names = {"newton", "projected-newton", "pod-newton", "kinetic-newton"};
  return names;
}

std::string abbreviation(const std::string& solver) {
  if (solver == "newton") return "N";
  if (solver == "projected-newton") return "PN";
  if (solver == "pod-newton") return "PDN";
  return "KN";
}

Totals take_steps(Stepper& stepper, const Model& model, State state, double h, int steps, const Watch& watch) {
  Totals totals;
  for (int s = 0; s < steps; ++s) {
    if (watch.stop && watch.stop()) {
      totals.outcome = "stopped";
      break;
    }
    const ProcessorTime time(ProcessorTime::Of::program);
    const StepReport report = stepper.step(state, h);
    totals.processor_seconds += time.seconds();
    totals.seconds.assembly += report.seconds.assembly;
    totals.seconds.factorisation += report.seconds.factorisation;
    totals.seconds.solve += report.seconds.solve;
    totals.seconds.line_search += report.seconds.line_search;
    totals.seconds.contact += report.seconds.contact;
    totals.seconds.total += report.seconds.total;
    totals.failed_factorisations += report.failed_factorisations;
    totals.factorisations += report.factorisations;
    if (!report.converged()) {
      totals.outcome = to_string(report.outcome);
      totals.detail = report.detail;
      break;
    }
    ++totals.steps;
    totals.iterations += report.iterations;
    totals.projected_iterations += report.projected_iterations;
    totals.most_iterations = std::max(totals.most_iterations, report.iterations);
    totals.per_step.push_back(report.iterations);
    totals.minimum_gap = std::min(totals.minimum_gap, report.minimum_gap);
    totals.touching_steps += report.contacts > 0;
    totals.intersecting_steps += apart::intersections(model, state) > 0;
    if (watch.step) watch.step(state, report);
    if (watch.progress) watch.progress(double(s + 1) / steps);
  }
  totals.last = state;
  return totals;
}

Totals simulate(const Simulation& simulation, const std::function<void(double)>& progress,
                const std::function<bool()>& stop) {
  ParameterMap parameters = simulation.parameters;
  parameters.try_emplace("linear", "direct");  // as in the paper: iterations are counted
  const auto stepper = make_stepper(simulation.model, simulation.solver, parameters);
  return take_steps(*stepper, *simulation.model, simulation.model->rest_state(), simulation.h, simulation.steps,
                    {progress, stop});
}

Json totals_row(const Simulation& simulation, const Totals& totals, double eps_a) {
  Index elements = 0;
  for (const Body& body : simulation.model->bodies()) elements += body.elements->element_count();
  Json row = {{"solver", simulation.solver},
              {"dt", simulation.h},
              {"eps_a", eps_a},
              {"vertices", simulation.model->nodes()},
              {"elements", elements},
              {"iterations_per_step", totals.per_step_mean()},
              {"iterations", totals.iterations},
              {"most_iterations", totals.most_iterations},
              {"projected", totals.projected_iterations},
              {"failed_factorisations", totals.failed_factorisations},
              {"steps", totals.steps},
              {"outcome", totals.outcome},
              {"assembly_s", totals.seconds.assembly},
              {"linear_solve_s", totals.seconds.factorisation + totals.seconds.solve},
              {"line_search_s", totals.seconds.line_search},
              {"total_s", totals.seconds.total},
              {"processor_s", totals.processor_seconds},
              {"iterations_of_each_step", totals.per_step}};
  if (!totals.detail.empty()) row["detail"] = totals.detail;
  if (simulation.model->contact()) {
    row["minimum_gap"] = std::isfinite(totals.minimum_gap) ? Json(totals.minimum_gap) : Json();
    row["intersecting_steps"] = totals.intersecting_steps;
    row["contact_share"] = totals.seconds.total > 0 ? totals.seconds.contact / totals.seconds.total : 0;
  }
  return row;
}

std::optional<double> lookup(const std::vector<Json>& rows, const Json& where, const std::string& what) {
  for (const Json& row : rows) {
    const bool matches = std::all_of(where.items().begin(), where.items().end(),
                                     [&](const auto& item) { return row.value(item.key(), Json()) == item.value(); });
    if (matches) return row.at(what).get<double>();
  }
  return std::nullopt;
}

}  // namespace pliant::experiments
