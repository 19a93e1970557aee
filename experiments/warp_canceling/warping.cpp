// Stiffness warping and its errors (sections 1, 3.3 and 4.1 of warp-canceling): where the warps cancel, how the error
// grows, what it does to a body in flight, node rotations by Horn's algorithm, and the original's nonsymmetry.

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "experiments/random.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "experiments/warp_canceling/warped_bar.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"

namespace pliant::experiments {

namespace {

constexpr double kWarpStep = 0.01;

/// The bar turned about its length by an angle per metre, and bent.
VecX twisted_bar(const VecX& rest, double per_metre, double bend = 0) {
  VecX x = rest;
  for (Eigen::Index i = 0; i < x.size(); i += 3) {
    const double angle = per_metre * rest[i], y = rest[i + 1] - 0.25, z = rest[i + 2] - 0.25;
    x[i + 1] = 0.25 + std::cos(angle) * y - std::sin(angle) * z + bend * rest[i] * rest[i];
    x[i + 2] = 0.25 + std::sin(angle) * y + std::cos(angle) * z;
  }
  return x;
}

VecX turned(const VecX& x, const Mat3& R) {
  VecX y = x;
  for (Eigen::Index i = 0; i < x.size(); i += 3) y.segment<3>(i) = R * x.segment<3>(i);
  return y;
}

void decide_exact(Context& context, const std::shared_ptr<const Model>& bar) {
  WarpedPieces pieces(bar, kWarpStep);
  Random random(3);
  Decision decision("warp-canceling/section-4.1/exact-when-fresh-and-in-rotation");
  const auto compare = [&](const std::string& what, const VecX& x) {
    pieces.deform(x);
    const std::vector<Mat3> exact = pieces.corotational();
    decision.at_most(what, relative_difference(pieces.warped(), exact), 1e-12);
  };
  compare("at rest", bar->rest());
  for (int k = 0; k < 3; ++k)
    compare(fmt::format("at rest, turned by 1 rad about axis {}", k + 1),
            turned(bar->rest(), Eigen::AngleAxisd(1, random.direction()).toRotationMatrix()));
  const VecX bent = twisted_bar(bar->rest(), 0.6, 0.2);
  pieces.deform(bent);
  pieces.refresh();
  compare("deformed and refreshed", bent);
  for (int k = 0; k < 3; ++k)
    compare(fmt::format("deformed and refreshed, turned by 1 rad about axis {}", k + 1),
            turned(bent, Eigen::AngleAxisd(1, random.direction()).toRotationMatrix()));
  context.decide(decision);
}

void decide_relative_rotation(Context& context, const std::shared_ptr<const Model>& bar) {
  WarpedPieces pieces(bar, kWarpStep);
  std::vector<double> logs, errors;
  for (double twist : {1e-4, 1e-3, 1e-2, 1e-1}) {
    pieces.deform(twisted_bar(bar->rest(), twist));
    const double error = relative_difference(pieces.warped(), pieces.corotational());
    logs.push_back(std::log(twist)), errors.push_back(std::log(error));
    context.row({{"twist_per_metre", twist}, {"matrix_error", error}});
  }
  double mx = 0, my = 0, xx = 0, xy = 0;
  for (std::size_t k = 0; k < 4; ++k) mx += logs[k] / 4, my += errors[k] / 4;
  for (std::size_t k = 0; k < 4; ++k) xx += (logs[k] - mx) * (logs[k] - mx), xy += (logs[k] - mx) * (errors[k] - my);
  Random random(5);
  VecX v(bar->rest().size());
  for (double& c : v) c = random.symmetric();
  const auto badness = [&](const VecX& u) {
    pieces.error().measure(pieces.matrix(), pieces.node_rotations(), u);
    return std::vector<double>(pieces.error().badness().begin(), pieces.error().badness().end());
  };
  const std::vector<double> once = badness(v), thrice = badness(3 * v), still = badness(VecX::Zero(v.size()));
  double off = 0, at_zero = 0, largest = 0, fresh = 0;
  for (std::size_t s = 0; s < once.size(); ++s) {
    largest = std::max(largest, once[s]);
    off = std::max(off, std::abs(thrice[s] - 3 * once[s]));
    at_zero = std::max(at_zero, still[s]);
  }
  pieces.refresh();
  for (double b : badness(v)) fresh = std::max(fresh, b);
  context.decide(
      Decision("warp-canceling/section-1/error-from-relative-rotation")
          .between("slope of the matrix error over the twist, both logarithmic", xy / xx, 0.9, 1.1)
          .at_most("error of elements at three times the velocity from three times the error", off / largest, 1e-12)
          .equal("error at v = 0", at_zero, 0)
          .at_most("error of fresh elements over that of stale ones", fresh / largest, 1e-12)
          .because(fmt::format("slope {:.3f}; fresh elements have {:.1g} of a stale one's error, by rounding", xy / xx,
                               fresh / largest)));
}

void decide_ghost_forces(Context& context, const std::shared_ptr<const Model>& bar) {
  const auto change = [&](const std::string& solver, const ParameterMap& parameters) {
    ParameterMap all = parameters;
    all["turning"] = std::string("linear");
    all["safeguard"] = std::string("none");
    const auto stepper = make_stepper(bar, solver, all);
    State state = bar->rest_state();
    stepper->step(state, kWarpStep);  // the factor of the rest shape
    state.x = twisted_bar(bar->rest(), 0.3, 0.15);
    for (Index i = 0; i < bar->nodes(); ++i) node(state.v, i) = Vec3(1, 0, 0);
    const auto momentum = [&] {
      Vec3 sum = Vec3::Zero();
      for (Index i = 0; i < bar->nodes(); ++i) sum += bar->mass().lumped()[i] * node(state.v, i);
      return sum;
    };
    const Vec3 before = momentum();
    double worst = 0;
    for (int s = 0; s < 100; ++s) {
      if (!stepper->step(state, kWarpStep).advanced()) return 1e300;
      worst = std::max(worst, (momentum() - before).norm() / before.norm());
    }
    return worst;
  };
  const double exact = change("corotational", {});
  const double warped = change("stiffness-warping", {{"unknown", "velocity"}, {"damp_above", 0.0}});
  const double ours = change("stiffness-warping", {{"damp_above", 0.0}});
  const auto torus = three_torus(static_cast<Index>(context.number("torus")), 1e6);
  const Frames drop =
      record(context, torus, {"SW", "stiffness-warping", {{"unknown", "velocity"}, {"damp_above", 0.0}}}, kWarpStep,
             static_cast<int>(context.number("torus_steps")));
  const double reach =
      drop.x.empty() ? 1e300 : (drop.x.back() - torus->rest()).cwiseAbs().maxCoeff() / diameter(*torus);
  context.row({{"momentum_change_corotational", exact},
               {"stiffness_warping", warped},
               {"change_as_unknown", ours},
               {"torus_reach", reach}});
  context.decide(
      Decision("warp-canceling/section-1/ghost-forces")
          .at_most("corotational: change of linear momentum over 100 steps", exact, 1e-8)
          .at_least("stiffness warping: the same", warped, 1e-2)
          .part("soft three-torus, undamped stiffness warping: reach over the diameter", reach,
                "not finite, or beyond 10", !drop.completed || reach > 10)
          .note("stiffness warping solved for the change of velocity", ours)
          .because(fmt::format("momentum changes by {:.2g} and {:.2g}; the torus reaches {:.2g} diameters in {} frames",
                               exact, warped, reach, drop.x.size())));
}

void decide_gentle(Context& context) {
  const auto bar = swinging_bar(4, 5e7);
  const Frames full = record(context, bar, {"full", "corotational"}, kWarpStep, 200);
  const Frames warped = record(
      context, bar, {"SW", "stiffness-warping", {{"unknown", "velocity"}, {"damp_above", 0.0}}}, kWarpStep, 200, &full);
  double tip = 0, off = 0;
  for (std::size_t k = 0; k < full.x.size(); ++k) {
    tip = std::max(tip, (full.x[k] - bar->rest()).cwiseAbs().maxCoeff() / 1.5);
    if (k < warped.x.size()) off = std::max(off, (full.x[k] - warped.x[k]).cwiseAbs().maxCoeff() / 1.5);
  }
  context.decide(
      Decision("warp-canceling/section-3.3/sw-good-when-gentle")
          .needs(full.completed && warped.completed, "both complete 200 frames")
          .needs(tip < 0.1, "the tip deflects by less than a tenth of the length")
          .at_most("deviation over the length", off, 0.01)
          .at_most("processor time over that of full Cholesky", warped.measured.cpu_ms() / full.measured.cpu_ms(), 0.5)
          .because(fmt::format("deviation {:.2g}, {:.2f} and {:.2f} ms", off, warped.measured.cpu_ms(),
                               full.measured.cpu_ms())));
}

void decide_errors(Context& context) {
  Decision decision("warp-canceling/section-6/errors-less-than-stiffness-warping");
  for (const std::string scene : {"three-torus", "sculpture"}) {
    const bool is_torus = scene == "three-torus";
    const auto model = is_torus ? three_torus(static_cast<Index>(context.number("torus")), 1e6)
                                : sculpture(static_cast<Index>(context.number("across")), 5e6);
    const int steps = static_cast<int>(context.number(is_torus ? "torus_steps" : "steps"));
    const Frames full = record(context, model, {"full", "corotational"}, kWarpStep, steps);
    const Frames wc = record(context, model, paper_wc(5e-3), kWarpStep, steps, &full);
    const Frames sw =
        record(context, model,
               {"SW", "stiffness-warping", {{"unknown", "velocity"}, {"measure", "impulse"}, {"damp_above", 0.5}}},
               kWarpStep, steps, &full);
    context.row({{"scene", scene},
                 {"wc_deviation", wc.deviation},
                 {"sw_deviation", sw.deviation},
                 {"sw_completed", sw.completed}});
    decision.needs(full.completed && wc.completed, scene + ": full Cholesky and WC complete");
    const double theirs = std::min(sw.deviation, 1e6);
    decision.at_least(scene + ": deviation of stiffness warping over WC's", theirs / wc.deviation, 10)
        .at_least(scene + ": deviation of stiffness warping over the diameter", theirs, 0.05)
        .because(fmt::format("{}: {:.2g} and {:.2g} of the diameter", scene, sw.deviation, wc.deviation));
  }
  context.decide(decision);
}

void decide_horn(Context& context) {
  const auto model = sculpture(static_cast<Index>(context.number("across")), 5e6);
  WarpedPieces pieces(model, kWarpStep);  // stale: the rest shape's
  const BlockPattern& pattern = *model->pattern();
  double horn_angle = 0, mean_angle = 0, horn_error = 0, mean_error = 0;
  int frames = 0;
  const Frames run =
      record(context, model, {"full", "corotational"}, kWarpStep, 30, nullptr, 1e300, [&](const MethodRun& r) {
        if (r.state().step % 6 != 0) return;
        pieces.deform(r.state().x);
        std::vector<Mat3> average(at(model->nodes()), Mat3::Zero());
        for (Index e = 0; e < pieces.elements().elements(); ++e) {
          const Index slot = pieces.elements().slot_of_element()[at(e)];
          Mat3 R;
          for (int c = 0; c < 9; ++c) R.data()[c] = pieces.elements().rotations(slot / kBatch)[c][slot % kBatch];
          for (int a = 0; a < 4; ++a) average[at(pieces.elements().nodes(slot)[a])] += R;
        }
        for (Mat3& R : average) R = nearest_rotation(R);
        const auto angle = [&](std::span<const Mat3> R) {
          double sum = 0;
          for (Index i = 0; i < model->nodes(); ++i)
            for (std::int64_t k = pattern.row_start()[at(i)] + 1; k < pattern.row_start()[at(i) + 1]; ++k)
              sum += std::acos(
                  std::clamp(0.5 * ((R[at(i)].transpose() * R[at(pattern.columns()[at(k)])]).trace() - 1), -1.0, 1.0));
          return sum / static_cast<double>(pattern.blocks() - model->nodes());
        };
        const auto norm = [](const std::vector<Mat3>& a, const std::vector<Mat3>& b) {
          double sum = 0;
          for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]).squaredNorm();
          return std::sqrt(sum);
        };
        const std::vector<Mat3> exact = pieces.corotational();
        horn_angle += angle(pieces.node_rotations()), mean_angle += angle(average);
        horn_error += norm(pieces.warped(), exact), mean_error += norm(pieces.warped(average), exact);
        ++frames;
      });
  context.row({{"horn_angle", horn_angle / frames},
               {"average_angle", mean_angle / frames},
               {"horn_error", horn_error / frames},
               {"average_error", mean_error / frames}});
  const bool smooth = horn_angle <= 0.7 * mean_angle;
  context.decide(
      Decision("warp-canceling/section-3.3/horn-smooth")
          .needs(run.completed && mean_angle > 0, "deformed frames are there")
          .part("mean angle along edges over that of averaged rotations", horn_angle / mean_angle,
                "at most 0.7, or a matrix error no larger than with averages", smooth || horn_error <= mean_error)
          .note("matrix error over that with averages", horn_error / mean_error)
          .because(fmt::format("angles {:.2g} and {:.2g} rad, matrix errors {:.4g} and {:.4g}", horn_angle / frames,
                               mean_angle / frames, horn_error / frames, mean_error / frames)));
}

