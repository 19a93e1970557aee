// A bar held in the middle and shaken hard, with long steps: a matrix that is refreshed every other frame, carried
// along by rotations of the nodes in between, blows up (quasi-newton, fig. 10); refreshed where its errors are, it does
// not.

#include <fmt/format.h>

#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

namespace {

/// Farther than this from the origin, a bar of two metres has come apart, m.
constexpr double kFar = 10;

void run_warped_shaken_bar(Context& context) {
  const double h = context.number("dt");
  const int steps = static_cast<int>(context.number("steps"));
  const auto model = shaken_bar(context.number("young"));
  const std::vector<Method> methods = {
      {"every other frame, velocity",
       "warp-canceling",
       {{"schedule", "periodic"}, {"period", std::int64_t{2}}, {"unknown", "velocity"}}},
      {"every other frame, change", "warp-canceling", {{"schedule", "periodic"}, {"period", std::int64_t{2}}}},
      {"stiffness-warping", "stiffness-warping"},
      {"warp-canceling, velocity", "warp-canceling", {{"unknown", "velocity"}}},
      {"warp-canceling", "warp-canceling"},
      {"corotational", "corotational"},
      {"quasi-newton", "quasi-newton"}};
  std::map<std::string, int> exploded;
  for (std::size_t k = 0; k < methods.size() && !context.stopped(); ++k) {
    MethodRun run(model, methods[k], h);
    int at = 0;
    double reach = 0;
    for (int s = 1; s <= steps && at == 0; ++s) {
      context.progress((double(k) + double(s) / steps) / double(methods.size()), methods[k].label);
      if (!run.step()) at = s;
      reach = std::max(reach, run.state().x.cwiseAbs().maxCoeff());
      if (reach > kFar) at = s;
    }
    exploded[methods[k].label] = at;
    Json row = {{"method", methods[k].label}, {"exploded_at_step", at}, {"reach", reach}};
    row.update(measured_row(run.measured()));
    context.row(row);
  }
  const int other = exploded["every other frame, change"];
  context.check({"refreshed every other frame, it explodes (at step)", "within some 11 steps", other, other > 0});
  for (const char* stable : {"warp-canceling", "quasi-newton", "corotational"})
    context.check({fmt::format("{} does not", stable), "stable", exploded[stable], exploded[stable] == 0});
}

}  // namespace

Experiment shaken_bar_experiment() {
  return {
      "warp-canceling/shaken-bar",
      "A bar shaken by 0.4 m at 5 Hz: which matrices survive it (quasi-newton, fig. 10)",
      {{"young", "5e5", "5e5", "Pa"}, {"dt", "0.0333333333", "0.0333333333", "s"}, {"steps", "150", "150", "frames"}},
      run_warped_shaken_bar};
}

}  // namespace pliant::experiments
