// What makes systems ill-conditioned or elements useless: squashing to inversion, sheets of flat elements, thin parts
// of very different stiffness (section 5.1 of warp-canceling). The factor does not mind; conjugate gradients do.

#include <fmt/format.h>

#include <Eigen/LU>

#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

namespace {

void run_squash(Context& context) {
  const auto model = squashed_body(static_cast<Index>(context.number("cells")), context.number("through"));
  const double h = context.number("dt");
  for (const Method& method :
       std::vector<Method>{{"corotational", "corotational"}, {"warp-canceling", "warp-canceling"}}) {
    Index most_inverted = 0;
    const Measured m = simulate(
        context, model, method, h, static_cast<int>(context.number("seconds") / h), 0, 1, [&](const MethodRun& run) {
          const Body& body = model->bodies()[0];
          std::vector<Mat3> F(body.mesh->tets().size());
          body.elastic->deformation_gradients(run.state().x, {0, static_cast<Index>(F.size())}, F.data());
          Index inverted = 0;
          for (const Mat3& f : F) inverted += f.determinant() <= 0;
          most_inverted = std::max(most_inverted, inverted);
        });
    if (context.stopped()) return;
    const double off = (m.state.x - model->rest()).cwiseAbs().maxCoeff() / 0.2;
    Json row = {{"method", method.label},
                {"tets", model->bodies()[0].mesh->tets().size()},
                {"most_inverted", most_inverted},
                {"off_rest", off}};
    row.update(measured_row(m));
    row["published_ms"] = 157;
    context.row(row);
    context.check({fmt::format("{}: {} elements inverted, released, off its rest shape by (of its height)",
                               method.label, most_inverted),
                   "returns to its original configuration", off, off < 1e-3 && most_inverted > 0});
  }
}

/// Runs warp-canceling, then conjugate gradients with the paper's tolerance from the same start for as long.
void run_against_cg(Context& context, const std::shared_ptr<const Model>& model, double published_ms,
                    const ParameterMap& parameters) {
  const double h = context.number("dt");
  const int steps = static_cast<int>(context.number("steps"));
  std::map<std::string, Measured> results;
  for (const Method& method : std::vector<Method>{
           {"warp-canceling", "warp-canceling", parameters},
           {"corotational", "corotational"},
           {"cg",
            "corotational-cg",
            {{"residual", "absolute"}, {"tolerance", 1e-4}, {"max_iterations", std::int64_t{20000}}}},
           {"cg, relative", "corotational-cg", {{"tolerance", 1e-4}, {"max_iterations", std::int64_t{20000}}}}}) {
    const int limit =
        method.label == "warp-canceling" ? steps : std::min(steps, static_cast<int>(context.number("cg_steps")));
    const Measured m =
        simulate(context, model, method, h, limit, 0.25 * double(results.size()), 0.25 * double(results.size() + 1));
    if (context.stopped()) return;
    results[method.label] = m;
    Json row = {{"method", method.label},
                {"tets", model->bodies()[0].mesh->tets().size()},
                {"nodes", model->nodes()},
                {"reach", m.state.x.cwiseAbs().maxCoeff()}};
    row.update(measured_row(m));
    row["published_ms"] = method.label == "warp-canceling" ? Json(published_ms) : Json(nullptr);
    context.row(row);
  }
  const Measured &wc = results["warp-canceling"], &cg = results["cg"];
  context.check({"warp-canceling runs to the end and stays together", "stable", wc.failure.empty() ? "yes" : wc.failure,
                 wc.failure.empty() && wc.state.x.cwiseAbs().maxCoeff() < 5});
  context.check({"conjugate gradients with the paper's tolerance over warp-canceling, or their failure", "blows up",
                 cg.failure.empty() ? Json(cg.cpu_ms() / wc.cpu_ms()) : Json(cg.failure),
                 !cg.failure.empty() || cg.cpu_ms() >= 10 * wc.cpu_ms()});
}

}  // namespace

Experiment squash() {
  return {"warp-canceling/squash",
          "A cylinder pushed flat and through itself, and let go: inversion and recovery (fig. 5)",
          {{"cells", "16", "8", "across; 16 gives about 30 thousand tets"},
           {"through", "0.1", "0.1", "how far beyond flat, of the height"},
           {"seconds", "4", "3", "of motion"},
           {"dt", "0.01", "0.01", "s"}},
          run_squash};
}

Experiment sheet_experiment() {
  return {"warp-canceling/sheet",
          "A sheet 0.1 mm thick draped over a ball, in elements 200 times as wide as thick (fig. 6)",
          {{"cells", "50", "20", "along each side"},
           {"steps", "300", "60", "frames"},
           {"cg_steps", "40", "20", "frames of the other methods"},
           {"dt", "0.01", "0.01", "s"}},
          [](Context& context) {
            run_against_cg(context, draped_sheet(static_cast<Index>(context.number("cells"))), 77, {});
          }};
}

Experiment trampoline_experiment() {
  return {"warp-canceling/trampoline",
          "A sheet held along its edges, into which a ball is pushed (fig. 6)",
          {{"cells", "60", "20", "along each side"},
           {"steps", "150", "100", "frames"},
           {"cg_steps", "40", "40", "frames of the other methods"},
           {"dt", "0.01", "0.01", "s"}},
          [](Context& context) {
            run_against_cg(context, trampoline(static_cast<Index>(context.number("cells"))), 92, {});
          }};
}

Experiment spider_experiment() {
  return {
      "warp-canceling/spider",
      "A toy with thin legs on a thread, stiffness 300:1 (fig. 7)",
      {{"across", "2", "1", "cells across a leg; 2 gives about 25 thousand tets"},
       {"steps", "300", "100", "frames"},
       {"cg_steps", "40", "40", "frames of the other methods"},
       {"dt", "0.01", "0.01", "s"}},
      [](Context& context) { run_against_cg(context, spider(static_cast<Index>(context.number("across"))), 79, {}); }};
}

}  // namespace pliant::experiments
