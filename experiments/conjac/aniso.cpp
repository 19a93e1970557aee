// conjac, "Aniso" (fig. 5): a vertical bar with fibres (anisotropic StVK on stable Neo-Hookean) of four directions,
// under its weight, with one dynamic node. Vertical fibres hold it up best, helical ones twist it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/conjac/bars.hpp"
#include "experiments/conjac/conjac.hpp"
#include "pliant/sim/fibre_field.hpp"

namespace pliant::experiments {

namespace {

constexpr double kAnisoHeight = 0.06;

/// The bar's top: how far it has sunk and leans, and the widening of the middle, over the height and the width; and its
/// turn in degrees.
struct AnisoShape {
  double sunk = 0, lean = 0, along = 0, across = 0, turn = 0;
};

AnisoShape measure_shape(const Model& model, const State& state, double width) {
  AnisoShape shape;
  Vec3 top = Vec3::Zero();
  double turned = 0, weight = 0, sides[4] = {0, 0, 0, 0};
  int count = 0, counts[4] = {0, 0, 0, 0};
  for (Index i = 0; i < model.nodes(); ++i) {
    const Vec3 X = node(model.rest(), i), x = node(state.x, i);
    if (std::abs(X.y() - kAnisoHeight / 2) < 0.02 * kAnisoHeight) {
      const auto add = [&](int side, double place) { sides[side] += place, ++counts[side]; };
      if (X.x() < 1e-9) add(0, x.x());
      if (X.x() > width - 1e-9) add(1, x.x());
      if (X.z() < 1e-9) add(2, x.z());
      if (X.z() > width - 1e-9) add(3, x.z());
    }
    if (X.y() < kAnisoHeight - 1e-9) continue;
    top += x - X;
    ++count;
    const double a = X.z() - width / 2, b = X.x() - width / 2;
    turned += a * (x.x() - X.x()) - b * (x.z() - X.z());
    weight += a * a + b * b;
  }
  top /= count;
  shape.sunk = -top.y() / kAnisoHeight;
  shape.lean = std::hypot(top.x(), top.z()) / kAnisoHeight;
  shape.along = (sides[1] / counts[1] - sides[0] / counts[0]) / width - 1;
  shape.across = (sides[3] / counts[3] - sides[2] / counts[2]) / width - 1;
  shape.turn = std::atan2(turned, weight) * 180 / std::numbers::pi;
  return shape;
}

/// Looked at after every bar: a part that fails on those that are there decides.
void settle_shapes(Context& context, const std::map<std::string, AnisoShape>& shapes,
                   const std::map<std::string, State>& ends, bool all_rest, const std::vector<double>& turns) {
  Decision directions("conjac/fig-5/directions"), helical("conjac/fig-5/helical");
  const auto has = [&](const char* name) { return shapes.contains(name); };
  for (const char* name : {"none", "horizontal", "vertical", "diagonal", "helical"})
    directions.awaits(has(name), fmt::format("fibres: {}", name));
  for (const char* name : {"helical", "mirrored", "horizontal", "vertical"})
    helical.awaits(has(name), fmt::format("fibres: {}", name));
  for (Decision* d : {&directions, &helical}) d->needs(all_rest, "all come to rest");
  if (has("none")) {
    directions.needs(shapes.at("none").sunk >= 0.02, "the bar without fibres sinks by 2% or more");
    if (has("vertical"))
      directions.at_most("sinking with vertical fibres over that without",
                         shapes.at("vertical").sunk / shapes.at("none").sunk, 0.8);
  }
  if (has("horizontal"))
    directions.at_most("horizontal fibres: widening along over across",
                       shapes.at("horizontal").along / shapes.at("horizontal").across, 0.8);
  if (has("diagonal")) directions.at_least("diagonal fibres: lean over the height", shapes.at("diagonal").lean, 0.005);
  double lean = 0, nearest = 1e300;
  for (const char* a : {"horizontal", "vertical", "diagonal", "helical"}) {
    if (!has(a)) continue;
    if (std::string_view(a) != "diagonal") lean = std::max(lean, shapes.at(a).lean);
    for (const char* b : {"horizontal", "vertical", "diagonal", "helical"})
      if (std::string_view(a) < b && has(b))
        nearest = std::min(nearest, farthest_node(ends.at(a).x, ends.at(b).x) / kAnisoHeight);
  }
  if (shapes.size() > 1) directions.below("lean of the others", lean, 0.001);
  if (nearest < 1e300) directions.at_least("least distance of two end states over the height", nearest, 0.005);
  std::string leans;
  for (const auto& [name, shape] : shapes)
    leans += fmt::format("{}{} {:.2g}", leans.empty() ? "" : ", ", name, shape.lean);
  directions.because("lean over the height: " + leans);
  context.settle(directions);
  if (has("helical")) {
    const double turn = shapes.at("helical").turn;
    int crossings = 0;
    for (std::size_t k = 1; k < turns.size(); ++k)
      crossings += (turns[k] - turns.back()) * (turns[k - 1] - turns.back()) < 0 &&
                   std::abs(turns[k] - turns[k - 1]) > 1e-6 * std::abs(turns.back());
    helical.at_least("turn of the top, degrees", std::abs(turn), 1)
        .at_least("crossings of its end value", crossings, 2);
    double straight = 0;
    for (const char* name : {"horizontal", "vertical"})
      if (has(name)) straight = std::max(straight, std::abs(shapes.at(name).turn));
    if (straight > 0) helical.at_least("over that with straight fibres", std::abs(turn) / straight, 10);
    if (has("mirrored")) helical.below("mirrored over not mirrored", shapes.at("mirrored").turn / turn, 0);
    std::string list;
    for (const auto& [name, shape] : shapes)
      list += fmt::format("{}{} {:.3f}", list.empty() ? "" : ", ", name, shape.turn);
    helical.because("turns in degrees: " + list);
  }
  context.settle(helical);
}

void run_aniso(Context& context) {
  const std::vector<int> cells = context.integers("cells");
  const double width = kAnisoHeight * cells.at(0) / cells.at(1);
  const Vec3 centre(width / 2, 0, width / 2);
  using Kind = FibreField::Kind;
  const std::vector<std::pair<std::string, FibreField>> fields = {
      {"none", {}},
      {"horizontal", {Kind::uniform, Vec3::UnitX(), centre, 0}},
      {"vertical", {Kind::uniform, Vec3::UnitY(), centre, 0}},
      {"helical", {Kind::helical, Vec3::UnitY(), centre, 0.8}},
      {"mirrored", {Kind::helical, Vec3::UnitY(), centre, -0.8}},
      {"diagonal", {Kind::uniform, Vec3(1, 1, 0).normalized(), centre, 0}}};
  std::map<std::string, AnisoShape> shapes;
  std::map<std::string, State> ends;
  std::vector<double> turns;
  bool all_rest = true;
  for (const auto& [name, field] : fields) {
    context.progress(double(shapes.size()) / 6, name);
    BarOptions options;
    options.size = {width, kAnisoHeight, width};
    options.cells = {cells[0], cells[1], cells[0]};
    options.pinned = {"y-min"};
    if (name != "none")
      options.change = [&fibres = field, &context](BodyOptions& body) {
        // The law's parameter is a quarter of the fibres' modulus at rest.
        body.fibres = {{find_fibre_law("anisotropic-stvk"),
                        {{context.number("modulus") / 4, 1, 0}},
                        fibre_directions(fibres, *body.mesh),
                        -1}};
      };
    const auto model = conjac_bar(options);
    const Index middle = nearest_node(*model, centre + Vec3(0, kAnisoHeight / 2, 0));
    const Settled settled = settle(
        model, "conjac", {{"dynamic", std::to_string(middle)}, {"beta", context.number("beta")}}, resting_state(model),
        kAnisoHeight, context.number("h"), [&] { return context.stopped(); },
        [&](const State& state) {
          if (name == "helical") turns.push_back(measure_shape(*model, state, width).turn);
        });
    if (context.stopped()) return;
    all_rest = all_rest && settled.rests;
    const AnisoShape shape = shapes[name] = measure_shape(*model, settled.state, width);
    ends[name] = settled.state;
    context.row({{"fibres", name},
                 {"nodes", model->nodes()},
                 {"steps_to_rest", settled.steps},
                 {"rests", settled.rests},
                 {"energy_over_start", settled.growth},
                 {"sunk_over_height", shape.sunk},
                 {"lean_over_height", shape.lean},
                 {"widening_along_x", shape.along},
                 {"widening_along_z", shape.across},
                 {"turned_degrees", shape.turn}});
    settle_shapes(context, shapes, ends, all_rest, turns);
  }
}

}  // namespace

Experiment conjac_aniso() {
  return {"conjac/aniso",
          "A bar with horizontal, vertical, diagonal and helical fibres under its weight (fig. 5)",
          {{"cells", "12,38", "5,16", "across and up; 12,38 are the paper's 6591 vertices"},
           {"modulus", "1e4", "1e4", "Young's modulus of the fibres at rest, Pa: that of the bar"},
           {"h", "0.02", "0.02", "time step, s"},
           {"beta", "0.5", "0.5", "the paper's"}},
          run_aniso};
}

}  // namespace pliant::experiments
