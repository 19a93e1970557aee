// conjac, "BarCut" (fig. 7): a bar is stretched between two walls, cut in the middle, and its right part cut again. Two
// dynamic nodes, one on either side of the first cut. The piece at the right wall loses its dynamic node and goes on
// quasistatically; the one in between, which nothing holds any more, falls.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/conjac/conjac.hpp"
#include "pliant/mesh/cutting.hpp"
#include "pliant/simulation/simulation.hpp"

namespace pliant::experiments {

namespace {

constexpr double kFirst = 0.5, kSecond = 0.8;

std::string scene_text(const std::vector<int>& cells, double duration, const std::string& solver) {
  const double length = 0.12, width = 0.03;
  const auto node = [&](double x) {
    const int i = static_cast<int>(std::lround(x / length * cells[0]));
    return i + (cells[0] + 1) * (cells[1] / 2 + (cells[1] + 1) * (cells[2] / 2));
  };
  std::string text = fmt::format(
      "simulation = {{dt = 0.005, duration = {}}}\n[[body]]\nname = \"bar\"\nbox = {{size = [{}, {}, {}], cells = [{}, "
      "{}, {}]}}\nmaterial = \"stable-neo-hookean\"\nyoung = 1e4\npoisson = 0.4\ndamping = {{mass = 1.0}}\n",
      duration, length, width, width, cells[0], cells[1], cells[2]);
  text += "[[pin]]\nwhere = \"x-min\"\n[[script]]\nwhere = \"x-max\"\ntranslate = [0.03, 0, 0]\ntimes = [0, 0.3]\n";
  text += fmt::format(
      "[[cut]]\ntime = {}\nplane = {{point = [0.06, 0, 0], normal = [1, 0, 0]}}\n[[cut]]\ntime = {}\nplane = {{point = "
      "[0.09, 0.015, 0.015], normal = [1, 0.3, 0]}}\n[solver]\nname = \"{}\"\n",
      kFirst, kSecond, solver);
  if (solver == "conjac") text += "safeguard = \"none\"\nturning = \"linear\"\ngamma_search = false\n";
  if (solver == "conjac") text += fmt::format("dynamic = \"{}, {}\"\n", node(0.05), node(0.07));
  return text;
}

struct Sum {
  double mass = 0, volume = 0;
  Vec3 momentum = Vec3::Zero();
};

Sum sum_up(const Simulation& simulation) {
  const Model& model = *simulation.model();
  Sum sum{model.mass().lumped().sum(), model.bodies()[0].mesh->total_volume()};
  VecX p;
  model.mass().multiply(simulation.state()->v, p);
  for (Index i = 0; i < model.nodes(); ++i) sum.momentum += node(p, i);
  return sum;
}

void run_barcut(Context& context) {
  const double duration = context.number("duration");
  for (const std::string& solver : context.list("solvers")) {
    Simulation simulation(parse_scene(scene_text(context.integers("cells"), duration, solver), "barcut"));
    const auto steps = simulation.scene().steps;
    double change = 0, seconds = 0;
    int pieces_after = 0, failures = 0;
    for (std::int64_t s = 0; s < steps; ++s) {
      context.progress(static_cast<double>(s) / static_cast<double>(steps), solver);
      if (context.stopped()) return;
      const Sum before = sum_up(simulation);
      if (!simulation.make_due_cuts().empty()) {
        const Sum after = sum_up(simulation);
        const double scale = std::max(before.momentum.norm(), 1e-12);
        change = std::max({change, std::abs(after.mass / before.mass - 1), std::abs(after.volume / before.volume - 1),
                           (after.momentum - before.momentum).norm() / scale});
        Index count = 0;
        face_connected_pieces(*simulation.model()->bodies()[0].mesh, count);
        pieces_after = count;
      }
      const StepReport report = simulation.step();
      seconds += report.seconds.total;
      if (!simulation.took(report)) {
        ++failures;
        break;
      }
    }
    // The piece at the right wall, where it should be at rest: how far it still moves; the middle one: how far it fell.
    const Model& model = *simulation.model();
    const State& state = *simulation.state();
    double speed = 0, fallen = 0;
    for (Index i = 0; i < model.nodes(); ++i) {
      const Vec3 X = node(model.rest(), i);
      if (X.x() > 0.11) speed = std::max(speed, node(state.v, i).norm());
      if (X.x() > 0.064 && X.x() < 0.076) fallen = std::max(fallen, X.y() - node(state.x, i).y());
    }
    context.row({{"solver", solver},
                 {"nodes", model.nodes()},
                 {"pieces", pieces_after},
                 {"conservation_error", change},
                 {"right_piece_speed", speed},
                 {"middle_piece_fell_mm", 1e3 * fallen},
                 {"ms", 1e3 * seconds / static_cast<double>(steps)},
                 {"outcome", failures == 0 ? "completed" : "failed"}});
    context.check({fmt::format("{}: cuts keep volume, mass and momentum (largest relative change)", solver), "-",
                   change, change <= 1e-12 && failures == 0});
    context.check({fmt::format("{}: three pieces, the middle one falls", solver), "fig. 7",
                   Json::array({pieces_after, 1e3 * fallen}), pieces_after == 3 && fallen > 0.05});
    if (solver == "conjac")
      context.check(
          {"the piece without dynamic nodes rests at its wall (m/s)", "becomes quasistatic", speed, speed < 1e-3});
  }
}

}  // namespace

Experiment conjac_barcut() {
  return {"conjac/barcut",
          "A stretched bar cut twice while it moves: conservation, and what pieces without dynamic nodes do (fig. 7)",
          {{"cells", "48,10,10", "24,6,6", "of the bar; 48,10,10 are the paper's 6 thousand vertices"},
           {"solvers", "conjac,pod-newton", "conjac,pod-newton", "any"},
           {"duration", "1.2", "1.2", "s; cut at 0.5 and 0.8"}},
          run_barcut};
}

}  // namespace pliant::experiments
