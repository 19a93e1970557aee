// conjac, "Hetero" (fig. 4): a vertical bar in layers of alternating stiffness, under its weight. With one dynamic node
// the soft layers bulge, the lower one more than the upper one, and the shape at rest is that of the full method.

#include <fmt/format.h>

#include <algorithm>

#include "experiments/conjac/bars.hpp"
#include "experiments/conjac/conjac.hpp"

namespace pliant::experiments {

namespace {

constexpr int kLayers = 5;  // stiff, soft, stiff, soft, stiff
constexpr double kHeteroHeight = 0.1, kHeteroWidth = 0.03;

/// Half the growth of the bar's width in the middle of a layer, m.
double bulge(const Model& model, const State& state, int layer) {
  double most = 0;
  for (Index i = 0; i < model.nodes(); ++i) {
    const Vec3 X = node(model.rest(), i);
    if (X.x() < 1e-9 && static_cast<int>(X.y() / kHeteroHeight * kLayers) == layer)
      most = std::max(most, -node(state.x, i).x());
  }
  return most;
}

void run_hetero(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  BarOptions options;
  options.size = {kHeteroWidth, kHeteroHeight, kHeteroWidth};
  options.cells = {cells, std::max<Index>(10, cells * 10 / 3 / 5 * 5), cells};
  options.pinned = {"y-min"};
  options.change = [](BodyOptions& body) {
    for (const Tet& tet : body.mesh->tets()) {
      double y = 0;
      for (Index v : tet) y += body.mesh->vertices()[static_cast<std::size_t>(v)].y() / 4;
      const bool soft = std::min(kLayers - 1, static_cast<int>(y / kHeteroHeight * kLayers)) % 2 == 1;
      body.lame.push_back(lame_from_young(soft ? 1e4 : 1e5, 0.4));
    }
  };
  const auto model = conjac_bar(options);
  const State rest = resting_state(model);
  double worst = 0, lower = 0, upper = 0;
  for (std::int64_t nodes : {0, 1, 8}) {
    context.progress(static_cast<double>(nodes) / 9, fmt::format("{} dynamic nodes", nodes));
    const Settled settled = settle(model, {{"dynamic_nodes", nodes}, {"beta", context.number("beta")}}, rest,
                                   kHeteroHeight, context.number("h"), [&] { return context.stopped(); });
    if (context.stopped()) return;
    lower = bulge(*model, settled.state, 1);
    upper = bulge(*model, settled.state, 3);
    context.row({{"nodes", model->nodes()},
                 {"dynamic", nodes},
                 {"steps_to_rest", settled.steps},
                 {"error_over_size", settled.error},
                 {"lower_bulge_mm", 1e3 * lower},
                 {"upper_bulge_mm", 1e3 * upper}});
    worst = std::max(worst, settled.succeeded ? settled.error : 1.0);
  }
  context.check({"at rest conjac has the shape of the full quasistatic solution (largest distance over size)",
                 "exactly the same", worst, worst <= 1e-8});
  context.check({"the lower soft layer bulges more than the upper one", "more, fig. 4", lower / upper, lower > upper});
}

}  // namespace

Experiment conjac_hetero() {
  return {"conjac/hetero",
          "A bar in layers of two stiffnesses under its weight: shape at rest with 0, 1 and 8 dynamic nodes (fig. 4)",
          {{"cells", "12", "5", "across the bar; 12 come close to the paper's 5915 vertices"},
           {"h", "0.02", "0.02", "time step, s"},
           {"beta", "2", "2", "damping on the way to rest, which the shape there does not depend on"}},
          run_hetero};
}

}  // namespace pliant::experiments
