// conjac, fig. 2: what a step costs over the number of dynamic nodes, beside VANILLA's. One thread, methods taking
// turns, medians.

#include <oneapi/tbb/global_control.h>

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "experiments/conjac/conjac.hpp"
#include "experiments/conjac/trial.hpp"
#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"

namespace pliant::experiments {

namespace {

/// Seconds a step, medians.
struct StepCost {
  double total = 0, fill = 0, factor = 0, solve = 0;
};

/// 1 less the share of the variance that a straight line leaves over, and its slope.
std::pair<double, double> straightness(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mx += x[i] / n, my += y[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
    yy += (y[i] - my) * (y[i] - my);
  }
  return {xy * xy / (xx * yy), xy / xx};
}

void run_cost(Context& context) {
  std::vector<std::string> ids;
  for (const Claim* own : claims_of("conjac/cost")) ids.push_back(own->id);
  if (!has_meshes(context, ids)) return;
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  const PullAndRelease scene = pulled_body(*find_mesh(context, context.text("mesh")), context.text("mesh"));
  const std::vector<int> counts = context.integers("dynamic");
  std::vector<std::unique_ptr<Stepper>> steppers;
  steppers.push_back(
      make_stepper(scene.model, "linearly-implicit", as_published("linearly-implicit", {{"beta", 3.7}})));
  for (int nodes : counts)
    steppers.push_back(make_stepper(scene.model, "conjac",
                                    as_published("conjac", {{"dynamic_nodes", std::int64_t{nodes}}, {"gamma", 0.2}})));
  // Nothing is scripted any more and the body stands as it does at rest, where the stiffness is positive definite:
  // every step has one factorisation. From the undeformed shape, whose weight is to be taken up, it needs a second one
  // without dynamic nodes.
  State start = scene.rest;
  start.time = 10;
  std::vector<State> states(steppers.size(), start);
  std::vector<std::array<std::vector<double>, 4>> times(steppers.size());
  const int rounds = static_cast<int>(context.number("rounds"));
  for (int round = 0; round <= rounds; ++round)
    for (std::size_t m = 0; m < steppers.size(); ++m) {
      context.progress(static_cast<double>(round) / (rounds + 1), fmt::format("round {}", round));
      const ProcessorTime time;
      const StepReport report = steppers[m]->step(states[m], context.number("h"));
      const double seconds = time.seconds();
      if (context.stopped()) return;
      if (round == 0 || report.factorisations != 1) continue;  // the analysis; a second matrix
      // The parts are timed by the clock on the wall: their shares of the step are taken.
      const double share = seconds / report.seconds.total;
      const double values[] = {seconds, share * report.seconds.assembly, share * report.seconds.factorisation,
                               share * report.seconds.solve};
      for (std::size_t k = 0; k < 4; ++k) times[m][k].push_back(values[k]);
    }
  std::map<int, StepCost> costs;
  for (std::size_t m = 0; m < steppers.size(); ++m) {
    const StepCost cost{median(times[m][0]), median(times[m][1]), median(times[m][2]), median(times[m][3])};
    costs[m == 0 ? -1 : counts[m - 1]] = cost;
    context.row({{"mesh", scene.label},
                 {"nodes", scene.model->nodes()},
                 {"method", m == 0 ? "VANILLA" : fmt::format("conjac, {} dynamic nodes", counts[m - 1])},
                 {"cpu_ms", 1e3 * cost.total},
                 {"fill_ms", 1e3 * cost.fill},
                 {"factor_ms", 1e3 * cost.factor},
                 {"solve_ms", 1e3 * cost.solve},
                 {"steps", times[m][0].size()},
                 {"over_vanilla", cost.total / costs[-1].total}});
  }
  const StepCost& vanilla = costs[-1];
  const auto ratio = [&](int nodes) { return costs.at(nodes).total / vanilla.total; };
  const bool enough = std::all_of(times.begin(), times.end(), [](const auto& t) { return t[0].size() >= 15; });
  const std::string measured = "each has 15 steps or more with one factorisation";
  context.decide(Decision("conjac/section-3.4/cost")
                     .needs(enough, measured)
                     .between("T(4)/T_VANILLA", ratio(4), 1.0, 1.2)
                     .part("T(10)/T_VANILLA", ratio(10), "above T(4)/T_VANILLA, at most 1.4",
                           ratio(10) > ratio(4) && ratio(10) <= 1.4)
                     .because(fmt::format(
                         "milliseconds: VANILLA {:.1f} (factor {:.1f}), 4 nodes {:.1f} (factor {:.1f}, "
                         "solve {:.1f}), 10 nodes {:.1f} (factor {:.1f}, solve {:.1f})",
                         1e3 * vanilla.total, 1e3 * vanilla.factor, 1e3 * costs[4].total, 1e3 * costs[4].factor,
                         1e3 * costs[4].solve, 1e3 * costs[10].total, 1e3 * costs[10].factor, 1e3 * costs[10].solve)));
  // The reduced system by itself: 24 x 24, assembled as J^T (M J), solved.
  Eigen::MatrixXd J = Eigen::MatrixXd::Random(3 * scene.model->nodes(), 24);
  std::vector<double> reduced;
  for (int k = 0; k < 15; ++k) {
    const ProcessorTime time;
    const Eigen::MatrixXd MJ = scene.model->mass().lumped().replicate(3, 1).asDiagonal() * J;
    const Eigen::MatrixXd Z = J.transpose() * MJ + Eigen::MatrixXd::Identity(24, 24);
    const VecX v = Z.ldlt().solve(VecX::Ones(24));
    if (v.allFinite()) reduced.push_back(time.seconds());
  }
  const StepCost& eight = costs.at(8);
  context.decide(Decision("conjac/section-3.4/bottleneck")
                     .needs(enough, measured)
                     .at_least("VANILLA: factorisation and solve over the step",
                               (vanilla.factor + vanilla.solve) / vanilla.total, 0.5)
                     .at_least("conjac, 8 nodes: factorisation and solves over the step",
                               (eight.factor + eight.solve) / eight.total, 0.5)
                     .at_most("assembling and solving 24 equations over the step", median(reduced) / eight.total, 0.02)
                     .because(fmt::format(
                         "filling the matrix takes {:.0f}% of VANILLA's step and {:.0f}% of conjac's; the product "
                         "J^T M J over all nodes is {:.2f} ms",
                         100 * vanilla.fill / vanilla.total, 100 * eight.fill / eight.total, 1e3 * median(reduced))));
  std::vector<double> x, y;
  for (int nodes : counts)
    if (nodes <= 10) x.push_back(nodes), y.push_back(1e3 * costs[nodes].solve);
  const auto [straight, slope] = straightness(x, y);
  context.decide(Decision("conjac/fig-2/linear")
                     .needs(enough, measured)
                     .at_least("R^2 of a straight line through the solve times of 0 to 10 nodes", straight, 0.98)
                     .above("its slope, ms a node", slope, 0)
                     .note("right-hand sides with 10 nodes: columns of J and one of b", 31)
                     .because(fmt::format("solves of 0 to 10 nodes take {:.2f} to {:.2f} ms", y.front(), y.back())));
  double least_fill = vanilla.fill, most_fill = vanilla.fill, least_factor = vanilla.factor,
         most_factor = vanilla.factor;
  for (int nodes : counts)
    if (nodes <= 10) {
      least_fill = std::min(least_fill, costs[nodes].fill), most_fill = std::max(most_fill, costs[nodes].fill);
      least_factor = std::min(least_factor, costs[nodes].factor);
      most_factor = std::max(most_factor, costs[nodes].factor);
    }
  context.decide(
      Decision("conjac/fig-2/all-in-the-solves")
          .needs(enough, measured)
          .at_least("(solve(10) - solve(0))/(T(10) - T(0))",
                    (costs[10].solve - costs[0].solve) / (costs[10].total - costs[0].total), 0.9)
          .below("spread of fill times, VANILLA's included", most_fill / least_fill - 1, 0.1)
          .below("spread of factorisation times, VANILLA's included", most_factor / least_factor - 1, 0.1)
          .because(fmt::format("J^T K J is a Schur complement here, part of the factorisation: {:.2f} ms with 0 "
                               "nodes, {:.2f} with 10, {:.2f} in VANILLA; fill {:.2f} to {:.2f} ms",
                               1e3 * costs[0].factor, 1e3 * costs[10].factor, 1e3 * vanilla.factor, 1e3 * least_fill,
                               1e3 * most_fill)));
  bool rises = true, over = false;
  double last = 0, largest = 0;
  for (int nodes : counts) {
    if (nodes == 2 || nodes >= 10) rises = rises && ratio(nodes) > last, last = ratio(nodes);
    over = over || costs[nodes].solve > costs[nodes].factor;
    largest = std::max(largest, costs[nodes].solve / costs[nodes].factor);
  }
  context.decide(Decision("conjac/section-5.1/cost-of-many-nodes")
                     .needs(enough, measured)
                     .at_most("T(2)/T_VANILLA", ratio(2), 1.1)
                     .part("largest solve time over factorisation time", largest, "above 1", over)
                     .part("T/T_VANILLA with the most nodes", last, "rising from 2 to 10, 50 and more", rises)
                     .because(fmt::format("with {} nodes a step takes {:.2f} times VANILLA's", counts.back(), last)));
}

}  // namespace

Experiment conjac_cost() {
  return {"conjac/cost",
          "Milliseconds a step over the number of dynamic nodes, beside VANILLA (fig. 2)",
          {meshes_option("Armadillo13K.msh; quick: bunny.mesh"),
           {"mesh", "Armadillo13K", "bunny", "the body"},
           {"h", "0.005", "0.005", "time step, s"},
           {"dynamic", "0,2,4,6,8,10,50,200", "0,2,4,6,8,10,50,100", "dynamic nodes"},
           {"rounds", "20", "16", "steps of each that are measured"}},
          run_cost};
}

}  // namespace pliant::experiments
