#include "experiments/quasi_newton/newton_cost.hpp"

#include <fmt/format.h>

#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "pliant/sim/incremental_potential.hpp"
#include "pliant/solvers/quasi_newton/laplacian.hpp"

namespace pliant::experiments {

namespace {

/// Median seconds of seven calls, after one that is not counted.
template <class Work>
double median_seconds(Work&& work) {
  std::vector<double> seconds;
  work();
  for (int k = 0; k < 7; ++k) {
    const ProcessorTime clock;
    work();
    seconds.push_back(clock.seconds());
  }
  return median(seconds);
}

}  // namespace

void decide_newton_cost(Context& context) {
  Decision decision("quasi-newton/section-5/why-newton-is-slow");
  const OneThread one;
  std::vector<std::string> rows = {"twisting-bar"};
  if (!context.quick()) rows.push_back("squirrel");
  for (const std::string& id : rows) {
    const Table1Row& row = table1_row(id);
    const FrameScene scene = table1_frame_scene(row, *find_mesh(context, row.mesh), row.factor);
    const Trajectory run = converged_run(scene, 6);
    decision.needs(run.complete, row.name + ": the run reaches its sixth frame");
    if (!run.complete) continue;
    IncrementalPotential potential(scene.model, {});
    potential.begin_step(run.begins.back(), kFrame);
    const VecX x = potential.problem().predicted_start();
    BlockMatrix H = potential.make_matrix();
    const double hessian = median_seconds([&] { potential.hessian(x, Projection::analytic, 1, H); });
    SparseCholesky newton;
    newton.analyze(H.shared_pattern(), 3);
    const double factor = median_seconds([&] { newton.factor(H); });
    LaplacianMatrix laplacian(scene.model, {.solve = LaplacianMatrix::Solve::factor});
    int factorisations = 0;
    laplacian.prepare(potential.problem(), factorisations);
    const BlockMatrix A = laplacian.assemble(potential.problem());
    SparseCholesky ours;
    ours.analyze(A.shared_pattern(), 1);
    const double our_factor = median_seconds([&] { ours.factor(A); });
    VecX g, d;
    const double gradient = median_seconds([&] { potential.gradient(x, g); });
    const double solve = median_seconds([&] { laplacian.solve(g, d); });
    const auto stepper = newton_iterations(scene, 1);
    const double iteration = median_seconds([&] {
      State state = run.begins.back();
      stepper->step(state, kFrame);
    });
    decision.at_least(row.name + ": (1) factorising Newton's matrix over our solve", factor / solve, 10)
        .at_least(row.name + ": (2) factorising 3n x 3n over n x n", factor / our_factor, 5)
        .at_least(row.name + ": (3) Hessian over energy and gradient", hessian / gradient, 5)
        .above(row.name + ": share of (1) and (3) in an iteration", (factor + hessian) / iteration, 0.8);
    context.row({{"row", row.name + ", parts of an iteration"},
                 {"hessian_ms", 1e3 * hessian},
                 {"factor_ms", 1e3 * factor},
                 {"our_factor_ms", 1e3 * our_factor},
                 {"gradient_ms", 1e3 * gradient},
                 {"our_solve_ms", 1e3 * solve},
                 {"iteration_ms", 1e3 * iteration}});
    if (decision.verdict() == Verdict::fails)
      decision.because(
          fmt::format("{}: Hessian {:.2f} ms, its factor {:.2f} ms, gradient {:.2f} ms, iteration {:.2f} ms; "
                      "Hessians are in closed form here",
                      row.name, 1e3 * hessian, 1e3 * factor, 1e3 * gradient, 1e3 * iteration));
  }
  context.decide(decision);
}

}  // namespace pliant::experiments
