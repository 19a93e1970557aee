// How far warp-canceling strays from the exact corotational method, run side by side for two seconds, and how much it
// refreshes: over the threshold, the stiffness and the resolution. The paper judges by the eye.

#include <fmt/format.h>

#include <algorithm>

#include "experiments/meshes.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

namespace {

constexpr double kAccuracyStep = 0.01;
constexpr double kLength = 1.66;  ///< diagonal of the bar, m

void run_accuracy(Context& context) {
  if (context.wants({"warp-canceling/section-5.1/conditioning-does-not-matter"})) decide_conditioning(context);
  if (context.wants({"warp-canceling/section-5.1/poor-elements"})) decide_poor_elements(context);
  decide_trade_offs(context);
  if (context.stopped()) return;
  const auto steps = static_cast<int>(context.number("seconds") / kAccuracyStep);
  const std::vector<std::string> scenes = context.list("scenes");
  const std::vector<double> stiffnesses = context.numbers("young"), taus = context.numbers("tau");
  const std::vector<int> resolutions = context.integers("across");
  const double runs = static_cast<double>(scenes.size() * stiffnesses.size() * resolutions.size());
  double done = 0, worst = 0;
  for (const std::string& scene : scenes)
    for (double young : stiffnesses)
      for (int across : resolutions) {
        const auto model = scene == "swing" ? swinging_bar(across, young) : dropped_bar(across, young);
        MethodRun exact(model, {"corotational", "corotational"}, kAccuracyStep);
        std::vector<MethodRun> warped;
        for (double tau : taus)
          warped.emplace_back(
              model,
              Method{
                  fmt::format("tau {}", tau), "warp-canceling", {{"tau", tau}, {"unknown", context.text("unknown")}}},
              kAccuracyStep);
        std::vector<double> deviation(taus.size(), 0.0);
        for (int s = 0; s < steps && !context.stopped(); ++s) {
          context.progress((done + double(s) / steps) / runs, fmt::format("{}, E = {:.0e}", scene, young));
          if (!exact.step()) break;
          for (std::size_t t = 0; t < taus.size(); ++t)
            if (warped[t].measured().failure.empty() && warped[t].step())
              deviation[t] =
                  std::max(deviation[t], (warped[t].state().x - exact.state().x).cwiseAbs().maxCoeff() / kLength);
        }
        ++done;
        if (context.stopped()) return;
        for (std::size_t t = 0; t < taus.size(); ++t) {
          Json row = {{"scene", scene},
                      {"young", young},
                      {"tets", model->bodies()[0].mesh->tets().size()},
                      {"tau", taus[t]},
                      {"deviation", deviation[t]}};
          row.update(measured_row(warped[t].measured()));
          row["exact_ms"] = exact.measured().average_ms();
          context.row(row);
          if (t == 0) worst = std::max(worst, deviation[t]);
        }
      }
  context.check({"largest deviation from the exact corotational motion in 2 s over the body's length, first tau",
                 "not visible", worst, worst < 0.01});
  const auto coarsest = dropped_bar(resolutions[0], stiffnesses[0])->bodies()[0].mesh->tets().size();
  for (const std::string& scene : scenes) {
    double least = 1e300, most = 0;
    std::vector<double> shares;
    for (const Json& row : context.rows())
      if (row.value("scene", "") == scene && row.at("tau") == taus.back()) {
        if (row["young"] == stiffnesses[0]) {
          least = std::min<double>(least, row["elements_refreshed"]);
          most = std::max<double>(most, row["elements_refreshed"]);
        }
        if (row["tets"] == coarsest) shares.push_back(row["elements_refreshed"]);
      }
    if (resolutions.size() > 1)
      context.check({fmt::format("{}: share refreshed at the finest over the coarsest mesh, or its inverse", scene),
                     "below 2", least > 0 ? most / least : (most > 0 ? 1e300 : 1), most <= 2 * least});
    if (stiffnesses.size() > 1 && scene == "swing")
      context.check({"swing: the share refreshed falls with the stiffness", "falls", shares,
                     std::is_sorted(shares.rbegin(), shares.rend())});
  }
}

}  // namespace

Experiment accuracy() {
  return {
      "warp-canceling/accuracy",
      "A clamped and a dropped bar, side by side with the exact method: deviation and share refreshed (section 4.2)",
      {{"scenes", "swing,drop", "swing,drop", "of swing and drop"},
       {"young", "5e5,5e6,5e7,5e8", "5e5,5e6", "Young's moduli, Pa"},
       {"across", "4,8,16", "4,8", "cells across the bar"},
       {"tau", "0.02,0.001", "0.02,0.001",
        "thresholds, m/s; the deviation is claimed of the first, shares of the last"},
       {"unknown", "change", "change", "what is solved for: change or velocity"},
       {"seconds", "2", "2", "of motion"},
       {"sculpture", "5", "2", "cells across a strut of the sculpture whose trade-off decides claims"},
       {"steps", "300", "300", "its frames"},
       meshes_option("hippo.mesh"),
       {"poor_cells", "16", "9", "along the edges of the graded box and that of random stiffness"},
       {"poor_frames", "300", "100", "of poor elements"},
       {"spider", "2", "1", "the spider whose conditioning matters: 1 or 2, for 3 or 13 thousand tets"},
       {"sheet", "50", "20", "cells along the sheet whose conditioning matters"}},
      run_accuracy};
}

}  // namespace pliant::experiments
