// Where warp-canceling ends (section 6): steps of varying length, contact that must be explicit, constraints, effort.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "experiments/measure.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "experiments/warp_canceling/warped_bar.hpp"
#include "pliant/mesh/generators.hpp"

namespace pliant::experiments {

namespace {

void decide_variable_step(Context& context) {
  const auto model = sculpture(static_cast<Index>(context.number("across")), 5e6);
  const int steps = static_cast<int>(context.number("steps"));
  // Alternating steps of 0.01 and 0.008 s, or all of 0.01.
  struct Times {
    double mean = 0, refreshed = 0;
    bool completed = true;
  };
  const auto run = [&](const Method& method, bool alternating) {
    ParameterMap parameters = method.parameters;
    for (const char* key : {"turning", "safeguard", "colliders"})
      parameters[key] = std::string(key[0] == 't' ? "linear" : key[0] == 's' ? "none" : "explicit");
    const auto stepper = make_stepper(model, method.solver, parameters);
    State state = model->rest_state();
    Times times;
    std::vector<double> seconds;
    for (int s = 0; s < steps && times.completed; ++s) {
      const ProcessorTime time(ProcessorTime::Of::program);
      const StepReport report = stepper->step(state, alternating && s % 2 ? 0.008 : 0.01);
      times.completed = report.advanced();
      if (s == 0) continue;
      seconds.push_back(time.seconds());
      for (const Figure& figure : report.figures)
        if (figure.name == "refreshed_elements") times.refreshed += figure.value;
    }
    double sum = 0;
    for (double t : seconds) sum += t;
    times.mean = sum / double(std::max<std::size_t>(1, seconds.size()));
    times.refreshed /= std::max(1, steps - 1);
    return times;
  };
  const Times wc = run(paper_wc(5e-3), true), exact = run({"full", "corotational"}, true),
              steady = run({"full", "corotational"}, false);
  context.row({{"wc_alternating_ms", 1e3 * wc.mean},
               {"full_alternating_ms", 1e3 * exact.mean},
               {"full_steady_ms", 1e3 * steady.mean},
               {"refreshed", wc.refreshed}});
  context.decide(Decision("warp-canceling/section-6/no-variable-step")
                     .needs(wc.completed && exact.completed && steady.completed, "all runs complete")
                     .equal("share of elements refreshed by WC with alternating steps", wc.refreshed, 1)
                     .at_least("mean time of WC over full Cholesky's, alternating steps", wc.mean / exact.mean, 1)
                     .between("full Cholesky: alternating over steady steps", exact.mean / steady.mean, 0.95, 1.05)
                     .because(fmt::format("processor time {:.2f}, {:.2f} and {:.2f} ms: another step is another matrix",
                                          1e3 * wc.mean, 1e3 * exact.mean, 1e3 * steady.mean)));
}

/// Drops a box from half its size and looks how high it gets again, over the drop, and how deep it sinks, over its
/// size.
struct Drop {
  double rebound = 0, depth = 0;
  bool completed = false;
};
Drop drop_box(Context& context, Index cells, double stiffness, bool implicitly) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"floor", PlaneShape{}, {}, stiffness, 0});
  constexpr double kSide = 0.5, kHeight = 0.25;
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(
      box({.origin = {0, kHeight, 0}, .size = Vec3::Constant(kSide), .cells = {cells, cells, cells}}));
  body.material = {find_law("linear-corotated"), lame_from_young(5e6, 0.4)};
  builder.add_body(body);
  const auto model = builder.build();
  Drop drop;
  bool touched = false;
  const Frames frames =
      record(context, model, {"full", "corotational", {{"colliders", implicitly ? "implicit" : "explicit"}}}, 0.01, 100,
             nullptr, 1e300, [&](const MethodRun& run) {
               double low = 1e300;
               for (Index i = 0; i < model->nodes(); ++i) low = std::min(low, node(run.state().x, i).y());
               touched = touched || low < 0;
               drop.depth = std::max(drop.depth, -low / kSide);
               if (touched) drop.rebound = std::max(drop.rebound, low / kHeight);
             });
  drop.completed = frames.completed && frames.x.back().cwiseAbs().maxCoeff() < 100;
  return drop;
}

