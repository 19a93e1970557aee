#include "experiments/pitfalls/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/random.hpp"

namespace pliant::experiments {

const std::vector<std::string>& four_solvers() {
  static const std::vector<std::string> names = {"N", "PN", "PDN", "KN"};
  return names;
}

namespace {

NewtonMethod method_of(const std::string& solver) {
  if (solver == "N") return NewtonMethod::newton;
  if (solver == "PN") return NewtonMethod::projected;
  return solver == "PDN" ? NewtonMethod::on_demand : NewtonMethod::kinetic;
}

std::string name_of(NewtonMethod method) { return four_solvers()[static_cast<std::size_t>(method)]; }

NewtonOptions printed_options(const std::string& solver) {
  NewtonOptions options;
  options.method = method_of(solver);
  options.linear.solver = LinearSolver::direct;
  options.bounds_kinetic_step = false;
  options.turning = Turning::linear;
  options.long_steps = LongSteps::never;
  options.start = NewtonStart::last_positions;
  return options;
}

std::string name_of(const LineSearchOptions& search) {
  if (search.kind != LineSearchKind::robust) return search.kind == LineSearchKind::armijo ? "standard" : "none";
  const LineSearchOptions printed;
  if (search.error_weight != printed.error_weight) return "Hager-Zhang";
  return search.energy_noise == printed.energy_noise ? "robust" : "without pre-check";
}

/// What Table 1 lists, as the model has it.
void add_parameters(const Model& model, Json& row) {
  for (const Body& body : model.bodies()) {
    const Lame& lame = body.lame.front();
    const std::string of = model.bodies().size() > 1 ? " of " + body.name : "";
    const auto rounded = [](double value) { return std::round(1e9 * value) / 1e9; };
    row["E" + of] = std::round(lame.mu * (3 * lame.lambda + 2 * lame.mu) / (lame.lambda + lame.mu));
    row["nu" + of] = rounded(lame.lambda / (2 * (lame.lambda + lame.mu)));
    row["rho" + of] = body.density;
  }
  if (model.contact()) {
    row["mu"] = model.contact()->options.friction;
    row["dhat"] = model.contact()->options.dhat;
    row["eps_v"] = model.contact()->options.eps_v;
  }
  if (!model.scripts().empty() && model.scripts().front().imposition == Imposition::penalty)
    row["sigma"] = model.scripts().front().sigma;
}

/// How beta goes in Kinetic Newton's steps in which it falls below 1 at all.
void add_betas(const std::vector<Iteration>& iterations, Json& row) {
  int steps = 0, back = 0, reversals = 0, count = 0;
  for (std::size_t begin = 0; begin < iterations.size();) {
    std::size_t end = begin;
    while (end < iterations.size() && iterations[end].step == iterations[begin].step) ++end;
    const bool falls = std::any_of(iterations.begin() + std::ptrdiff_t(begin), iterations.begin() + std::ptrdiff_t(end),
                                   [](const Iteration& i) { return i.beta < 1; });
    if (falls) {
      ++steps;
      count += static_cast<int>(end - begin);
      back += iterations[end - 1].beta == 1;
      int direction = 0;
      for (std::size_t k = begin + 1; k < end; ++k) {
        const double change = iterations[k].beta - iterations[k - 1].beta;
        const int now = (change > 0) - (change < 0);
        reversals += now * direction < 0;
        if (now != 0) direction = now;
      }
    }
    begin = end;
  }
  row["beta_steps"] = steps;
  row["beta_back"] = back;
  row["beta_reversals"] = reversals;
  row["beta_iterations"] = count;
}

}  // namespace

NewtonOptions elastic_options(const std::string& solver, double eps_a) {
  NewtonOptions options = printed_options(solver);
  options.criterion = {Criterion::acceleration, eps_a, AccelerationMass::factorised};
  return options;
}

NewtonOptions contact_options(const std::string& solver, double eps_d) {
  NewtonOptions options = printed_options(solver);
  options.criterion = {Criterion::step_length, eps_d, AccelerationMass::diagonal};
  return options;
}

TrialTotals run_trial(Context& context, const NewtonTrial& trial, const Json& first, double begin, double end) {
  TrialTotals result;
  result.solver = name_of(trial.options.method);
  result.tolerance = trial.options.criterion.tolerance;
  result.line_search = name_of(trial.options.line_search);
  int step = 0;
  NewtonOptions options = trial.options;
  options.observer = [&](const Direction& direction, const Iterate& from, const VecX& dx,
                         const LineSearchResult& found) {
    result.iterations_seen.push_back({step, found.accepted ? found.alpha : 0, 1 / std::sqrt(direction.shortening()),
                                      dx.cwiseAbs().maxCoeff(), direction.projected(), direction.met_indefinite(),
                                      direction.turned(), found.compared});
    if (trial.observer) trial.observer(direction, from, dx, found);
  };
  NewtonStepper stepper(trial.model, options);
  State state = trial.model->rest_state();
  Random random(trial.seed);
  if (trial.perturbation > 0)
    for (Eigen::Index i = 0; i < state.x.size(); ++i) state.x[i] += trial.perturbation * random.symmetric();
  const std::string what = fmt::format("{}, {} vertices, tolerance {}, {} search", result.solver, trial.model->nodes(),
                                       result.tolerance, result.line_search);
  const Watch watch{[&](double share) { context.progress(begin + share * (end - begin), what); },
                    [&] { return context.stopped(); },
                    [&](const State& now, const StepReport& report) {
                      ++step;
                      if (trial.watch) trial.watch(now, report);
                    }};
  static_cast<Totals&>(result) = take_steps(stepper, *trial.model, state, trial.h, trial.steps, watch);
  result.mean_iterations = result.iterations;
  Json row = first;
  row["line_search"] = result.line_search;
  Json rest = totals_row({trial.model, result.solver, {}, trial.h, trial.steps}, result, result.tolerance);
  rest["turned"] = result.count(&Iteration::turned);
  rest["indefinite"] = result.count(&Iteration::indefinite);
  rest["planned_steps"] = trial.steps;
  add_parameters(*trial.model, rest);
  if (trial.options.method == NewtonMethod::kinetic) add_betas(result.iterations_seen, rest);
  if (trial.options.criterion.kind == Criterion::step_length) {
    rest["eps_d"] = rest["eps_a"];
    rest.erase("eps_a");
  }
  row.update(rest);
  context.row(row);
  return result;
}

void needs_completed(Decision& decision, const std::vector<std::pair<std::string, const TrialTotals*>>& trials) {
  for (const auto& [name, trial] : trials)
    decision.needs(trial->completed(),
                   fmt::format("{} completes (it ended as {} after {} steps)", name, trial->outcome, trial->steps));
}

double strain_energy_at(const Model& model, const VecX& x) {
  double sum = 0;
  for (const Body& body : model.bodies()) {
    const Energy& energy = body.energy();
    std::vector<double> values(static_cast<std::size_t>(energy.stencils().count()));
    energy.evaluate(Pose(x), {0, energy.stencils().count()}, values.data(), nullptr);
    for (double value : values) sum += value;
  }
  return sum;
}

double kinetic_energy_at(const Model& model, const VecX& v) {
  VecX momentum;
  model.mass().multiply(v, momentum);
  return 0.5 * v.dot(momentum);
}

double distance(const VecX& a, const VecX& b) {
  double most = 0;
  for (Eigen::Index i = 0; i + 2 < a.size(); i += 3) most = std::max(most, (a - b).segment<3>(i).norm());
  return most;
}

}  // namespace pliant::experiments
