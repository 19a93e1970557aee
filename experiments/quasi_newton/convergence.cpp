// Figs. 7, 8, 13, 14 and 15 of quasi-newton: how the relative error (12) of one frame of the twisting bar falls with
// the iterations and with time, for windows of L-BFGS, Chebyshev's acceleration, plain Projective Dynamics and Newton;
// for initial Hessians; for line searches; for the stretches that the stiffness is fitted over.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"

namespace pliant::experiments {

namespace {

void run_convergence(Context& context) {
  const auto model = table1_model(table1_scene("twisting bar"), context.text("meshes"), context.number("scale"));
  const State start = state_after(model, static_cast<int>(context.number("frame")), kFrame);
  struct Group {
    std::string figure;
    std::vector<Contender> methods;
  };
  const Contender ours{"L-BFGS, window 5", "quasi-newton", {}};
  std::vector<Group> groups = {{"7 and 13", {ours}}, {"8", {}}, {"14", {}}, {"15", {}}};
  for (std::int64_t window : {1, 2, 10, 20, 100})
    groups[0].methods.push_back({fmt::format("L-BFGS, window {}", window), "quasi-newton", {{"window", window}}});
  groups[0].methods.push_back({"Chebyshev", "chebyshev", {}});
  groups[0].methods.push_back({"projective dynamics", "projective-dynamics", {}});
  groups[0].methods.push_back({"projected Newton", "projected-newton", {{"linear", "direct"}}});
  for (const char* hessian : {"scaled-identity", "rest-pose", "warped-rest-pose", "frame-start"})
    groups[1].methods.push_back({hessian, "quasi-newton", {{"hessian", hessian}}});
  for (const char* search : {"armijo", "wolfe"})
    groups[2].methods.push_back({search, "quasi-newton", {{"line_search", search}}});
  for (double half : {0.01, 0.1, 0.3, 0.7, 0.9})
    groups[3].methods.push_back({fmt::format("stretches {:.2f} to {:.2f}", 1 - half, 1 + half),
                                 "quasi-newton",
                                 {{"smallest_stretch", 1 - half}, {"largest_stretch", 1 + half}}});

  std::vector<Contender> all;
  for (const Group& group : groups) all.insert(all.end(), group.methods.begin(), group.methods.end());
  const auto curves =
      convergence_curves(context, model, start, kFrame, all, static_cast<std::int64_t>(context.number("iterations")));
  if (curves.size() < all.size()) return;
  std::map<std::string, ConvergenceCurve> by_label;
  std::size_t k = 0;
  for (const Group& group : groups)
    for (std::size_t m = 0; m < group.methods.size(); ++m, ++k) {
      Json row = convergence_row(curves[k], group.figure);
      if (group.figure == "14") row["step_length"] = curves[k].alphas;
      context.row(std::move(row));
      by_label[curves[k].label] = curves[k];
    }

  const ConvergenceCurve& lbfgs = by_label["L-BFGS, window 5"];
  const auto& chebyshev = by_label["Chebyshev"];
  const auto& plain = by_label["projective dynamics"];
  context.check({"after 20 iterations L-BFGS(5) is ahead of Chebyshev, and that of projective dynamics",
                 "in this order, fig. 7", Json::array({lbfgs.at(20), chebyshev.at(20), plain.at(20)}),
                 lbfgs.at(20) < chebyshev.at(20) && chebyshev.at(20) < plain.at(20)});
  Json times = {{"laplacian", lbfgs.ms_to(1e-2)}};
  bool first = std::isfinite(lbfgs.ms_to(1e-2));
  for (const Contender& method : groups[1].methods) {
    const double ms = by_label[method.label].ms_to(1e-2);
    times[method.label] = std::isfinite(ms) ? Json(ms) : Json("never");
    first = first && lbfgs.ms_to(1e-2) < ms;
  }
  context.check({"milliseconds to a relative error of 1e-2: the Laplacian before every other initial Hessian",
                 "first, fig. 8", times, first});
  const double spread = std::max(by_label["stretches 0.70 to 1.30"].at(20) / lbfgs.at(20),
                                 lbfgs.at(20) / by_label["stretches 0.70 to 1.30"].at(20));
  context.check(
      {"the stretches the stiffness is fitted over matter little (ratio of errors after 20 iterations, 0.7 to "
       "1.3 against 0.5 to 1.5)",
       "similar, fig. 15", spread, spread < 30});
  context.check({"step lengths of backtracking: the share of whole steps", "most, fig. 14",
                 static_cast<double>(std::count(lbfgs.alphas.begin(), lbfgs.alphas.end(), 1.0)) / lbfgs.alphas.size(),
                 2 * std::count(lbfgs.alphas.begin(), lbfgs.alphas.end(), 1.0) >
                     static_cast<std::ptrdiff_t>(lbfgs.alphas.size())});
}

}  // namespace

Experiment convergence() {
  return {"quasi-newton/convergence",
          "Relative error over iterations and time of one frame: windows, Chebyshev, Newton, initial Hessians, line "
          "searches, stretches (figs. 7, 8, 13, 14, 15)",
          {{"meshes", "", "", "folder with longbar2.mesh; empty: a generated bar"},
           {"scale", "1", "0.5", "resolution of the generated bar"},
           {"frame", "30", "30", "of the twist, where one step is taken apart"},
           {"iterations", "100", "60", "of each method"}},
          run_convergence};
}

}  // namespace pliant::experiments
