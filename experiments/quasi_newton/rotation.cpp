// Fig. 9 and Table II of quasi-newton: a cube released from a stretched pose, and the same turned by 90 degrees. The
// Laplacian does not see the difference, the Hessian of the rest pose does: condition numbers of A^{-1} H, H the exact
// Hessian where the frame begins, and the error over the iterations.

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <cmath>
#include <map>

#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/descent.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/sim/incremental_potential.hpp"
#include "pliant/solvers/quasi_newton/laplacian.hpp"

namespace pliant::experiments {

namespace {

/// Density is in units of mu h^2: the one number that inertia enters by.
struct CubeMaterial {
  double ratio, stretch, density;  ///< lambda/mu, of the pose, rho/(mu h^2) in 1/m^2
};

std::shared_ptr<const Model> stretched_cube(Index cells, const CubeMaterial& material) {
  BoxOptions options;
  options.size = {1, 1, 1};
  options.cells = {cells, cells, cells};
  MeshData data = box(options);
  for (Vec3& p : data.vertices) p -= Vec3::Constant(0.5);
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("neo-hookean"), {2e4, 2e4 * material.ratio}};
  body.density = 2e4 * kFrame * kFrame * material.density;
  ModelBuilder builder;
  builder.add_body(body);
  return builder.build();
}

State stretched_state(const Model& model, double stretch, bool turned) {
  const Mat3 turn = turned ? Mat3(Eigen::AngleAxisd(std::acos(0.0), Vec3::UnitZ())) : Mat3(Mat3::Identity());
  State state = model.rest_state();
  for (Index i = 0; i < model.nodes(); ++i)
    node(state.x, i) = turn * Vec3(stretch, 1, 1).cwiseProduct(node(model.rest(), i));
  return state;
}

double condition(const Eigen::MatrixXd& H, const Eigen::MatrixXd& A) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(H, A, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().maxCoeff() / solver.eigenvalues().minCoeff();
}

/// Of our matrix and of the Hessian at rest against the exact Hessian.
struct Conditions {
  double ours = 0, rest = 0;
};

Conditions conditions_of(Index cells, const CubeMaterial& material, bool turned) {
  const auto model = stretched_cube(cells, material);
  IncrementalPotential potential(model, {});
  const State state = stretched_state(*model, material.stretch, turned);
  potential.begin_step(state, kFrame);
  BlockMatrix H = potential.make_matrix(), at_rest = potential.make_matrix();
  potential.hessian(state.x, Projection::none, 1, H);
  potential.hessian(model->rest(), Projection::none, 1, at_rest);
  LaplacianMatrix laplacian(model, {});
  const Eigen::MatrixXd exact = dense_matrix(H);
  return {condition(exact, dense_matrix(laplacian.assemble(potential.problem()))),
          condition(exact, dense_matrix(at_rest))};
}

/// The stretch and the mass at which ours and the straight rest pose have the printed condition numbers, or come
/// nearest: for each mass the stretch that gives the rest pose's, and of the masses the one that gives ours. What the
/// paper does not print is chosen by the numbers it does, at the size at hand; the turned rest pose is then the test.
CubeMaterial fitted_cube(Context& context, Index cells, double ratio) {
  constexpr double kOurs = 9.94, kRest = 2.45;
  CubeMaterial best{ratio, 1.2, 20};
  double least = 1e300;
  const auto try_density = [&](double density) {
    double low = 1.01, high = 1.8;
    CubeMaterial trial{ratio, low, density};
    Conditions now;
    for (int k = 0; k < 9 && !context.stopped(); ++k) {
      trial.stretch = 0.5 * (low + high);
      now = conditions_of(cells, trial, false);
      // Beyond some stretch the Hessian is indefinite and the condition number negative: too far as well.
      (now.rest > 0 && now.rest < kRest ? low : high) = trial.stretch;
    }
    const double miss = std::max(std::abs(std::log(now.ours / kOurs)), std::abs(std::log(now.rest / kRest)));
    context.row({{"fit", "stretch for the rest pose"},
                 {"density", density},
                 {"stretch", trial.stretch},
                 {"ours", now.ours},
                 {"rest_pose", now.rest}});
    if (miss < least) least = miss, best = trial;
    return now.ours;
  };
  // The more mass, the nearer both matrices are to it, hence the smaller the condition number.
  double light = std::log(2.0), heavy = std::log(400.0);
  for (int k = 0; k < 6 && !context.stopped(); ++k) {
    const double middle = 0.5 * (light + heavy);
    (try_density(std::exp(middle)) > kOurs ? light : heavy) = middle;
  }
  return best;
}

void decide_conditions(Context& context, const CubeMaterial& material) {
  const auto cells = static_cast<Index>(context.number("cells"));
  const Conditions straight = conditions_of(cells, material, false), turned = conditions_of(cells, material, true);
  for (const auto& [label, c] : {std::pair{"straight", straight}, std::pair{"turned", turned}})
    context.row({{"configuration", label}, {"ours", c.ours}, {"rest_pose", c.rest}});
  Decision equal("quasi-newton/table-2/ours-equal"), numbers("quasi-newton/table-2/numbers");
  equal.at_most("|kappa turned / kappa straight - 1|", std::abs(turned.ours / straight.ours - 1), 1e-6)
      .between("kappa of ours", straight.ours, 5, 20);
  const bool is_fitted = std::abs(straight.ours / 9.94 - 1) <= 0.1 && std::abs(straight.rest / 2.45 - 1) <= 0.1;
  numbers.between("ours", straight.ours, 0.9 * 9.94, 1.1 * 9.94)
      .between("rest pose, straight", straight.rest, 0.9 * 2.45, 1.1 * 2.45)
      .between("rest pose, turned", turned.rest, 0.75 * 45.5, 1.25 * 45.5)
      .note("lambda/mu", material.ratio)
      .note("stretch", material.stretch)
      .note("rho/(mu h^2), 1/m^2", material.density);
  if (numbers.verdict() == Verdict::fails)
    numbers.because(is_fitted
                        ? fmt::format("where ours and the straight rest pose are as printed, the turned one has {:.1f}",
                                      turned.rest)
                        : std::string("no choice of lambda/mu, stretch and mass met the first two"));
  context.decide(equal);
  context.decide(numbers);
}

void decide_convergence_of_cube(Context& context, const CubeMaterial& material) {
  const auto model = stretched_cube(static_cast<Index>(context.number("convergence_cells")), material);
  FrameScene scene;
  scene.model = model;
  DescentFrame frames[2][2];  // straight and turned, ours and rest pose
  double best[2];
  for (int turned : {0, 1}) {
    const State state = stretched_state(*model, material.stretch, turned == 1);
    State end = state;
    best[turned] = exact_newton(scene)->step(end, kFrame).energy;
    for (int rest : {0, 1}) {
      DescentOptions options;
      options.iterations = 40;
      options.search.kind = LineSearchKind::robust;
      options.hessian.laplacian.precision = LaplacianMatrix::Precision::double_precision;
      if (rest == 1) options.hessian.kind = InitialHessianKind::rest_pose;
      frames[turned][rest] = Descent(model, options).solve(state, kFrame);
      best[turned] = std::min(best[turned], frames[turned][rest].energy);
    }
  }
  const auto error = [&](int turned, int rest, std::size_t k) {
    return relative_error(frames[turned][rest].energy_after(k), frames[turned][rest].first, best[turned]);
  };
  Decision decision("quasi-newton/fig-9/convergence");
  for (std::size_t k : {5u, 10u}) {
    decision.below(fmt::format("straight: error of the rest pose after {}", k), error(0, 1, k), error(0, 0, k))
        .above(fmt::format("turned: error of the rest pose after {}", k), error(1, 1, k), 10 * error(1, 0, k))
        .at_most(fmt::format("ours, |log10 of straight over turned| after {}", k),
                 std::abs(std::log10(error(0, 0, k) / error(1, 0, k))), 0.01);
    context.row({{"iterations", k},
                 {"ours_straight", error(0, 0, k)},
                 {"ours_turned", error(1, 0, k)},
                 {"rest_straight", error(0, 1, k)},
                 {"rest_turned", error(1, 1, k)}});
  }
  if (decision.verdict() == Verdict::fails)
    decision.because(
        fmt::format("after 10 iterations ours has {:.1e} straight and {:.1e} turned, the rest pose {:.1e} and {:.1e}",
                    error(0, 0, 10), error(1, 0, 10), error(0, 1, 10), error(1, 1, 10)));
  context.decide(decision);
}

/// Fig. 8: turning the rest-pose Hessian vertex by vertex pushes a free body. |sum m dv| / sum |m dv| by iteration.
void decide_ghost_forces(Context& context) {
  Decision decision("quasi-newton/fig-8/ghost-forces");
  const auto data = find_mesh(context, "longbar");
  if (!data) {
    context.decide(decision.leave_undecided("a folder with longbar.mesh was given (option meshes)"));
    return;
  }
  const Table1Row& row = table1_row("shaking-bar");
  FrameScene scene = body_scene(
      ten_kilograms(std::make_shared<TetMesh>(*data), "neo-hookean", {row.mu * row.factor, row.lambda * row.factor}),
      {}, {});
  scene.gravity.setZero();
  const Model& model = *scene.model;
  const int states = static_cast<int>(context.number("states"));
  std::map<std::string, std::vector<double>> measured;
  double worst_converged = 0, largest_ours = 0, largest_without = 0;
  int converged = 0;
  for (int s = 0; s < states && !context.stopped(); ++s) {
    State state = model.rest_state();  // bent by 1 to 2 rad over its length, spinning
    const double bend = 1 + static_cast<double>(s) / states, radius = scene.size / bend;
    for (Index i = 0; i < model.nodes(); ++i) {
      const Vec3 X = node(model.rest(), i);
      const double angle = X.x() / radius;
      node(state.x, i) = Vec3((radius - X.y()) * std::sin(angle), radius - (radius - X.y()) * std::cos(angle), X.z());
      node(state.v, i) = Vec3(0.3, 0.2, 1 + s).cross(node(state.x, i));
    }
    for (const auto& [label, kind, window] : {std::tuple{"ours", InitialHessianKind::laplacian, 5},
                                              std::tuple{"ours, m = 0", InitialHessianKind::laplacian, 0},
                                              std::tuple{"warped", InitialHessianKind::warped_rest_pose, 5},
                                              std::tuple{"warped, m = 0", InitialHessianKind::warped_rest_pose, 0}}) {
      DescentOptions options;
      options.window = window;
      options.iterations = 150;
      options.search.kind = LineSearchKind::robust;
      options.hessian.kind = kind;
      options.hessian.laplacian.precision = LaplacianMatrix::Precision::double_precision;
      std::vector<double> drift;
      const auto watch = [&](const Iterate& current, const VecX&, double) {
        Vec3 sum = Vec3::Zero();
        double total = 0;
        for (Index i = 0; i < model.nodes(); ++i) {
          const Vec3 change =
              model.mass().lumped()[i] * ((node(current.x, i) - node(state.x, i)) / kFrame - node(state.v, i));
          sum += change;
          total += change.norm();
        }
        drift.push_back(total > 0 ? sum.norm() / total : 0);
      };
      Descent descent(scene.model, options);
      const DescentFrame frame = descent.solve(state, kFrame, watch);
      State end = state;
      const double best = std::min(frame.energy, exact_newton(scene)->step(end, kFrame).energy);
      if (kind == InitialHessianKind::laplacian) {
        double& largest = window == 0 ? largest_without : largest_ours;
        for (std::size_t k = 1; k < drift.size(); ++k) largest = std::max(largest, drift[k]);
        continue;
      }
      measured[label].push_back(drift.size() > 10 ? drift[10] : std::numeric_limits<double>::quiet_NaN());
      if (window == 0) continue;
      for (std::size_t k = 1; k < drift.size(); ++k)
        if (relative_error(frame.energy_after(k), frame.first, best) < 1e-12) {
          ++converged;
          worst_converged = std::max(worst_converged, drift.back());
          break;
        }
    }
  }
  double least = 1e300, least_plain = 1e300;
  for (double d : measured["warped"]) least = std::min(least, d);
  for (double d : measured["warped, m = 0"]) least_plain = std::min(least_plain, d);
  decision.at_least("warped, after 10 iterations: least of the states", least, 1e-4)
      .at_most("ours, at any iteration", largest_ours, 1e-12)
      .note("warped with m = 0, after 10 iterations", least_plain)
      .note("states whose error falls below 1e-12", converged);
  decision.needs(converged == states, "the warped run reaches an error of 1e-12 in every state");
  decision.at_most("warped, at the end, where the error is below 1e-12", worst_converged, 1e-9);
  if (decision.verdict() == Verdict::fails)
    decision.because(
        fmt::format("share of momentum: warped {:.1e} (m = 5) and {:.1e} (m = 0) after 10 iterations, {:.1e} at the "
                    "end; ours {:.1e}, and {:.1e} without history, whose vectors this engine keeps in single precision",
                    least, least_plain, worst_converged, largest_ours, largest_without));
  context.row({{"configuration", "ghost forces"},
               {"warped", least},
               {"warped_plain", least_plain},
               {"at_the_end", worst_converged},
               {"ours_momentum", largest_ours},
               {"ours_without_history", largest_without}});
  context.decide(decision);
}

void run_rotation(Context& context) {
  const bool is_given = !context.text("stretch").empty() && !context.text("density").empty();
  const CubeMaterial material =
      is_given ? CubeMaterial{context.number("ratio"), context.number("stretch"), context.number("density")}
               : fitted_cube(context, static_cast<Index>(context.number("cells")), context.number("ratio"));
  decide_conditions(context, material);
  decide_convergence_of_cube(context, material);
  decide_ghost_forces(context);
}

}  // namespace

Experiment rotation() {
  return {"quasi-newton/rotation",
          "A stretched cube, straight and turned: condition numbers, convergence, ghost forces (figs. 8, 9, Table II)",
          {meshes_option("longbar.mesh"),
           {"cells", "6", "4", "of the cube along an edge, for condition numbers"},
           {"convergence_cells", "10", "6", "and for convergence"},
           {"ratio", "4", "4", "lambda/mu"},
           {"stretch", "", "", "of the cube where it is let go; empty: fitted, with the mass, to two printed numbers"},
           {"density", "", "", "rho/(mu h^2), 1/m^2"},
           {"states", "10", "3", "of the free bar"}},
          run_rotation};
}

}  // namespace pliant::experiments
