// What a convergence criterion promises (pitfalls, section 8): residuals that a large body loosens for a small one,
// steps that hide a wrong Hessian, boundaries that are not met, and the mass matrix.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/pitfalls/statistics.hpp"
#include "experiments/pitfalls/step_lab.hpp"
#include "experiments/pitfalls/trial.hpp"
#include "experiments/random.hpp"

namespace pliant::experiments {

namespace {

/// Section 8.1: A alone, and beside B with a million times its mass, at rest on nothing: both fall, B without strain.
void decide_non_local(Context& context) {
  constexpr double kStep = 1.0 / 60;
  Decision local("pitfalls/section-8.1/non-local-residual");
  const auto cells = static_cast<Index>(context.number("two_boxes_cells"));
  const auto model_of = [&](bool with_b) {
    ModelBuilder builder;
    builder.set_mass(MassKind::consistent);
    builder.set_gravity({0, -9.81, 0});
    for (const bool big : {false, true}) {
      if (big && !with_b) continue;
      BodyOptions body;
      body.name = big ? "B" : "A";
      body.mesh = std::make_shared<TetMesh>(box({.origin = {big ? 10.0 : 0, 0, 0},
                                                 .size = Vec3::Constant(big ? 10 : 0.1),
                                                 .cells = {cells, cells, cells},
                                                 .split = BoxSplit::twelve}));
      body.material = {find_law("neo-hookean"), lame_from_young(1e5, 0.4)};
      builder.add_body(body);
    }
    return builder.build();
  };
  struct Result {
    double acceleration, step;
    int iterations;
  };
  const auto run = [&](bool with_b, Criterion kind, double tolerance) {
    const auto model = model_of(with_b);
    NewtonOptions options = elastic_options("N", tolerance);
    options.criterion = {kind, tolerance, AccelerationMass::factorised};
    double last_step = 0;
    const Range a = model->bodies()[0].nodes;
    options.observer = [&](const Direction&, const Iterate&, const VecX& dx, const LineSearchResult&) {
      last_step = dx.segment(3 * a.begin, 3 * (a.end - a.begin)).cwiseAbs().maxCoeff();
    };
    NewtonStepper stepper(model, options);
    State state = model->rest_state();
    for (Index i = a.begin; i < a.end; ++i) node(state.x, i).x() *= 1.4;
    // B falls as if it had fallen before: in balance with its weight from the first iteration on.
    const StepReport report = stepper.step(state, kStep);
    local.needs(report.converged(), "a step that converges");
    ConvergenceTest test(model, {Criterion::acceleration, 1, AccelerationMass::factorised});
    VecX r = stepper.unbalanced_forces();
    if (with_b) r.tail(r.size() - 3 * a.end).setZero();
    StepLab lab(model);
    lab.begin(model->rest_state(), kStep);
    Residuals residuals;
    test.measure(r, lab.potential().problem().boundary, residuals);
    return Result{residuals.acceleration, last_step, report.iterations};
  };
  constexpr double kReference = 1e-4, kAcceleration = 0.01, kLength = 1e-4;
  const Result alone = run(false, Criterion::reference_force, kReference),
               beside = run(true, Criterion::reference_force, kReference);
  local.at_least("A's acceleration accepted by the reference force, with B over without",
                 beside.acceleration / alone.acceleration, 100);
  local.below("A's iterations with B", beside.iterations, alone.iterations);
  local.note("A's acceleration with B, m/s^2", beside.acceleration).note("without", alone.acceleration);
  for (const bool with_b : {false, true}) {
    const std::string where = with_b ? ", with B" : ", alone";
    local.at_most("A's acceleration by the acceleration criterion" + where,
                  run(with_b, Criterion::acceleration, kAcceleration).acceleration, kAcceleration);
    local.at_most("A's last step by the step-length criterion, m" + where,
                  run(with_b, Criterion::step_length, kLength).step, kStep * kLength);
  }
  context.decide(local);
}

/// Section 8.1: one step of a clamped beam at E and 1000 E, PN to acceptance.
void decide_stiffness(Context& context) {
  constexpr double kStep = 1.0 / 60;
  Decision stiffness("pitfalls/section-8.1/stiffness-and-criteria");
  const auto cells = static_cast<Index>(context.number("small_cells"));
  const auto model_of = [&](double young) {
    ModelBuilder builder;
    builder.set_gravity({0, -9.81, 0});
    builder.set_mass(MassKind::consistent);
    BodyOptions body;
    body.mesh = std::make_shared<TetMesh>(
        box({.size = {2, 1, 1}, .cells = {2 * cells, cells, cells}, .split = BoxSplit::twelve}));
    body.material = {find_law("neo-hookean"), lame_from_young(young, 0.4)};
    builder.add_body(body);
    builder.add_pin({"clamp", body.mesh->sets().at("x-min")});
    return builder.build();
  };
  const auto error = [&](double young, Criterion kind, double tolerance) {
    const auto model = model_of(young);
    State begin = model->rest_state();
    // Strongly bent, and the same for both: a step from here has indefinite elements, in which PN is slow.
    for (Index i = 0; i < model->nodes(); ++i) {
      const double x = node(begin.x, i).x();
      node(begin.x, i).y() -= 0.25 * x * x;
    }
    State exact = begin, state = begin;
    NewtonStepper reference(model, elastic_options("N", 1e-9)), stepper(model, [&] {
      NewtonOptions options = elastic_options("PN", tolerance);
      options.criterion = {kind, tolerance};
      return options;
    }());
    const StepReport solved = reference.step(exact, kStep), accepted = stepper.step(state, kStep);
    stiffness.needs(
        solved.succeeded() && accepted.converged(),
        fmt::format("steps that converge (N {}, PN {})", to_string(solved.outcome), to_string(accepted.outcome)));
    stiffness.note(fmt::format("PN's iterations, E {:.0e}, {}", young,
                               kind == Criterion::characteristic ? "characteristic" : "reference force"),
                   accepted.iterations);
    return (state.x - exact.x).cwiseAbs().maxCoeff();
  };
  constexpr double kYoung = 4e5, kTolerance = 1e-4;
  const double characteristic[2] = {error(kYoung, Criterion::characteristic, kTolerance),
                                    error(1e3 * kYoung, Criterion::characteristic, kTolerance)};
  const double force[2] = {error(kYoung, Criterion::reference_force, kTolerance),
                           error(1e3 * kYoung, Criterion::reference_force, kTolerance)};
  stiffness.at_least("error at E over that at 1000 E, reference force", force[0] / force[1], 100);
  stiffness.below("larger over smaller error, characteristic",
                  std::max(characteristic[0] / characteristic[1], characteristic[1] / characteristic[0]), 10);
  for (int k : {0, 1}) {
    stiffness.note(fmt::format("error, characteristic, {} E, m", k == 0 ? 1 : 1000), characteristic[k]);
    stiffness.note(fmt::format("error, reference force, {} E, m", k == 0 ? 1 : 1000), force[k]);
  }
  if (stiffness.verdict() == Verdict::fails)
    stiffness.because(
        fmt::format("errors of the characteristic scaling {:.2g} and {:.2g} m, of the reference force {:.2g} and "
                    "{:.2g} m: iterations end at whole steps, below the tolerance by chance",
                    characteristic[0], characteristic[1], force[0], force[1]));
  context.decide(stiffness);
}

/// The stiffness of every element taken a hundred times too large: a bug, for the test of criteria alone.
class WrongHessian final : public ChangedFunction {
 public:
  using ChangedFunction::ChangedFunction;
  void hessian(const VecX& x, Projection projection, double inertia_scale, BlockMatrix& A, Drive* drive) override {
    potential_.hessian(x, projection, inertia_scale / 100, A, drive);
    for (double& value : A.values()) value *= 100;
  }
};

/// Section 8.2.
void decide_hidden_bugs(Context& context) {
  constexpr double kStep = 1.0 / 60;
  Decision hides("pitfalls/section-8.2/step-length-hides-bugs");
  const auto model = swinging_beam_model(static_cast<int>(context.number("small_cells")));
  const int steps = static_cast<int>(context.number("bug_steps"));
  struct Result {
    int converged = 0, rough = 0, slow = 0;
  };
  const auto run = [&](auto& stepper) {
    Result result;
    State state = model->rest_state();
    ConvergenceTest test(model, {Criterion::acceleration, 1, AccelerationMass::factorised});
    for (int s = 0; s < steps; ++s) {
      const StepReport report = stepper.step(state, kStep);
      VecX g;
      stepper.potential().gradient(state.x, g);
      Residuals residuals;
      test.measure(g, stepper.potential().problem().boundary, residuals);
      result.converged += report.converged();
      result.rough += report.converged() && residuals.acceleration > 1;
      result.slow += !report.converged() || report.iterations > 20;
    }
    return result;
  };
  const auto by = [&](bool wrong, bool length) {
    NewtonOptions options = length ? contact_options("N", 1e-2) : elastic_options("N", 0.01);
    options.max_iterations = length ? 1000 : 20;
    if (!wrong) {
      ChangedStepper<ChangedFunction> stepper(model, options);
      return run(stepper);
    }
    ChangedStepper<WrongHessian> stepper(model, options);
    return run(stepper);
  };
  const Result length = by(true, true), acceleration = by(true, false);
  hides.equal("steps that the step length accepts, with the fault", length.converged, steps);
  hides.at_least("share of them with more than 1 m/s^2 left", double(length.rough) / steps, 0.5);
  hides.at_least("share of steps not converged by acceleration in 20 iterations", double(acceleration.slow) / steps,
                 0.5);
  hides.equal("steps that converge by length without the fault", by(false, true).converged, steps);
  hides.equal("steps that converge by acceleration without the fault", by(false, false).converged, steps);
  if (hides.verdict() == Verdict::fails)
    hides.because(
        fmt::format("with the fault, {} of {} steps are accepted by length, {} of them with more than 1 m/s^2 left; {} "
                    "are slow by acceleration",
                    length.converged, steps, length.rough, acceleration.slow));
  context.decide(hides);
}

/// Section 8.3: how far driven nodes are from where they belong, as the tolerance grows.
void decide_boundaries_of(Context& context) {
  Decision breaks("pitfalls/section-8.3/coarser-breaks-boundaries");
  const int cells = static_cast<int>(context.number("cells"));
  double worst_coarser = 0, at_one = kUnknown;
  // The coarsest right after the finest: the first part fails there, the second is most likely met by it.
  for (double eps_a : {1.0, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 10.0}) {
    NewtonTrial trial;
    trial.model = twisting_beam_model({.cells = cells});
    trial.options = elastic_options("PDN", eps_a);
    trial.h = 1.0 / 30;
    trial.steps = 90;
    double most = 0;
    trial.watch = [&](const State& state, const StepReport&) {
      most = std::max(most, largest_violation(*trial.model, state));
    };
    const TrialTotals t = run_trial(context, trial, {{"study", "boundaries"}}, 0.6, 0.8);
    const double share = most / 2;
    breaks.note(fmt::format("largest violation at eps_a {:.0e}, in lengths ({} steps)", eps_a, t.steps), share);
    if (eps_a == 1) {
      at_one = share;
      needs_completed(breaks, {{"PDN at eps_a 1", &t}});
      breaks.at_most("largest violation at eps_a 1, in lengths", share, 1e-4);
    } else {
      worst_coarser = std::max(worst_coarser, share);
    }
    if (context.stopped()) return;
    if (breaks.verdict() == Verdict::fails) break;  // coarser ones can only break it, too
  }
  if (breaks.verdict() == Verdict::fails) {
    breaks.awaits(false, "coarser tolerances");
    breaks.because(fmt::format(
        "at eps_a 1 the driven nodes are {:.2g} lengths away: that is the balance of the penalty with the stress in "
        "the beam, not the tolerance",
        at_one));
  } else {
    breaks.above("largest violation at coarser tolerances, in lengths", worst_coarser, 1e-2);
    if (breaks.verdict() == Verdict::fails)
      breaks.because(fmt::format("at coarser tolerances it is at most {:.2g}, since every step takes an iteration",
                                 worst_coarser));
  }
  context.decide(breaks);
}

/// Section 8.3: diag(M) in place of M, over element orders.
void decide_diagonal(Context& context) {
  Decision diagonal("pitfalls/section-8.3/diagonal-mass");
  const std::vector<int> cells = context.integers("order_cells");
  std::vector<double> differences;
  double excess = -1e300;
  for (int order : {1, 2, 3}) {
    const auto model = swinging_beam_model(cells.at(std::size_t(order - 1)), order);
    ConvergenceTest exact(model, {Criterion::acceleration, 1, AccelerationMass::factorised}),
        cheap(model, {Criterion::acceleration, 1, AccelerationMass::diagonal});
    StepLab lab(model);
    lab.begin(model->rest_state(), 1.0 / 60);
    SparseCholesky mass;
    BlockMatrix M(model->pattern(), 3);
    model->mass().add_to(M, 1);
    M.eliminate(lab.potential().problem().boundary.fixed);
    mass.analyze(model->pattern(), 3);
    mass.factor(M);
    std::map<std::pair<std::string, AccelerationMass>, int> totals;
    std::vector<double> logs;
    Random random(11);
    for (const char* solver : {"N", "PN"})
      for (const auto kind : {AccelerationMass::factorised, AccelerationMass::diagonal}) {
        if (order > 1 && (kind == AccelerationMass::diagonal || solver[0] == 'P')) continue;
        NewtonTrial trial;
        trial.model = model;
        trial.options = elastic_options(solver, 0.01);
        trial.options.criterion.mass = kind;
        trial.steps = static_cast<int>(context.number("mass_steps"));
        if (kind == AccelerationMass::factorised)
          trial.observer = [&](const Direction&, const Iterate& from, const VecX&, const LineSearchResult&) {
            Residuals a, b;
            exact.measure(from.gradient, lab.potential().problem().boundary, a);
            cheap.measure(from.gradient, lab.potential().problem().boundary, b);
            logs.push_back(std::abs(std::log(b.acceleration / a.acceleration)));
            if (order > 1) return;
            // At order 1 the field is linear in every element: 1000 points in random ones.
            VecX field = from.gradient;
            mass.solve(field);
            const FeMesh& mesh = *model->bodies().front().elements;
            const double nodal = field.cwiseAbs().maxCoeff();
            for (int p = 0; p < 1000; ++p) {
              const auto e = static_cast<Index>(random.unit() * mesh.element_count());
              double weights[4], sum = 0;
              for (double& w : weights) sum += w = -std::log(1 - random.unit());
              Vec3 value = Vec3::Zero();
              for (int c = 0; c < 4; ++c)
                value += weights[c] / sum * node(field, mesh.elements()[std::size_t(4 * e + c)]);
              excess = std::max(excess, value.cwiseAbs().maxCoeff() / nodal - 1);
            }
          };
        const TrialTotals t =
            run_trial(context, trial,
                      {{"study", kind == AccelerationMass::diagonal ? "diag(M)" : "M"}, {"order", order}}, 0.8, 1);
        needs_completed(diagonal, {{fmt::format("{} at P{}", solver, order), &t}});
        totals[{solver, kind}] = t.iterations;
      }
    if (order == 1)
      for (const char* solver : {"N", "PN"})
        diagonal.at_most(fmt::format("change of {}'s iterations by diag(M), P1", solver),
                         std::abs(double(totals[{solver, AccelerationMass::diagonal}]) /
                                      totals[{solver, AccelerationMass::factorised}] -
                                  1),
                         0.05);
    differences.push_back(mean(logs));
  }
  diagonal.at_most("mean |log| of the two residuals' ratio, P1", differences[0],
                   std::min(std::log(2.0), differences[1]));
  diagonal.at_most("mean |log|, P2", differences[1], differences[2]);
  diagonal.at_most("excess of the field inside elements over nodes, P1", excess, 0);
  diagonal.note("mean |log|, P3", differences[2]);
  context.decide(diagonal);
}

void run_criteria(Context& context) {
  if (context.wants({"pitfalls/section-8.1/non-local-residual"})) decide_non_local(context);
  if (context.wants({"pitfalls/section-8.1/stiffness-and-criteria"})) decide_stiffness(context);
  if (context.wants({"pitfalls/section-8.2/step-length-hides-bugs"})) decide_hidden_bugs(context);
  if (context.wants({"pitfalls/section-8.3/coarser-breaks-boundaries"})) decide_boundaries_of(context);
  if (context.stopped()) return;
  if (context.wants({"pitfalls/section-8.3/diagonal-mass"})) decide_diagonal(context);
}

}  // namespace

Experiment criteria() {
  return {"pitfalls/criteria",
          "What a convergence criterion promises: residuals, step lengths, masses (section 8)",
          {{"cells", "16", "8", "cells across the beams"},
           {"two_boxes_cells", "6", "6", "cells along the edges of the two boxes"},
           {"small_cells", "4", "4", "cells across where the size does not matter"},
           {"bug_steps", "60", "60", "steps with a wrong Hessian"},
           {"order_cells", "24,12,8", "6,3,2", "cells across at orders 1, 2 and 3: as many nodes"},
           {"mass_steps", "60", "30", "steps in which the mass matrices are compared"}},
          run_criteria};
}

}  // namespace pliant::experiments
