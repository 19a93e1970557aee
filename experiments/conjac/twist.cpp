// conjac, "Twist" (fig. 3): one end of a bar is pushed in, pulled out, bent and twisted while the other is held. How
// the motion depends on the number of dynamic nodes: 1, 2, 4 on the axis, 8, 16, 32 at the corners of slices.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/conjac/conjac.hpp"
#include "experiments/conjac/twist_scene.hpp"
#include "experiments/meshes.hpp"

namespace pliant::experiments {

namespace {

constexpr double kTwistStep = 5e-3;

/// Swings of a signal about its mean: half the range, and the frequency by its crossings (NaN below two).
struct Ringing {
  double amplitude = 0, frequency = std::numeric_limits<double>::quiet_NaN();
};

Ringing ringing(const std::vector<double>& signal, double h) {
  Ringing result;
  if (signal.empty()) return result;
  const auto [low, high] = std::minmax_element(signal.begin(), signal.end());
  result.amplitude = 0.5 * (*high - *low);
  double mean = 0;
  for (double s : signal) mean += s / static_cast<double>(signal.size());
  std::vector<double> crossings;
  for (std::size_t k = 1; k < signal.size(); ++k) {
    const double a = signal[k - 1] - mean, b = signal[k] - mean;
    if ((a < 0) != (b < 0)) crossings.push_back(h * (static_cast<double>(k) - b / (b - a)));
  }
  if (crossings.size() >= 2)
    result.frequency = 0.5 * static_cast<double>(crossings.size() - 1) / (crossings.back() - crossings.front());
  return result;
}

Vec3 centre_of_mass(const Model& model, const State& state) {
  Vec3 sum = Vec3::Zero();
  double mass = 0;
  for (Index i = 0; i < model.nodes(); ++i) {
    const double X = node(model.rest(), i).x();
    if (X < 1e-9 || X > TwistScene::length - 1e-9) continue;
    sum += model.mass().lumped()[i] * node(state.x, i);
    mass += model.mass().lumped()[i];
  }
  return sum / mass;
}

class TwistRuns {
 public:
  TwistRuns(Context& context) : context_(context), stop_([&context] { return context.stopped(); }) {
    const std::vector<int> cells = context.integers("cells");
    scene_.cells = {cells.at(0), cells.at(1), cells.at(2)};
    model_ = scene_.model();
    steps_ = static_cast<int>(std::lround(scene_.duration() / kTwistStep));
  }

  void run() {
    context_.progress(0, "reference");
    reference_ = full_motion(model_, model_->rest_state(), kTwistStep, steps_, stop_);
    const auto own = claims_of("conjac/twist");
    const bool whole = std::any_of(own.begin(), own.end(), [&](const Claim* c) {
      return c->id != "conjac/intro/few-nodes" && context_.wants({c->id.c_str()});
    });
    for (int count : {1, 2, 4, 8, 16, 32}) {
      if (!whole && count > 4) break;
      context_.progress(0.4 + 0.01 * count, fmt::format("{} dynamic nodes", count));
      runs_[count] = run_bar(model_, "conjac", with(paper_nodes(*model_, count)), kTwistStep, steps_, stop_);
    }
    if (whole) {
      decide_alike();
      decide_one_node();
      decide_turn();
      decide_stability();
      decide_strike();
    }
    decide_few_nodes();
  }

 private:
  static ParameterMap with(const std::string& nodes) { return {{"dynamic", nodes}, {"beta", 0.5}, {"gamma", 1.0 / 3}}; }

