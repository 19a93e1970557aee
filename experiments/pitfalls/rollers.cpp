// The armadillo rollers of pitfalls (section 10.3.3, fig. 15): a soft figure falls onto turning cylinders that draw it
// in by friction and press it through the gaps between them. Six rollers at 2 and 4 rad/s, as in the scene of Li et al.
// 2020 that the paper recreates; places and sizes are ours. The rollers are obstacles with a prescribed motion, where
// the paper drives meshed bodies by penalties.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/meshes.hpp"
#include "experiments/pitfalls/contact_table.hpp"

namespace pliant::experiments {

namespace {

constexpr double kUpperAxes = 0;  ///< height of the upper rollers' axes, m

/// Scaled to 1 m height, a centimetre above where it would touch the upper rollers.
std::shared_ptr<const Model> rollers_model(MeshData data, double fall) {
  Vec3 low = data.vertices.front(), high = low;
  for (const Vec3& v : data.vertices) low = low.cwiseMin(v), high = high.cwiseMax(v);
  const double scale = 1 / (high.y() - low.y());
  const Vec3 middle = 0.5 * (low + high);
  for (Vec3& v : data.vertices) v = scale * (v - Vec3(middle.x(), low.y(), middle.z())) + Vec3(0, kUpperAxes + 0.16, 0);
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_mass(MassKind::consistent);
  BodyOptions body;
  body.name = "figure";
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("neo-hookean"), lame_from_young(5e4, 0.2)};
  body.velocity = {0, -fall, 0};
  builder.add_body(body);
  struct RollerPair {
    double height, apart, speed;
  };
  constexpr double kRadius = 0.15, kHalfLength = 0.8, kSeconds = 100;
  for (const RollerPair& pair :
       {RollerPair{kUpperAxes, 0.32, 2}, RollerPair{-0.45, 0.28, 4}, RollerPair{-0.9, 0.28, 2}})
    for (double side : {-1.0, 1.0}) {
      Collider roller;
      const Vec3 centre(side * pair.apart, pair.height, 0);
      roller.name = fmt::format("{} at {} m", side < 0 ? "left" : "right", pair.height);
      roller.shape = CylinderShape{centre, Vec3::UnitZ(), kRadius, kHalfLength};
      roller.motion.centre = centre;
      roller.motion.axis = Vec3::UnitZ();
      // The sides that face each other go down.
      roller.motion.angle.keys = {{0, 0.0}, {kSeconds, side * pair.speed * kSeconds}};
      builder.add_collider(roller);
    }
  builder.set_contact({.dhat = 1e-3, .friction = 0.5, .eps_v = 1e-3});
  return builder.build();
}

double centre_height(const Model& model, const VecX& x) {
  double moment = 0;
  for (Index i = 0; i < model.nodes(); ++i) moment += model.mass().lumped()[i] * node(x, i).y();
  return moment / model.mass().lumped().sum();
}

void run_rollers(Context& context) {
  const std::string name = context.text("figure");
  const auto data = find_mesh(context, name);
  if (!data) {
    for (const Claim* own : claims_of("pitfalls/rollers"))
      context.decide(Decision(own->id).leave_undecided(
          fmt::format("a folder with mesh '{}' (--option meshes=FOLDER): a figure of boxes does not count", name)));
    return;
  }
  ContactScene scene;
  scene.model = rollers_model(*data, context.number("fall"));
  scene.steps = static_cast<int>(std::lround(60 * context.number("duration")));
  scene.max_iterations = static_cast<int>(context.number("max_iterations"));
  scene.repeats = static_cast<int>(context.number("repeats"));
  const std::vector<double> tolerances = contact_tolerances(context);
  const ContactRuns runs = run_contact_scene(context, scene, tolerances, 0, 1);
  if (context.stopped()) return;
  Decision coarse("pitfalls/fig-15/coarse"), fine("pitfalls/fig-15/fine"), gives_up("pitfalls/fig-15/kn-gives-up");
  const TrialTotals& pdn = runs.at({"PDN", kContactCoarse});
  const double height = centre_height(*scene.model, pdn.last.x);
  for (Decision* d : {&coarse, &fine, &gives_up}) {
    needs_contact_runs(*d, runs, {"N", "PN", "PDN"}, d == &coarse ? std::vector{kContactCoarse} : tolerances);
    d->needs(height < kUpperAxes,
             fmt::format("the figure is drawn in: its centre, {:.3g} m above the upper axes, goes below them",
                         height - kUpperAxes));
    d->needs(pdn.touching_steps > 0, "contact with friction");
    note_totals(*d, runs);
  }
  const auto total = [&](const char* solver, double eps_d) { return runs.at({solver, eps_d}).mean_iterations; };
  const double N = total("N", kContactCoarse), PN = total("PN", kContactCoarse), PDN = total("PDN", kContactCoarse);
  coarse.below("PDN", PDN, PN).below("PN", PN, N).at_most("PN/PDN", PN / PDN, 1.25);
  for (double eps_d : tolerances) {
    const TrialTotals& kn = runs.at({"KN", eps_d});
    gives_up.part(fmt::format("steps of KN, eps_d {}", eps_d), kn.steps,
                  fmt::format("the limit of {} iterations in the first half", scene.max_iterations),
                  kn.outcome == "iteration-limit" && kn.steps < scene.steps / 2);
    if (kn.outcome != "iteration-limit")
      gives_up.because(fmt::format("KN at eps_d {} ends as {}, with at most {} iterations in a step", eps_d, kn.outcome,
                                   kn.most_iterations));
  }
  if (tolerances.size() == 2) {
    const double n = total("N", kContactFine), pn = total("PN", kContactFine), p = total("PDN", kContactFine);
    fine.at_most("PDN over the fewer of N and PN", p / std::min(n, pn), 0.9)
        .at_most("|N/PN - 1|", std::abs(n / pn - 1), 0.25);
  }
  for (Decision* d : {&coarse, &fine, &gives_up}) context.decide(*d);
}

}  // namespace

Experiment rollers() {
  return {"pitfalls/rollers",
          "A soft figure is drawn through turning rollers by friction (fig. 15)",
          {meshes_option("Armadillo13K.msh and ditto.mesh"),
           {"figure", "Armadillo13K", "ditto", "name of the mesh, y up"},
           {"fall", "0", "2", "speed at which the figure arrives, m/s"},
           {"duration", "8", "0.5", "simulated seconds; the figure touches the rollers at once"},
           {"max_iterations", "6000", "600", "iterations after which a step has failed"},
           {"repeats", "2", "0", "further runs of each solver from perturbed starts, of which means are judged"}},
          run_rollers};
}

}  // namespace pliant::experiments
