// Figs. 16 and 17 of quasi-newton: conjugate gradients in place of factorisations. Newton with few iterations of them,
// Newton whose conjugate gradients stop at negative curvature (Gast et al. 2015), and L-BFGS with the constant matrix
// or with the Hessian of the frame's start, solved directly or by preconditioned conjugate gradients.

#include <algorithm>
#include <cmath>

#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"

namespace pliant::experiments {

namespace {

void run_iterative(Context& context) {
  const auto model = table1_model(table1_scene("twisting bar"), context.text("meshes"), context.number("scale"));
  const State start = state_after(model, static_cast<int>(context.number("frame")), kFrame);
  const std::int64_t five = 5, fifteen = 15;
  const auto cg = [](std::int64_t n) -> ParameterMap {
    return {{"linear", "pcg"}, {"preconditioner", "jacobi"}, {"linear_iterations", n}};
  };
  const auto start_by_pcg = [](const char* preconditioner, std::int64_t n) -> ParameterMap {
    return {
        {"hessian", "frame-start"}, {"linear", "pcg"}, {"preconditioner", preconditioner}, {"linear_iterations", n}};
  };
  const std::vector<Contender> methods = {
      {"ours, direct", "quasi-newton", {}},
      {"ours, 5 Jacobi-CG", "quasi-newton", cg(five)},
      {"ours, 15 Jacobi-CG", "quasi-newton", cg(fifteen)},
      {"Newton, direct", "projected-newton", {{"linear", "direct"}}},
      {"Newton, 5 Jacobi-CG", "projected-newton", cg(five)},
      {"Newton, 15 Jacobi-CG", "projected-newton", cg(fifteen)},
      {"Newton, CG ended at negative curvature (Gast 2015)", "newton", cg(fifteen)},
      {"frame-start, direct", "quasi-newton", {{"hessian", "frame-start"}}},
      {"frame-start, 5 PCG, ichol of rest pose", "quasi-newton", start_by_pcg("rest-pose", five)},
      {"frame-start, 15 PCG, ichol of rest pose", "quasi-newton", start_by_pcg("rest-pose", fifteen)},
      {"frame-start, 5 PCG, ichol of ours", "quasi-newton", start_by_pcg("laplacian", five)},
      {"frame-start, 15 PCG, ichol of ours", "quasi-newton", start_by_pcg("laplacian", fifteen)},
  };
  const auto curves = convergence_curves(context, model, start, kFrame, methods,
                                         static_cast<std::int64_t>(context.number("iterations")));
  if (curves.size() < methods.size()) return;
  for (std::size_t k = 0; k < curves.size(); ++k) context.row(convergence_row(curves[k], k < 7 ? "16" : "17"));
  const double ours = curves[0].ms_to(1e-2);
  bool first = std::isfinite(ours);
  Json times = {{curves[0].label, ours}};
  for (std::size_t k = 1; k < curves.size(); ++k) {
    const double ms = curves[k].ms_to(1e-2);
    times[curves[k].label] = std::isfinite(ms) ? Json(ms) : Json("never");
    first = first && ours <= ms;
  }
  context.check({"milliseconds to a relative error of 1e-2: the constant factor before every iterative solver",
                 "hard to beat, fig. 16", times, first});
  context.check(
      {"per iteration, 15 PCG with the incomplete factor of ours are better than with that of the rest pose "
       "(errors after 10 iterations)",
       "better, fig. 17", Json::array({curves[11].at(10), curves[9].at(10)}), curves[11].at(10) <= curves[9].at(10)});
}

}  // namespace

Experiment iterative() {
  return {"quasi-newton/iterative",
          "Conjugate gradients in place of factorisations, in Newton and in L-BFGS (figs. 16, 17)",
          {{"meshes", "", "", "folder with longbar2.mesh; empty: a generated bar"},
           {"scale", "1", "0.5", "resolution of the generated bar"},
           {"frame", "30", "30", "of the twist, where one step is taken apart"},
           {"iterations", "60", "40", "of each method"}},
          run_iterative};
}

}  // namespace pliant::experiments
