// Fig. 18 of quasi-newton: a body with every vertex at a random place of its bounding box, and many elements inverted,
// returns to rest by corotated elasticity alone: free, without gravity or damping, ten iterations a frame as printed.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/descent.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "experiments/quasi_newton/torus.hpp"
#include "experiments/random.hpp"

namespace pliant::experiments {

namespace {

void scatter(const Model& model, State& state, std::uint64_t seed) {
  Vec3 low = node(model.rest(), 0), high = low;
  for (Index i = 0; i < model.nodes(); ++i) {
    low = low.cwiseMin(node(model.rest(), i));
    high = high.cwiseMax(node(model.rest(), i));
  }
  Random random(seed);
  for (Index i = 0; i < model.nodes(); ++i)
    for (int c = 0; c < 3; ++c) node(state.x, i)[c] = low[c] + random.unit() * (high[c] - low[c]);
}

void run_robustness(Context& context) {
  const auto data = find_mesh(context, context.text("mesh"));
  if (!data) return decide_without_meshes(context, "quasi-newton/robustness");
  FrameScene scene = body_scene(ten_kilograms(std::make_shared<TetMesh>(*data), "linear-corotated", {20, 100}), {}, {});
  scene.gravity.setZero();
  const Model& model = *scene.model;
  const ElasticEnergy& elastic = *model.bodies()[0].elastic;
  const auto elements = static_cast<double>(model.bodies()[0].mesh->tets().size());
  const int frames = static_cast<int>(context.number("frames"));
  Decision decision("quasi-newton/fig-18/hippo-returns");
  for (int seed : context.integers("seeds")) {
    Descent ours(scene.model, {});
    const auto engine = make_stepper(scene.model, "quasi-newton");
    State state = scene.start, guarded;
    scatter(model, state, static_cast<std::uint64_t>(seed));
    guarded = state;
    const double begin = static_cast<double>(elastic.count_inverted(state.x)) / elements;
    int done = 0, rescued = 0, failed = 0, returned = 0;
    for (; done < frames && !context.stopped(); ++done) {
      context.progress(done / double(frames), fmt::format("seed {}", seed));
      DescentFrame frame;
      if (!ours.advance(state, kFrame, &frame)) break;
      failed += frame.search_failed;
      const bool is_back = elastic.count_inverted(state.x) == 0 &&
                           aligned_distance(model.rest(), state.x) <= context.number("near") * scene.size;
      if (is_back && returned == 0) returned = done + 1;
      if (done < 60) rescued += engine->step(guarded, kFrame).factorisations - (done == 0);
    }
    const auto inverted = static_cast<double>(elastic.count_inverted(state.x));
    const double away = aligned_distance(model.rest(), state.x) / scene.size;
    const std::string who = fmt::format("seed {}", seed);
    decision.needs(begin >= 0.3, who + ": 30% of the elements are inverted at the start")
        .equal(who + ": frames that are finite", done, frames)
        .part(who + ": frame at which it is back", returned, fmt::format("from 1 to {}", frames), returned > 0)
        .note(who + ": share inverted at the start", begin)
        .note(who + ": inverted elements at the end", inverted)
        .note(who + ": distance from rest at the end over the size", away)
        .note(who + ": frames whose line search failed", failed)
        .note(who + ": matrices of the engine's rescue in its first 60 frames, not used here", rescued);
    context.row({{"seed", seed},
                 {"vertices", model.nodes()},
                 {"inverted_at_start", begin},
                 {"frames", done},
                 {"back_at", returned},
                 {"inverted", inverted},
                 {"away", away}});
    if (decision.verdict() == Verdict::fails)
      decision.because(
          fmt::format("{}: after {} frames {} elements are still inverted, and a vertex is {:.1f}% of the size "
                      "from rest; without the engine's rescue",
                      who, done, inverted, 100 * away));
  }
  context.decide(decision);
}

}  // namespace

Experiment robustness() {
  return {"quasi-newton/robustness",
          "Return to rest from random positions (fig. 18)",
          {meshes_option("hippo.mesh, and ditto.mesh for quick runs"),
           {"mesh", "hippo", "ditto", "which body"},
           {"seeds", "1,2,3", "1", "of the random places"},
           {"near", "0.01", "0.05", "what counts as back at rest, in sizes of the body"},
           {"frames", "1200", "300", "of 1/30 s after the random start"}},
          run_robustness};
}

}  // namespace pliant::experiments