  void decide_alike() {
    Decision alike("conjac/fig-3/alike");
    const BarRun& most = runs_[32];
    alike.needs(most.completed, "the run with 32 nodes completes");
    for (int count : {1, 2, 4, 8, 16}) {
      const BarRun& run = runs_[count];
      alike.needs(run.completed, fmt::format("the run with {} nodes completes", count));
      if (!run.completed || !most.completed) continue;
      double mean = 0, worst = 0;
      for (std::size_t k = 0; k < run.states.size(); ++k) {
        const double d = farthest_node(run.states[k].x, most.states[k].x) / TwistScene::length;
        mean += d / static_cast<double>(run.states.size());
        worst = std::max(worst, d);
      }
      context_.row(
          {{"dynamic", count}, {"mean_from_32", mean}, {"worst_from_32", worst}, {"projected", run.projected}});
      alike.at_most(fmt::format("{} nodes: mean distance over the length", count), mean, 0.03)
          .at_most(fmt::format("{} nodes: largest distance over the length", count), worst, 0.1);
    }
    alike.note("driven end moves by, over the length", 0.5).note("and turns by, degrees", 90);
    bool is_32_stable = is_stable(scene_, model_, most, kTwistStep);
    context_.decide(alike.because(
        fmt::format("the run with 32 nodes at corners is {} at beta 0.5", is_32_stable ? "stable" : "unstable")));
  }

  void decide_one_node() {
    Decision decision("conjac/fig-3/one-node");
    const Index middle = nearest_node(*model_, Vec3(TwistScene::length, TwistScene::width, TwistScene::width) / 2);
    decision.needs(!reference_.empty() && runs_[1].completed, "both runs complete");
    const std::vector<double> stops = scene_.stops();
    const char* const moves[] = {"compression", "stretching", "bending"};
    if (!reference_.empty() && runs_[1].completed)
      for (std::size_t move = 0; move < 3; ++move) {
        std::vector<double> full, one;
        const auto begin = static_cast<std::size_t>(std::lround(stops[move] / kTwistStep));
        const Eigen::Index axis = move == 2 ? 1 : 0;
        for (std::size_t k = begin; k < begin + 60; ++k) {
          full.push_back(node(reference_[k].x, middle)[axis]);
          one.push_back(node(runs_[1].states[k].x, middle)[axis]);
        }
        const Ringing a = ringing(full, kTwistStep), b = ringing(one, kTwistStep);
        context_.row({{"move", moves[move]},
                      {"reference_mm", 1e3 * a.amplitude},
                      {"one_node_mm", 1e3 * b.amplitude},
                      {"reference_hz", a.frequency},
                      {"one_node_hz", b.frequency},
                      {"reference_curve", full},
                      {"one_node_curve", one}});
        decision
            .at_least(fmt::format("{}: amplitude over the reference's", moves[move]), b.amplitude / a.amplitude, 0.5)
            .between(fmt::format("{}: frequency over the reference's", moves[move]),
                     std::isnan(b.frequency) ? 0 : b.frequency / a.frequency, 0.85, 1.15)
            .because(fmt::format("{}: {:.1f} and {:.1f} Hz, {:.2f} and {:.2f} mm in reference and run", moves[move],
                                 a.frequency, b.frequency, 1e3 * a.amplitude, 1e3 * b.amplitude));
      }
    context_.decide(decision);
  }