void decide_explicit_contact(Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  int good[2] = {0, 0};
  bool implicit_gains = false;
  double first_bad = 0;
  bool all_above_bad = true;
  for (int k = 2; k <= 7; ++k)
    for (const bool implicitly : {false, true}) {
      const double stiffness = std::pow(10, k);
      const Drop drop = drop_box(context, cells, stiffness, implicitly);
      const bool gains = !drop.completed || drop.rebound > 1.05;
      context.row({{"stiffness", stiffness},
                   {"implicit", implicitly},
                   {"completed", drop.completed},
                   {"rebound", drop.rebound},
                   {"depth", drop.depth}});
      good[implicitly] += !gains && drop.depth <= 0.02;
      if (implicitly) {
        implicit_gains = implicit_gains || gains;
      } else {
        if (gains && first_bad == 0) first_bad = stiffness;
        if (!gains && first_bad > 0) all_above_bad = false;
      }
    }
  context.decide(
      Decision("warp-canceling/section-6/explicit-contact-less-stable")
          .part("explicit: gains energy or fails from this stiffness on, 1/s^2", first_bad,
                "inside the range, and for all above", first_bad > 0 && all_above_bad)
          .part("implicit: gains energy somewhere", implicit_gains, "nowhere", !implicit_gains)
          .at_least("decades that neither sink by 2% nor gain energy, implicit less explicit", good[1] - good[0], 1)
          .because(fmt::format(
              "{} decades of stiffness are good with explicit, {} with implicit penalties; explicit ones are "
              "limited to half of 1/dt^2 here, so that they do not run away",
              good[0], good[1])));
}

void decide_constraints(Context& context) {
  const auto bar = free_bar(4, 5e6);
  WarpedPieces pieces(bar, 0.01);
  const BlockMatrix& A = pieces.matrix().matrix();
  constexpr Index kConstrained = 2;  // nodes, three constraints each
  const Index n = bar->nodes();
  std::vector<Index> pairs;
  for (Index i = 0; i < n; ++i)
    for (std::int64_t k = A.pattern().row_start()[at(i)]; k < A.pattern().row_start()[at(i) + 1]; ++k)
      pairs.insert(pairs.end(), {i, A.pattern().columns()[at(k)]});
  for (Index c = 0; c < kConstrained; ++c) pairs.insert(pairs.end(), {7 + 11 * c, n + c});
  const BlockPattern::Cliques cliques{pairs, 2};
  const auto pattern = std::make_shared<BlockPattern>(n + kConstrained, std::span(&cliques, 1));
  BlockMatrix saddle(pattern, 3);
  saddle.set_zero();
  for (Index i = 0; i < n; ++i)
    for (std::int64_t k = A.pattern().row_start()[at(i)]; k < A.pattern().row_start()[at(i) + 1]; ++k)
      std::copy_n(A.block(k), 9, saddle.block(pattern->find(i, A.pattern().columns()[at(k)])));
  for (Index c = 0; c < kConstrained; ++c)
    for (int k = 0; k < 3; ++k) saddle.block(pattern->find(7 + 11 * c, n + c))[4 * k] = 1;
  SparseCholesky plain, whole;
  plain.analyze(A.shared_pattern(), 3);
  whole.analyze(pattern, 3);
  const bool alone = plain.factor(A) == FactorStatus::ok, fails = whole.factor(saddle) != FactorStatus::ok;
  const bool ldlt = whole.factor(saddle, Factorisation::ldlt) == FactorStatus::ok;
  context.decide(Decision("warp-canceling/section-6/constraints-indefinite")
                     .needs(ldlt, "LDL^T succeeds")
                     .part("A alone", alone, "Cholesky succeeds", alone)
                     .part("A with constraints", fails, "Cholesky fails", fails)
                     .equal("negative pivots of LDL^T with 6 constraints", ldlt ? whole.inertia().negative : -1, 6));
}

void decide_effort(Context& context) {
  const std::filesystem::path source = std::filesystem::path(context.text("source")) / "src" / "pliant";
  const auto lines = [&](const std::vector<const char*>& files) {
    int count = 0;
    for (const char* name : files)
      for (const char* ending : {".hpp", ".cpp"}) {
        std::ifstream file(source / (std::string(name) + ending));
        for (std::string line; std::getline(file, line);) count += line.find_first_not_of(" \t") != std::string::npos;
      }
    return count;
  };
  const int direct = lines({"linalg/sparse_cholesky", "linalg/multifrontal", "linalg/front", "linalg/front_kernels",
                            "linalg/symbolic_factor", "linalg/ordering", "linalg/extend_add", "linalg/tree_solve",
                            "linalg/tree_tasks", "linalg/solve_kernels", "linalg/update_block", "linalg/tiles",
                            "solvers/warp_canceling/schedule", "solvers/warp_canceling/warp_error",
                            "solvers/warp_canceling/warped_matrix", "solvers/warp_canceling/node_rotations"});
  // Jacobi's preconditioner is one of several in its file.
  const int iterative = lines({"linalg/pcg", "linalg/preconditioner"});
  context.decide(Decision("warp-canceling/section-6/effort")
                     .needs(direct > 0 && iterative > 0, "the source is there (--option source=FOLDER)")
                     .at_least("lines of the direct solver with updates over those of conjugate gradients",
                               double(direct) / std::max(1, iterative), 5)
                     .because(fmt::format("{} and {} lines that are not empty", direct, iterative)));
}

