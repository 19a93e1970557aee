#include "experiments/warp_canceling/cg_ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/warp_canceling/scenes.hpp"

namespace pliant::experiments {

void decide_cg_fails(Context& context, const HardForCg& hard) {
  const auto solid = sculpture(2, 5e6);
  const auto steps = static_cast<int>(hard.full.x.size());
  const Frames solid_full = record(context, solid, {"full", "corotational"}, 0.01, steps);
  const SameLook solid_cg = loosest_of_same_look(
      context, solid, [](double t) { return paper_cg(t); }, 0.1, 1e-9, 0.01, solid_full);
  const double solid_iterations =
      solid_cg.frames.measured.linear_iterations / std::max(1, solid_cg.frames.measured.steps);
  const double same_look = 0.01 * hard.size / diameter(*hard.model);
  const auto limit = std::int64_t{9} * hard.model->nodes();  // three times the unknowns
  double least_iterations = 1e300, least_ms = 1e300;
  int lost = 0, tried = 0;
  bool exhausted = false;
  // The printed 1e-4 N s, then from loose to tight. A tighter tolerance takes more iterations than the first that looks
  // right, so that the ladder ends there once some tolerance has blown up; and where every frame spends all iterations
  // it is given, tighter tolerances lead to the same run.
  for (int k = 0; k <= 10 && !context.stopped() && (lost == 0 || least_ms > 1e299) && !exhausted; ++k) {
    Method method = k == 0 ? paper_cg(1e-4, true) : paper_cg(std::pow(10, -k));
    method.parameters["max_iterations"] = limit;
    const Frames f = record(context, hard.model, method, hard.h, steps, &hard.full, lost > 0 ? same_look : 1e300);
    ++tried;
    const double reach = f.x.empty() ? 1e9 : (f.x.back() - hard.model->rest()).cwiseAbs().maxCoeff();
    const bool blown = !f.measured.failure.empty() || !(reach <= hard.far);
    lost += blown;
    exhausted = k > 0 && f.completed && f.measured.linear_iterations >= double(limit) * f.measured.steps;
    Json row = {{"method", k == 0 ? "CG, 1e-4 N s" : fmt::format("CG, 1e-{}", k)},
                {"completed", f.completed},
                {"deviation", f.deviation},
                {"reach", reach}};
    row.update(measured_row(f.measured));
    context.row(row);
    if (!f.completed || f.deviation > same_look) continue;
    least_iterations = std::min(least_iterations, f.measured.linear_iterations / std::max(1, f.measured.steps));
    least_ms = std::min(least_ms, f.measured.cpu_ms());
  }
  const bool none = least_ms > 1e299;
  const double wc_ms = hard.wc.measured.cpu_ms();
  context.decide(
      Decision(hard.claim)
          .needs(hard.full.completed && hard.wc.completed && hard.wc.deviation <= same_look, "WC has the same look")
          .needs(solid_cg.frames.completed, "CG has the same look on the sculpture")
          .part("(a) iterations a frame over those on the sculpture", none ? 1e9 : least_iterations / solid_iterations,
                "at least 10, or no tolerance has the same look", none || least_iterations >= 10 * solid_iterations)
          .part("(b) processor time over WC's at equal look", none ? 1e9 : least_ms / wc_ms,
                "at least 10, or no tolerance reaches it", none || least_ms >= 10 * wc_ms)
          .at_least(fmt::format("(c) tolerances, of {} tried, that fail or go farther than {:.3g} m", tried, hard.far),
                    lost, 1)
          .because(none ? fmt::format("no tolerance looks right; {:.0f} iterations a frame on the sculpture",
                                      solid_iterations)
                        : fmt::format("{:.0f} iterations a frame beside {:.0f} on the sculpture, {:.3g} ms beside "
                                      "{:.3g} of WC",
                                      least_iterations, solid_iterations, least_ms, wc_ms)));
}

}  // namespace pliant::experiments