  void decide_turn() {
    context_.progress(0.75, "sudden turn");
    const auto model = turned_bar(scene_.cells);
    const int steps = static_cast<int>(std::lround(0.3 / kTwistStep));
    const std::vector<State> reference = full_motion(model, model->rest_state(), kTwistStep, steps, stop_);
    Decision at_once("conjac/fig-3/axis-twists-at-once"), recover("conjac/fig-3/slices-recover-twist");
    // The first period of a bar held at both ends: 2 L over the speed of torsional waves of a square section.
    const double period = 2 * TwistScene::length / std::sqrt(0.846 * 1e4 / 2.8 / 1000);
    const auto begin = static_cast<std::size_t>(std::lround(0.05 / kTwistStep));
    const auto end = begin + static_cast<std::size_t>(period / kTwistStep);
    const auto turning = [&](const std::vector<State>& states) {
      double sum = 0;
      for (std::size_t k = begin; k < end; ++k)
        for (int c = 1; c < scene_.cells[0]; ++c)
          sum += section(*model, states[k], TwistScene::length * c / scene_.cells[0]).kinetic;
      return sum / static_cast<double>(end - begin);
    };
    at_once.needs(!reference.empty(), "the reference completes");
    recover.needs(!reference.empty(), "the reference completes");
    if (reference.empty()) return context_.decide(at_once), context_.decide(recover);
    std::map<int, double> kinetic;
    State still = reference.back();
    make_stepper(model, "pod-newton", {{"integrator", "quasistatic"}, {"criterion", "residual"}, {"tolerance", 1e-10}})
        ->step(still, 1);
    const double static_angle = section(*model, still, TwistScene::length / 2).angle;
    const auto angles = [&](const BarRun& run, double along) {
      std::vector<double> of;
      for (const State& s : run.states) of.push_back(section(*model, s, along).angle);
      return of;
    };
    // The shift at which the middle follows the end best, both relative to where they end.
    const auto lag_of = [&](const BarRun& run) {
      const std::vector<double> middle = angles(run, TwistScene::length / 2), driven = angles(run, TwistScene::length);
      int lag = 0;
      double least = 1e300;
      for (int shift = 0; shift <= 20; ++shift) {
        double error = 0;
        for (std::size_t k = 0; k < std::min<std::size_t>(30, middle.size()); ++k) {
          const double before = k < at(shift) ? 0 : driven[k - at(shift)];
          error += std::pow(middle[k] / static_angle - before / (std::numbers::pi / 2), 2);
        }
        if (error < least) least = error, lag = shift;
      }
      return lag;
    };
    for (int count : {1, 2, 4, 8, 16, 32}) {
      const BarRun run = run_bar(model, "conjac", with(paper_nodes(*model, count)), kTwistStep, steps, stop_);
      const std::string who = fmt::format("{} nodes", count);
      at_once.needs(run.completed, who + ": the run completes");
      recover.needs(run.completed, who + ": the run completes");
      if (!run.completed) continue;
      const std::vector<double> middle = angles(run, TwistScene::length / 2);
      const int lag = lag_of(run);
      const double overshoot = *std::max_element(middle.begin(), middle.end()) / static_angle - 1;
      kinetic[count] = turning(run.states);
      context_.row({{"turned_with", count},
                    {"lag_steps", lag},
                    {"overshoot", overshoot},
                    {"twisting_uJ", 1e6 * kinetic[count]},
                    {"angle", middle}});
      if (count <= 4)
        at_once.at_most(who + ": lag, steps", lag, 1).at_most(who + ": overshoot", overshoot, 0.05);
      else
        at_once.part(who + ": lag, steps", lag, "at least 2, or an overshoot above 10%", lag >= 2 || overshoot > 0.1)
            .note(who + ": overshoot", overshoot);
    }
    if (at_once.verdict() == Verdict::fails) {
      ParameterMap whole = with(paper_nodes(*model, 4));
      whole["gamma"] = 1.0;
      const BarRun corrected = run_bar(model, "conjac", whole, kTwistStep, steps, stop_);
      at_once.because(fmt::format(
          "with gamma = 1 in place of 1/3 the lag of 4 nodes is {} steps{}: quasistatic nodes go a third of the way to "
          "balance in a step",
          lag_of(corrected), corrected.completed ? "" : " until the run fails"));
    }
    context_.decide(at_once);
    const double full = turning(reference);
    for (int count : {8, 16, 32})
      if (kinetic.contains(count) && kinetic.contains(4))
        recover.at_least(fmt::format("twisting energy with {} nodes over that with 4", count),
                         kinetic[count] / kinetic[4], 10);
    if (kinetic.contains(32))
      recover.between("twisting energy with 32 nodes over the reference's, first period", kinetic[32] / full, 0.5, 1.5);
    context_.decide(recover.because(fmt::format(
        "mean over {:.0f} ms in uJ: 4 nodes {:.3g}, 8 {:.3g}, 16 {:.3g}, 32 "
        "{:.3g}, reference {:.3g}",
        1e3 * period, 1e6 * kinetic[4], 1e6 * kinetic[8], 1e6 * kinetic[16], 1e6 * kinetic[32], 1e6 * full)));
  }

