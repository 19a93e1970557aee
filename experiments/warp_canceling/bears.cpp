// The bowl of bears of warp-canceling (fig. 10, Table IV): soft figures fall into a bowl and onto each other, under
// full Cholesky, conjugate gradients and warp-canceling at a low and a high tolerance each.

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/meshes.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "pliant/contact/closest.hpp"
#include "pliant/solvers/warp_canceling/body_contact.hpp"

namespace pliant::experiments {

namespace {

struct Box {
  Vec3 low = Vec3::Constant(1e300), high = -low;
  void include(const Vec3& p) { low = low.cwiseMin(p), high = high.cwiseMax(p); }
  bool holds(const Vec3& p) const { return (p - low).minCoeff() >= 0 && (high - p).minCoeff() >= 0; }
};

/// The largest distance of a node inside another body from that body's surface, m.
double deepest_inside(const Model& model, const VecX& x) {
  double deepest = 0;
  for (const Body& other : model.bodies()) {
    Box whole;
    for (Index i = other.nodes.begin; i < other.nodes.end; ++i) whole.include(node(x, i));
    const auto place = [&](Index i) { return node(x, other.nodes.begin + i); };
    for (Index i = 0; i < model.nodes(); ++i) {
      const Vec3 p = node(x, i);
      if ((i >= other.nodes.begin && i < other.nodes.end) || !whole.holds(p)) continue;
      const bool inside = std::any_of(other.mesh->tets().begin(), other.mesh->tets().end(), [&](const Tet& t) {
        Box box;
        for (Index v : t) box.include(place(v));
        if (!box.holds(p)) return false;
        Mat3 edges;
        edges << place(t[1]) - place(t[0]), place(t[2]) - place(t[0]), place(t[3]) - place(t[0]);
        const Vec3 b = edges.inverse() * (p - place(t[0]));
        return b.minCoeff() > 0 && b.sum() < 1;
      });
      if (!inside) continue;
      double depth = 1e300;
      for (const Triangle& t : other.surface())
        depth = std::min(depth, std::sqrt(closest_point_triangle({p, place(t[0]), place(t[1]), place(t[2])}).d2));
      deepest = std::max(deepest, depth);
    }
  }
  return deepest;
}

struct BowlRun {
  std::string label;
  Frames frames;
  std::vector<Vec3> centres;                  ///< of the bodies at the end
  std::set<std::pair<Index, Index>> touched;  ///< pairs of bodies
  double deepest = 0;                         ///< in another body, at any tenth frame and at the end, m
  std::vector<double> speeds;                 ///< mean over the bodies, frame by frame, m/s
  int inside = 0;                             ///< bodies in the bowl at the end
};

std::vector<Vec3> body_means(const Model& model, const VecX& values) {
  std::vector<Vec3> means;
  for (const Body& body : model.bodies()) {
    means.emplace_back(Vec3::Zero());
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) means.back() += node(values, i) / body.nodes.size();
  }
  return means;
}

BowlRun run_in_bowl(Context& context, const BowlScene& scene, Method method, double h, int frames, int steps_a_frame) {
  method.parameters["contact"] = std::string("bodies");
  method.parameters["contact_friction"] = 0.3;
  const Model& model = *scene.model;
  BodyContacts near(scene.model, {BodyContactKind::bodies, 0, 1e5, 0.3});
  std::vector<Index> body_of(at(model.nodes()));
  for (std::size_t b = 0; b < model.bodies().size(); ++b)
    std::fill(body_of.begin() + model.bodies()[b].nodes.begin, body_of.begin() + model.bodies()[b].nodes.end,
              static_cast<Index>(b));
  BowlRun run;
  run.label = method.label;
  run.frames = record(
      context, scene.model, method, h, frames, nullptr, 1e300,
      [&](const MethodRun& r) {
        const State& state = r.state();
        for (const BodyContact& contact : near.find(state.x, 0))
          run.touched.insert(std::minmax(body_of[at(contact.point)], body_of[at(contact.triangle[0])]));
        double speed = 0;
        for (const Vec3& v : body_means(model, state.v)) speed += v.norm() / double(model.bodies().size());
        run.speeds.push_back(speed);
        if (run.speeds.size() % 10 == 0 || static_cast<int>(run.speeds.size()) == frames)
          run.deepest = std::max(run.deepest, deepest_inside(model, state.x));
      },
      steps_a_frame);
  if (!run.frames.x.empty()) run.centres = body_means(model, run.frames.x.back());
  for (const Vec3& c : run.centres)
    run.inside +=
        c.norm() < scene.radius || (c.y() > 0 && c.y() < scene.radius && std::hypot(c.x(), c.z()) < scene.radius);
  return run;
}

enum BowlOrder : std::size_t { kWcHigh, kWcLow, kCgHigh, kFull, kCgLow, kBowlRuns };

/// Looked at again after every run; `runs` are the first of BowlOrder.
void settle_bowl(Context& context, const BowlScene& scene, const std::vector<std::string>& ids,
                 const std::vector<BowlRun>& runs) {
  std::vector<Decision> decisions;
  for (const std::string& id : ids) {
    Decision& decision = decisions.emplace_back(id);
    decision.awaits(runs.size() == kBowlRuns, "the other methods");
    for (const BowlRun& run : runs)
      decision.needs(run.frames.completed, run.label + " completes")
          .needs(run.inside == static_cast<int>(scene.model->bodies().size()),
                 fmt::format("{}: all bodies end in the bowl ({} do)", run.label, run.inside))
          .needs(run.touched.size() >= 10, fmt::format("{}: 10 pairs touch ({} do)", run.label, run.touched.size()))
          .needs(run.deepest <= 0.1 * scene.size,
                 fmt::format("{}: no node is deeper in another body than 10% of its size ({:.2g} m)", run.label,
                             run.deepest));
  }
  const auto ms = [&](std::size_t k) { return runs[k].frames.measured.cpu_ms(); };
  const auto there = [&](std::size_t k, std::size_t l) { return std::max(k, l) < runs.size(); };
  for (std::size_t k = 1; k < runs.size(); ++k)
    decisions[0].above(fmt::format("{} over {}", runs[k].label, runs[k - 1].label), ms(k) / ms(k - 1), 1);
  for (const auto& [low, high] : {std::pair{kWcLow, kWcHigh}, {kCgLow, kCgHigh}})
    if (there(low, high))
      decisions[1].above(fmt::format("{} over {}", runs[low].label, runs[high].label), ms(low) / ms(high), 2);
  for (const auto& [slow, fast, asked] :
       {std::tuple{kCgHigh, kWcHigh, 2.0}, {kFull, kWcLow, 1.2}, {kCgLow, kWcLow, 2.0}})
    if (there(slow, fast))
      decisions[2].at_least(fmt::format("{} over {}", runs[slow].label, runs[fast].label), ms(slow) / ms(fast), asked);
  for (std::size_t k = 0; k < 3; ++k)
    for (const BowlRun& run : runs)
      decisions[k].because(fmt::format("{}: {:.1f} ms a frame of processor time, contact {:.1f} by the clock",
                                       run.label, run.frames.measured.cpu_ms(),
                                       run.frames.measured.mean_ms("contact")));
  for (const auto& [a, b] : {std::pair{kFull, kCgLow}, {kFull, kWcLow}, {kCgLow, kWcLow}}) {
    if (!there(a, b)) continue;
    double apart = 0;
    for (std::size_t k = 0; k < std::min(runs[a].centres.size(), runs[b].centres.size()); ++k)
      apart += (runs[a].centres[k] - runs[b].centres[k]).norm() > 0.5 * scene.size;
    decisions[3].at_least(fmt::format("{} and {}: bodies half a size apart", runs[a].label, runs[b].label), apart,
                          context.quick() ? 2 : 5);
  }
  for (const std::size_t k : {kFull, kCgLow, kWcLow}) {
    if (k >= runs.size()) continue;
    const std::vector<double>& speeds = runs[k].speeds;
    const std::size_t last = std::min<std::size_t>(30, speeds.size());
    double mean = 0;
    for (std::size_t f = speeds.size() - last; f < speeds.size(); ++f) mean += speeds[f] / double(last);
    decisions[3].below(runs[k].label + ": mean speed over the last 30 frames over the largest before",
                       mean / *std::max_element(speeds.begin(), speeds.end()), 0.05);
  }
  for (const Decision& decision : decisions) context.settle(decision);
}

void run_bears(Context& context) {
  const std::vector<std::string> ids = {
      "warp-canceling/table-4/bears-order", "warp-canceling/table-4/bears-looser-twice",
      "warp-canceling/table-4/bears-wc-over-cg", "warp-canceling/fig-10/bears-chaotic-but-plausible"};
  if (!has_meshes(context, ids)) return;
  const double h = context.number("dt");
  const int frames = static_cast<int>(context.number("frames"));
  const BowlScene scene =
      bowl_of_bodies(static_cast<Index>(context.number("bodies")), *find_mesh(context, context.text("mesh")));
  Method wc_high = paper_wc(10);
  wc_high.label = "WC high";
  wc_high.parameters["schedule"] = std::string("target-time");
  wc_high.parameters["budget_share"] = 0.2;
  Method wc_low = paper_wc(5e-3), cg_low = paper_cg(1e-4, true), cg_high = paper_cg(10, true);
  wc_low.label = "WC low", cg_low.label = "CG low", cg_high.label = "CG high";
  std::vector<BowlRun> runs;
  const std::vector<std::pair<Method, double>> cases = {
      {wc_high, 728}, {wc_low, 1594}, {cg_high, 1895}, {{"full", "corotational"}, 2085}, {cg_low, 4689}};
  for (const auto& [method, published] : cases) {
    context.progress(double(runs.size()) / double(cases.size()), method.label);
    runs.push_back(run_in_bowl(context, scene, method, h, frames, static_cast<int>(context.number("steps_a_frame"))));
    const BowlRun& run = runs.back();
    Json row = {{"method", method.label},        {"bodies", scene.model->bodies().size()},
                {"nodes", scene.model->nodes()}, {"pairs_touched", run.touched.size()},
                {"inside", run.inside},          {"deepest", run.deepest},
                {"published_ms", published}};
    row.update(measured_row(run.frames.measured));
    row["contact_ms"] = run.frames.measured.mean_ms("contact");
    row["speed_by_frame"] = run.speeds;
    context.row(row);
    if (context.stopped()) return;
    settle_bowl(context, scene, ids, runs);
  }
}

}  // namespace

Experiment bears() {
  return {"warp-canceling/bears",
          "Soft figures fall into a bowl and onto each other (fig. 10, Table IV)",
          {meshes_option("hippo.mesh; quick: ditto.mesh"),
           {"mesh", "hippo", "ditto", "the figure, brought to 0.3 m"},
           {"bodies", "25", "5", "how many"},
           {"dt", "1/200", "1/200", "s"},
           {"steps_a_frame", "3", "3", "of dt"},
           {"frames", "300", "120", "how many"}},
          run_bears};
}

}  // namespace pliant::experiments
