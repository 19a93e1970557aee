// Figs. 16 and 17 of quasi-newton: conjugate gradients in place of factorisations. Newton with few iterations of them,
// Newton whose conjugate gradients stop at negative curvature (Gast et al. 2015), and L-BFGS with the constant matrix
// or with the Hessian of the frame's start, solved directly or by preconditioned conjugate gradients.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"

namespace pliant::experiments {

namespace {

/// In the order of run_iterative().
enum Method { ours, ours5, ours15, direct, newton5, newton15, gast, start, rest5, rest15, own5, own15, kMethods };

std::vector<Contender> iterative_contenders() {
  const std::int64_t five = 5, fifteen = 15;
  const auto cg = [](std::int64_t n) -> ParameterMap {
    return {{"linear", "pcg"}, {"preconditioner", "jacobi"}, {"linear_iterations", n}};
  };
  const auto start_by_pcg = [](const char* preconditioner, std::int64_t n) -> ParameterMap {
    return {
        {"hessian", "frame-start"}, {"linear", "pcg"}, {"preconditioner", preconditioner}, {"linear_iterations", n}};
  };
  return {
      {"ours, direct", "quasi-newton", {{"linear", "direct"}}, 60},
      {"ours, 5 Jacobi-CG", "quasi-newton", cg(five), 100},
      {"ours, 15 Jacobi-CG", "quasi-newton", cg(fifteen), 60},
      {"Newton, direct", "projected-newton", {{"linear", "direct"}}, 15},
      {"Newton, 5 Jacobi-CG", "projected-newton", cg(five), 100},
      {"Newton, 15 Jacobi-CG", "projected-newton", cg(fifteen), 60},
      {"Newton, CG ended at negative curvature (Gast 2015)", "newton", cg(fifteen), 60},
      {"(b) frame-start, direct", "quasi-newton", {{"hessian", "frame-start"}}, 60},
      {"(c) frame-start, 5 PCG, ichol of rest pose", "quasi-newton", start_by_pcg("rest-pose", five), 60},
      {"(d) frame-start, 15 PCG, ichol of rest pose", "quasi-newton", start_by_pcg("rest-pose", fifteen), 60},
      {"(e) frame-start, 5 PCG, ichol of ours", "quasi-newton", start_by_pcg("laplacian", five), 60},
      {"(f) frame-start, 15 PCG, ichol of ours", "quasi-newton", start_by_pcg("laplacian", fifteen), 60},
  };
}

struct IterativeDecisions {
  Decision first{"quasi-newton/fig-16/ours-first"}, newton_cg{"quasi-newton/fig-16/newton-cg"},
      gast{"quasi-newton/fig-16/gast"}, ours_cg{"quasi-newton/fig-16/ours-cg"}, early{"quasi-newton/fig-17/pcg-early"},
      late{"quasi-newton/fig-17/pcg-late"}, better{"quasi-newton/fig-17/our-preconditioner"};
};

void decide_fig16(const std::vector<ConvergenceCurve>& c, const std::string& where, IterativeDecisions& d) {
  for (double error : {1e-2, 1e-4})
    for (std::size_t k = 1; k < kMethods; ++k)
      d.first.above(fmt::format("{}: ms of {} to {:.0e}", where, c[k].label, error),
                    ms_or_undecided(c[k], error, c[ours].ms_to(error)), c[ours].ms_to(error));
  if (d.first.verdict() == Verdict::fails)
    d.first.because(fmt::format("{}: to 1e-2 and 1e-4 ours takes {:.2f} and {:.2f} ms", where, c[ours].ms_to(1e-2),
                                c[ours].ms_to(1e-4)));

  for (std::size_t k : {2u, 3u, 5u})
    d.newton_cg.below(fmt::format("{}: error of direct Newton after {}", where, k), c[direct].at(k), c[newton15].at(k))
        .below(fmt::format("{}: error with 15 CG after {}", where, k), c[newton15].at(k), c[newton5].at(k));
  d.newton_cg.above(where + ": ms of 15 CG an iteration", c[newton15].solve_ms, c[newton5].solve_ms);
  for (Method m : {newton5, newton15})
    d.newton_cg.at_least(fmt::format("{}: ms to 1e-2 of {} over ours", where, c[m].label),
                         ms_or_undecided(c[m], 1e-2, c[ours].ms_to(1e-2)) / c[ours].ms_to(1e-2), 2);
  if (d.newton_cg.verdict() == Verdict::fails)
    d.newton_cg.because(
        fmt::format("{}: errors after 5 iterations: direct {:.1e}, 15 CG {:.1e}, 5 CG {:.1e}; ms to 1e-2: "
                    "{:.1f}, {:.1f}, ours {:.1f}",
                    where, c[direct].at(5), c[newton15].at(5), c[newton5].at(5), c[newton15].ms_to(1e-2),
                    c[newton5].ms_to(1e-2), c[ours].ms_to(1e-2)));

  d.gast.needs(c[gast].failed_factorisations > 0, where + ": negative curvature ended conjugate gradients");
  for (Method m : {newton15, newton5})
    d.gast.below(fmt::format("{}: ms of Gast to 1e-1 beside {}", where, c[m].label), c[gast].ms_to(1e-1),
                 ms_or_undecided(c[m], 1e-1, c[gast].ms_to(1e-1)));
  const double rate = c[newton15].rate(1e-3, 1e-6) / c[newton15].ms_per_iteration;
  double gast_rate = c[gast].rate(1e-3, 1e-6) / c[gast].ms_per_iteration;
  if (!std::isfinite(c[gast].ms_to(1e-6)) && c[gast].ms_spent() >= 10 * c[newton15].ms_to(1e-6)) gast_rate = 0;
  d.gast.below(where + ": decades a millisecond of Gast from 1e-3 to 1e-6", gast_rate, rate);
  if (d.gast.verdict() == Verdict::fails)
    d.gast.because(fmt::format("{}: to 1e-1 Gast takes {:.2f} ms, Newton with 15 and 5 CG {:.2f} and {:.2f}", where,
                               c[gast].ms_to(1e-1), c[newton15].ms_to(1e-1), c[newton5].ms_to(1e-1)));

  d.ours_cg
      .at_most(where + ": iterations with 15 CG over direct, to 1e-4",
               c[ours15].iterations_to(1e-4) / c[ours].iterations_to(1e-4), 1.25)
      .above(where + ": ms with 15 CG to 1e-4", c[ours15].ms_to(1e-4), c[ours].ms_to(1e-4));
  if (d.ours_cg.verdict() == Verdict::fails)
    d.ours_cg.because(fmt::format("{}: {} iterations and {:.2f} ms with 15 CG, {} and {:.2f} directly", where,
                                  c[ours15].iterations_to(1e-4), c[ours15].ms_to(1e-4), c[ours].iterations_to(1e-4),
                                  c[ours].ms_to(1e-4)));
}

void decide_fig17(const std::vector<ConvergenceCurve>& c, const std::string& where, IterativeDecisions& d) {
  for (double error : {0.3, 0.1})
    for (Method m : {rest5, rest15, own5, own15})
      d.early.below(fmt::format("{}: ms of {} to {:g}", where, c[m].label, error), c[m].ms_to(error),
                    c[start].ms_to(error));
  if (d.early.verdict() == Verdict::fails)
    d.early.because(fmt::format(
        "{}: the factorisation takes {:.1f} ms; an iteration {:.2f} ms with it, {:.2f} with 5 and "
        "{:.2f} with 15 PCG of the rest pose",
        where, c[start].ms_before, c[start].ms_per_iteration, c[rest5].ms_per_iteration, c[rest15].ms_per_iteration));
  const double reference = c[start].rate(1e-3, 1e-6);
  for (Method m : {rest5, rest15})
    d.late.at_most(fmt::format("{}: decades an iteration from 1e-3 to 1e-6, {} over (b)", where, c[m].label),
                   c[m].rate(1e-3, 1e-6) / reference, 0.9);
  if (d.late.verdict() == Verdict::fails)
    d.late.because(fmt::format("{}: {:.2f} decades an iteration directly, {:.2f} with 5 and {:.2f} with 15 PCG", where,
                               reference, c[rest5].rate(1e-3, 1e-6), c[rest15].rate(1e-3, 1e-6)));
  for (auto [own, rest] : {std::pair{own5, rest5}, std::pair{own15, rest15}}) {
    for (std::size_t k : {5u, 10u})
      d.better.below(fmt::format("{}: error of {} after {}", where, c[own].label, k), c[own].at(k), c[rest].at(k));
    d.better.below(fmt::format("{}: ms of {} to 1e-4", where, c[own].label), c[own].ms_to(1e-4),
                   ms_or_undecided(c[rest], 1e-4, c[own].ms_to(1e-4)));
  }
  if (d.better.verdict() == Verdict::fails)
    d.better.because(fmt::format("{}: errors after 10 iterations: (c) {:.1e}, (d) {:.1e}, (e) {:.1e}, (f) {:.1e}",
                                 where, c[rest5].at(10), c[rest15].at(10), c[own5].at(10), c[own15].at(10)));
}

void run_iterative(Context& context) {
  const auto bar = twisted_bar(context, context.text("mesh"), context.numbers("degrees"));
  if (!bar) return decide_without_meshes(context, "quasi-newton/iterative");
  IterativeDecisions decisions;
  for (std::size_t b = 0; b < bar->begins.size() && !context.stopped(); ++b) {
    const std::string where = fmt::format("{:g} degrees", bar->degrees[b]);
    context.progress(static_cast<double>(b) / static_cast<double>(bar->begins.size()), where);
    const auto curves = convergence_curves(context, bar->scene, bar->begins[b], iterative_contenders());
    if (context.stopped()) return;
    for (const ConvergenceCurve& curve : curves) context.row(convergence_row(curve, where));
    decide_fig16(curves, where, decisions);
    decide_fig17(curves, where, decisions);
  }
  for (Decision* decision : {&decisions.first, &decisions.newton_cg, &decisions.gast, &decisions.ours_cg,
                             &decisions.early, &decisions.late, &decisions.better}) {
    decision->needs(bar->begins.size() == context.numbers("degrees").size(), "the bar reaches every angle");
    context.decide(*decision);
  }
}

}  // namespace

Experiment iterative() {
  return {"quasi-newton/iterative",
          "Conjugate gradients in place of factorisations, in Newton and in L-BFGS (figs. 16, 17)",
          {meshes_option("longbar2.mesh"),
           {"mesh", "longbar2", "longbar2", "the bar"},
           {"degrees", "90,180,360", "180", "of twist, where one frame is taken apart"}},
          run_iterative};
}

}  // namespace pliant::experiments