  void decide_stability() {
    context_.progress(0.85, "step sizes");
    const auto largest = [&](const std::string& nodes) {
      for (double h = 6.4e-2; h > 0.9e-3; h /= 2) {
        const BarRun run =
            run_bar(model_, "conjac", with(nodes), h, static_cast<int>(std::ceil(scene_.duration() / h)), stop_);
        if (is_stable(scene_, model_, run, h)) return h;
      }
      return 0.5e-3;
    };
    std::map<std::string, double> steps;
    steps["4 on the axis"] = largest(axis_nodes(*model_, 4));
    for (int count : {4, 8, 16, 32}) steps[fmt::format("{} at corners", count)] = largest(slice_nodes(*model_, count));
    for (const auto& [who, h] : steps) context_.row({{"nodes", who}, {"largest_stable_h", h}});
    const double rival = std::max({steps["8 at corners"], steps["16 at corners"], steps["32 at corners"]});
    Decision decision("conjac/fig-3/axis-is-more-stable");
    decision
        .part("largest stable step of 4 on the axis over that of 8, 16, 32 at corners", steps["4 on the axis"] / rival,
              "above 1", steps["4 on the axis"] > rival)
        .note("largest stable step of 4 at corners, s", steps["4 at corners"])
        .because(fmt::format("largest stable steps in s: 4 on the axis {:g}, corners 4 {:g}, 8 {:g}, 16 {:g}, 32 {:g}",
                             steps["4 on the axis"], steps["4 at corners"], steps["8 at corners"],
                             steps["16 at corners"], steps["32 at corners"]));
    context_.decide(decision);
  }

  void decide_strike() {
    BarOptions options;
    options.cells = scene_.cells;
    options.gravity = Vec3::Zero();
    options.add = [](ModelBuilder& builder) {
      builder.add_load(builder.body(0).mesh->sets().at("x-max"), Vec3(0.5, 0, 0));  // stretches by 5% in the end
    };
    const auto model = conjac_bar(options);
    const Index middle = nearest_node(*model, Vec3(TwistScene::length, TwistScene::width, TwistScene::width) / 2);
    const auto share = [&](const std::vector<State>& states) {
      double most = 0;
      for (const State& s : states) most = std::max(most, node(s.v, middle).norm());
      return node(states.at(0).v, middle).norm() / most;
    };
    const std::vector<State> reference = full_motion(model, model->rest_state(), kTwistStep, 10, stop_);
    const BarRun conjac = run_bar(model, "conjac", with(std::to_string(middle)), kTwistStep, 10, stop_);
    const BarRun vanilla =
        run_bar(model, "linearly-implicit", {{"beta", 0.5}, {"stiffness", "exact"}}, kTwistStep, 10, stop_);
    Decision decision("conjac/intro/instant-propagation");
    decision.needs(!reference.empty() && conjac.completed && vanilla.completed, "all three complete");
    if (!reference.empty() && conjac.completed && vanilla.completed)
      decision.below("reference: speed of the middle after 5 ms over its largest", share(reference), 0.01)
          .above("conjac: the same", share(conjac.states), 0.1)
          .at_most("VANILLA's over conjac's", share(vanilla.states) / share(conjac.states), 1.0 / 3)
          .because(fmt::format("shares: reference {:.3g}, conjac {:.3g}, VANILLA {:.3g}; the wave's way to the middle "
                               "takes {:.0f} ms",
                               share(reference), share(conjac.states), share(vanilla.states),
                               1e3 * 0.05 / std::sqrt(1e4 / 1000)));
    context_.decide(decision);
  }

