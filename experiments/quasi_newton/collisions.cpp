// Sections 4.3, 5 and 6 of quasi-newton: contact terms that come and go. They do not glue, they are soft, they do not
// cycle, and they make the history of L-BFGS less useful.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "experiments/quasi_newton/torus.hpp"

namespace pliant::experiments {

namespace {

/// The sphere above a plane, linear corotated; stiffness in 1/s^2.
FrameScene ball_on_plane(const MeshData& data, double height, double stiffness, double damping) {
  MeshData moved = data;
  for (Vec3& p : moved.vertices) p.y() += 1 + height;
  BodyOptions body = ten_kilograms(std::make_shared<TetMesh>(std::move(moved)), "linear-corotated", {800, 200});
  body.damping.mass = damping;
  ModelBuilder builder;
  builder.add_body(body);
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"plane", PlaneShape{}, {}, stiffness, 0});
  FrameScene scene;
  scene.model = builder.build();
  scene.start = scene.model->rest_state();
  scene.gravity = {0, -10, 0};
  scene.size = 2;
  return scene;
}

/// 1000 a vertex in the authors' code; here per mass.
double paper_stiffness(const MeshData& mesh) { return 100 * static_cast<double>(mesh.vertices.size()); }

void decide_glue(Context& context, const MeshData& mesh) {
  Decision decision("quasi-newton/section-4.3/no-glue");
  const FrameScene scene = ball_on_plane(mesh, 1, paper_stiffness(mesh), 0);
  const Model& model = *scene.model;
  Descent ours(scene.model, {});
  State state = scene.start;
  std::vector<double> forces, glued;
  std::vector<Index> last;
  Index most = 0;
  int leaves = -1;
  double after = 0;
  VecX g;
  for (int k = 0; k < 60; ++k) {
    begin_frame(scene, state);
    if (!ours.advance(state, kFrame)) break;
    // The force of the plane on the body, upwards positive, at the end of the frame.
    ours.potential().gradient(state.x, g, {.inertia = false, .damping = false, .elasticity = false});
    double force = 0, kept = 0;
    for (Index i = 0; i < model.nodes(); ++i) force -= g[3 * i + 1];
    const std::vector<Index> inside = nodes_inside(model, state.x, state.time);
    for (Index i : last)  // terms that the variant keeps for one more frame, two-sided as the energy is printed
      if (const double d = node(state.x, i).y(); d > 0)
        kept -= model.colliders()->colliders()[0].stiffness * model.mass().lumped()[i] * d;
    forces.push_back(force);
    glued.push_back(force + kept);
    most = std::max(most, static_cast<Index>(inside.size()));
    if (leaves < 0 && most >= 10 && inside.empty()) leaves = k;
    if (leaves >= 0 && inside.empty()) after = std::max(after, std::abs(force));
    last = inside;
  }
  const double peak = *std::max_element(forces.begin(), forces.end());
  decision.needs(most >= 10, "at least 10 vertices touch")
      .needs(leaves >= 0, "the ball leaves the plane")
      .at_least("least force on the body over its peak", *std::min_element(forces.begin(), forces.end()) / peak, -1e-9)
      .equal("largest force in frames without overlap, N", after, 0)
      .at_most("least force over the peak with the terms of separating vertices kept",
               *std::min_element(glued.begin(), glued.end()) / peak, -0.01)
      .note("vertices that touch", most);
  if (decision.verdict() == Verdict::fails)
    decision.because(fmt::format("{} vertices touch, the peak force is {:.3g} N and the ball leaves in frame {}", most,
                                 peak, leaves));
  context.decide(decision);
}