void decide_symmetry(Context& context, const std::shared_ptr<const Model>& bar) {
  WarpedPieces pieces(bar, kWarpStep);
  pieces.deform(twisted_bar(bar->rest(), 0.6, 0.2));
  const BlockMatrix& A = pieces.matrix().matrix();
  double one_sided = 0, two_sided = 0, largest = 0;
  const auto R = pieces.node_rotations();
  for (Index i = 0; i < bar->nodes(); ++i)
    for (std::int64_t k = A.pattern().row_start()[at(i)]; k < A.pattern().row_start()[at(i) + 1]; ++k) {
      const Index j = A.pattern().columns()[at(k)];
      const Mat3 block = Eigen::Map<const Mat3>(A.block(k));
      // Block (i, j) beside the transpose of block (j, i).
      one_sided = std::max(
          one_sided,
          (R[at(i)] * block * R[at(i)].transpose() - R[at(j)] * block * R[at(j)].transpose()).cwiseAbs().maxCoeff());
      two_sided = std::max(two_sided, (R[at(i)] * block * R[at(j)].transpose() -
                                       (R[at(j)] * block.transpose() * R[at(i)].transpose()).transpose())
                                          .cwiseAbs()
                                          .maxCoeff());
      largest = std::max(largest, block.cwiseAbs().maxCoeff());
    }
  MethodRun run(swinging_bar(4, 5e6), {"SW", "stiffness-warping", {{"unknown", "velocity"}}}, kWarpStep);
  std::vector<double> core;
  double changed = 0;
  for (int s = 0; s < 11; ++s) {
    run.step();
    const auto values = dynamic_cast<const WarpCancelingStepper&>(run.stepper()).matrix().matrix().values();
    if (s == 0) core.assign(values.begin(), values.end());
    for (std::size_t k = 0; k < core.size(); ++k) changed += core[k] != values[k];
  }
  context.decide(Decision("warp-canceling/section-3.3/original-nonsymmetric")
                     .above("R_i A_ij R_i^T: largest asymmetry over the largest entry", one_sided / largest, 1e-4)
                     .at_most("R_i A_ij R_j^T: the same", two_sided / largest, 1e-14)
                     .equal("numbers of the core matrix changed in 10 steps", changed, 0));
}

