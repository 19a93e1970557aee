// Fig. 4 of pxpbd: a bar of muscle, held at both ends, sags under its weight; after two seconds its fibres contract.
// FP-PXPBD with four sweeps a frame of four steps, beside Newton.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "experiments/measure.hpp"
#include "experiments/pxpbd/pxpbd.hpp"
#include "experiments/pxpbd/sweeps.hpp"
#include "pliant/energies/assembler.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

constexpr double kMuscleStep = 1.0 / 120;

struct MuscleBar {
  std::shared_ptr<const Model> model;
  Index middle = 0;
  double length = 0;
};

MuscleBar muscle_bar(Index cells, double edge, double stress, Keyframes<double> activation, bool fibres) {
  MuscleBar bar;
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const Index muscle = builder.add_muscle({"muscle", std::move(activation)});
  BodyOptions body = pxpbd_box({4 * cells, cells, cells}, edge, "fixed-corotated", 1e4);
  if (fibres) body.fibres = {{find_fibre_law("muscle"), {{stress, 1.4, 0}}, {Vec3::UnitX()}, muscle}};
  builder.add_body(body);
  std::vector<Index> ends = body.mesh->sets().at("x-min");
  ends.insert(ends.end(), body.mesh->sets().at("x-max").begin(), body.mesh->sets().at("x-max").end());
  builder.add_pin({"walls", ends});
  bar.model = builder.build();
  bar.length = 4 * static_cast<double>(cells) * edge;
  const Vec3 target(0.5 * bar.length, 0, 0.125 * bar.length);
  for (Index i = 0; i < bar.model->nodes(); ++i)
    if ((node(bar.model->rest(), i) - target).norm() < (node(bar.model->rest(), bar.middle) - target).norm())
      bar.middle = i;
  return bar;
}

/// Height of the middle after every step, over the length.
std::vector<double> heights_of(Context& context, const MuscleBar& bar, const std::string& solver,
                               const ParameterMap& parameters, double seconds) {
  const auto stepper = make_stepper(bar.model, solver, parameters);
  State state = bar.model->rest_state();
  std::vector<double> heights;
  const double rest = node(state.x, bar.middle).y();
  const int steps = static_cast<int>(std::lround(seconds / kMuscleStep));
  for (int s = 0; s < steps && !context.stopped(); ++s) {
    context.progress(static_cast<double>(s) / steps, solver);
    if (!stepper->step(state, kMuscleStep).advanced() || !state.x.allFinite()) break;
    if ((state.x - bar.model->rest()).cwiseAbs().maxCoeff() > 2 * bar.length) break;
    heights.push_back((node(state.x, bar.middle).y() - rest) / bar.length);
  }
  return heights;
}

void decide_motion(Context& context, Index cells, double edge, double stress) {
  Decision decision("pxpbd/fig-4/sags-and-contracts");
  const MuscleBar bar = muscle_bar(cells, edge, stress, {{{0, 0.0}, {2, 0.0}, {2.5, 1.0}}}, true),
                  idle = muscle_bar(cells, edge, stress, {{{0, 0.0}}}, true);
  const ParameterMap sweeps = sweeps_alone({{"iterations", std::int64_t{1}}}),
                     newton = {{"criterion", "acceleration"}, {"tolerance", 1e-2}};
  const auto fp = heights_of(context, bar, "fp-pxpbd", sweeps, 2.9),
             without = heights_of(context, idle, "fp-pxpbd", sweeps, 2.9),
             exact = heights_of(context, bar, "pod-newton", newton, 2.9);
  if (context.stopped()) return;
  const auto at = [](const std::vector<double>& h, double t) {
    const auto s = static_cast<std::size_t>(std::lround(t / kMuscleStep)) - 1;
    return s < h.size() ? h[s] : std::numeric_limits<double>::quiet_NaN();
  };
  const double kappa = largest_kappa_of(muscle_bar(cells, edge, stress, {}, false).model, kMuscleStep);
  for (const auto& [label, h] : {std::pair{"FP-PXPBD", fp}, std::pair{"Newton", exact}}) {
    decision.below(fmt::format("{}: height at 1.2 s over the length", label), at(h, 1.2), -0.02)
        .at_least(fmt::format("{}: rise from 2 s to 2.9 s over the sag at 2 s", label),
                  (at(h, 2.9) - at(h, 2)) / -at(h, 2), 0.5);
    context.row({{"method", label}, {"height_1.2s", at(h, 1.2)}, {"height_2s", at(h, 2)}, {"height_2.9s", at(h, 2.9)}});
  }
  decision
      .at_most("without activation: rise from 2 s to 2.9 s over the sag at 2 s",
               (at(without, 2.9) - at(without, 2)) / -at(without, 2), 0)
      .at_most("difference of the heights at 2.9 s over Newton's sag at 2 s",
               std::abs(at(fp, 2.9) - at(exact, 2.9)) / -at(exact, 2), 0.2)
      .note("kappa", kappa);
  if (decision.verdict() == Verdict::fails)
    decision.because(
        fmt::format("heights over the length at 1.2, 2 and 2.9 s: FP-PXPBD {:.3f}, {:.3f}, {:.3f}, Newton {:.3f}, "
                    "{:.3f}, {:.3f}, at kappa {:.2g}",
                    at(fp, 1.2), at(fp, 2), at(fp, 2.9), at(exact, 1.2), at(exact, 2), at(exact, 2.9), kappa));
  context.decide(decision);
}

