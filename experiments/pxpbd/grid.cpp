// Fig. 10 and section 6 of pxpbd, on a background grid: four bars whose ends are twisted together, and what the CFL
// condition is for.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "experiments/meshes.hpp"
#include "experiments/pxpbd/objects.hpp"
#include "experiments/pxpbd/pxpbd.hpp"
#include "experiments/pxpbd/scenes.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

constexpr double kBarStep = 1.0 / 60, kBarLength = 2;

/// Four bars side by side; the ends on the left turn one way, those on the right the other, all about one axis.
std::shared_ptr<const Model> four_bars(Index cells, double turns, double seconds) {
  ModelBuilder builder;
  const double width = 0.2, gap = 0.1;
  for (int k = 0; k < 4; ++k) {
    BoxOptions options;
    options.size = {kBarLength, width, width};
    options.cells = {10 * cells, cells, cells};
    options.origin = {0, (k % 2) * (width + gap), (k / 2) * (width + gap)};
    BodyOptions body;
    body.name = fmt::format("bar {}", k);
    body.mesh = std::make_shared<TetMesh>(box(options));
    body.material = {find_law("fixed-corotated"), lame_from_young(1e3, 0.3)};
    body.density = 10;
    builder.add_body(body);
    const Index first = builder.body(static_cast<std::size_t>(k)).nodes.begin;
    for (const char* side : {"x-min", "x-max"}) {
      std::vector<Index> nodes = body.mesh->sets().at(side);
      for (Index& i : nodes) i += first;
      Script script{fmt::format("bar {} {}", k, side), nodes, {}, Imposition::direct};
      script.motion.centre = {0, width + 0.5 * gap, width + 0.5 * gap};
      const double sign = std::string(side) == "x-min" ? 1 : -1;
      script.motion.angle.keys = {{0, 0.0}, {seconds, sign * turns * 2 * std::numbers::pi}};
      builder.add_script(script);
    }
  }
  return builder.build();
}

/// Share of the bars' length, in tenths, in which one comes within a cell of another.
double touching_length(const Model& model, const VecX& x, double cell) {
  std::set<std::pair<std::size_t, int>> tenths;
  for (std::size_t a = 0; a < 4; ++a)
    for (Index i = model.bodies()[a].nodes.begin; i < model.bodies()[a].nodes.end; ++i) {
      const int tenth = std::min(9, static_cast<int>(10 * node(model.rest(), i).x() / kBarLength));
      if (tenths.contains({a, tenth})) continue;
      for (std::size_t b = 0; b < 4; ++b) {
        if (b == a) continue;
        for (Index j = model.bodies()[b].nodes.begin; j < model.bodies()[b].nodes.end; ++j)
          if ((node(x, i) - node(x, j)).squaredNorm() < cell * cell) {
            tenths.emplace(a, tenth);
            break;
          }
      }
    }
  return static_cast<double>(tenths.size()) / 40;
}

void decide_bars(Context& context) {
  Decision decision("pxpbd/fig-10/four-bars");
  const double seconds = context.number("twist_seconds");
  const auto cells = static_cast<Index>(context.number("cells"));
  const auto model = four_bars(cells, context.number("turns"), seconds);
  const auto stepper = make_stepper(model, "grid-b-pxpbd", sweeps_alone({{"zeta", 0.5}}));
  State state = model->rest_state();
  const int steps = static_cast<int>(std::lround((seconds + 1) / kBarStep));
  int done = 0;
  double inside = 0, touching = 0, stretched = 0, farthest = 0;
  std::string why;
  std::vector<Mat3> F;
  for (; done < steps && !context.stopped(); ++done) {
    context.progress(static_cast<double>(done) / steps, "four bars");
    const StepReport report = stepper->step(state, kBarStep);
    farthest = state.x.allFinite() ? std::max(farthest, (state.x - model->rest()).cwiseAbs().maxCoeff()) : 1e300;
    if (!report.advanced() || farthest > 10 * kBarLength) {
      why = report.detail;
      break;
    }
    if (done % 10 != 9 && done + 1 != steps) continue;
    inside = std::max(inside, interpenetration(*model, state.x));
    touching = std::max(touching, touching_length(*model, state.x, 0.2 / static_cast<double>(cells)));
    double beyond = 0, elements = 0;
    for (const Body& body : model->bodies()) {
      F.resize(body.mesh->tets().size());
      body.elastic->deformation_gradients(state.x, {0, static_cast<Index>(F.size())}, F.data());
      for (const Mat3& each : F) {
        const Vec3 s = singular_values(each);
        beyond += s[0] > 1.4 || s[2] < 0.7;
        ++elements;
      }
    }
    stretched = std::max(stretched, beyond / elements);
  }
  decision.equal("steps done", done, steps)
      .at_least("share of the length in which bars touch", touching, 0.5)
      .at_most("share of vertices inside another bar", inside, 1e-3)
      .at_least("share of elements stretched beyond 0.7 to 1.4", stretched, 0.05)
      .note("farthest vertex from rest, m", farthest);
  if (decision.verdict() == Verdict::fails)
    decision.because(
        fmt::format("{} of {} steps, bars touch over {:.0f}% of their length, {:.2g} of the vertices inside, {:.2g} of "
                    "the elements far stretched; {}",
                    done, steps, 100 * touching, inside, stretched, why));
  context.row({{"scene", "four bars"},
               {"vertices", model->nodes()},
               {"steps", done},
               {"touching", touching},
               {"inside", inside},
               {"stretched", stretched}});
  context.decide(decision);
}

void decide_cfl(Context& context) {
  Decision decision("pxpbd/section-6/cfl");
  if (context.text("meshes").empty()) {
    context.decide(decision.leave_undecided("a folder with the meshes was given (option meshes)"));
    return;
  }
  const int frames = static_cast<int>(context.number("frames"));
  const auto pile = dropped_pile(context, context.list("bodies"), 0.1);
  const PileRun bound = run_pile(context, pile, frames, {{"zeta", 0.5}});
  // The engine bounds it by one cell: the loosest that there is.
  const PileRun loose = run_pile(context, pile, frames, {{"zeta", 0.5}, {"cfl", 1.0}});
  context.row({{"scene", "cfl 0.4"}, {"frames", bound.frames}, {"inside", bound.inside}});
  context.row({{"scene", "cfl 1"}, {"frames", loose.frames}, {"inside", loose.inside}});
  decision.needs(false, "steps in which vertices cross several cells: the engine takes at most one cell a substep")
      .at_most("at 0.4: share of vertices inside another body", bound.inside, 0.01)
      .note("at 1, the largest that the engine takes", loose.inside)
      .note("frames done at 0.4 and at 1", Json::array({bound.frames, loose.frames}));
  context.decide(decision);
}

void run_grid(Context& context) {
  decide_bars(context);
  if (!context.stopped()) decide_cfl(context);
}

}  // namespace

Experiment pxpbd_grid() {
  return {"pxpbd/grid",
          "Four bars twisted together on a background grid, and its CFL condition (fig. 10, section 6)",
          {meshes_option("ditto.mesh, hippo.mesh, sphere.mesh and torus.msh"),
           {"cells", "4", "2", "across a bar, which is ten times as long"},
           {"turns", "1", "0.5", "by which either end of the bars is twisted"},
           {"twist_seconds", "2", "1", "the time that takes"},
           {"bodies", "ditto,hippo,sphere,box,torus", "sphere,box,torus", "of the pile"},
           {"frames", "30", "20", "of 1/30 s of the pile"}},
          run_grid};
}

}  // namespace pliant::experiments
