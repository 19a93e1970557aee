// Fig. 4 of quasi-newton: the big bunny (corotated, mu = 5, lambda = 200) is pushed by a ball through a torus that is
// narrower than it. Collisions are in energy and gradient, not in the matrix.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/torus.hpp"

namespace pliant::experiments {

namespace {

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(values.size());
}

void run_bunny_through_torus(Context& context) {
  const auto mesh = find_mesh(context, context.text("body"));
  if (!mesh) return decide_without_meshes(context, "quasi-newton/bunny-through-torus");
  const TorusScene torus = torus_scene(*mesh, 1, context.number("seconds"));
  const Model& model = *torus.scene.model;
  const TorusRun run = squeeze_through(context, torus, static_cast<int>(context.number("frames")));

  std::set<Index> surface;
  for (const Triangle& t : model.bodies()[0].surface()) surface.insert(t.begin(), t.end());
  Index most = 0;
  int contact_frames = 0;
  std::vector<double> with, without;
  for (std::size_t k = 0; k < run.touching.size(); ++k) {
    most = std::max(most, run.touching[k]);
    contact_frames += run.touching[k] > 0;
    if (run.touching[k] == 0)
      without.push_back(run.evaluations[k]);
    else if (!context.quick() || with.size() < 60)
      with.push_back(run.evaluations[k]);
  }
  const double share = static_cast<double>(most) / static_cast<double>(surface.size());
  double behind = 1e300;
  const TorusShape& ring = std::get<TorusShape>(model.colliders()->colliders()[0].shape);
  for (Index i = 0; i < model.nodes(); ++i)
    behind = std::min(behind, ring.centre[torus.axis] - torus.tube - node(run.end.x, i)[torus.axis]);
  const double deepest = std::max(0.0, -smallest_distance(*model.colliders(), run.end.time, run.end.x));
  const auto inverted = static_cast<double>(model.bodies()[0].elastic->count_inverted(run.end.x));
  const double away = aligned_distance(model.rest(), run.end.x) / torus.scene.size;
  context.row({{"body", context.text("body")},
               {"vertices", model.nodes()},
               {"frames", run.touching.size()},
               {"contact_frames", contact_frames},
               {"most_touching", most},
               {"behind", behind},
               {"away", away},
               {"inverted", inverted},
               {"trials_in_contact", mean_of(with)},
               {"trials_without", mean_of(without)},
               {"touching", run.touching}});

  Decision passes("quasi-newton/fig-4/passes");
  passes.needs(share >= 0.05, "5% of the surface vertices touch in some frame")
      .needs(contact_frames >= 30, "contact lasts at least 30 frames")
      .equal("frames that are not finite", run.finite ? 0 : 1, 0)
      .above("least way past the torus, m", behind, 0)
      .at_most("depth at the end over the tube's radius", deepest / torus.tube, 1e-3)
      .equal("inverted elements at the end", inverted, 0)
      .at_most("distance from rest over the size", away, 0.02)
      .note("share of surface vertices that touch", share)
      .note("hole over the body's radius", torus.hole / torus.radius);
  if (passes.verdict() == Verdict::fails)
    passes.because(
        fmt::format("after {} frames, {} of them in contact, ten iterations a frame have not brought the body "
                    "to this state",
                    run.touching.size(), contact_frames));
  context.decide(passes);

  Decision constant("quasi-newton/section-4.3/no-refactorisation");
  constant.needs(run.changing_frames >= 30, "the contact set changes in at least 30 frames")
      .equal("factorisations", run.factorisations, 1)
      .equal("iterations in which g with their contact set rose", run.rises, 0)
      .note("iterations", run.iterations)
      .note("frames in which the contact set changed", run.changing_frames);
  if (constant.verdict() == Verdict::fails)
    constant.because(fmt::format(
        "g is evaluated with the contacts of each trial point, which falls in every iteration; with the set frozen, as "
        "printed, nodes that leave an obstacle are pulled back and g rises in {} of {} iterations",
        run.rises, run.iterations));
  context.decide(constant);

  Decision trials("quasi-newton/table-1/line-search/collisions");
  trials.needs(with.size() >= 30 && !without.empty(), "frames with contact and frames without")
      .above("trial points in contact over those without", mean_of(with) / mean_of(without), 1.5)
      .at_most("trial points a frame in contact", mean_of(with), 62)
      .note("trial points a frame without contact", mean_of(without));
  if (trials.verdict() == Verdict::fails)
    trials.because(fmt::format("{:.1f} trial points a frame in contact and {:.1f} without, over {} and {} frames",
                               mean_of(with), mean_of(without), with.size(), without.size()));
  context.decide(trials);
}

}  // namespace

Experiment bunny_through_torus() {
  return {"quasi-newton/bunny-through-torus",
          "A soft body pushed by a ball through a torus narrower than it (fig. 4)",
          {meshes_option("bunny.mesh, and sphere1K.msh for quick runs"),
           {"body", "bunny", "sphere1K", "which mesh"},
           {"seconds", "4", "1.2", "that the ball takes for its way"},
           {"frames", "300", "90", "at most"}},
          run_bunny_through_torus};
}

}  // namespace pliant::experiments
