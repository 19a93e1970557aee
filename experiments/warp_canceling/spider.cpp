// The spider of warp-canceling (fig. 7): a toy of slender elements on a thread, legs and trunk 300 times as stiff as
// joints and thread. With it Table V, which takes four scenes side by side.

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/meshes.hpp"
#include "experiments/warp_canceling/cg_ladder.hpp"
#include "experiments/warp_canceling/table_five.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

namespace {

constexpr double kSpiderStep = 0.01;

/// The longest edge of a tetrahedron over its least height.
double aspect_ratio(const std::array<Vec3, 4>& p) {
  double edge = 0, face = 0;
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < a; ++b) edge = std::max(edge, (p[a] - p[b]).norm());
    const Vec3 &q = p[(a + 1) % 4], &r = p[(a + 2) % 4], &s = p[(a + 3) % 4];
    face = std::max(face, (r - q).cross(s - q).norm());
  }
  const double six_volumes = std::abs((p[1] - p[0]).cross(p[2] - p[0]).dot(p[3] - p[0]));
  return edge * face / six_volumes;
}

double median_aspect(const SpiderScene& scene) {
  const TetMesh& mesh = *scene.model->bodies()[0].mesh;
  std::vector<double> ratios;
  for (Index e : scene.slender) {
    std::array<Vec3, 4> p;
    for (std::size_t a = 0; a < 4; ++a) p[a] = mesh.vertices()[at(mesh.tets()[at(e)][a])];
    ratios.push_back(aspect_ratio(p));
  }
  return percentile(ratios, 0.5);
}

/// The largest change of the angle at a joint, degrees.
double largest_bend(const SpiderScene& scene, const VecX& x) {
  const auto angle = [](const VecX& at_place, const std::array<Index, 4>& j) {
    const Vec3 before = (node(at_place, j[1]) - node(at_place, j[0])).normalized(),
               after = (node(at_place, j[3]) - node(at_place, j[2])).normalized();
    return std::acos(std::clamp(before.dot(after), -1.0, 1.0));
  };
  double most = 0;
  for (const auto& joint : scene.joints)
    most = std::max(most, std::abs(angle(x, joint) - angle(scene.model->rest(), joint)));
  return most * 180 / std::numbers::pi;
}

Vec3 trunk_centre(const SpiderScene& scene, const VecX& x) {
  Vec3 centre = Vec3::Zero();
  for (Index i : scene.trunk) centre += node(x, i) / double(scene.trunk.size());
  return centre;
}

/// Four scenes with no limit on the updates: how much the times of frames spread.
void decide_table_five(Context& context, const std::vector<RowOfTableFive>& rows) {
  Decision decision("warp-canceling/table-5/rows");
  decision.needs(rows.size() == 4, "all four scenes run");
  for (const RowOfTableFive& r : rows) {
    const double low = percentile(r.wc.cpu_ms, 0.05), high = percentile(r.wc.cpu_ms, 0.95);
    double mean = 0, full = 0;
    for (double ms : r.wc.cpu_ms) mean += ms / double(r.wc.cpu_ms.size());
    for (double ms : r.full.cpu_ms) full += ms / double(r.full.cpu_ms.size());
    context.row({{"scene", r.name},
                 {"ms_5_percent", low},
                 {"ms_mean", mean},
                 {"ms_95_percent", high},
                 {"full_ms", full},
                 {"ms_by_frame", r.wc.cpu_ms}});
    decision.needs(r.full.completed, r.name + ": full Cholesky completes")
        .part(r.name + ": frames", double(r.wc.x.size()), "all of them", r.wc.completed)
        .at_least(r.name + ": 95th over 5th percentile", high / low, 3)
        .between(r.name + ": mean over 5th percentile", mean / low, 1.5, 4)
        .below(r.name + ": mean over full Cholesky's", mean / full, 1)
        .because(fmt::format("{}: {:.2f} / {:.2f} / {:.2f} ms, full {:.2f}", r.name, low, mean, high, full));
  }
  context.decide(decision);
}

