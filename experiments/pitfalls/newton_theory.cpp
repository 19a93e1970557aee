// What pitfalls says of Newton's method and its relatives in general (sections 1, 3.2.1, 6 and 8.2): rates near a
// solution, changes of variables, what the length of a step tells, and that added inertia always helps.

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "experiments/measure.hpp"
#include "experiments/pitfalls/statistics.hpp"
#include "experiments/pitfalls/step_lab.hpp"
#include "experiments/pitfalls/trial.hpp"
#include "experiments/random.hpp"

namespace pliant::experiments {

namespace {

constexpr double kTheoryStep = 1.0 / 30;

/// A step as the paper does it, and past its tolerance: once the decrease that Armijo asks about is below rounding,
/// the whole step is taken.
bool iterate_once(StepLab& lab, Direction& direction, Iterate& current) {
  VecX dx;
  if (direction.compute(lab.system(), current, dx) != FactorStatus::ok || !dx.allFinite()) return false;
  const double slope = current.gradient.dot(dx);
  Iterate trial;
  LineSearchResult found;
  if (std::abs(slope) > 1e-9 * std::abs(current.energy))
    found = line_search(lab.potential(), current, {dx, slope, 1}, {.kind = LineSearchKind::robust}, trial);
  if (!found.accepted) {
    trial = lab.at(current.x + dx);
    found.alpha = 1;
  }
  current = std::move(trial);
  direction.after_line_search(found.alpha);
  return std::isfinite(current.energy);
}

std::unique_ptr<Direction> direction_of(const std::string& solver) {
  if (solver == "N") return make_newton_direction();
  if (solver == "PN") return make_projected_direction(Projection::analytic);
  if (solver == "PDN") return make_on_demand_direction(Projection::analytic);
  return make_kinetic_direction();
}

/// The solution of the lab's step, by Newton to rounding; the size of its last step tells how accurate it is.
VecX solve_to_rounding(StepLab& lab, double& rounding) {
  Iterate current = lab.start();
  const auto newton = direction_of("N");
  newton->begin_step();
  double last = 1e300;
  for (int k = 0; k < 200; ++k) {
    const VecX before = current.x;
    if (!iterate_once(lab, *newton, current)) break;
    const double moved = (current.x - before).cwiseAbs().maxCoeff();
    if (moved < 1e-10 && moved >= 0.5 * last) break;
    last = moved;
  }
  rounding = std::max(last, 1e-15);
  return current.x;
}

Index indefinite_elements(const Model& model, const VecX& x) {
  Index count = 0;
  for (const Body& body : model.bodies()) {
    std::vector<Mat3> F(static_cast<std::size_t>(body.elements->element_count()));
    body.elastic->deformation_gradients(x, {0, body.elements->element_count()}, F.data());
    const Material material{body.law, body.lame.front()};
    for (const Mat3& f : F) {
      const double exact = material.hessian(f).trace(), projected = material.hessian(f, Projection::analytic).trace();
      count += projected - exact > 1e-8 * projected;
    }
  }
  return count;
}

/// Sections 1 and 8.2 at single steps late in the twist.
void study_convergence(Context& context, const std::shared_ptr<const Model>& model, const std::vector<State>& states) {
  Decision order("pitfalls/section-1/local-convergence-order"),
      estimates("pitfalls/section-8.2/newton-step-estimates-error");
  StepLab lab(model);
  const auto wanted = static_cast<int>(context.number("studied_steps"));
  int studied = 0, saddles = 0;
  for (std::size_t s = 0; s < states.size() && studied < wanted; ++s) {
    lab.begin(states[s], kTheoryStep);
    double rounding = 0;
    const VecX solution = solve_to_rounding(lab, rounding);
    // Where the matrix at Newton's solution is not definite, that is a saddle, which the other methods leave.
    VecX unused;
    if (!lab.direction(lab.at(solution), Projection::none, unused)) {
      ++saddles;
      continue;
    }
    ++studied;
    const double floor = 100 * rounding * std::sqrt(double(solution.size()));
    for (const std::string& solver : four_solvers()) {
      const auto direction = direction_of(solver);
      direction->begin_step();
      Iterate current = lab.start();
      std::vector<double> errors = {(current.x - solution).norm()};
      for (int k = 0; k < 400 && errors.back() > floor && iterate_once(lab, *direction, current); ++k)
        errors.push_back((current.x - solution).norm());
      while (!errors.empty() && errors.back() <= floor) errors.pop_back();
      context.row(
          {{"study", "errors"}, {"solver", solver}, {"step", s}, {"iterations", errors.size()}, {"error", errors}});
      const std::size_t n = errors.size();
      const double rate =
          n < 3 ? kUnknown : std::log(errors[n - 1] / errors[n - 2]) / std::log(errors[n - 2] / errors[n - 3]);
      const std::string where = fmt::format("{}, step {}", solver, s + 1);
      if (solver == "PN") {
        order.at_most("order of " + where, rate, 1.2);
        order.at_least("factor of " + where, n < 2 ? kUnknown : errors[n - 1] / errors[n - 2], 0.2);
      } else {
        order.at_least("order of " + where, rate, 1.7);
      }
    }
    if (studied != wanted) continue;
    const VecX way = lab.start().x - solution;
    std::vector<double> distances, remainders;
    double ratio = kUnknown, projected_error = kUnknown;
    for (double scale : {1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4}) {
      const Iterate from = lab.at(solution + scale * way);
      const VecX e = solution - from.x;
      VecX exact, projected;
      const bool solved =
          lab.direction(from, Projection::none, exact) && lab.direction(from, Projection::analytic, projected);
      estimates.needs(solved, "a positive definite matrix near the solution");
      if (!solved) break;
      distances.push_back(e.cwiseAbs().maxCoeff());
      remainders.push_back((exact - e).cwiseAbs().maxCoeff());
      ratio = exact.cwiseAbs().maxCoeff() / distances.back();
      projected_error = (projected - e).cwiseAbs().maxCoeff() / distances.back();
      context.row({{"study", "step against error"},
                   {"error_inf", distances.back()},
                   {"newton", remainders.back()},
                   {"projected", projected_error}});
    }
    estimates.between("slope of |du_N - e| over |e|", log_slope(distances, remainders), 1.8, 2.2);
    estimates.at_most("||du_N|/|e| - 1| at the smallest e", std::abs(ratio - 1), 0.01);
    estimates.at_least("|du_PN - e|/|e| at the smallest e", projected_error, 0.2);
    estimates.note("indefinite elements at the solution", indefinite_elements(*model, solution));
  }
  for (Decision* d : {&order, &estimates}) {
    d->needs(studied == wanted, fmt::format("{} steps whose solution is a minimum ({} were)", wanted, studied));
    d->note("steps left out because Newton's solution is a saddle", saddles);
    context.decide(*d);
  }
}

/// Section 3.2.1. The matrix of the elements in the variables y = u / S, projected there or not, back in those of u.
void scaled_matrix(const Model& model, StepLab& lab, const VecX& x, const VecX& S, bool project, BlockMatrix& A) {
  A = lab.matrix(x, Projection::none);
  if (!project) return;
  const Energy& energy = *model.bodies().front().elastic;
  const int n = energy.stencils().size;
  std::vector<double> blocks(static_cast<std::size_t>(local_blocks(n)) * 9);
  for (Index e = 0; e < energy.stencils().count(); ++e) {
    energy.hessians(Pose(x), {e, e + 1}, Projection::none, blocks.data());
    Eigen::MatrixXd H(3 * n, 3 * n);
    VecX scale(3 * n);
    for (int b = 0; b < n; ++b) {
      scale.segment<3>(3 * b) = node(S, energy.stencils()[e][b]);
      for (int a = 0; a <= b; ++a) {
        const Eigen::Map<const Mat3> block(blocks.data() + 9 * (b * (b + 1) / 2 + a));
        H.block<3, 3>(3 * a, 3 * b) = block;
        H.block<3, 3>(3 * b, 3 * a) = block.transpose();
      }
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scale.asDiagonal() * H * scale.asDiagonal());
    const VecX removed = eigen.eigenvalues().cwiseMin(0);
    if (removed.minCoeff() >= 0) continue;
    const Eigen::MatrixXd added = -(eigen.eigenvectors() * removed.asDiagonal() * eigen.eigenvectors().transpose());
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) {
        const Index i = energy.stencils()[e][a], j = energy.stencils()[e][b];
        if (i > j) continue;
        double* block = A.block(A.pattern().find(i, j));
        for (int c = 0; c < 3; ++c)
          for (int r = 0; r < 3; ++r)
            block[3 * c + r] += added(3 * a + r, 3 * b + c) / (scale[3 * a + r] * scale[3 * b + c]);
      }
  }
}

/// Five whole iterations in the variables y with u = S y. The system is that of y: S A S dy = -S g.
std::vector<VecX> iterates_in(const Model& model, StepLab& lab, const VecX& S, bool project) {
  std::vector<VecX> iterates;
  Iterate current = lab.start();
  BlockMatrix A;
  SparseCholesky factor;
  factor.analyze(model.pattern(), 3);
  for (int k = 0; k < 5; ++k) {
    scaled_matrix(model, lab, current.x, S, project, A);
    const BlockPattern& pattern = A.pattern();
    for (Index i = 0; i < pattern.rows(); ++i)
      for (std::int64_t b = pattern.diagonal(i); b < pattern.row_start()[std::size_t(i) + 1]; ++b)
        for (int c = 0; c < 3; ++c)
          for (int r = 0; r < 3; ++r)
            A.block(b)[3 * c + r] *= S[3 * i + r] * S[3 * pattern.columns()[std::size_t(b)] + c];
    VecX dy = -S.cwiseProduct(current.gradient);
    if (factor.factor(A, Factorisation::ldlt) != FactorStatus::ok) break;
    factor.solve(dy);
    current = lab.at(current.x + S.cwiseProduct(dy));
    if (!std::isfinite(current.energy)) break;
    iterates.push_back(current.x);
  }
  return iterates;
}

void study_affine_invariance(Context& context) {
  Decision affine("pitfalls/section-3.2.1/affine-invariance");
  NewtonTrial trial;
  trial.model = twisting_beam_model({.cells = static_cast<int>(context.number("small_cells"))});
  trial.options = elastic_options("N", 0.01);
  trial.h = kTheoryStep;
  trial.steps = 36;  // two fifths of the motion: twisted by pi
  const TrialTotals twisted = run_trial(context, trial, {{"study", "twisted by pi"}}, 0, 0.05);
  needs_completed(affine, {{"the twist by pi", &twisted}});
  StepLab lab(trial.model);
  lab.begin(twisted.last, kTheoryStep);
  Random random(7);
  const VecX one = VecX::Ones(twisted.last.x.size());
  VecX S = one;
  for (Eigen::Index i = 0; i < S.size(); ++i) S[i] = std::pow(10.0, random.symmetric());
  const VecX start = lab.start().x;
  for (const bool project : {false, true}) {
    const std::vector<VecX> in_u = iterates_in(*trial.model, lab, one, project),
                            in_y = iterates_in(*trial.model, lab, S, project);
    const std::size_t count = std::min(in_u.size(), in_y.size());
    affine.needs(count == 5, fmt::format("five whole iterations of {} with finite energy", project ? "PN" : "N"));
    double most = 0, least = 1e300;
    for (std::size_t k = 0; k < count; ++k) {
      const double apart = (in_u[k] - in_y[k]).norm() / (in_u[k] - start).norm();
      most = std::max(most, apart);
      least = std::min(least, apart);
    }
    if (project)
      affine.above("least relative distance of PN's iterates", least, 1e-3);
    else
      affine.at_most("largest relative distance of N's iterates", most, 1e-8);
  }
  const Index indefinite = indefinite_elements(*trial.model, start);
  affine.needs(indefinite > 0, "an indefinite element from the first iteration on");
  affine.note("indefinite elements at the start", indefinite);
  context.decide(affine);
}

double relative_difference(const BlockMatrix& a, const BlockMatrix& b) {
  if (a.values().size() != b.values().size()) return kUnknown;
  double most = 0, scale = 0;
  for (std::size_t k = 0; k < a.values().size(); ++k) {
    most = std::max(most, std::abs(a.values()[k] - b.values()[k]));
    scale = std::max(scale, std::abs(a.values()[k]));
  }
  return most / scale;
}

/// Section 6: the matrix for beta against that of the step beta dt.
void study_smaller_step(Context& context) {
  Decision same("pitfalls/section-6/h-beta-is-smaller-step");
  const int cells = static_cast<int>(context.number("small_cells"));
  ModelBuilder builder;
  builder.set_mass(MassKind::consistent);
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.material = {find_law("neo-hookean"), lame_from_young(1e6, 0.4)};
  body.velocity = {0.5, 0, 0};
  body.mesh = std::make_shared<TetMesh>(box(
      {.origin = {-1, 5e-4, -0.5}, .size = {2, 1, 1}, .cells = {2 * cells, cells, cells}, .split = BoxSplit::twelve}));
  builder.add_body(body);
  Collider floor;
  floor.name = "floor";
  floor.shape = PlaneShape{};
  builder.add_collider(floor);
  builder.set_contact({.dhat = 1e-3, .kappa = 1e5, .friction = 0.5, .eps_v = 1e-3});
  const auto sliding = builder.build();
  const auto beam = swinging_beam_model(cells);
  // Friction depends on the step where it sticks: slower than eps_v, also over the smallest of the steps.
  constexpr double kSticking = 0.3 * 1e-3 * kTheoryStep / 16;
  Random random(3);
  for (const auto& model : {beam, sliding}) {
    const bool friction = model == sliding;
    State state = model->rest_state();
    VecX x = state.x;
    for (Eigen::Index i = 0; i < x.size(); ++i)
      x[i] += friction ? (i % 3 == 0 ? kSticking : 0) : 0.02 * random.symmetric();
    StepLab whole(model), smaller(model);
    whole.begin(state, kTheoryStep);
    double most = 0, least_friction = 1e300;
    for (const double beta : {1.0, 0.5, 1.0 / 16}) {
      smaller.begin(state, beta * kTheoryStep);
      whole.potential().gradient(x, state.v);
      smaller.potential().gradient(x, state.v);
      state.v = model->rest_state().v;
      const double apart = relative_difference(whole.matrix(x, Projection::none, 1 / (beta * beta)),
                                               smaller.matrix(x, Projection::none));
      most = std::max(most, apart);
      if (beta < 1) least_friction = std::min(least_friction, apart);
    }
    if (!friction) same.at_most("largest relative difference without dissipation", most, 1e-14);
    if (friction) {
      same.needs(whole.potential().contact()->has_friction(), "friction at the sliding block");
      same.above("least relative difference with friction, beta below 1", least_friction, 1e-8);
    }
  }
  context.decide(same);
}

/// Section 6: indefinite states that Newton meets at the large step, each regularised by halving beta.
void study_definiteness(Context& context) {
  constexpr int kStates = 100, kMostHalvings = 40;
  constexpr double kLargeStep = 1.0 / 3;
  Decision definite("pitfalls/section-6/always-becomes-definite");
  NewtonTrial trial;
  trial.model = twisting_beam_model({.cells = static_cast<int>(context.number("cells"))});
  trial.options = elastic_options("N", 0.01);
  trial.h = kLargeStep;
  trial.steps = 9;
  StepLab lab(trial.model);
  State begin = trial.model->rest_state();
  lab.begin(begin, kLargeStep);
  SparseCholesky mass;
  BlockMatrix M(trial.model->pattern(), 3);
  trial.model->mass().add_to(M, 1);
  mass.analyze(trial.model->pattern(), 3);
  mass.factor(M);
  int states = 0, succeeded = 0, descending = 0, most_halvings = 0;
  double largest_angle = 0;
  trial.observer = [&](const Direction& direction, const Iterate& from, const VecX&, const LineSearchResult&) {
    if (!direction.met_indefinite() || states >= kStates) return;
    ++states;
    VecX dx, gradient_step = -from.gradient;
    mass.solve(gradient_step);
    int halvings = 1;
    bool solved = false;
    for (; halvings <= kMostHalvings; ++halvings)
      if ((solved = lab.direction(from, Projection::none, dx, std::pow(4.0, halvings)))) break;
    succeeded += solved;
    descending += solved && from.gradient.dot(dx) < 0;
    most_halvings = std::max(most_halvings, halvings);
    if (lab.direction(from, Projection::none, dx, std::pow(4.0, 30)))
      largest_angle =
          std::max(largest_angle, std::acos(std::min(1.0, dx.dot(gradient_step) / (dx.norm() * gradient_step.norm()))));
    else
      largest_angle = kUnknown;
  };
  trial.watch = [&](const State& state, const StepReport&) { lab.begin(state, kLargeStep); };
  const TrialTotals newton = run_trial(context, trial, {{"study", "indefinite states"}}, 0.2, 0.35);
  needs_completed(definite, {{"N at the large step", &newton}});
  definite.note("most halvings", most_halvings).note("iterations of N", newton.iterations);
  definite.part("indefinite states met", states, "at least 100", states >= kStates);
  if (states < kStates) {
    context.decide(definite.because(
        fmt::format("Cholesky fails at {} of the {} iterates of N: with the motion chosen here the large steps are not "
                    "hard for it",
                    states, newton.iterations)));
    return;
  }
  trial.observer = nullptr;
  trial.watch = nullptr;
  trial.options = elastic_options("KN", 0.01);
  const TrialTotals kinetic = run_trial(context, trial, {{"study", "indefinite states"}}, 0.35, 0.4);
  definite.equal("of them made definite by 40 halvings or fewer", succeeded, states);
  definite.equal("of them with a descent direction", descending, states);
  definite.at_most("largest angle to the mass-preconditioned gradient at beta 2^-30, degrees",
                   largest_angle * 180 / std::numbers::pi, 1);
  definite.equal("projected assemblies of KN", kinetic.projected_iterations, 0);
  context.decide(definite);
}

/// Section 8.2: lengths of projected against exact steps at PN's iterates, and what the step-length criterion accepts.
void study_lengths(Context& context) {
  Decision shorter("pitfalls/section-8.2/pn-steps-shorter");
  const auto every = static_cast<int>(context.number("every"));
  int scenes_met = 0;
  double on_twist = kUnknown;
  for (const bool twist : {true, false}) {
    if (context.stopped() || shorter.verdict() == Verdict::fails) break;  // what PN accepts is judged on the twist
    const auto cells = static_cast<int>(context.number(twist ? "cells" : "swing_cells"));
    NewtonTrial trial;
    trial.model = twist ? twisting_beam_model({.cells = cells}) : swinging_beam_model(cells);
    trial.h = twist ? kTheoryStep : 1.0 / 60;
    trial.steps = static_cast<int>(context.number(twist ? "twist_steps" : "swing_steps"));
    trial.options = elastic_options("PN", 0.01);
    StepLab lab(trial.model);
    lab.begin(trial.model->rest_state(), trial.h);
    std::vector<double> ratios;
    int number = 0;
    trial.observer = [&](const Direction&, const Iterate& from, const VecX& dx, const LineSearchResult&) {
      VecX exact;
      if (number++ % every == 0 && lab.direction(from, Projection::none, exact))
        ratios.push_back(dx.cwiseAbs().maxCoeff() / exact.cwiseAbs().maxCoeff());
    };
    trial.watch = [&](const State& state, const StepReport&) { lab.begin(state, trial.h); };
    const std::string scene = twist ? "twisting beam" : "swinging beam";
    const TrialTotals totals =
        run_trial(context, trial, {{"study", "lengths, " + scene}}, twist ? 0.4 : 0.7, twist ? 0.6 : 1);
    needs_completed(shorter, {{"PN on the " + scene, &totals}});
    const double middle = median(ratios);
    shorter.note("median |du_PN|/|du_N|, " + scene, middle).note("steps compared, " + scene, ratios.size());
    scenes_met += middle <= 0.7;
    if (!twist) continue;
    on_twist = middle;
    std::map<std::string, std::vector<double>> accepted;
    for (const char* solver : {"N", "PN"}) {
      NewtonTrial by_length = trial;
      by_length.options = contact_options(solver, 1e-2);
      by_length.observer = nullptr;
      by_length.watch = [&](const State&, const StepReport& report) {
        accepted[solver].push_back(report.residuals.acceleration);
      };
      const TrialTotals t = run_trial(context, by_length, {{"study", "accepted by step length"}}, 0.6, 0.7);
      needs_completed(shorter, {{fmt::format("{} with the step-length criterion", solver), &t}});
    }
    shorter.at_least("median acceleration that PN accepts over N's", median(accepted["PN"]) / median(accepted["N"]),
                     10);
  }
  if (shorter.verdict() == Verdict::fails) {
    context.decide(shorter.because(fmt::format(
        "on the twisting beam, where PN's steps are {:.2g} of N's in the median; other scenes cannot change "
        "that",
        on_twist)));
    return;
  }
  shorter.part("scenes with a median of at most 0.7", scenes_met, "at least 2 of 3", scenes_met >= 2);
  if (scenes_met == 1) shorter.needs(false, "the slingshot, on which the second scene then depends");
  context.decide(shorter);
}

/// Single steps from states late in the twist.
void study_single_steps(Context& context) {
  NewtonTrial trial;
  trial.model = twisting_beam_model({.cells = static_cast<int>(context.number("cells"))});
  trial.options = elastic_options("N", 0.01);
  trial.h = kTheoryStep;
  const std::vector<int> numbers = context.integers("steps");
  trial.steps = numbers.back();
  std::vector<State> states;
  trial.watch = [&](const State& state, const StepReport&) {
    if (std::find(numbers.begin(), numbers.end(), static_cast<int>(state.step)) != numbers.end())
      states.push_back(state);
  };
  run_trial(context, trial, {{"study", "states late in the twist"}}, 0.05, 0.15);
  if (!context.stopped()) study_convergence(context, trial.model, states);
}

/// From the quickest to the longest.
void run_newton_theory(Context& context) {
  if (context.wants({"pitfalls/section-3.2.1/affine-invariance"})) study_affine_invariance(context);
  if (context.wants({"pitfalls/section-6/h-beta-is-smaller-step"})) study_smaller_step(context);
  context.decide(Decision("pitfalls/section-8.2/near-singular-small-step")
                     .leave_undecided("a search for such a state: the paper describes none"));
  if (context.wants({"pitfalls/section-6/always-becomes-definite"})) study_definiteness(context);
  if (context.stopped()) return;
  if (context.wants({"pitfalls/section-1/local-convergence-order", "pitfalls/section-8.2/newton-step-estimates-error"}))
    study_single_steps(context);
  if (context.stopped()) return;
  if (context.wants({"pitfalls/section-8.2/pn-steps-shorter"})) study_lengths(context);
}

}  // namespace

Experiment newton_theory() {
  return {
      "pitfalls/newton-theory",
      "Newton beside its projected forms near a solution: rates, invariance, length of steps (sections 1, 3, 5, 6, 8)",
      {{"cells", "16", "8", "cells across the twisting beam"},
       {"steps", "60,63,66,69,72,75,78,81,84,87", "62,66,70,74,78,84",
        "steps of 1/30 s after which the next one may be studied"},
       {"studied_steps", "5", "3", "how many of these, where Newton's solution is a minimum"},
       {"small_cells", "4", "4", "cells across where the size does not matter"},
       {"swing_cells", "24", "8", "cells across the swinging beam"},
       {"twist_steps", "90", "90", "steps of 1/30 s in which lengths are compared"},
       {"swing_steps", "360", "90", "steps of 1/60 s likewise"},
       {"every", "1", "5", "lengths are compared in every so many iterations"}},
      run_newton_theory};
}

}  // namespace pliant::experiments
