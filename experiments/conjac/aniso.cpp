// conjac, "Aniso" (fig. 5): a vertical bar with fibres (anisotropic StVK on stable Neo-Hookean) of four directions,
// under its weight, with one dynamic node. Vertical fibres hold it up best, helical ones twist it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/conjac/bars.hpp"
#include "experiments/conjac/conjac.hpp"
#include "pliant/sim/fibre_field.hpp"

namespace pliant::experiments {

namespace {

// Low and wide enough to stand: at E = 1e4 a bar of 10 x 3 cm buckles under its own weight.
constexpr double kAnisoHeight = 0.08, kAnisoWidth = 0.04;

struct Field {
  std::string name;
  FibreField fibres;
};

/// How far the top has sunk, m, and turned about the bar's axis, degrees.
std::pair<double, double> top(const Model& model, const State& state) {
  double sunk = 0, turned = 0, weight = 0;
  int count = 0;
  for (Index i = 0; i < model.nodes(); ++i) {
    const Vec3 X = node(model.rest(), i), x = node(state.x, i);
    if (X.y() < kAnisoHeight - 1e-9) continue;
    sunk += X.y() - x.y();
    ++count;
    const double a = X.z() - kAnisoWidth / 2, b = X.x() - kAnisoWidth / 2;
    turned += a * (x.x() - X.x()) - b * (x.z() - X.z());
    weight += a * a + b * b;
  }
  return {sunk / count, std::atan2(turned, weight) * 180 / 3.14159265358979};
}

void run_aniso(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  const Vec3 centre(kAnisoWidth / 2, 0, kAnisoWidth / 2);
  const std::vector<Field> fields = {{"horizontal", {FibreField::Kind::uniform, Vec3::UnitX(), centre, 0}},
                                     {"vertical", {FibreField::Kind::uniform, Vec3::UnitY(), centre, 0}},
                                     {"diagonal", {FibreField::Kind::uniform, Vec3(1, 1, 0).normalized(), centre, 0}},
                                     {"helical", {FibreField::Kind::helical, Vec3::UnitY(), centre, 0.8}}};
  double worst = 0;
  std::map<std::string, double> sunk, turned;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const Field& field = fields[k];
    context.progress(static_cast<double>(k) / 4, field.name);
    BarOptions options;
    options.size = {kAnisoWidth, kAnisoHeight, kAnisoWidth};
    options.cells = {cells, 2 * cells, cells};
    options.pinned = {"y-min"};
    options.change = [&](BodyOptions& body) {
      body.fibres = {{find_fibre_law("anisotropic-stvk"),
                      {{context.number("kappa"), 1, 0}},
                      fibre_directions(field.fibres, *body.mesh),
                      -1}};
    };
    const auto model = conjac_bar(options);
    const State rest = resting_state(model);
    for (std::int64_t nodes : {0, 1, 8}) {
      const Settled settled = settle(model, {{"dynamic_nodes", nodes}, {"beta", context.number("beta")}}, rest,
                                     kAnisoHeight, context.number("h"), [&] { return context.stopped(); });
      if (context.stopped()) return;
      std::tie(sunk[field.name], turned[field.name]) = top(*model, settled.state);
      context.row({{"fibres", field.name},
                   {"nodes", model->nodes()},
                   {"dynamic", nodes},
                   {"steps_to_rest", settled.steps},
                   {"error_over_size", settled.error},
                   {"sunk_mm", 1e3 * sunk[field.name]},
                   {"turned_degrees", turned[field.name]}});
      worst = std::max(worst, settled.succeeded ? settled.error : 1.0);
    }
  }
  context.check({"at rest conjac has the shape of the full quasistatic solution (largest distance over size)",
                 "exactly the same", worst, worst <= 1e-8});
  context.check(
      {"vertical fibres hold the bar up best (mm sunk: vertical, horizontal, diagonal, helical)", "fig. 5",
       Json::array({1e3 * sunk["vertical"], 1e3 * sunk["horizontal"], 1e3 * sunk["diagonal"], 1e3 * sunk["helical"]}),
       sunk["vertical"] < std::min({sunk["horizontal"], sunk["diagonal"], sunk["helical"]})});
  const double straight = std::max(std::abs(turned["vertical"]), std::abs(turned["horizontal"]));
  context.check({"helical fibres twist it (degrees)", "a twisting motion, fig. 5", turned["helical"],
                 std::abs(turned["helical"]) > 10 * straight + 0.5});
}

}  // namespace

Experiment conjac_aniso() {
  return {"conjac/aniso",
          "A bar with horizontal, vertical, diagonal and helical fibres under its weight (fig. 5)",
          {{"cells", "14", "5", "across the bar; 14 come close to the paper's 6591 vertices"},
           {"kappa", "1e4", "1e4", "stiffness of the fibres, Pa"},
           {"h", "0.02", "0.02", "time step, s"},
           {"beta", "2", "2", "damping on the way to rest, which the shape there does not depend on"}},
          run_aniso};
}

}  // namespace pliant::experiments
