// Where contact potentials end (pitfalls, sections 9.2, 10.3, 10.4): how much counts vary when nothing but the last
// digits of the start do, accelerations that would need displacements below a nanometre, Hessians that jump where a
// pair's nearest points change their type.

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "experiments/pitfalls/contact_table.hpp"
#include "experiments/pitfalls/statistics.hpp"
#include "experiments/pitfalls/step_lab.hpp"
#include "pliant/math/decompositions.hpp"

namespace pliant::experiments {

namespace {

/// Section 9.2: PDN from starts that differ by 1e-12 m.
void decide_spread(Context& context) {
  Decision vary("pitfalls/section-9.2/counts-vary");
  const int runs = static_cast<int>(context.number("runs"));
  struct Case {
    std::string name;
    std::shared_ptr<const Model> model;
    NewtonOptions options;
    int steps;
    bool friction;
  };
  std::vector<Case> cases;
  const auto contact = [&] {
    NewtonOptions options = contact_options("PDN", kContactCoarse);
    options.max_iterations = context.quick() ? 600 : 6000;
    return options;
  }();
  if (context.quick()) {
    cases.push_back({"friction twist", friction_twist_model(quick_friction_twist()), contact, 78, true});
    cases.push_back({"mat", mat_model(quick_mat()), contact, static_cast<int>(context.number("mat_steps")), false});
  } else {
    cases.push_back({"friction twist", friction_twist_model({.cells = 6, .press = 0.06}), contact, 600, true});
    cases.push_back({"mat", mat_model({}), contact, 900, false});
    vary.needs(false, "the rollers, five times (about 60 hours on two cores)");
  }
  cases.push_back({"swinging beam", swinging_beam_model(6), elastic_options("PDN", 0.01), 90, false});
  double largest_friction = 0;
  int narrow = 0, scenes = 0;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    double least = 1e300, most = 0, sum = 0;
    for (int r = 0; r < runs; ++r) {
      NewtonTrial trial;
      trial.model = cases[c].model;
      trial.options = cases[c].options;
      trial.steps = cases[c].steps;
      trial.perturbation = 1e-12;
      trial.seed = static_cast<std::uint64_t>(r + 1);
      const TrialTotals t =
          run_trial(context, trial, {{"study", cases[c].name}, {"seed", r + 1}}, 0.3 * double(c), 0.3 * double(c + 1));
      needs_completed(vary, {{fmt::format("{} with seed {}", cases[c].name, r + 1), &t}});
      least = std::min(least, double(t.iterations));
      most = std::max(most, double(t.iterations));
      sum += t.iterations;
      if (context.stopped()) return;
    }
    const double spread = (most - least) / (sum / runs);
    if (cases[c].name == "swinging beam") {
      vary.equal("spread of the swinging beam", spread, 0);
      continue;
    }
    vary.note("spread of the " + cases[c].name, spread);
    if (cases[c].friction) largest_friction = std::max(largest_friction, spread);
    ++scenes;
    narrow += spread <= 0.15;
  }
  vary.above("spread in a scene with friction", largest_friction, 0.005);
  vary.part("scenes with a spread of at most 15%", narrow, "at least 2", narrow >= 2);
  context.decide(vary);
}

/// Section 10.3: the impact with the acceleration criterion.
void decide_nanometres(Context& context) {
  Decision tiny("pitfalls/section-10.3/sub-nanometre");
  const int cells = static_cast<int>(context.number("impact_cells"));
  bool met = false;
  double least = 1e300;
  // Steel first: one step with contact is enough, and there it is a matter of ten.
  for (const bool stiff : {true, false}) {
    const auto model = impact_model(stiff, cells);
    const int steps = static_cast<int>(context.number(stiff ? "stiff_steps" : "soft_steps"));
    NewtonTrial by_length;
    by_length.model = model;
    by_length.options = contact_options("PDN", 1e-4);
    by_length.steps = steps;
    const TrialTotals length =
        run_trial(context, by_length, {{"study", stiff ? "stiff, step length" : "soft, step length"}}, 0.9, 0.92);
    tiny.part(fmt::format("steps converged by length, {}", stiff ? "stiff" : "soft"), length.steps,
              fmt::format("all {}", steps), length.completed());
    tiny.needs(length.touching_steps > 0, "contact");
    if (met) continue;

    NewtonOptions options = elastic_options("PDN", 0.01);
    double last = kUnknown;
    options.observer = [&](const Direction&, const Iterate&, const VecX& dx, const LineSearchResult& found) {
      last = found.alpha * dx.cwiseAbs().maxCoeff();
    };
    NewtonStepper stepper(model, options);
    State state = model->rest_state();
    int not_met = 0, below = 0, touching = 0;
    for (int s = 0; s < steps && below + not_met == 0 && !context.stopped(); ++s) {
      const StepReport report = stepper.step(state, 1.0 / 60);
      const bool touches = report.contacts > 0;
      touching += touches;
      if (touches && report.converged()) {
        least = std::min(least, last);
        below += last < 1e-9;
      }
      not_met += touches && !report.converged();
      if (!report.advanced()) break;
    }
    const std::string material = stiff ? "stiff" : "soft";
    tiny.note("steps with contact, " + material, touching)
        .note("of them with a last step below 1e-9 m, " + material, below);
    tiny.note("of them that do not reach 0.01 m/s^2, " + material, not_met);
    met = met || below + not_met > 0;
  }
  tiny.part("smallest last step of a step with contact, m", std::isfinite(least) && least < 1e299 ? least : 0,
            "below 1e-9, or one that does not converge", met);
  context.decide(tiny);
}

/// A body with a single free corner above one that is held, and the barrier between them.
class Pair {
 public:
  Pair(const std::vector<Vec3>& upper, const std::vector<Vec3>& lower, double young) {
    ModelBuilder builder;
    for (const auto* corners : {&lower, &upper}) {
      MeshData data;
      data.vertices = *corners;
      const Vec3 a = data.vertices[1] - data.vertices[0], b = data.vertices[2] - data.vertices[0],
                 c = data.vertices[3] - data.vertices[0];
      if (a.cross(b).dot(c) < 0) std::swap(data.vertices[2], data.vertices[3]);
      data.tets = {{0, 1, 2, 3}};
      BodyOptions body;
      body.name = corners == &lower ? "held" : "free";
      body.mesh = std::make_shared<TetMesh>(std::move(data));
      body.material = {find_law("neo-hookean"), lame_from_young(young, 0.3)};
      builder.add_body(body);
    }
    builder.add_pin({"held", {0, 1, 2, 3, 5, 6, 7}});
    builder.set_contact({.dhat = 0.1, .kappa = 1e3});
    model_ = builder.build();
    potential_ = std::make_unique<IncrementalPotential>(model_, ProblemOptions{Integrator::quasistatic});
    potential_->begin_step(model_->rest_state(), 1);
    A_ = potential_->make_matrix();
  }
  /// With the upper body moved along x.
  void evaluate(double along, Vec3& gradient, Mat3& hessian) {
    VecX x = model_->rest(), g;
    for (Index i = 4; i < 8; ++i) node(x, i).x() += along;
    potential_->gradient(x, g);
    gradient = node(g, 4);
    potential_->hessian(x, Projection::none, 1, A_);
    hessian = Eigen::Map<const Mat3>(A_.block(A_.pattern().diagonal(4)));
  }