/// Full Cholesky beside WC at its loosest threshold of the same look, the scenes in which WC has least to gain first:
/// one in which it is not faster decides. Where even a threshold of zero, which differs from full Cholesky by rounding,
/// does not keep the look, no method could, and the scene is passed over.
void decide_all_faster(Context& context) {
  Decision decision("warp-canceling/section-6/simulates-all-faster");
  struct Scene {
    const char* name;
    std::function<std::shared_ptr<const Model>()> model;
    double h;
    const char* rotations;
  };
  const std::vector<Scene> scenes = {{"spider", [] { return spider(2).model; }, 0.01, "ring"},
                                     {"draped sheet", [] { return draped_sheet(50); }, 0.02, "identity"},
                                     {"soft torus", [] { return three_torus(6, 1e6); }, 0.01, "ring"}};
  const int steps = context.quick() ? 0 : static_cast<int>(context.number("steps"));
  for (const Scene& scene : scenes) {
    if (steps == 0 || context.stopped() || decision.verdict() == Verdict::fails) break;
    context.progress(0.5, scene.name);
    const auto model = scene.model();
    const auto method = [&](double tau) {
      Method wc = paper_wc(tau);
      wc.parameters["node_rotations"] = std::string(scene.rotations);
      return wc;
    };
    const Frames full = record(context, model, {"full", "corotational"}, scene.h, steps);
    if (!full.completed) continue;
    const SameLook wc = loosest_of_same_look(context, model, method, 0.5, 1e-6, scene.h, full);
    if (context.stopped()) return;
    bool repeats = wc.frames.completed;
    if (!repeats) repeats = record(context, model, method(0), scene.h, steps, &full, 0.01).completed;
    if (context.stopped()) return;
    const double full_ms = full.measured.cpu_ms(), ms = wc.frames.measured.cpu_ms();
    context.row({{"scene", scene.name},
                 {"completed", wc.frames.completed},
                 {"tau", wc.tolerance},
                 {"repeats_at_tau_0", repeats},
                 {"deviation", wc.frames.deviation},
                 {"full_ms", full_ms},
                 {"wc_ms", ms}});
    if (!repeats) {
      decision.note(std::string(scene.name) + ": no look that rounding alone would keep", 1);
      continue;
    }
    decision.above(fmt::format("{}: full Cholesky over WC", scene.name), wc.frames.completed ? full_ms / ms : 0, 1)
        .because(
            wc.frames.completed
                ? fmt::format("{}: {:.3g} and {:.3g} ms a frame, tau {:g} N s", scene.name, full_ms, ms, wc.tolerance)
                : fmt::format("{}: no tau above zero, down to 1e-6 N s, has the same look", scene.name));
  }
  context.decide(
      decision.awaits(false,
                      "sculptures, figures, squash, trampoline and the stiff torus, each in an experiment of its "
                      "own, with full Cholesky beside it"));
}

void run_warp_limits(Context& context) {
  if (!context.wants({"warp-canceling/section-6/constraints-indefinite"})) return decide_all_faster(context);
  decide_constraints(context);
  decide_effort(context);
  context.progress(0.1, "explicit contact");
  decide_explicit_contact(context);
  context.progress(0.4, "varying steps");
  decide_variable_step(context);
  context.progress(0.5, "all scenes");
  decide_all_faster(context);
}

}  // namespace

Experiment warp_limits() {
  return {"warp-canceling/limits",
          "Where the method ends: variable steps, implicit contact, constraints, effort (section 6)",
          {{"across", "2", "2", "cells across a strut of the sculpture"},
           {"steps", "300", "300", "frames with varying steps"},
           {"cells", "8", "6", "of the dropped box along a side; 6 are 1080 tets"},
           {"source", ".", ".", "folder of this repository"}},
          run_warp_limits};
}

}  // namespace pliant::experiments
