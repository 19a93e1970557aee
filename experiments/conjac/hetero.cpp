// conjac, "Hetero" (fig. 4): a vertical bar in layers of alternating stiffness, under its weight. With one dynamic node
// the soft layers bulge, the lower one more than the upper one, and the shape at rest is that of the full method.

#include <fmt/format.h>

#include <algorithm>

#include "experiments/conjac/bars.hpp"
#include "experiments/conjac/conjac.hpp"

namespace pliant::experiments {

namespace {

constexpr int kLayers = 5;  // stiff, soft, stiff, soft, stiff
constexpr double kHeteroHeight = 0.06;

std::shared_ptr<const Model> column(Index across, Index up, bool layered) {
  BarOptions options;
  const double width = kHeteroHeight * across / up;  // cubic cells
  options.size = {width, kHeteroHeight, width};
  options.cells = {across, up, across};
  options.pinned = {"y-min"};
  options.change = [&](BodyOptions& body) {
    for (const Tet& tet : body.mesh->tets()) {
      double y = 0;
      for (Index v : tet) y += body.mesh->vertices()[static_cast<std::size_t>(v)].y() / 4;
      const bool stiff = std::min(kLayers - 1, static_cast<int>(y / kHeteroHeight * kLayers)) % 2 == 0;
      body.lame.push_back(lame_from_young(layered && stiff ? 1e5 : 1e4, 0.4));
    }
  };
  return conjac_bar(options);
}

/// How much wider than at rest the bar is in the middle of a layer: mean over the two sides, relative.
double widening(const Model& model, const State& state, int layer) {
  const double middle = (layer + 0.5) * kHeteroHeight / kLayers;
  double nearest = 1e300, width = 0;
  for (Index i = 0; i < model.nodes(); ++i) {
    nearest = std::min(nearest, std::abs(node(model.rest(), i).y() - middle));
    width = std::max(width, node(model.rest(), i).x());
  }
  double sides[2] = {0, 0};
  int counts[2] = {0, 0};
  for (Index i = 0; i < model.nodes(); ++i) {
    const Vec3 X = node(model.rest(), i);
    if (std::abs(X.y() - middle) > nearest + 1e-9 || (X.x() > 1e-9 && X.x() < width - 1e-9)) continue;
    const int side = X.x() > 1e-9;
    sides[side] += node(state.x, i).x();
    ++counts[side];
  }
  return (sides[1] / counts[1] - sides[0] / counts[0]) / width - 1;
}

/// Sum of the forces that quasistatic nodes are out of balance by, N.
double imbalance(EnergyMeter& meter, const Model& model, const State& state, Index dynamic) {
  VecX f;
  meter.internal_forces(state, f);
  f += model.external_force();
  double sum = 0;
  for (Index i = 0; i < model.nodes(); ++i)
    if (i != dynamic && node(model.rest(), i).y() > 1e-9) sum += node(f, i).norm();
  return sum;
}

void run_hetero(Context& context) {
  const std::vector<int> cells = context.integers("cells");
  const auto model = column(cells.at(0), cells.at(1), true), plain = column(cells.at(0), cells.at(1), false);
  const State rest = resting_state(model), plain_rest = resting_state(plain);
  const double h = context.number("h"), beta = context.number("beta"), weight = model->mass().lumped().sum() * 9.81;
  const Index middle = nearest_node(*model, {0.5 * node(model->rest(), model->nodes() - 1).x(), kHeteroHeight / 2,
                                             0.5 * node(model->rest(), model->nodes() - 1).z()});
  const ParameterMap one = {{"dynamic", std::to_string(middle)}, {"beta", beta}};
  ParameterMap balanced = one;
  balanced["initial_solve"] = true;
  const auto stop = [&] { return context.stopped(); };
  const auto report = [&](const std::string& name, const Settled& run) {
    context.row({{"method", name},
                 {"nodes", model->nodes()},
                 {"steps_to_rest", run.steps},
                 {"rests", run.rests},
                 {"energy_over_start", run.growth},
                 {"from_newton_over_height", farthest_node(run.state.x, rest.x) / kHeteroHeight}});
  };
  EnergyMeter meter(model);
  std::vector<double> unbalanced = {imbalance(meter, *model, model->rest_state(), middle)};
  context.progress(0.1, "one dynamic node");
  const Settled conjac = settle(model, "conjac", one, rest, kHeteroHeight, h, stop, [&](const State& state) {
    unbalanced.push_back(imbalance(meter, *model, state, middle));
  });
  context.progress(0.4, "one dynamic node, balanced first");
  const Settled with = settle(model, "conjac", balanced, rest, kHeteroHeight, h, stop);
  for (const auto& [name, run] : {std::pair{"conjac", &conjac}, {"conjac, initial solve", &with}}) report(name, *run);

  std::vector<double> wide, alike;
  for (int layer = 0; layer < kLayers; ++layer) {
    wide.push_back(widening(*model, conjac.state, layer));
    alike.push_back(widening(*plain, plain_rest, layer));
    context.row({{"layer", layer}, {"widening", wide.back()}, {"homogeneous", alike.back()}});
  }
  Decision bulging("conjac/fig-4/bulging");
  bulging.needs(conjac.rests, "conjac comes to rest")
      .at_least("widening of the lower soft layer", wide[1], 0.02)
      .at_least("widening of the upper soft layer", wide[3], 0.02)
      .at_least("lower soft layer over its stiff neighbours", wide[1] / std::max(wide[0], wide[2]), 3)
      .at_least("upper soft layer over its stiff neighbours", wide[3] / std::max(wide[2], wide[4]), 3)
      .at_least("lower over upper", wide[1] / wide[3], 1.2)
      .at_most("homogeneous column: layer 4 over layer 3 (no alternation)", alike[3] / alike[2], 1)
      .because(
          fmt::format("a load of {:.0f} and {:.0f} Pa over E = 1e4 widens free layers by nu times that, {:.1f}% and "
                      "{:.1f}%, and stiff neighbours hold them; higher columns buckle",
                      1000 * 9.81 * 0.7 * kHeteroHeight, 1000 * 9.81 * 0.3 * kHeteroHeight,
                      100 * 0.4 * 9810 * 0.7 * kHeteroHeight / 1e4, 100 * 0.4 * 9810 * 0.3 * kHeteroHeight / 1e4));
  context.decide(bulging);
  // The last time it is above the bound.
  std::size_t last = 0;
  for (std::size_t k = 0; k < unbalanced.size(); ++k)
    if (unbalanced[k] > 1e-6 * unbalanced[0]) last = k;
  context.decide(
      Decision("conjac/section-3.4/initial-solve")
          .needs(conjac.rests && with.rests, "both come to rest")
          .at_least("imbalance at the start over the weight", unbalanced[0] / weight, 0.1)
          .at_most("imbalance at the end over the start", unbalanced.back() / unbalanced[0], 1e-6)
          .part("steps until it stays below 1e-6", double(last + 1), "before the end", last + 1 < unbalanced.size())
          .at_most("end states apart, over the height", farthest_node(conjac.state.x, with.state.x) / kHeteroHeight,
                   1e-8)
          .at_most("energy over the start, without", conjac.growth, 1.1)
          .at_most("energy over the start, with", with.growth, 1.1));
  if (context.stopped()) return;
  // High modes ring on for thousands of steps at this beta: what does not need VANILLA is decided before.
  context.progress(0.6, "VANILLA");
  const Settled vanilla =
      settle(model, "linearly-implicit", {{"beta", beta}, {"stiffness", "exact"}}, rest, kHeteroHeight, h, stop);
  report("VANILLA", vanilla);
  context.decide(Decision("conjac/fig-4/same-shape")
                     .needs(conjac.rests && vanilla.rests, fmt::format("both come to rest at beta = {}", beta))
                     .at_most("largest distance over the height",
                              farthest_node(conjac.state.x, vanilla.state.x) / kHeteroHeight, 1e-8));
}

}  // namespace

Experiment conjac_hetero() {
  return {"conjac/hetero",
          "A bar in layers of two stiffnesses under its weight: shape at rest with one dynamic node (fig. 4)",
          {{"cells", "12,34", "5,15", "across and up; 12,34 are the paper's 5915 vertices"},
           {"h", "0.02", "0.02", "time step, s"},
           {"beta", "0.5", "0.5", "the paper's"}},
          run_hetero};
}

}  // namespace pliant::experiments