/// By which the bar pulls at the wall on its right, N.
double tension_of(const Model& model, const VecX& x, double activation) {
  Assembler assembler(model.nodes(), {model.energies().begin(), model.energies().end()});
  VecX g = VecX::Zero(x.size());
  assembler.add_gradient({x, std::span(&activation, 1)}, g);
  const double end = model.rest()(Eigen::seq(0, Eigen::last, 3)).maxCoeff();
  double sum = 0;
  for (Index i = 0; i < model.nodes(); ++i)
    if (node(model.rest(), i).x() > end - 1e-9) sum += node(g, i).x();
  return sum;
}

void decide_levels(Context& context, Index cells, double edge, double stress) {
  Decision decision("pxpbd/fig-4/activation-level");
  double last = -1e300, last_tension = -1e300, worst = 0;
  Json heights = Json::array(), tensions = Json::array();
  for (double level : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    if (context.stopped()) return;
    const MuscleBar bar = muscle_bar(cells, edge, stress, {{{0, level}}}, true);
    State truth = bar.model->rest_state(), state = truth;
    const StepReport found = make_stepper(bar.model, "pod-newton",
                                          {{"integrator", "quasistatic"},
                                           {"criterion", "residual"},
                                           {"tolerance", 1e-6},
                                           {"max_iterations", std::int64_t{300}}})
                                 ->step(truth, 1);
    decision.needs(found.succeeded(), fmt::format("Newton finds the equilibrium at activation {:g}", level));
    make_stepper(
        bar.model, "fp-pxpbd",
        sweeps_alone({{"integrator", "quasistatic"}, {"iterations", std::int64_t{20}}, {"rounds", std::int64_t{200}}}))
        ->step(state, 0.05);
    const double height = (node(truth.x, bar.middle).y() - node(bar.model->rest(), bar.middle).y()) / bar.length;
    worst = std::max(worst, (state.x - truth.x).norm() / (truth.x - bar.model->rest()).norm());
    const double tension = tension_of(*bar.model, truth.x, level);
    heights.push_back(height);
    tensions.push_back(tension);
    if (level > 0)
      decision.above(fmt::format("height at activation {:g} over the length", level), height, last)
          .above(fmt::format("tension at activation {:g}, N", level), tension, last_tension);
    last = height;
    last_tension = tension;
  }
  decision.at_most("FP-PXPBD at convergence: distance to Newton over the displacement", worst, 0.01)
      .note("heights over the length", heights)
      .note("tensions at the clamps, N", tensions);
  if (decision.verdict() == Verdict::fails)
    decision.because(
        fmt::format("FP-PXPBD is {:.2g} of the displacement from Newton after 200 rounds of 20 sweeps", worst));
  context.decide(decision);
}

void decide_time(Context& context, Index cells, double edge, double stress) {
  Decision decision("pxpbd/table-1/muscle-row");
  const OneThread one;
  double ms[2];
  for (bool fibres : {true, false}) {
    const MuscleBar bar = muscle_bar(cells, edge, stress, {{{0, 1.0}}}, fibres);
    const auto few = make_stepper(bar.model, "fp-pxpbd", sweeps_alone({{"iterations", std::int64_t{2}}})),
               many = make_stepper(bar.model, "fp-pxpbd", sweeps_alone({{"iterations", std::int64_t{12}}}));
    std::vector<double> all;
    for (int k = 0; k < 8; ++k) {
      const auto seconds = [&](Stepper& stepper) {
        State state = bar.model->rest_state();
        const ProcessorTime clock;
        stepper.step(state, kMuscleStep);
        return clock.seconds();
      };
      const double difference = seconds(*many) - seconds(*few);
      if (k > 0) all.push_back(100 * difference);
    }
    ms[fibres ? 0 : 1] = median(all);
  }
  decision.at_most("sweep with fibres over one without", ms[0] / ms[1], 7)
      .note("ms a sweep, with and without", Json::array({ms[0], ms[1]}));
  if (decision.verdict() == Verdict::fails)
    decision.because(fmt::format("{:.2f} ms with fibres, by 9 x 9 systems, {:.2f} ms without, by the rank-one formula",
                                 ms[0], ms[1]));
  context.row({{"method", "sweep"}, {"ms_fibres", ms[0]}, {"ms_plain", ms[1]}});
  context.decide(decision);
}

void run_muscle_box(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  const double edge = edge_for_kappa(context.number("kappa"), 1e4, kMuscleStep), stress = context.number("stress");
  decide_time(context, cells, edge, stress);
  decide_levels(context, cells, edge, stress);
  if (!context.stopped()) decide_motion(context, cells, edge, stress);
}

}  // namespace

Experiment pxpbd_muscle_box() {
  return {"pxpbd/muscle-box",
          "A bar of muscle sags between two walls and is activated after two seconds: FP-PXPBD (fig. 4)",
          {{"cells", "10", "5", "cells across the bar, which is four times as long"},
           {"kappa", "4", "4", "stiffness number, which sets the size of the bar"},
           {"stress", "2e4", "2e4", "greatest active stress, Pa"}},
          run_muscle_box};
}

}  // namespace pliant::experiments
