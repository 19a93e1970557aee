// All experiments of pitfalls side by side (sections 1, 3.2, 7.2, 10.4, 11 and Table 1): which solver can be counted
// on. It reads what the other experiments have left in the results' folder, at the same size, and so comes last; only
// the iterative linear solver of section 11 is run here.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "experiments/archive.hpp"
#include "experiments/pitfalls/statistics.hpp"
#include "experiments/pitfalls/trial.hpp"

namespace pliant::experiments {

namespace {

/// One (experiment, variant) of section 10.
struct Case {
  std::string name, experiment;
  bool elastic;
  double dt;                                    ///< as printed, s
  int steps;                                    ///< as printed
  std::function<bool(const Json& row)> is_row;  ///< of the robust runs as printed
};

std::string text_of(const Json& row, const char* key) {
  return row.contains(key) && row[key].is_string() ? row[key].get<std::string>() : "";
}
double number_of(const Json& row, const char* key) {
  return row.contains(key) && row[key].is_number() ? row[key].get<double>() : kUnknown;
}

const std::vector<Case>& section_10() {
  const auto any = [](const Json&) { return true; };
  const auto step = [](double dt) {
    return
        [dt](const Json& row) { return text_of(row, "variant").empty() && std::abs(number_of(row, "dt") - dt) < 1e-9; };
  };
  const auto material = [](const char* name) {
    return [name](const Json& row) { return text_of(row, "material") == name && text_of(row, "criterion") == "raw"; };
  };
  static const std::vector<Case> cases = {
      {"swinging beam", "pitfalls/swinging-beam", true, 1.0 / 60, 360,
       [](const Json& row) { return text_of(row, "variant") == "neo-hookean"; }},
      {"twisting beam, 1/30 s", "pitfalls/twisting-beam", true, 1.0 / 30, 90, step(1.0 / 30)},
      {"twisting beam, 1/3 s", "pitfalls/twisting-beam", true, 1.0 / 3, 9, step(1.0 / 3)},
      {"compressing box", "pitfalls/compressing-box", true, 0.01, 600, any},
      {"slingshot", "pitfalls/slingshot", true, 1.0 / 60, 480,
       [](const Json& row) { return !text_of(row, "figure").starts_with("twisting"); }},
      {"soft impact", "pitfalls/basic-impact", false, 1.0 / 60, 90, material("soft")},
      {"stiff impact", "pitfalls/basic-impact", false, 1.0 / 60, 10, material("stiff")},
      {"mat", "pitfalls/twisting-mat", false, 1.0 / 60, 900, any},
      {"rollers", "pitfalls/rollers", false, 1.0 / 60, 480, any},
      {"friction twist", "pitfalls/friction-twist", false, 1.0 / 60, 600, any}};
  return cases;
}

struct Entry {
  bool completed = false;
  double iterations = 0;
  Json row;
};

/// By case, whether the tolerance is the fine one, and solver; the finest mesh of each.
class Table {
 public:
  explicit Table(const Context& context) : archive_(context.results_folder()), quick_(context.quick()) {
    for (const Case& c : section_10()) {
      const Json* result = archive_.result(c.experiment, quick_);
      if (result == nullptr || !result->at("unfinished").get<std::string>().empty()) missing_.insert(c.experiment);
      if (result == nullptr) continue;
      for (const Json& row : result->at("rows")) {
        if (text_of(row, "line_search") != "robust" || row.contains("seed") || !c.is_row(row)) continue;
        if (text_of(row, "solver") == "N") set_ups_.try_emplace(c.name, row);
        if (text_of(row, "outcome") == "stopped") continue;
        const double eps_a = number_of(row, "eps_a"), eps_d = number_of(row, "eps_d");
        Entry& entry = entries_[{c.name, std::isnan(eps_a) ? eps_d < 1e-3 : eps_a < 0.1, text_of(row, "solver")}];
        if (!entry.row.is_null() && number_of(entry.row, "vertices") > number_of(row, "vertices")) continue;
        entry = {text_of(row, "outcome") == "completed", number_of(row, "iterations"), row};
      }
    }
  }