void decide_soft(Context& context, const MeshData& mesh) {
  Decision decision("quasi-newton/section-6/soft-collisions");
  std::vector<double> depths, stiffness;
  for (double factor : {1.0, 10.0, 100.0}) {
    if (context.stopped()) return;
    const FrameScene scene = ball_on_plane(mesh, 0, factor * paper_stiffness(mesh) / 10, 5);
    const auto newton = exact_newton(scene);
    State state = scene.start;
    double speed = 1;
    for (int k = 0; k < 90 && speed > 1e-6; ++k) {
      begin_frame(scene, state);
      newton->step(state, kFrame);
      speed = state.v.cwiseAbs().maxCoeff();
    }
    depths.push_back(-smallest_distance(*scene.model->colliders(), state.time, state.x));
    stiffness.push_back(factor);
    context.row({{"stiffness_factor", factor}, {"depth", depths.back()}, {"speed", speed}});
    decision.above(fmt::format("depth at stiffness {:g}, m", factor), depths.back(), 0);
  }
  const double exponent = std::log10(depths[2] / depths[0]) / 2;
  decision.between("exponent of the depth over the stiffness", exponent, -1.15, -0.85);
  if (decision.verdict() == Verdict::fails)
    decision.because(
        fmt::format("depths {:.2e}, {:.2e}, {:.2e} m: the softer plane is touched by more vertices, so that each "
                    "carries less",
                    depths[0], depths[1], depths[2]));
  context.decide(decision);
}

void decide_cycling(Context& context, const TorusScene& torus, const TorusRun& run) {
  Decision decision("quasi-newton/section-6/no-cycling");
  const std::size_t wanted = context.quick() ? 10 : 30;
  decision.needs(run.contact_begins.size() >= wanted, fmt::format("{} frames in contact", wanted));
  DescentOptions many;
  many.iterations = 200;
  many.search.kind = LineSearchKind::robust;
  Descent ours(torus.scene.model, many);
  int cycling = 0, looked = 0;
  for (std::size_t frame : spread_over(run.contact_begins.size(), wanted)) {
    if (context.stopped()) return;
    std::vector<std::vector<Index>> sets;
    const auto watch = [&](const Iterate& current, const VecX&, double) {
      sets.push_back(nodes_inside(*torus.scene.model, current.x, ours.potential().problem().end));
    };
    const DescentFrame done = ours.solve(run.contact_begins[frame], kFrame, watch);
    std::size_t most = 0;
    const std::size_t from = sets.size() > 20 ? sets.size() - 20 : 0;
    for (std::size_t k = from + 1; k < sets.size(); ++k) {
      std::vector<Index> differ;
      std::set_symmetric_difference(sets[k].begin(), sets[k].end(), sets[k - 1].begin(), sets[k - 1].end(),
                                    std::back_inserter(differ));
      most = std::max(most, differ.size());
    }
    bool settled = most == 0;
    if (most == 1) {
      State end = run.contact_begins[frame];
      const double best = std::min(exact_newton(torus.scene)->step(end, kFrame).energy, done.energy);
      settled = relative_error(done.energy, done.first, best) < 1e-6;
    }
    cycling += !settled;
    ++looked;
  }
  decision.equal("frames whose contact set still changes in the last 20 of 200 iterations", cycling, 0)
      .note("frames", looked);
  if (decision.verdict() == Verdict::fails)
    decision.because(
        fmt::format("in {} of {} frames vertices still come and go after 200 iterations", cycling, looked));
  context.decide(decision);
}

