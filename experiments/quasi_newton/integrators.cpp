// Sections 3 and 6 of quasi-newton: implicit midpoint keeps the energy that backward Euler damps away, and is less
// stable; ten iterations damp as much as the converged step does.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/descent.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"

namespace pliant::experiments {

namespace {

/// Kinetic and elastic, J.
double mechanical_energy(const Model& model, IncrementalPotential& potential, const State& state) {
  double kinetic = 0;
  for (Index i = 0; i < model.nodes(); ++i) kinetic += 0.5 * model.mass().lumped()[i] * node(state.v, i).squaredNorm();
  return kinetic + potential.stored_energy(state.x);
}

struct LongRun {
  bool stable = true;
  std::string end = "stable";
  double kept = 0;  ///< of the mechanical energy, after the first second
};

template <class Step>
LongRun run_for(const FrameScene& scene, double h, double seconds, Step&& step) {
  LongRun run;
  IncrementalPotential potential(scene.model, {});
  potential.begin_step(scene.start, h);
  State state = scene.start;
  const double first = mechanical_energy(*scene.model, potential, state);
  const int steps = static_cast<int>(std::lround(seconds / h)), second = static_cast<int>(std::lround(1 / h));
  for (int k = 1; k <= steps; ++k) {
    if (!step(state, h) || !state.x.allFinite()) {
      run.stable = false;
      run.end = fmt::format("the solver fails in step {} of {}", k, steps);
      return run;
    }
    const double energy = mechanical_energy(*scene.model, potential, state);
    if (k == second) run.kept = energy / first;
    const double far = (state.x - scene.model->rest()).cwiseAbs().maxCoeff();
    if (!(energy <= 100 * first) || far > 10 * scene.size) {
      run.stable = false;
      run.end = fmt::format("explodes in step {} of {}", k, steps);
      return run;
    }
  }
  return run;
}

LongRun run_newton(const FrameScene& scene, const std::string& integrator, double h, double seconds) {
  const auto newton = make_stepper(scene.model, "pod-newton",
                                   {{"integrator", integrator},
                                    {"criterion", "step-length"},
                                    {"tolerance", 1e-6 * scene.size},
                                    {"max_iterations", std::int64_t{200}},
                                    {"linear", "direct"}});
  return run_for(scene, h, seconds, [&](State& state, double step) { return newton->step(state, step).succeeded(); });
}

/// Clamped at one end, or at both with a half-turn twist of the rest, and let go.
FrameScene released_bar(const MeshData& data, bool twisted) {
  const Table1Row& row = table1_row("twisting-bar");
  const auto mesh = std::make_shared<TetMesh>(data);
  const auto body = ten_kilograms(mesh, "neo-hookean", {row.mu * row.factor, row.lambda * row.factor});
  FrameScene scene = body_scene(body, {{"held", end_face(*mesh, 0, false)}}, {});
  scene.gravity.setZero();
  for (Index i = 0; i < scene.model->nodes(); ++i) {
    const Vec3 X = node(scene.model->rest(), i);
    const double s = X.x() / scene.size + 0.5;  // from the clamped end
    if (twisted) {
      const double angle = std::acos(-1.0) * s;
      node(scene.start.x, i) = Vec3(X.x(), std::cos(angle) * X.y() - std::sin(angle) * X.z(),
                                    std::sin(angle) * X.y() + std::cos(angle) * X.z());
    } else {  // along an arc, one radian
      const double radius = scene.size;
      node(scene.start.x, i) =
          Vec3((radius - X.y()) * std::sin(s) - 0.5 * scene.size, radius - (radius - X.y()) * std::cos(s), X.z());
    }
  }
  return scene;
}

void decide_midpoint(Context& context, const FrameScene& scene, double seconds) {
  Decision decision("quasi-newton/section-3/midpoint-less-stable");
  const std::vector<double> steps = {1.0 / 15, 1.0 / 30, 1.0 / 60, 1.0 / 120, 1.0 / 240, 1.0 / 480};
  double largest[2] = {0, 0};
  std::string how;
  LongRun last[2];
  for (int m : {0, 1})
    for (double h : steps) {
      if (context.stopped()) return;
      const char* integrator = m == 0 ? "implicit-euler" : "implicit-midpoint";
      const LongRun run = run_newton(scene, integrator, h, seconds);
      context.row({{"integrator", integrator},
                   {"steps_per_second", 1 / h},
                   {"stable", run.stable},
                   {"end", run.end},
                   {"kept", run.kept}});
      last[m] = run;
      if (!run.stable) {
        how = run.end;
        continue;
      }
      largest[m] = h;
      break;
    }
  decision.needs(largest[0] >= 1.0 / 30, "backward Euler passes at 1/30");
  if (largest[1] == 0) {
    decision.at_least("largest stable step of backward Euler over the smallest tried", largest[0] * 480, 4)
        .leave_undecided("implicit midpoint is stable at some step, for its energy to be compared");
  } else {
    decision.at_least("largest stable step, backward Euler over midpoint", largest[0] / largest[1], 4);
    const double both = std::min(largest[0], largest[1]);
    const double euler = both == largest[0] ? last[0].kept : run_newton(scene, "implicit-euler", both, 1).kept;
    decision.at_least("midpoint: energy kept over the first second", last[1].kept, 0.95)
        .below("backward Euler: energy kept over the first second", euler, 0.8);
  }
  decision.note("how midpoint ends at larger steps", how);
  if (decision.verdict() == Verdict::fails)
    decision.because(fmt::format("largest stable steps: 1/{:.0f} s and 1/{:.0f} s (Euler, midpoint)", 1 / largest[0],
                                 1 / largest[1]));
  context.decide(decision);
}

void decide_damping(Context& context, const FrameScene& scene) {
  Decision decision("quasi-newton/section-6/artificial-damping");
  std::vector<double> losses;
  for (double h : {1.0 / 30, 1.0 / 60, 1.0 / 120, 1.0 / 240}) {
    if (context.stopped()) return;
    const LongRun run = run_newton(scene, "implicit-euler", h, 1);
    decision.needs(run.stable, fmt::format("the run at h = {:.4f} s is stable", h));
    losses.push_back(1 - run.kept);
  }
  Descent ours(scene.model, {});
  const LongRun ten = run_for(scene, kFrame, 1, [&](State& state, double h) { return ours.advance(state, h); });
  decision.below("energy kept after 1 s at h = 1/30", 1 - losses[0], 0.7);
  for (std::size_t k = 1; k < losses.size(); ++k)
    decision.below(fmt::format("loss at h = 1/{}", 30 << k), losses[k], losses[k - 1]);
  decision.needs(ten.stable, "ten iterations a frame are stable")
      .between("loss with ten iterations over the converged one", (1 - ten.kept) / losses[0], 0.9, 1.1);
  if (decision.verdict() == Verdict::fails)
    decision.because(
        fmt::format("lost in the first second: {:.3f}, {:.3f}, {:.3f}, {:.3f} as h is halved; ten iterations {:.3f}",
                    losses[0], losses[1], losses[2], losses[3], 1 - ten.kept));
  context.row({{"integrator", "implicit-euler, ten iterations"},
               {"steps_per_second", 30},
               {"stable", ten.stable},
               {"end", ten.end},
               {"kept", ten.kept}});
  context.decide(decision);
}

void run_integrators(Context& context) {
  const auto small = find_mesh(context, "longbar");
  if (!small) return decide_without_meshes(context, "quasi-newton/integrators");
  decide_damping(context, released_bar(*small, false));
  decide_midpoint(context, released_bar(context.quick() ? *small : *find_mesh(context, "longbar2"), true),
                  context.number("seconds"));
}

}  // namespace

Experiment integrators() {
  return {"quasi-newton/integrators",
          "Backward Euler beside implicit midpoint: stability and damping (sections 3, 6)",
          {meshes_option("longbar.mesh and longbar2.mesh"), {"seconds", "10", "4", "of the twisted bar let go"}},
          run_integrators};
}

}  // namespace pliant::experiments