  const Entry* find(const std::string& name, bool fine, const std::string& solver) const {
    const auto found = entries_.find({name, fine, solver});
    return found == entries_.end() ? nullptr : &found->second;
  }
  /// A row of a run of N, be it a stopped one: the set-up is the same from the first step on.
  const Json* set_up(const std::string& name) const {
    const auto found = set_ups_.find(name);
    return found == set_ups_.end() ? nullptr : &found->second;
  }
  /// The pairs of a case and a tolerance that all four solvers were run in.
  std::vector<std::pair<const Case*, bool>> pairs() const {
    std::vector<std::pair<const Case*, bool>> list;
    for (const Case& c : section_10())
      for (const bool fine : {false, true})
        if (std::all_of(four_solvers().begin(), four_solvers().end(),
                        [&](const auto& s) { return find(c.name, fine, s) != nullptr; }))
          list.emplace_back(&c, fine);
    return list;
  }
  /// Iterations over the fewest of the four; infinite for a solver that fails.
  double quotient(const Case& c, bool fine, const std::string& solver) const {
    double fewest = HUGE_VAL;
    for (const std::string& s : four_solvers())
      if (find(c.name, fine, s)->completed) fewest = std::min(fewest, find(c.name, fine, s)->iterations);
    const Entry& own = *find(c.name, fine, solver);
    return own.completed ? own.iterations / fewest : HUGE_VAL;
  }
  /// Experiments that were not run to their end: what they have done counts, but they could still change a claim that
  /// nothing has failed yet.
  void awaits_all(Decision& decision) const {
    for (const std::string& experiment : missing_)
      decision.awaits(false, fmt::format("the rest of {} at this size", experiment));
  }
  bool is_whole() const { return missing_.empty(); }
  const Archive& archive() const { return archive_; }
  bool quick() const { return quick_; }