void decide_history(Context& context, const TorusScene& torus, const TorusRun& run, const std::vector<State>& apart) {
  Decision decision("quasi-newton/section-5/history-with-collisions");
  DescentOptions none, shortened;
  none.window = 0;
  shortened.keeps = [](std::size_t pairs, Index changed) {
    return pairs - std::min(pairs, static_cast<std::size_t>(changed));
  };
  Descent full(torus.scene.model, {}), zero(torus.scene.model, none), shorter(torus.scene.model, shortened);
  const auto exact = exact_newton(torus.scene);
  std::vector<double> gains[2];
  double better = 0, busy = 0;
  const auto gain_of = [&](const State& begin, bool in_contact) {
    std::set<Index> changed;
    std::vector<Index> last;
    const auto watch = [&](const Iterate& current, const VecX&, double) {
      const auto inside = nodes_inside(*torus.scene.model, current.x, full.potential().problem().end);
      if (!last.empty())
        std::set_symmetric_difference(inside.begin(), inside.end(), last.begin(), last.end(),
                                      std::inserter(changed, changed.end()));
      last = inside;
    };
    const DescentFrame a = full.solve(begin, kFrame, watch), b = zero.solve(begin, kFrame);
    State end = begin;
    const double best = std::min({exact->step(end, kFrame).energy, a.energy, b.energy});
    const double gain =
        std::log10(relative_error(b.energy, b.first, best)) - std::log10(relative_error(a.energy, a.first, best));
    if (!in_contact) {
      if (std::isfinite(gain)) gains[1].push_back(gain);
      return;
    }
    if (changed.size() < 20 || !std::isfinite(gain)) return;
    gains[0].push_back(gain);
    busy += 1;
    better += shorter.solve(begin, kFrame).energy <= a.energy;
  };
  for (std::size_t frame : spread_over(run.contact_begins.size(), context.quick() ? 20 : 60))
    gain_of(run.contact_begins[frame], true);
  for (const State& begin : apart) gain_of(begin, false);
  decision.needs(gains[0].size() >= 5, "frames in which 20 contacts come or go")
      .needs(gains[1].size() >= 2, "frames without contact")
      .below("median gain of the history in busy frames, decades", median(gains[0]), median(gains[1]))
      .above("share of busy frames in which the shortened history is no worse", better / busy, 0.5)
      .note("busy frames and frames without contact", Json::array({gains[0].size(), gains[1].size()}));
  if (decision.verdict() == Verdict::fails)
    decision.because(
        fmt::format("gains of {:.2f} decades in busy frames and {:.2f} without contact; the shortened history is no "
                    "worse in {:.0f}% of the frames",
                    median(gains[0]), median(gains[1]), 100 * better / busy));
  context.decide(decision);
}

void run_collisions(Context& context) {
  const auto ball = find_mesh(context, "sphere");
  if (!ball) return decide_without_meshes(context, "quasi-newton/collisions");
  if (context.wants({"quasi-newton/section-4.3/no-glue"})) decide_glue(context, *ball);
  if (context.wants({"quasi-newton/section-6/soft-collisions"})) decide_soft(context, *ball);
  const TorusScene torus = torus_scene(*find_mesh(context, context.text("body")), 1, context.number("seconds"));
  const TorusRun run = squeeze_through(context, torus, static_cast<int>(context.number("frames")));
  // The deformed body far from every obstacle: the frames of contact, carried away.
  std::vector<State> apart;
  for (std::size_t frame : spread_over(run.contact_begins.size(), 6)) {
    State state = run.contact_begins[frame];
    for (Index i = 0; i < torus.scene.model->nodes(); ++i)
      node(state.x, i)[(torus.axis + 1) % 3] += 100 * torus.scene.size;
    apart.push_back(state);
  }
  if (context.stopped()) return;
  if (context.wants({"quasi-newton/section-5/history-with-collisions"})) decide_history(context, torus, run, apart);
  if (context.wants({"quasi-newton/section-6/no-cycling"})) decide_cycling(context, torus, run);
}

}  // namespace

Experiment collisions() {
  return {"quasi-newton/collisions",
          "Contact terms that come and go: no glue, soft walls, history (sections 4.3, 5, 6)",
          {meshes_option("sphere.mesh, bunny.mesh and, for quick runs, sphere1K.msh"),
           {"body", "bunny", "sphere1K", "that goes through the torus"},
           {"seconds", "4", "1.2", "that the ball takes for its way"},
           {"frames", "300", "90", "at most"}},
          run_collisions};
}

}  // namespace pliant::experiments