  void decide_few_nodes() {
    Decision decision("conjac/intro/few-nodes");
    decision.needs(!reference_.empty(), "the bar's reference completes");
    for (int count : {1, 2, 4}) {
      const BarRun& run = runs_[count];
      decision.needs(run.completed, fmt::format("the run with {} nodes completes", count));
      if (!run.completed || reference_.empty()) continue;
      double sum = 0;
      for (std::size_t k = 0; k < run.states.size(); ++k)
        sum += (centre_of_mass(*model_, run.states[k]) - centre_of_mass(*model_, reference_[k])).squaredNorm();
      decision.at_most(fmt::format("{} nodes: rms distance of the centre of mass over the length", count),
                       std::sqrt(sum / static_cast<double>(run.states.size())) / TwistScene::length, 0.05);
    }
    if (decision.verdict() == Verdict::fails) {
      context_.decide(decision.awaits(false, "the body"));
      return;
    }
    if (context_.text("meshes").empty()) {
      context_.decide(decision.leave_undecided("a folder of meshes is given (--option meshes=FOLDER)"));
      return;
    }
    context_.progress(0.92, "released body: reference");
    const PullAndRelease body = pulled_body(*find_mesh(context_, context_.text("body")), context_.text("body"));
    const ReleaseTrial trial =
        try_out(body, "conjac", {{"dynamic_nodes", std::int64_t{8}}, {"gamma", 0.2}}, kTwistStep, stop_);
    // The reference is pulled in the same steps, but moves in finer ones from the release on.
    State state = body.model->rest_state();
    const auto puller = make_stepper(body.model, "pod-newton", {{"tolerance", 0.1}});
    bool pulled = true;
    while (state.time < body.release - 0.5 * kTwistStep && pulled && !stop_())
      pulled = puller->step(state, kTwistStep).succeeded();
    EnergyMeter meter(body.model);
    const double resting = meter.potential(body.rest), released = meter.total(state) - resting;
    const std::vector<State> full =
        pulled ? full_motion(body.model, state, kTwistStep, static_cast<int>(0.4 / kTwistStep), stop_)
               : std::vector<State>();
    decision.needs(trial.outcome == "completed", "conjac's run on the body completes")
        .needs(!full.empty(), "its reference completes");
    if (!full.empty()) {
      double lively = 0;
      std::vector<double> head;
      const auto first = static_cast<std::size_t>(std::lround(0.1 / kTwistStep)) - 1;
      for (std::size_t k = first; k < full.size(); ++k)
        lively += meter.kinetic(full[k]) / released / static_cast<double>(full.size() - first);
      for (const State& s : full) {
        double moved = 0;
        for (Index i : body.head) moved += (node(s.x, i) - node(body.rest.x, i)).dot(body.pull);
        head.push_back(moved);
      }
      const Ringing theirs = ringing(head, kTwistStep);
      const std::vector<double> window(trial.head.begin(), trial.head.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                                    head.size(), trial.head.size())));
      const Ringing ours = ringing(window, kTwistStep);
      context_.row({{"body", body.label},
                    {"L", trial.liveliness},
                    {"reference_L", lively},
                    {"head_hz", ours.frequency},
                    {"reference_head_hz", theirs.frequency},
                    {"head_curve", trial.head},
                    {"reference_head_curve", head}});
      decision.at_least("body, 8 nodes: L over the reference's", trial.liveliness / lively, 0.5)
          .between("body: frequency of the head over the reference's", ours.frequency / theirs.frequency, 0.75, 1.25)
          .because(fmt::format("L {:.3g} beside {:.3g} of the reference, head at {:.2f} beside {:.2f} Hz",
                               trial.liveliness, lively, ours.frequency, theirs.frequency));
    }
    context_.decide(decision);
  }

  Context& context_;
  std::function<bool()> stop_;
  TwistScene scene_;
  std::shared_ptr<const Model> model_;
  int steps_ = 0;
  std::vector<State> reference_;
  std::map<int, BarRun> runs_;
};

void run_twist(Context& context) { TwistRuns(context).run(); }

}  // namespace

Experiment conjac_twist() {
  return {"conjac/twist",
          "A bar compressed, stretched, bent and twisted with 1 to 32 dynamic nodes, beside the full motion (fig. 3)",
          {meshes_option("Armadillo13K.msh; quick: ditto.mesh"),
           {"cells", "20,6,6", "10,4,4", "of the bar; 20,6,6 are the paper's 1029 vertices"},
           {"body", "Armadillo13K", "ditto", "the released body"}},
          run_twist};
}

}  // namespace pliant::experiments
