#include "experiments/pitfalls/contact_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/contact/contact.hpp"

namespace pliant::experiments {

bool run_contact_table(Context& context, const ContactTable& table, const Json& first) {
  const double runs = static_cast<double>(table.line_searches.size() * table.tolerances.size() * table.solvers.size());
  double done = 0;
  for (const std::string& search : table.line_searches)
    for (double eps_d : table.tolerances)
      for (const std::string& solver : table.solvers) {
        ParameterMap parameters = {{"criterion", "step-length"},
                                   {"tolerance", eps_d},
                                   {"line_search", search},
                                   {"max_iterations", std::int64_t{table.max_iterations}}};
        if (find_solver(solver).parameters.find("bounds_step_length"))
          parameters["bounds_step_length"] = false;  // the paper's
        Simulation simulation{table.model, solver, parameters, 1.0 / 60, table.steps};
        const Totals totals = simulate(
            simulation,
            [&](double share) {
              context.progress((done + share) / runs, fmt::format("{}, eps_d {}, {}", solver, eps_d, search));
            },
            [&] { return context.stopped(); });
        ++done;
        if (context.stopped()) return false;
        Json row = first;
        row["line_search"] = search;
        row["eps_d"] = eps_d;
        Json rest = totals_row(simulation, totals, 0);
        rest.erase("eps_a");
        row.update(rest);
        context.row(row);
      }
  return true;
}

void check_pod_newton_is_best(Context& context, const std::string& published) {
  std::vector<double> tolerances;
  for (const Json& row : context.rows()) {
    const double eps = row["eps_d"].get<double>();
    if (std::find(tolerances.begin(), tolerances.end(), eps) == tolerances.end()) tolerances.push_back(eps);
  }
  for (double eps : tolerances) {
    double best = std::numeric_limits<double>::infinity(), pod = best;
    Json measured;
    for (const Json& row : context.rows()) {
      if (row["eps_d"].get<double>() != eps) continue;
      const std::string solver = row["solver"];
      const bool completed = row["outcome"] == "completed";
      const double mean = row["iterations_per_step"].get<double>();
      measured[abbreviation(solver)] = completed ? Json(mean) : Json(row["outcome"]);
      if (!completed) continue;
      best = std::min(best, mean);
      if (solver == "pod-newton") pod = mean;
    }
    context.check({fmt::format("PDN needs the fewest iterations, or within 10% of the fewest (eps_d = {} m/s)", eps),
                   published, measured, pod <= 1.1 * best});
  }
}

void check_contact_share(Context& context) {
  double worst = 0;
  for (const Json& row : context.rows()) worst = std::max(worst, row["contact_share"].get<double>());
  context.check(
      {"detection, assembly and CCD of contact take less than a quarter of the steps", 0.25, worst, worst < 0.25});
}

std::vector<Option> contact_table_options() {
  return {{"solvers", "newton,projected-newton,pod-newton,kinetic-newton",
           "newton,projected-newton,pod-newton,kinetic-newton", "solvers to compare"},
          {"eps_d", "0.01,0.0001", "0.01", "tolerances of the step-length criterion, m/s"},
          {"max_iterations", "6000", "600", "iterations after which a step has failed"}};
}

ContactTable contact_table(const Context& context, std::shared_ptr<const Model> model) {
  ContactTable table;
  table.model = std::move(model);
  table.steps = static_cast<int>(std::lround(context.number("duration") * 60));
  table.solvers = context.list("solvers");
  table.tolerances = context.numbers("eps_d");
  table.max_iterations = static_cast<int>(context.number("max_iterations"));
  return table;
}

}  // namespace pliant::experiments
