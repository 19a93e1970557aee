// Fig. 12 of quasi-newton: wrinkles of mass-spring cloth hung by two corners, with ten iterations of Projective
// Dynamics and with L-BFGS, beside the converged run.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/measure.hpp"
#include "experiments/quasi_newton/descent.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"

namespace pliant::experiments {

namespace {

/// Root mean square of the mean curvature over the sheet's inner vertices, 1/m.
double wrinkling(const VecX& x, Index cells, double edge) {
  const Index n = cells + 1;
  double sum = 0;
  for (Index j = 1; j < cells; ++j)
    for (Index i = 1; i < cells; ++i) {
      const Vec3 centre = node(x, i + n * j);
      const Vec3 laplacian = node(x, i - 1 + n * j) + node(x, i + 1 + n * j) + node(x, i + n * (j - 1)) +
                             node(x, i + n * (j + 1)) - 4 * centre;
      sum += (0.5 * laplacian / (edge * edge)).squaredNorm();
    }
  return std::sqrt(sum / static_cast<double>((cells - 1) * (cells - 1)));
}

void run_cloth(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  const int frames = static_cast<int>(context.number("frames"));
  const FrameScene scene = cloth_scene(cells, table1_row("cloth").factor);
  const double edge = scene.size / cells;
  const Trajectory run = converged_run(scene, frames);
  Decision decision("quasi-newton/fig-12/wrinkles");
  decision.needs(run.complete, "the converged run reaches its end");
  if (!run.complete) return context.decide(decision);
  DescentOptions none;
  none.window = 0;
  Descent lbfgs(scene.model, {}), plain(scene.model, none), ours_here(scene.model, {}), plain_here(scene.model, none);
  State a = scene.start, b = scene.start;
  std::vector<double> off[2], ms[2], exact;
  double wins = 0;
  bool stable = true;
  const OneThread one;
  for (int k = 0; k < frames && stable && !context.stopped(); ++k) {
    context.progress(k / double(frames), "cloth");
    begin_frame(scene, a);
    begin_frame(scene, b);
    stable = lbfgs.advance(a, kFrame) && plain.advance(b, kFrame);
    const auto at = static_cast<std::size_t>(k);
    const VecX& converged = at + 1 < run.begins.size() ? run.begins[at + 1].x : run.end.x;
    const double W = wrinkling(converged, cells, edge);
    // The same frame of the converged run by both, for error and time.
    const DescentFrame first = ours_here.solve(run.begins[at], kFrame),
                       second = plain_here.solve(run.begins[at], kFrame);
    if (k > 0) {
      ms[0].push_back(1e3 * first.seconds);
      ms[1].push_back(1e3 * second.seconds);
    }
    if (!(W > 0)) continue;  // flat, as it starts
    exact.push_back(W);
    off[0].push_back(std::abs(wrinkling(a.x, cells, edge) - W));
    off[1].push_back(std::abs(wrinkling(b.x, cells, edge) - W));
    wins += first.energy < second.energy;
  }
  decision.needs(stable, "both runs are finite")
      .needs(static_cast<int>(exact.size()) >= frames / 2, "the converged cloth is curved in half of the frames")
      .below("median distance of L-BFGS to the converged wrinkling, 1/m", median(off[0]), 0.5 * median(off[1]))
      .at_least("share of frames in which L-BFGS has the smaller error", wins / static_cast<double>(exact.size()), 0.9)
      .at_most("time of a frame over that of Projective Dynamics", median(ms[0]) / median(ms[1]), 1.05)
      .note("median distance of Projective Dynamics, 1/m", median(off[1]))
      .note("median wrinkling, 1/m", median(exact))
      .note("ms a frame, L-BFGS and Projective Dynamics", Json::array({median(ms[0]), median(ms[1])}));
  if (decision.verdict() == Verdict::fails)
    decision.because(
        fmt::format("wrinkling {:.3f}/m; off by {:.4f} with L-BFGS and {:.4f} without; {:.2f} and {:.2f} ms a frame",
                    median(exact), median(off[0]), median(off[1]), median(ms[0]), median(ms[1])));
  context.row({{"cells", cells},
               {"wrinkling", median(exact)},
               {"off_lbfgs", median(off[0])},
               {"off_pd", median(off[1])},
               {"ms_lbfgs", median(ms[0])},
               {"ms_pd", median(ms[1])},
               {"wins", wins},
               {"frames", exact.size()}});
  context.decide(decision);
}

}  // namespace

Experiment cloth_experiment() {
  return {"quasi-newton/cloth",
          "Wrinkles of mass-spring cloth with and without L-BFGS (fig. 12)",
          {{"cells", "80", "40", "along an edge"}, {"frames", "90", "60", "of 1/30 s"}},
          run_cloth};
}

}  // namespace pliant::experiments
