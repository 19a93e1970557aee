// The sheet of warp-canceling (fig. 6, section 5.1): 1 m x 1 m, 0.1 mm thick, in elements 200 times as wide as thick,
// draped over a ball. Node rotations and their absence, updates and their absence, conjugate gradients, bending.

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "experiments/energy_meter.hpp"
#include "experiments/warp_canceling/cg_ladder.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/spring_network.hpp"
#include "pliant/solvers/warp_canceling/node_rotations.hpp"

namespace pliant::experiments {

namespace {

constexpr double kSheetStep = 0.02, kBall = 0.25;

Method on_sheet(double tau, const char* rotations) {
  Method method = paper_wc(tau);
  method.parameters["node_rotations"] = std::string(rotations);
  return method;
}

/// The two stretches in the plane of the sheet, of every element.
std::vector<Eigen::Vector2d> plane_stretches(const Model& model, const VecX& x) {
  const Body& body = model.bodies()[0];
  std::vector<Mat3> F(body.mesh->tets().size());
  body.elastic->deformation_gradients(x, {0, static_cast<Index>(F.size())}, F.data());
  std::vector<Eigen::Vector2d> stretches;
  for (const Mat3& f : F) {
    Eigen::Matrix<double, 3, 2> plane;
    plane << f.col(0), f.col(2);
    const Eigen::Vector2d squares = symmetric_eigenvalues<2>(plane.transpose() * plane).cwiseMax(0);
    stretches.emplace_back(std::sqrt(squares[1]), std::sqrt(squares[0]));
  }
  return stretches;
}

/// The largest angle between the rotations of two nodes of one element, rad.
double largest_node_angle(const Model& model, const VecX& x) {
  NodeRotationField field(model, NodeRotationKind::ring);
  field.compute(x, std::vector<std::uint8_t>(at(model.nodes()), 0));
  double most = 0;
  for (const Tet& tet : model.bodies()[0].mesh->tets())
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < a; ++b) {
        const double cosine =
            0.5 * ((field.rotations()[at(tet[at(a)])].transpose() * field.rotations()[at(tet[at(b)])]).trace() - 1);
        most = std::max(most, std::acos(std::clamp(cosine, -1.0, 1.0)));
      }
  return most;
}

double median_angle(const Model& model, const Frames& frames, std::size_t from) {
  std::vector<double> angles;
  for (std::size_t k = from; k < frames.x.size(); k += 3) angles.push_back(largest_node_angle(model, frames.x[k]));
  return percentile(angles, 0.5);
}

struct SheetRuns {
  std::shared_ptr<const Model> model;
  int steps = 0;
  Frames full, identity;
  State end;  ///< of the identity run
  double fastest = 0;
};

void report_sheet(Context& context, const std::string& name, const Frames& f) {
  Json row = {{"method", name}, {"completed", f.completed}, {"deviation", f.deviation}};
  row.update(measured_row(f.measured));
  context.row(row);
}

void decide_drape(Context& context, const SheetRuns& s) {
  const VecX& x = s.identity.x.empty() ? s.model->rest() : s.identity.x.back();
  double deepest = 0, touching = 0;
  for (Index i = 0; i < s.model->nodes(); ++i) {
    const double r = (node(x, i) - Vec3(0.5, 0, 0.5)).norm();
    deepest = std::max(deepest, kBall - r);
    touching += r < kBall + 1e-3;
  }
  double least_corner = 1e300;
  for (Index i : s.model->bodies()[0].mesh->sets().at("corners"))
    least_corner = std::min(least_corner, kBall - node(x, i).y());
  int within = 0;
  const auto stretches = plane_stretches(*s.model, x);
  for (const Eigen::Vector2d& l : stretches) within += l.minCoeff() >= 0.95 && l.maxCoeff() <= 1.05;
  context.decide(Decision("warp-canceling/fig-6/sheet-drapes")
                     .needs(s.full.completed, "full Cholesky completes")
                     .part("frames of WC", double(s.identity.x.size()), "all of them, finite", s.identity.completed)
                     .at_least("nodes in touch with the ball at the end", touching, 1)
                     .at_most("largest speed at the end over the largest before",
                              s.end.v.size() ? s.end.v.cwiseAbs().maxCoeff() / s.fastest : 1, 0.05)
                     .at_least("corners below the ball's top, over its radius", least_corner / kBall, 0.5)
                     .at_least("elements with stretches in the plane within 5% of 1",
                               double(within) / double(stretches.size()), 0.95)
                     .at_most("deepest node in the ball, over its radius", deepest / kBall, 0.01)
                     .at_most("deviation from full Cholesky, of 1 m", s.identity.deviation * diameter(*s.model), 0.01)
                     .because(fmt::format(
                         "{} frames of {} s; deviation {:.3g} m; explicit forces push by 0.5/h^2 of the depth at most: "
                         "with all nodes touching the weight alone leaves {:.3f} of the radius",
                         s.steps, kSheetStep, s.identity.deviation * diameter(*s.model),
                         9.81 * kSheetStep * kSheetStep / 0.5 / kBall)));
}

void decide_rotations(Context& context, const SheetRuns& s) {
  EnergyMeter meter(s.model);
  const double start = meter.total(s.model->rest_state());
  bool lost = false;
  double reach = 0, energy = 0;
  for (double tau : {1e-4, 1e-3}) {  // a larger one where the first survives
    State end;
    const Frames ring = record(context, s.model, on_sheet(tau, "ring"), kSheetStep, s.steps, &s.full, 1e300,
                               [&](const MethodRun& r) { end = r.state(); });
    report_sheet(context, fmt::format("WC, node rotations, tau {:g}", tau), ring);
    reach = ring.x.empty() ? 1e9 : (ring.x.back() - s.model->rest()).cwiseAbs().maxCoeff();
    energy = end.x.size() ? meter.total(end) - start : 1e9;
    lost = !ring.completed || reach > 2 || energy > 0;
    if (lost) break;
  }
  const auto solid = sculpture(2, 5e6);
  const Frames drop = record(context, solid, {"full", "corotational"}, 0.01, 30);
  const double ratio = median_angle(*s.model, s.full, 10) / median_angle(*solid, drop, 5);
  context.decide(
      Decision("warp-canceling/section-5.1/sheet-identity-rotations")
          .needs(s.full.completed && drop.completed, "the references complete")
          .part("with node rotations: reach, m", reach, "not finite, beyond 2 m, or more energy than at the start",
                lost)
          .part("with the identity: frames", double(s.identity.x.size()), "all of them", s.identity.completed)
          .at_least("largest angle of node rotations in an element, sheet over sculpture", ratio, 5)
          .because(fmt::format("with node rotations it reaches {:.2g} m and gains {:.2g} J", reach, energy)));
}

void decide_updates(Context& context, const SheetRuns& s) {
  const Frames stale = record(
      context, s.model,
      {"SW", "stiffness-warping", {{"unknown", "velocity"}, {"node_rotations", "identity"}, {"damp_above", 0.0}}},
      kSheetStep, s.steps, &s.full);
  report_sheet(context, "no updates, identity", stale);
  double mean = 1;
  if (!stale.x.empty()) {
    mean = 0;
    const auto stretches = plane_stretches(*s.model, stale.x.back());
    for (const auto& l : stretches) mean += 0.5 * l.sum() / double(stretches.size());
  }
  const double size = diameter(*s.model), off = std::min(stale.deviation * size, 1e6);
  context.decide(Decision("warp-canceling/section-5.1/sheet-needs-updates")
                     .needs(s.full.completed, "full Cholesky completes")
                     .part("without updates: deviation, of 1 m", off,
                           "above 20%, or a mean stretch above 1.2, or it fails",
                           !stale.completed || off > 0.2 || mean > 1.2)
                     .at_most("with updates at 1e-4 N s: deviation, of 1 m", s.identity.deviation * size, 0.01)
                     .note("without updates: mean stretch in the plane", mean)
                     .because(fmt::format("deviations {:.3g} and {:.3g} m", off, s.identity.deviation * size)));
}

void decide_specialised(Context& context, const SheetRuns& s) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"ball", SphereShape{{0.5, 0, 0.5}, kBall}, {}, 1e5, 0.3});
  BodyOptions cloth_body;
  const auto cells = static_cast<Index>(context.number("cells"));
  cloth_body.network = std::make_shared<SpringNetwork>(cloth({.origin = {0, 0.26, 0}, .cells = {cells, cells}}));
  cloth_body.density = 0.1;  // kg/m^2: 0.1 mm of 1000 kg/m^3
  cloth_body.springs = {100, 50, 0.01};
  cloth_body.damping = {4, 0};
  builder.add_body(cloth_body);
  const Frames springs = record(context, builder.build(), {"springs", "quasi-newton"}, kSheetStep, s.steps);
  report_sheet(context, "mass-spring cloth, quasi-newton", springs);
  context.decide(Decision("warp-canceling/section-5.1/costs-more-than-specialised")
                     .needs(springs.completed && s.identity.completed, "both complete")
                     .below("time of mass-spring cloth over WC's on tetrahedra",
                            springs.measured.cpu_ms() / s.identity.measured.cpu_ms(), 1)
                     .because(fmt::format("{:.2f} and {:.2f} ms a frame of processor time", springs.measured.cpu_ms(),
                                          s.identity.measured.cpu_ms())));
}