 private:
  Archive archive_;
  bool quick_;
  std::map<std::tuple<std::string, bool, std::string>, Entry> entries_;
  std::map<std::string, Json> set_ups_;
  std::set<std::string> missing_;
};

std::string name_of(const Case& c, bool fine) { return c.name + (fine ? ", fine" : ", coarse"); }

void decide_ranking(Context& context, const Table& table) {
  Decision under("pitfalls/section-10.4/pn-underperforms"), reliable("pitfalls/section-10.4/pdn-most-reliable"),
      beats("pitfalls/section-1/pdn-beats-pn-everywhere"), elastic("pitfalls/section-10.4/kn-elastic-but-not-contact");
  const auto pairs = table.pairs();
  int behind = 0, behind_coarse = 0, coarse = 0, behind_newton = 0, beaten = 0;
  std::map<std::string, double> worst;
  std::string not_beaten;
  for (const auto& [c, fine] : pairs) {
    const auto entry = [&, c = c, fine = fine](const char* s) -> const Entry& { return *table.find(c->name, fine, s); };
    double best_other = HUGE_VAL;
    for (const char* s : {"N", "PDN", "KN"})
      if (entry(s).completed) best_other = std::min(best_other, entry(s).iterations);
    const Entry &PN = entry("PN"), &PDN = entry("PDN"), &N = entry("N");
    const bool lags = !PN.completed || PN.iterations >= 1.1 * best_other;
    behind += lags;
    coarse += !fine;
    behind_coarse += lags && !fine;
    behind_newton += !PN.completed || (N.completed && PN.iterations > N.iterations);
    const bool is_beaten = PDN.completed && (!PN.completed || PDN.iterations <= 0.9 * PN.iterations);
    beaten += is_beaten;
    if (!is_beaten) not_beaten += (not_beaten.empty() ? "" : "; ") + name_of(*c, fine);
    Json row = {{"case", c->name}, {"tolerance", fine ? "fine" : "coarse"}};
    for (const std::string& s : four_solvers()) {
      row[s] = table.find(c->name, fine, s)->completed ? Json(table.find(c->name, fine, s)->iterations)
                                                       : Json(text_of(table.find(c->name, fine, s)->row, "outcome"));
      if (c->name != "compressing box") worst[s] = std::max(worst[s], table.quotient(*c, fine, s));
    }
    context.row(row);
    if (c->elastic) {
      const double q = table.quotient(*c, fine, "KN");
      elastic.part("KN over the fewest, " + name_of(*c, fine), std::isfinite(q) ? q : 1e9, "at most 1.5", q <= 1.5);
    }
    const bool is_hard = c->name == "rollers" || (c->name == "mat" && !fine);
    if (is_hard) {
      double most_others = 0;
      for (const char* s : {"N", "PN", "PDN"})
        if (entry(s).completed) most_others = std::max(most_others, entry(s).iterations);
      const bool struggles = !entry("KN").completed || entry("KN").iterations > most_others;
      elastic.part("KN's iterations, " + name_of(*c, fine), entry("KN").iterations,
                   fmt::format("a failure, or above {}", most_others), struggles);
    }
  }
  const double count = double(pairs.size());
  for (Decision* d : {&under, &reliable, &beats, &elastic}) d->note("pairs", pairs.size());
  for (Decision* d : {&under, &reliable, &beats, &elastic}) table.awaits_all(*d);
  under.needs(pairs.size() >= 16, fmt::format("16 pairs of case and tolerance ({} were run)", pairs.size()));
  if (table.is_whole()) {
    under.at_least("share of pairs in which PN lags by 10% or fails", behind / count, 0.8);
    under.at_least("share of the coarse ones", double(behind_coarse) / coarse, 0.7);
    under.at_least("share in which PN needs more than N", behind_newton / count, 0.6);
  }
  const auto shown = [](double q) { return std::isfinite(q) ? q : 1e9; };
  for (const std::string& s : four_solvers()) reliable.note("largest quotient of " + s, worst[s]);
  if (!pairs.empty()) reliable.part("PDN's largest quotient", shown(worst["PDN"]), "at most 1.5", worst["PDN"] <= 1.5);
  if (table.is_whole())
    reliable.part("the least of the others' largest quotients", shown(std::min({worst["N"], worst["PN"], worst["KN"]})),
                  "above PDN's", worst["PDN"] < std::min({worst["N"], worst["PN"], worst["KN"]}));
  if (!pairs.empty()) beats.equal("pairs in which PDN needs at most 0.9 of PN's iterations", beaten, count);
  if (beats.verdict() == Verdict::fails) beats.because("not in: " + not_beaten);
  elastic.awaits(table.find("rollers", false, "KN") != nullptr && table.find("mat", false, "KN") != nullptr,
                 "rollers and mat");
  for (Decision* d : {&under, &reliable, &beats, &elastic}) context.decide(*d);
}

void decide_newton(Context& context, const Table& table) {
  Decision flip("pitfalls/section-3.2/flip-goes-on"), states("pitfalls/section-10.4/newton-in-indefinite-states");
  double turned = 0;
  for (const auto& [c, fine] : table.pairs()) {
    const Entry& N = *table.find(c->name, fine, "N");
    flip.part("steps of N, " + name_of(*c, fine), number_of(N.row, "steps"), "all completed", N.completed);
    if (c->name == "twisting beam, 1/3 s") turned += number_of(N.row, "turned");
    if (!N.completed) flip.because(fmt::format("{}: {}", name_of(*c, fine), text_of(N.row, "outcome")));
  }
  table.awaits_all(flip);
  if (table.is_whole()) flip.above("directions turned round on the twisting beam at 1/3 s", turned, 0);
  int often = 0, scenes = 0;
  for (const char* name : {"mat", "rollers", "friction twist"}) {
    const Entry* N = table.find(name, false, "N");
    if (N == nullptr || !N->completed) {
      states.note(std::string(name) + " has no completed run of N", 1);
      continue;
    }
    ++scenes;
    const double indefinite = number_of(N->row, "indefinite"), share = indefinite / N->iterations;
    often += share >= 0.15;
    states.note(fmt::format("share of indefinite iterations, {}", name), share);
    if (indefinite > 0)
      states.at_least(fmt::format("share of them that descend as they are, {}", name),
                      1 - number_of(N->row, "turned") / indefinite, 0.5);
    const Case& c =
        *std::find_if(section_10().begin(), section_10().end(), [&](const Case& k) { return k.name == name; });
    states.at_most(fmt::format("N over the fewest, {}", name), table.quotient(c, false, "N"), 1.6);
  }
  states.needs(scenes >= 2, "two of the three contact scenes with N completed");
  states.part("scenes in which Cholesky fails in 15% of the iterations", often, "at least 2 of 3", often >= 2);
  const Entry* swing = table.find("swinging beam", true, "N");
  states.needs(swing != nullptr, "the swinging beam");
  if (swing != nullptr) states.equal("failures on the swinging beam", number_of(swing->row, "indefinite"), 0);
  context.decide(flip);
  context.decide(states);
}

void decide_searches_of(Context& context, const Table& table) {
  Decision never("pitfalls/section-7.2/robust-never-fails");
  table.awaits_all(never);
  int robust_runs = 0, robust_failures = 0;
  std::set<std::string> standard_fails, seen;
  for (const Experiment& experiment : catalogue()) {
    if (!experiment.name.starts_with("pitfalls/") || experiment.name == "pitfalls/overview") continue;
    const Json* result = table.archive().result(experiment.name, table.quick());
    if (result == nullptr) continue;
    for (const Json& row : result->at("rows")) {
      const bool failed = text_of(row, "outcome") == "line-search-failed" ||
                          text_of(row, "detail").find("no step length") != std::string::npos;
      if (text_of(row, "line_search") == "robust") ++robust_runs, robust_failures += failed;
      if (text_of(row, "line_search") == "standard" && failed) standard_fails.insert(experiment.name);
      if (text_of(row, "line_search") == "robust" && failed)
        never.note(fmt::format("{}: {} fails after steps", experiment.name, text_of(row, "solver")),
                   number_of(row, "steps"));
    }
  }
  never.equal("runs of the robust search that end by its failure", robust_failures, 0);
  if (table.is_whole())
    never.at_least("experiments in which the standard search fails", double(standard_fails.size()), 2);
  never.note("runs with the robust search", robust_runs);
  context.decide(never);
}

void decide_betas(Context& context, const Table& table) {
  Decision patterns("pitfalls/section-10.4/beta-patterns");
  table.awaits_all(patterns);
  std::map<bool, std::vector<double>> rates;
  for (const char* name : {"twisting beam, 1/3 s", "slingshot", "mat", "rollers"}) {
    double steps = 0, back = 0, reversals = 0, iterations = 0;
    for (const bool fine : {false, true})
      if (const Entry* KN = table.find(name, fine, "KN")) {
        steps += number_of(KN->row, "beta_steps");
        back += number_of(KN->row, "beta_back");
        reversals += number_of(KN->row, "beta_reversals");
        iterations += number_of(KN->row, "beta_iterations");
      }
    patterns.needs(steps >= 20, fmt::format("20 steps in which beta falls below 1, {} ({} did)", name, steps));
    const bool elastic = std::string(name) != "mat" && std::string(name) != "rollers";
    const double rate = 100 * reversals / iterations;
    rates[elastic].push_back(rate);
    patterns.note(fmt::format("reversals of beta in 100 iterations, {}", name), rate);
    if (elastic) patterns.at_least(fmt::format("share of steps that end at beta 1, {}", name), back / steps, 0.7);
  }
  patterns.at_most("reversals in 100 iterations, elastic against half of those with contact",
                   *std::max_element(rates[true].begin(), rates[true].end()),
                   0.5 * *std::min_element(rates[false].begin(), rates[false].end()));
  context.decide(patterns);
}

void decide_table_1(Context& context, const Table& table) {
  Decision parameters("pitfalls/table-1/parameters");
  table.awaits_all(parameters);
  struct Printed {
    const char* name;
    std::map<std::string, double> values;
  };
  const std::vector<Printed> printed = {
      {"swinging beam", {{"E", 4e5}, {"nu", 0.4}, {"rho", 1000}}},
      {"twisting beam, 1/30 s", {{"E", 1e7}, {"nu", 0.49}, {"rho", 1000}, {"sigma", 1e8}}},
      {"twisting beam, 1/3 s", {{"E", 1e7}, {"nu", 0.49}, {"rho", 1000}, {"sigma", 1e8}}},
      {"compressing box", {{"E", 1e5}, {"nu", 0.4}, {"rho", 1000}, {"sigma", 1e10}}},
      {"slingshot", {{"E", 8e4}, {"nu", 0.4}, {"rho", 1000}, {"sigma", 1e8}}},
      {"soft impact",
       {{"E of cube", 1e6},
        {"nu of cube", 0.4},
        {"rho of cube", 1000},
        {"E of slab", 1e6},
        {"mu", 0.1},
        {"dhat", 1e-3},
        {"eps_v", 1e-3}}},
      {"stiff impact",
       {{"E of cube", 220e9},
        {"nu of cube", 0.3},
        {"rho of cube", 8000},
        {"E of slab", 220e9},
        {"mu", 0.1},
        {"dhat", 1e-3},
        {"eps_v", 1e-3}}},
      {"mat", {{"E", 2e4}, {"nu", 0.4}, {"rho", 1000}, {"mu", 0}, {"dhat", 1.4e-3}, {"sigma", 1e8}}},
      {"rollers",
       {{"E", 5e4}, {"nu", 0.2}, {"rho", 1000}, {"mu", 0.5}, {"dhat", 1e-3}, {"eps_v", 1e-3}, {"sigma", 1e8}}},
      {"friction twist",
       {{"E of structure", 1e7},
        {"nu of structure", 0.49},
        {"rho of structure", 1300},
        {"E of plate", 220e9},
        {"nu of plate", 0.3},
        {"rho of plate", 7850},
        {"mu", 1},
        {"dhat", 1e-3},
        {"eps_v", 1e-3},
        {"sigma", 1e9}}}};
  for (const Printed& p : printed) {
    const Case& c =
        *std::find_if(section_10().begin(), section_10().end(), [&](const Case& k) { return k.name == p.name; });
    const Json* row = table.set_up(p.name);
    parameters.awaits(row != nullptr, fmt::format("a run of the {}", p.name));
    if (row == nullptr) continue;
    for (const auto& [key, value] : p.values) {
      // The rollers are obstacles whose motion is prescribed: there is no penalty to compare.
      const double own = number_of(*row, key.c_str());
      parameters.part(fmt::format("{}, {}", key, p.name), std::isnan(own) ? 0 : own, fmt::format("{:g}", value),
                      std::abs(own / value - 1) < 1e-6 || own == value);
    }
    parameters.part(fmt::format("time step, {}", p.name), number_of(*row, "dt"), fmt::format("{:g}", c.dt),
                    std::abs(number_of(*row, "dt") / c.dt - 1) < 1e-9);
    if (!context.quick()) parameters.equal(fmt::format("steps, {}", p.name), number_of(*row, "planned_steps"), c.steps);
  }
  if (parameters.verdict() == Verdict::fails)
    parameters.because("the rollers are obstacles with a prescribed motion, so that they have no penalty");
  context.decide(parameters);
}

/// Section 11: conjugate gradients in place of factorisations.
void decide_iterative(Context& context) {
  Decision iterative("pitfalls/section-11/iterative-solvers");
  const auto run = [&](bool swing, const std::string& solver, LinearSolver linear) {
    NewtonTrial trial;
    trial.model = swing ? swinging_beam_model(static_cast<int>(context.number("swing_cells")))
                        : twisting_beam_model({.cells = static_cast<int>(context.number("twist_cells"))});
    trial.options = elastic_options(solver, 0.01);
    trial.options.linear.solver = linear;
    trial.h = swing ? 1.0 / 60 : 1.0 / 3;
    trial.steps = swing ? static_cast<int>(context.number("swing_steps")) : 9;
    return run_trial(context, trial,
                     {{"case", swing ? "swinging beam" : "twisting beam"},
                      {"linear", linear == LinearSolver::pcg ? "pcg" : "direct"}},
                     0.2, 1);
  };
  // The smaller beam first: it can fail the claim alone.
  const auto is_settled = [&] {
    Decision now = iterative;
    context.settle(now.awaits(false, "the swinging beam"));
    return now.verdict() == Verdict::fails;
  };
  double curvature = 0;
  for (const char* solver : {"PDN", "KN"}) {
    const TrialTotals direct = run(false, solver, LinearSolver::direct), pcg = run(false, solver, LinearSolver::pcg);
    needs_completed(iterative, {{fmt::format("{} on the twisting beam", solver), &direct}});
    iterative.part(fmt::format("steps of {} with pcg on the twisting beam", solver), pcg.steps, "all completed",
                   pcg.completed());
    iterative.at_most(fmt::format("change of {}'s iterations on the twisting beam", solver),
                      std::abs(double(pcg.iterations) / direct.iterations - 1), 0.3);
    curvature += pcg.failed_factorisations;
    if (iterative.verdict() == Verdict::fails)
      iterative.because(
          fmt::format("{} takes {} iterations with factorisations and {} with conjugate gradients: systems of the "
                      "stiff, nearly incompressible beam are solved to the digits that pay off, so that directions "
                      "differ from exact ones",
                      solver, direct.iterations, pcg.iterations));
    if (context.stopped() || is_settled()) return;
  }
  iterative.above("systems with negative curvature", curvature, 0);
  if (is_settled()) return;
  double best = HUGE_VAL;
  for (const char* solver : {"N", "PDN"}) {
    const TrialTotals direct = run(true, solver, LinearSolver::direct), pcg = run(true, solver, LinearSolver::pcg);
    needs_completed(iterative, {{fmt::format("{} on the swinging beam", solver), &direct},
                                {fmt::format("{} with pcg", solver), &pcg}});
    const double change = std::abs(double(pcg.iterations) / direct.iterations - 1),
                 time = pcg.processor_seconds / direct.processor_seconds;
    iterative.note(fmt::format("time with pcg over direct, {}", solver), time)
        .note(fmt::format("change of iterations, {}", solver), change);
    if (change <= 0.1) best = std::min(best, time);
  }
  iterative.part("least time with pcg over direct, iterations within 10%", std::isfinite(best) ? best : 1e9, "below 1",
                 best < 1);
  context.decide(iterative);
}

void run_overview(Context& context) {
  const Table table(context);
  decide_ranking(context, table);
  decide_newton(context, table);
  decide_searches_of(context, table);
  decide_betas(context, table);
  decide_table_1(context, table);
  decide_iterative(context);
}

}  // namespace

Experiment overview() {
  return {"pitfalls/overview",
          "All experiments side by side: which solver can be counted on (sections 1, 10, 11, Table 1); reads the "
          "others' results",
          {{"swing_cells", "24", "8", "cells across the swinging beam for conjugate gradients"},
           {"swing_steps", "360", "90", "steps of it"},
           {"twist_cells", "16", "8", "cells across the twisting beam"}},
          run_overview,
          true};
}

}  // namespace pliant::experiments
