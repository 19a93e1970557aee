// Tables I and II of warp-canceling: a sculpture-like lattice drops onto the floor and bounces, at three resolutions
// and three stiffnesses; conjugate gradients, a full factorisation each step, and warp-canceling.

#include <fmt/format.h>

#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"

namespace pliant::experiments {

namespace {

struct Published {
  double young, cg_ms[3], wc_ms[3];
};
/// Milliseconds a frame at 7, 115 and 329 thousand tets (Table I), eight threads of 2008.
constexpr Published kTable1[] = {{5e6, {34, 2400, 6900}, {39, 740, 2900}},
                                 {5e7, {53, 6300, 18000}, {25, 585, 2400}},
                                 {5e8, {88, 11700, 34500}, {25, 421, 1900}}};
/// Megabytes of matrix, factor and update blocks (section 6).
constexpr double kMegabytes[3][3] = {{1.5, 7.8, 14.8}, {22, 268, 884}, {62, 956, 3406}};

int size_index(std::size_t tets) { return tets < 30000 ? 0 : tets < 220000 ? 1 : 2; }

void run_sculpture_drop(Context& context) {
  const double h = context.number("dt");
  const int steps = static_cast<int>(context.number("steps"));
  const std::vector<double> stiffnesses = context.numbers("young");
  const std::vector<int> resolutions = context.integers("across");
  const std::vector<Method> methods = {
      {"full", "corotational"},
      {"wc", "warp-canceling", {{"tau", context.number("tau")}}},
      {"cg", "corotational-cg", {{"tolerance", context.number("cg_tolerance")}}},
      {"cg, N s", "corotational-cg", {{"tolerance", context.number("cg_tolerance")}, {"residual", "absolute"}}}};
  const double runs = static_cast<double>(stiffnesses.size() * resolutions.size() * methods.size());
  double done = 0;
  for (int across : resolutions)
    for (double young : stiffnesses) {
      const auto model = sculpture(across, young);
      const std::size_t tets = model->bodies()[0].mesh->tets().size();
      const int size = size_index(tets);
      std::map<std::string, Measured> results;
      for (const Method& method : methods) {
        SparseCholesky::Statistics statistics;
        double matrix_bytes = 0;
        const int limit = method.solver == "corotational-cg" ? static_cast<int>(context.number("cg_steps")) : steps;
        results[method.label] =
            simulate(context, model, method, h, limit, done / runs, (done + 1) / runs, [&](const MethodRun& run) {
              if (run.state().step != 1) return;
              const auto& stepper = dynamic_cast<const WarpCancelingStepper&>(run.stepper());
              statistics = stepper.factor_statistics();
              matrix_bytes = double(stepper.matrix().matrix_bytes());
            });
        ++done;
        if (context.stopped()) return;
        const Measured& m = results[method.label];
        Json row = {{"tets", tets}, {"nodes", model->nodes()}, {"young", young}, {"method", method.label}};
        row.update(measured_row(m));
        row.update(stage_columns(m));
        row["deviation"] = nullptr;  // from the exact motion, of the side
        if (m.state.step == results["full"].state.step)
          row["deviation"] = (m.state.x - results["full"].state.x).cwiseAbs().maxCoeff() / 0.92;
        row["published_ms"] = nullptr;
        for (const Published& p : kTable1)
          if (p.young == young && method.label != "full")
            row["published_ms"] = (method.label == "wc" ? p.wc_ms : p.cg_ms)[size];
        row["matrix_mb"] = matrix_bytes / 1e6;
        row["factor_mb"] = double(statistics.factor_bytes) / 1e6;
        row["updates_mb"] = method.label == "wc" ? double(statistics.update_bytes) / 1e6 : 0;
        row["published_factor_mb"] = kMegabytes[size][1];
        row["published_updates_mb"] = kMegabytes[size][2];
        context.row(row);
      }
      const double cg = results["cg"].cpu_ms(), full = results["full"].cpu_ms(), wc = results["wc"].cpu_ms(),
                   cg_absolute = results["cg, N s"].cpu_ms();
      if (size >= 1 && young >= 5e8) {
        context.check({fmt::format("{} tets, E = {:.0e}: conjugate gradients over warp-canceling", tets, young),
                       size == 1 ? 11700.0 / 421 : 34500.0 / 1900, cg / wc, cg >= 15 * wc});
        context.check({fmt::format("{} tets, E = {:.0e}: the same to 1e-4 N s, as the paper has it", tets, young),
                       size == 1 ? 11700.0 / 421 : 34500.0 / 1900, cg_absolute / wc, cg_absolute >= 15 * wc});
        context.check({fmt::format("{} tets, E = {:.0e}: full factorisation over warp-canceling", tets, young),
                       "1 s a factorisation", full / wc, full >= 3 * wc});
      } else if (size == 0 && young <= 5e6) {
        context.check({fmt::format("{} tets, E = {:.0e}: conjugate gradients over warp-canceling", tets, young),
                       34.0 / 39, cg / wc, cg >= wc});
      }
    }
}

}  // namespace

Experiment sculpture_drop() {
  return {"warp-canceling/sculpture",
          "A lattice dropped on the floor: time, stages and memory of three methods (Tables I and II)",
          {{"across", "2,5,7", "2", "cells across a strut: 2, 5, 7 give about 7, 115 and 330 thousand tets"},
           {"young", "5e6,5e7,5e8", "5e6,5e8", "Young's moduli, Pa"},
           {"steps", "300", "100", "frames"},
           {"cg_steps", "300", "100", "frames of conjugate gradients"},
           {"dt", "0.01", "0.01", "s"},
           {"tau", "0.02", "0.02", "threshold of warp-canceling, m/s"},
           {"cg_tolerance", "1e-4", "1e-4", "relative residual"}},
          run_sculpture_drop};
}

}  // namespace pliant::experiments