/// Deflection of a clamped strip under a small load per area, m.
double strip_deflection(double thickness, double load) {
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(
      sheet({.size = {0.2, 1}, .thickness = thickness, .normal = Axis::y, .cells = {10, 50}}));
  body.material = {find_law("linear-corotated"), lame_from_young(1e6, 0.4)};
  builder.add_body(body);
  builder.add_pin({"clamp", body.mesh->sets().at("z-min")});
  builder.add_load(body.mesh->sets().at("top"), {0, -load * 0.2, 0});
  const auto model = builder.build();
  State state = model->rest_state();
  make_stepper(model, "pod-newton", {{"integrator", "quasistatic"}, {"criterion", "residual"}, {"tolerance", 1e-12}})
      ->step(state, 1);
  double sum = 0;
  const auto& tip = body.mesh->sets().at("z-max");
  for (Index i : tip) sum += (node(model->rest(), i) - node(state.x, i)).y() / double(tip.size());
  return sum;
}

void decide_bending(Context& context) {
  Decision decision("warp-canceling/fig-6/sheet-bends");
  std::vector<double> logs, deflections;
  const auto theory = [](double t, double load) { return load / (8 * 1e6 * t * t * t / (12 * (1 - 0.16))); };
  const double load = 0.01 / theory(1e-4, 1);  // 1 cm for the thinnest
  for (double t : {1e-4, 2e-4, 4e-4}) {
    const double w = strip_deflection(t, load);
    context.row({{"thickness", t}, {"deflection", w}, {"theory", theory(t, load)}});
    logs.push_back(std::log(t)), deflections.push_back(std::log(std::abs(w)));
    decision.between(fmt::format("{:g} mm: deflection over thin-plate theory", 1e3 * t), w / theory(t, load), 0.5, 2);
  }
  const double slope = (deflections[2] - deflections[0]) / (logs[2] - logs[0]);
  context.decide(
      decision.between("slope over thickness, both logarithmic", slope, -3.2, -2.8)
          .because(fmt::format("slope {:.2f}; one layer of flat linear tetrahedra locks in bending", slope)));
}

