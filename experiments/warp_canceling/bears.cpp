// The bowl of bears of warp-canceling (fig. 10, Table IV): soft bodies fall into a bowl and onto each other. Ours are
// lumps of generated shapes, or any mesh that is given.

#include <fmt/format.h>

#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

namespace {

void run_bears(Context& context) {
  const double h = context.number("dt");
  const int steps = static_cast<int>(context.number("steps"));
  const auto model = bowl_of_bodies(static_cast<Index>(context.number("bodies")),
                                    static_cast<Index>(context.number("cells")), context.text("mesh"));
  std::size_t tets = 0;
  for (const Body& body : model->bodies()) tets += body.mesh->tets().size();
  struct Case {
    Method method;
    double published;
  };
  std::vector<Case> cases = {
      {{"full Cholesky", "corotational"}, 2085},
      {{"CG, low tolerance", "corotational-cg", {{"residual", "absolute"}, {"tolerance", 1e-4}}}, 4689},
      {{"CG, high tolerance", "corotational-cg", {{"residual", "absolute"}, {"tolerance", 10.0}}}, 1895},
      {{"WC, low tolerance", "warp-canceling"}, 1594},
      {{"WC, high tolerance",
        "warp-canceling",
        {{"schedule", "target-time"}, {"budget_share", 0.2}, {"tau", 0.1}, {"damp_above", 2.0}}},
       728}};
  std::map<std::string, Measured> results;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    Method& method = cases[k].method;
    method.parameters["contact"] = std::string("bodies");
    method.parameters["contact_friction"] = 0.3;
    const Measured m = simulate(context, model, method, h, steps, double(k) / double(cases.size()),
                                double(k + 1) / double(cases.size()));
    if (context.stopped()) return;
    results[method.label] = m;
    double escaped = 0;
    for (Index i = 0; i < model->nodes(); ++i) escaped += node(m.state.x, i).norm() > 2;
    Json row = {
        {"method", method.label}, {"bodies", model->bodies().size()}, {"tets", tets}, {"nodes", model->nodes()}};
    row.update(measured_row(m));
    row["contacts"] = m.mean("contacts");
    row["contact_ms"] = m.mean_ms("contact");
    row["nodes_outside"] = escaped;
    row["published_ms"] = cases[k].published;
    context.row(row);
  }
  const double wc = results["WC, low tolerance"].cpu_ms();
  context.check({"full factorisation over warp-canceling", 2085.0 / 1594, results["full Cholesky"].cpu_ms() / wc,
                 results["full Cholesky"].cpu_ms() > wc});
  context.check({"conjugate gradients (low tolerance) over warp-canceling", 4689.0 / 1594,
                 results["CG, low tolerance"].cpu_ms() / wc, results["CG, low tolerance"].cpu_ms() > wc});
}

}  // namespace

Experiment bears() {
  return {"warp-canceling/bears",
          "Soft bodies fall into a bowl and onto each other (fig. 10, Table IV)",
          {{"bodies", "25", "6", "how many"},
           {"cells", "10", "4", "across a generated body; 10 gives about ten thousand tets each"},
           {"mesh", "", "", "a mesh file in place of the generated bodies, brought to 0.3 m"},
           {"dt", "0.01", "0.01", "s"},
           {"steps", "300", "120", "frames"}},
          run_bears};
}

}  // namespace pliant::experiments