void run_warping(Context& context) {
  constexpr const char* kErrors = "warp-canceling/section-6/errors-less-than-stiffness-warping";
  const auto own = claims_of("warp-canceling/warping");
  if (std::none_of(own.begin(), own.end(),
                   [&](const Claim* c) { return c->id != kErrors && context.wants({c->id.c_str()}); }))
    return decide_errors(context);
  const auto bar = free_bar(static_cast<Index>(context.number("bar")), 5e6);
  decide_exact(context, bar);
  decide_relative_rotation(context, bar);
  decide_symmetry(context, bar);
  context.progress(0.2, "free flight");
  decide_ghost_forces(context, bar);
  context.progress(0.4, "gentle motion");
  decide_gentle(context);
  context.progress(0.5, "node rotations");
  decide_horn(context);
  context.progress(0.6, "errors");
  decide_errors(context);
}

}  // namespace

Experiment warping_experiment() {
  return {"warp-canceling/warping",
          "Stiffness warping and its errors: ghost forces, rotations of nodes, symmetry (sections 1, 3.3, 4.1)",
          {{"bar", "8", "4", "cells across the bar; 4 are 960 tets"},
           {"torus", "6", "3", "cells through the three-torus"},
           {"torus_steps", "300", "120", "its frames"},
           {"across", "5", "2", "cells across a strut of the sculpture"},
           {"steps", "300", "300", "its frames"}},
          run_warping};
}

}  // namespace pliant::experiments