void run_sheet(Context& context) {
  SheetRuns s;
  s.model = draped_sheet(static_cast<Index>(context.number("cells")));
  s.steps = static_cast<int>(context.number("steps"));
  context.progress(0, "bending");
  decide_bending(context);
  context.progress(0.1, "drape");
  s.full = record(context, s.model, {"full", "corotational"}, kSheetStep, s.steps);
  s.identity = record(context, s.model, on_sheet(1e-4, "identity"), kSheetStep, s.steps, &s.full, 1e300,
                      [&](const MethodRun& r) {
                        s.end = r.state();
                        s.fastest = std::max(s.fastest, r.state().v.cwiseAbs().maxCoeff());
                      });
  report_sheet(context, "full", s.full);
  report_sheet(context, "WC, identity", s.identity);
  decide_drape(context, s);
  decide_rotations(context, s);
  decide_updates(context, s);
  decide_specialised(context, s);
  context.progress(0.5, "conjugate gradients");
  decide_cg_fails(context, {"warp-canceling/section-5.1/cg-fails-on-sheet", s.model, kSheetStep, s.full, s.identity,
                            diameter(*s.model), 5});
}

}  // namespace

Experiment sheet_experiment() {
  return {"warp-canceling/sheet",
          "A sheet 0.1 mm thick draped over a ball, in elements 200 times as wide as thick (fig. 6)",
          {{"cells", "50", "20", "along each side"}, {"steps", "300", "60", "frames"}},
          run_sheet};
}

}  // namespace pliant::experiments
