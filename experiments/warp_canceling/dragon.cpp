// The dropped dragon (fig. 4, Table II of warp-canceling): a real figure in its place. Time of every stage and elements
// refreshed frame by frame, with each method at the loosest tolerance that looks like full Cholesky.

#include <fmt/format.h>

#include <algorithm>

#include "experiments/meshes.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

namespace {

/// One body with its three methods.
struct DroppedFigure {
  Frames full;
  SameLook cg, wc;
  double tets = 0;

  bool found() const { return full.completed && cg.frames.completed && wc.frames.completed; }
  double stage(const Frames& f, const std::string& name) const { return f.measured.mean_ms(name); }
  /// All but collision detection.
  double integration(const Frames& f) const { return f.measured.average_ms() - f.measured.mean_ms("contact"); }
};

DroppedFigure drop_and_compare(Context& context, const std::shared_ptr<const Model>& model, int steps,
                               const std::string& label) {
  DroppedFigure figure;
  figure.tets = double(model->bodies()[0].mesh->tets().size());
  figure.full = record(context, model, {"full", "corotational"}, 0.01, steps);
  figure.cg = loosest_of_same_look(
      context, model, [](double t) { return paper_cg(t); }, 0.1, 1e-8, 0.01, figure.full);
  figure.wc = loosest_of_same_look(context, model, paper_wc, 0.5, 1e-5, 0.01, figure.full);
  for (const auto& [name, frames, tolerance] : {std::tuple{"full", &figure.full, 0.0},
                                                {"CG", &figure.cg.frames, figure.cg.tolerance},
                                                {"WC", &figure.wc.frames, figure.wc.tolerance}}) {
    Json row = {{"body", label},
                {"tets", figure.tets},
                {"method", name},
                {"tolerance", tolerance},
                {"completed", frames->completed},
                {"deviation", frames->deviation}};
    row.update(measured_row(frames->measured));
    row.update(stage_columns(frames->measured));
    row["refreshed_by_frame"] = frames->refreshed;
    context.row(row);
  }
  return figure;
}

void run_warp_dragon(Context& context) {
  std::vector<std::string> ids;
  for (const Claim* own : claims_of("warp-canceling/dragon")) ids.push_back(own->id);
  if (!has_meshes(context, ids)) return;
  const int steps = static_cast<int>(context.number("steps"));
  const double young = context.number("young");
  const auto model = dropped_figure(*find_mesh(context, context.text("mesh")), young);
  context.progress(0, "figure");
  const DroppedFigure figure = drop_and_compare(context, model, steps, context.text("mesh"));
  const std::string look = "CG and WC have tolerances of the same look as full Cholesky";
  const auto presuppose = [&](Decision& d) -> Decision& { return d.needs(figure.found(), look); };
  const std::string tolerances =
      fmt::format("E = {:g} Pa; CG to {:g}, tau {:g} N s", young, figure.cg.tolerance, figure.wc.tolerance);
  const Frames &cg = figure.cg.frames, &wc = figure.wc.frames;
  Decision dragon("warp-canceling/table-2/dragon");
  needs_a_core(presuppose(dragon), cg.measured);
  needs_a_core(dragon, wc.measured)
      .at_least("CG over WC, integration", figure.integration(cg) / figure.integration(wc), 2.8)
      .at_least("CG over WC, total", cg.measured.cpu_ms() / wc.measured.cpu_ms(), 2.3)
      .because(tolerances);
  context.decide(dragon);

  // The share refreshed over the frames.
  Decision vary("warp-canceling/fig-4/updates-vary");
  const double most = wc.refreshed.empty() ? 0 : *std::max_element(wc.refreshed.begin(), wc.refreshed.end());
  double pressed = 0, free = 0, least_height = 1e300, height = 0;
  int pressed_frames = 0, free_frames = 0;
  bool compressing = false;
  double last_centre = 1e300;
  for (std::size_t k = 0; k < wc.x.size(); ++k) {
    double low = 1e300, high = -1e300, centre = 0;
    for (Eigen::Index i = 1; i < wc.x[k].size(); i += 3)
      low = std::min(low, wc.x[k][i]), high = std::max(high, wc.x[k][i]), centre += wc.x[k][i];
    if (k == 0) height = high - low;
    least_height = std::min(least_height, high - low);
    compressing = low < 0 && centre < last_centre;
    last_centre = centre;
    if (k == 0) continue;
    if (compressing) pressed += wc.refreshed[k - 1], ++pressed_frames;
    if (low > 0) free += wc.refreshed[k - 1], ++free_frames;
  }
  presuppose(vary)
      .needs(1 - least_height / height >= 0.05, "it is compressed by 5% of its height")
      .needs(bounces(wc) >= 1, "it bounces")
      .needs(pressed_frames >= 10 && free_frames >= 10, "there are 10 frames of either kind")
      .at_least("largest share refreshed", most, 0.2)
      .at_most("median share over the largest", percentile(wc.refreshed, 0.5) / most, 1.0 / 3)
      .at_least("share while compressing over that without contact", pressed / pressed_frames / (free / free_frames), 3)
      .because(fmt::format("{:.2g} while compressing, {:.2g} without contact, {:.2g} at most", pressed / pressed_frames,
                           free / free_frames, most));
  context.decide(vary);

  // The sculpture shares these claims; what the figure fails is decided by it alone.
  DroppedFigure lattice;
  const auto settle = [&](bool has_lattice) {
    Decision dominates("warp-canceling/table-2/cg-solve-dominates"), assembly("warp-canceling/table-2/assembly-saved"),
        overhead("warp-canceling/table-2/overhead-of-warping"),
        updates("warp-canceling/section-1/updates-are-most-of-a-step");
    std::vector<std::pair<std::string, const DroppedFigure*>> bodies;
    if (!context.quick()) bodies.emplace_back("figure", &figure);
    if (has_lattice) bodies.emplace_back("sculpture", &lattice);
    for (Decision* d : {&dominates, &assembly, &overhead, &updates}) {
      d->awaits(has_lattice, "the sculpture").awaits(context.quick(), "sculptures at E = 5e7 and of 329 thousand tets");
      for (const auto& [name, body] : bodies) {
        d->needs(body->found(), name + ": " + look);
        if (d != &dominates)
          d->needs(bounces(body->full) >= 2, fmt::format("{}: it bounces twice ({} times)", name, bounces(body->full)));
        needs_a_core(*d, body->cg.frames.measured), needs_a_core(*d, body->wc.frames.measured);
      }
    }
    for (const auto& [name, body] : bodies) {
      const bool is_figure = body == &figure;
      const Frames &c = body->cg.frames, &w = body->wc.frames;
      // What is asked of a small mesh at quick size.
      dominates
          .at_least(name + ": CG's solve over its integration", body->stage(c, "solve") / body->integration(c),
                    is_figure || context.quick() ? 0.8 : 0.95)
          .at_least(name + ": CG's solve over WC's", body->stage(c, "solve") / body->stage(w, "solve"),
                    is_figure         ? 6
                    : context.quick() ? 5
                                      : 40)
          .because(fmt::format("{}: CG to {:g} takes {:.0f} iterations a frame", name, body->cg.tolerance,
                               c.measured.linear_iterations / std::max(1, c.measured.steps)));
      assembly
          .at_least(name + ": CG's assembly over WC's matrix update",
                    body->stage(c, "matrix_update") / body->stage(w, "matrix_update"), 5)
          .because(fmt::format("{}: {:.3f} and {:.3f} us a tet", name,
                               1e3 * body->stage(c, "matrix_update") / body->tets,
                               1e3 * body->stage(w, "matrix_update") / body->tets));
      overhead.at_most(name + ": node rotations and error estimate over integration",
                       (body->stage(w, "node_rotations") + body->stage(w, "error_estimate")) / body->integration(w),
                       0.27);
      updates
          .above(name + ": matrix and Cholesky update over integration",
                 (body->stage(w, "matrix_update") + body->stage(w, "cholesky_update")) / body->integration(w), 0.5)
          .because(fmt::format("{}: {:.0f}% of the elements are refreshed a frame", name,
                               100 * w.measured.mean("refreshed_elements")));
    }
    for (const Decision* d : {&dominates, &assembly, &overhead, &updates}) context.settle(*d);
  };
  if (context.stopped()) return;
  settle(false);
  context.progress(0.5, "sculpture");
  lattice = drop_and_compare(context, sculpture(static_cast<Index>(context.number("across")), 5e8),
                             static_cast<int>(context.number("sculpture_steps")), "sculpture, E = 5e8");
  if (!context.stopped()) settle(true);
}

}  // namespace

Experiment dragon_experiment() {
  return {"warp-canceling/dragon",
          "A dropped figure: time of every stage and elements refreshed frame by frame (fig. 4, Table II)",
          {meshes_option("squirrel_modified.mesh; quick: ditto.mesh"),
           {"mesh", "squirrel_modified", "ditto", "the figure"},
           {"young", "5e6", "5e6", "Young's modulus of the figure, Pa"},
           {"steps", "300", "150", "frames"},
           {"across", "5", "2", "cells across a strut of the sculpture"},
           {"sculpture_steps", "300", "300", "its frames"}},
          run_warp_dragon};
}

}  // namespace pliant::experiments
