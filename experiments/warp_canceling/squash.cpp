// A figure squashed to inversion between the floor and a piston (fig. 5 of warp-canceling).

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "experiments/meshes.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"

namespace pliant::experiments {

namespace {

/// How far a body is from its rest shape after the best rigid motion, over its size, at the worst node.
double off_rest_shape(const Model& model, const VecX& x) {
  Eigen::Map<const Eigen::Matrix3Xd> now(x.data(), 3, model.nodes()), rest(model.rest().data(), 3, model.nodes());
  const Vec3 a = rest.rowwise().mean(), b = now.rowwise().mean();
  const Mat3 C = (now.colwise() - b) * (rest.colwise() - a).transpose();
  const Mat3 R = nearest_rotation(C);
  return ((now.colwise() - b) - R * (rest.colwise() - a)).colwise().norm().maxCoeff() / diameter(model);
}

void run_squash(Context& context) {
  const std::vector<std::string> ids = {"warp-canceling/fig-5/squash-inverts-and-recovers",
                                        "warp-canceling/fig-5/updates-under-piston"};
  if (!has_meshes(context, ids)) return;
  const PistonScene scene = body_under_piston(*find_mesh(context, context.text("mesh")), context.number("young"));
  const auto& model = scene.model;
  const Body& body = model->bodies()[0];
  const double h = context.number("dt");
  const int steps = static_cast<int>(context.number("seconds") / h);
  Decision recovers(ids[0]), under(ids[1]);
  for (Method method : std::vector<Method>{{"full", "corotational"}, paper_wc(1e-2)}) {
    double most_inverted = 0, left_inverted = 0, under_hits = 0, under_all = 0, other_hits = 0, other_all = 0;
    int touching_frames = 0;
    State end;
    const Frames frames = record(context, model, method, h, steps, nullptr, 1e300, [&](const MethodRun& run) {
      const VecX& x = run.state().x;
      end = run.state();
      std::vector<Mat3> F(body.mesh->tets().size());
      body.elastic->deformation_gradients(x, {0, static_cast<Index>(F.size())}, F.data());
      left_inverted = double(std::count_if(F.begin(), F.end(), [](const Mat3& f) { return f.determinant() <= 0; })) /
                      double(F.size());
      most_inverted = std::max(most_inverted, left_inverted);
      const double bottom = scene.piston_bottom(run.state().time);
      bool touches = false;
      const auto beside = [&](const Vec3& p) { return std::hypot(p.x() - scene.centre.x(), p.z() - scene.centre.z()); };
      for (Index i = 0; i < model->nodes() && !touches; ++i)
        touches = node(x, i).y() > bottom && beside(node(x, i)) < scene.radius;
      touching_frames += touches;
      const auto* stepper = dynamic_cast<const WarpCancelingStepper*>(&run.stepper());
      if (!touches || method.label != "WC") return;
      for (std::size_t e = 0; e < body.mesh->tets().size(); ++e) {
        const bool below = beside(node(x, body.mesh->tets()[e][0])) < 1.2 * scene.radius;
        (below ? under_all : other_all) += 1;
        if (stepper->refreshed()[at(stepper->partition().of_element[e])]) (below ? under_hits : other_hits) += 1;
      }
    });
    const double off = frames.x.empty() ? 1 : off_rest_shape(*model, frames.x.back());
    Json row = {{"method", method.label},
                {"tets", body.mesh->tets().size()},
                {"frames_with_contact", touching_frames},
                {"most_inverted", most_inverted},
                {"inverted_at_the_end", left_inverted},
                {"off_rest", off}};
    row.update(measured_row(frames.measured));
    context.row(row);
    recovers.needs(touching_frames > 0, method.label + ": the piston touches")
        .part(method.label + ": frames", double(frames.x.size()), "all of them, finite", frames.completed)
        .at_least(method.label + ": elements inverted at the worst frame", most_inverted, 0.01)
        .at_most(method.label + ": off the rest shape at the end, over the size", off, 0.01)
        .at_most(method.label + ": elements inverted at the end", left_inverted, 0)
        .because(
            fmt::format("{}: {:.1f}% inverted at worst, {:.2g} of the size off at the end with speeds to {:.2g} m/s",
                        method.label, 100 * most_inverted, off, end.v.size() ? end.v.cwiseAbs().maxCoeff() : 0.0));
    if (method.label == "WC")
      under.needs(touching_frames > 0, "the piston touches")
          .at_least("rate of refreshes in the piston's shadow over that elsewhere",
                    under_hits / under_all / (other_hits / other_all), 2)
          .because(
              fmt::format("{:.2g} in the shadow, {:.2g} elsewhere", under_hits / under_all, other_hits / other_all));
  }
  recovers.at_most("least height of the piston over the body's", scene.least_gap, 0.1);
  context.decide(recovers);
  context.decide(under);
}

}  // namespace

Experiment squash() {
  return {"warp-canceling/squash",
          "A figure pressed flat between the floor and a piston, which then rises: inversion and recovery (fig. 5)",
          {meshes_option("bunny.mesh; quick: ditto.mesh"),
           {"mesh", "bunny", "ditto", "the figure"},
           {"young", "1e5", "1e5", "Pa"},
           {"seconds", "4", "3", "of motion"},
           {"dt", "0.01", "0.01", "s"}},
          run_squash};
}

}  // namespace pliant::experiments