 private:
  std::shared_ptr<const Model> model_;
  std::unique_ptr<IncrementalPotential> potential_;
  BlockMatrix A_;
};

/// Section 10.4: across the borders between nearest points inside a face, on an edge and at a corner.
void decide_jumps(Context& context) {
  Decision jumps("pitfalls/section-10.4/barrier-hessian-jumps");
  constexpr double kHeight = 0.05;
  // A triangle whose edge lies along z at x = 0 and whose corner is at the origin, as the top of a tet.
  const std::vector<Vec3> face = {{0, 0, -1}, {0, 0, 1}, {-1.5, 0, 0}, {-0.5, -1, 0}},
                          ridge = {{-1, 0, 0}, {0, 0, 0}, {-0.5, -1, -1}, {-0.5, -1, 1}};
  const std::vector<Vec3> tip = {{0, kHeight, 0.1}, {-1, 1, 0}, {1, 1, -0.7}, {1, 1, 0.9}},
                          above_ridge = {{0, kHeight, 0.02}, {-1, 1, 0.3}, {1, 1, -0.7}, {1, 1, 0.9}},
                          edge = {{0, kHeight, -0.8}, {0, kHeight, 0.8}, {-1, 1, 0}, {1, 1, 0}};
  struct Border {
    std::string name;
    std::vector<Vec3> upper, lower;
  };
  const std::vector<Border> borders = {
      {"face to edge", tip, face}, {"edge to corner", above_ridge, ridge}, {"edge to end of edge", edge, ridge}};
  bool changes_sign = false;
  for (const Border& border : borders) {
    for (double young = 100; young < 1e8; young *= 1.5) {
      Pair pair(border.upper, border.lower, young);
      std::vector<double> apart, gradient_jump;
      double hessian_jump = kUnknown;
      for (double delta : {1e-3, 1e-4, 1e-5, 1e-6}) {
        Vec3 g[2];
        Mat3 H[2];
        pair.evaluate(-delta, g[0], H[0]);
        pair.evaluate(delta, g[1], H[1]);
        apart.push_back(delta);
        gradient_jump.push_back((g[1] - g[0]).norm());
        hessian_jump = (H[1] - H[0]).norm() / H[0].norm();
        const auto smallest = [](const Mat3& M) { return symmetric_eigenvalues<3>(M)[0]; };
        if (delta == 1e-6 && smallest(H[0]) * smallest(H[1]) < 0) {
          changes_sign = true;
          jumps.note(fmt::format("smallest eigenvalues on both sides, {}, E {}", border.name, young),
                     Json{smallest(H[0]), smallest(H[1])});
        }
      }
      if (young != 100) continue;
      jumps.between("power of the gradient's jump, " + border.name, log_slope(apart, gradient_jump), 0.9, 1.1);
      jumps.at_least("relative jump of the Hessian, " + border.name, hessian_jump, 1e-2);
    }
  }
  jumps.part("configurations in which definiteness changes", changes_sign ? 1 : 0, "at least one", changes_sign);
  context.decide(jumps);
}

void run_contact_limits(Context& context) {
  if (context.wants({"pitfalls/section-10.4/barrier-hessian-jumps"})) decide_jumps(context);
  if (context.wants({"pitfalls/section-10.3/sub-nanometre"})) decide_nanometres(context);
  if (context.stopped()) return;
  if (context.wants({"pitfalls/section-9.2/counts-vary"})) decide_spread(context);
  Decision area("pitfalls/section-9.2/area-weighting");
  context.decide(area.leave_undecided("a run without weights by area: the engine's barrier always has them"));
}

}  // namespace

Experiment contact_limits() {
  return {"pitfalls/contact-limits",
          "Contact potentials near rounding and across regions, spread of counts (sections 9, 10)",
          {{"runs", "5", "3", "runs of each scene from perturbed starts"},
           {"mat_steps", "900", "120", "steps of the twisting mat"},
           {"impact_cells", "12", "4", "cells along the cube of the impact"},
           {"soft_steps", "90", "20", "steps of the soft impact"},
           {"stiff_steps", "10", "10", "steps of the stiff impact"}},
          run_contact_limits};
}

}  // namespace pliant::experiments