void run_spider(Context& context) {
  const SpiderScene scene = spider(static_cast<Index>(context.number("fine")));
  const auto& model = scene.model;
  const int steps = static_cast<int>(context.number("frames"));
  const double look = scene.size / diameter(*model);
  context.progress(0, "full Cholesky and warp-canceling");
  double travel = 0, bend = 0;
  const Vec3 start = trunk_centre(scene, model->rest());
  const Frames full = record(context, model, {"full", "corotational"}, kSpiderStep, steps);
  const Frames wc = record(context, model, paper_wc(1e-4), kSpiderStep, steps, &full, 1e300, [&](const MethodRun& run) {
    travel = std::max(travel, (trunk_centre(scene, run.state().x) - start).norm());
    bend = std::max(bend, largest_bend(scene, run.state().x));
  });
  for (const auto& [name, run] : {std::pair<const char*, const Frames&>{"full", full}, {"WC", wc}}) {
    Json row = {{"method", name},
                {"tets", model->bodies()[0].mesh->tets().size()},
                {"nodes", model->nodes()},
                {"completed", run.completed},
                {"deviation", run.deviation / look}};
    row.update(measured_row(run.measured));
    context.row(row);
  }
  const double aspect = median_aspect(scene);
  context.decide(Decision("warp-canceling/fig-7/spider")
                     .needs(full.completed, "full Cholesky completes")
                     .part("frames of WC", double(wc.x.size()), "all of them, finite", wc.completed)
                     .at_most("deviation from full Cholesky, of the spider's size", wc.deviation / look, 0.01)
                     .at_least("way of its centre, of its size", travel / scene.size, 0.5)
                     .at_least("largest bend of a joint, degrees", bend, 10)
                     .at_least("median aspect ratio of legs and thread", aspect, 10)
                     .because(fmt::format("{} tets, {} nodes; deviation {:.2g} of {:.2g} m, joints bend by {:.0f} "
                                          "degrees",
                                          model->bodies()[0].mesh->tets().size(), model->nodes(), wc.deviation / look,
                                          scene.size, bend)));
  context.progress(0.2, "the other scenes of Table V");
  std::vector<RowOfTableFive> rows = {{"spider", full, wc}};
  const auto sheet_cells = static_cast<Index>(context.number("sheet"));
  const auto sheet = draped_sheet(sheet_cells);
  Method on_ball = paper_wc(1e-4);
  on_ball.parameters["node_rotations"] = std::string("identity");
  const int sheet_steps = static_cast<int>(context.number("sheet_frames"));
  rows.push_back({"cloth drop", record(context, sheet, {"full", "corotational"}, 0.02, sheet_steps),
                  record(context, sheet, on_ball, 0.02, sheet_steps)});
  rows.push_back(trampoline_row(context, sheet_cells, static_cast<int>(context.number("trampoline_frames"))));
  if (const auto figure = find_mesh(context, context.text("mesh"))) {
    const PistonScene piston = body_under_piston(*figure, 1e5);
    const int squash_steps = static_cast<int>(context.number("squash_frames"));
    rows.push_back({"squash", record(context, piston.model, {"full", "corotational"}, 0.01, squash_steps),
                    record(context, piston.model, paper_wc(1e-2), 0.01, squash_steps)});
  }
  if (context.stopped()) return;
  decide_table_five(context, rows);
  context.progress(0.6, "conjugate gradients");
  decide_cg_fails(context, {"warp-canceling/section-5.1/cg-fails-on-spider", model, kSpiderStep, full, wc, scene.size,
                            5 * scene.size});
}

}  // namespace

Experiment spider_experiment() {
  return {"warp-canceling/spider",
          "A toy of slender elements on a thread, stiffness 300:1, and the spread of frame times (fig. 7, Table V)",
          {meshes_option("bunny.mesh; quick: ditto.mesh"),
           {"mesh", "bunny", "ditto", "the figure that is squashed for Table V"},
           {"fine", "2", "1", "1 gives about 3 thousand tets, 2 about 13 thousand"},
           {"frames", "300", "100", "of 0.01 s"},
           {"sheet", "50", "20", "cells along the sheets of Table V"},
           {"sheet_frames", "300", "60", "of the draped sheet"},
           {"trampoline_frames", "300", "150", "of the trampoline"},
           {"squash_frames", "400", "300", "of the squashed figure"}},
          run_spider};
}

}  // namespace pliant::experiments
