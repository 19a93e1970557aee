#include "pliant/compare/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "pliant/base/error.hpp"
#include "pliant/compare/effort.hpp"
#include "pliant/render/svg_plot.hpp"

namespace pliant {
namespace {

constexpr const char* kHanging = R"(name = "hanging"
title = "A beam <sags> & swings"
[simulation]
fps = 60
frames = 12
[[body]]
name = "beam"
box = {size = [2, 0.5, 0.5], cells = [6, 2, 2]}
young = 2e5
poisson = 0.4
[[pin]]
where = "x-min"
)";

std::filesystem::path write(const std::string& name, const std::string& text = kHanging) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / ("pliant_compare_" + name + ".toml");
  std::ofstream(file) << text;
  return file;
}

TEST(Compare, ConvergedSolversLieOnTheReferenceAndOthersOffIt) {
  CompareOptions options;
  options.solvers = {"newton", "quasi-newton", "projective-dynamics"};
  options.curves = false;
  const SceneComparison comparison = compare_solvers(write("near"), {}, options);
  ASSERT_EQ(comparison.trials.size(), 3u);
  for (const Trial& trial : comparison.trials) {
    EXPECT_TRUE(trial.finished) << trial.detail;
    EXPECT_EQ(trial.taken(), 12);
    EXPECT_EQ(trial.series.distance.size(), 12u);
    EXPECT_EQ(trial.series.angular_momentum.size(), 12u);
  }
  // Newton at its default tolerance of 0.01 m/s^2 is off by no more than that acceleration can move a node.
  EXPECT_LT(comparison.trials[0].error(), 0.5 * 0.01 * 0.2 * 0.2);
  EXPECT_LT(comparison.trials[0].error(), comparison.trials[1].error());
  EXPECT_LT(comparison.trials[1].error(), comparison.trials[2].error());
  EXPECT_EQ(comparison.reference.error(), 0);
}

TEST(Compare, EnergiesAndMomentaAreThoseOfTheState) {
  // One free body in fall: momentum m g t, no elastic energy, and what gravity gives is kinetic but for Euler's share.
  CompareOptions options;
  options.solvers = {"newton"};
  options.curves = false;
  const SceneComparison comparison = compare_solvers(write("fall", R"(
[simulation]
dt = 0.01
frames = 10
[[body]]
box = {size = [1, 1, 1], cells = [1, 1, 1]}
young = 1e5
poisson = 0.4
density = 10
)"),
                                                     {}, options);
  const TrialSeries& s = comparison.trials.at(0).series;
  EXPECT_NEAR(s.momentum.back(), 10 * 9.81 * 0.1, 1e-9);
  EXPECT_NEAR(s.kinetic.back(), 0.5 * 10 * std::pow(9.81 * 0.1, 2), 1e-9);
  EXPECT_NEAR(s.elastic.back(), 0, 1e-9);
  EXPECT_NEAR(s.external.back(), -10 * 9.81 * (9.81 * 0.01 * 0.01 * 55), 1e-9) << "x = g h^2 n (n + 1) / 2";
  EXPECT_NEAR(s.total.back(), s.kinetic.back() + s.external.back(), 1e-9);
  EXPECT_TRUE(std::isinf(s.gap.back()));
}

TEST(Compare, OneStepOfStaticsHasNoMomentumAndNoCurvesOverTime) {
  CompareOptions options;
  options.solvers = {"newton"};
  options.steps = 1;
  const SceneComparison comparison = compare_solvers(
      write("statics", std::string(kHanging) + "[solver]\nname = \"newton\"\nintegrator = \"quasistatic\"\n"), {},
      options);
  const TrialSeries& s = comparison.trials.at(0).series;
  EXPECT_TRUE(std::isnan(s.momentum.at(0)) && std::isnan(s.angular_momentum.at(0)) && std::isnan(s.kinetic.at(0)));
  EXPECT_EQ(s.total.at(0), s.elastic.at(0) + s.external.at(0));
  const std::string html = to_html(comparison);
  EXPECT_NE(html.find("One step of"), std::string::npos);
  EXPECT_EQ(html.find("time, s"), std::string::npos);
}

TEST(Compare, MoreEffortMeansLessErrorAndABudgetChoosesFromIt) {
  CompareOptions options;
  options.solvers = {"quasi-newton", "stiffness-warping"};
  options.budget = 1e6;
  const SceneComparison comparison = compare_solvers(write("curve"), {}, options);
  ASSERT_EQ(comparison.curves.size(), 2u);
  const EffortCurve& curve = comparison.curves[0];
  EXPECT_EQ(curve.parameter, "iterations");
  ASSERT_EQ(curve.trials.size(), 5u);
  EXPECT_EQ(curve.trials[1].setting, "iterations = 5");
  EXPECT_LT(curve.trials.back().error(), 0.1 * curve.trials.front().error());
  EXPECT_EQ(best_within(curve, 1e6), &curve.trials.back());
  EXPECT_EQ(best_within(curve, 0), nullptr);
  EXPECT_EQ(comparison.curves[1].parameter, "") << "one linear system a step, whatever is asked";
  EXPECT_EQ(comparison.curves[1].trials.size(), 1u);
}

TEST(Compare, SolversThatCannotRunTheSceneAreListedWithTheReason) {
  CompareOptions options;
  options.solvers = {"newton", "grid-b-pxpbd"};
  options.curves = false;
  options.steps = 2;
  const SceneComparison comparison = compare_solvers(write("cannot"), {{"body.0.order=2"}, ""}, options);
  EXPECT_EQ(comparison.trials.size(), 1u);
  ASSERT_EQ(comparison.refused.size(), 1u);
  EXPECT_EQ(comparison.refused[0].first, "grid-b-pxpbd");
  EXPECT_FALSE(comparison.refused[0].second.empty());
  EXPECT_NE(to_text(comparison).find("grid-b-pxpbd was not run: "), std::string::npos);
  options.solvers = {"newtn"};
  EXPECT_THROW(compare_solvers(write("typo"), {}, options), InputError);
  options.solvers = {"grid-b-pxpbd"};
  EXPECT_THROW(compare_solvers(write("none"), {{"body.0.order=2"}, ""}, options), InputError);
}

TEST(Compare, ATrialThatFailsIsToldAndHasNoError) {
  CompareOptions options;
  options.solvers = {"newton"};
  options.reference = "quasi-newton";
  options.curves = false;
  const SceneComparison comparison = compare_solvers(
      write("fails", std::string(kHanging) + "[solver]\nname = \"newton\"\nmax_iterations = 1\ntolerance = 1e-9\n"), {},
      options);
  ASSERT_EQ(comparison.trials.size(), 1u);
  EXPECT_FALSE(comparison.trials[0].finished);
  EXPECT_TRUE(std::isinf(comparison.trials[0].error()));
  EXPECT_NE(to_text(comparison).find("newton ended after 0 of 12 steps: step 1 iteration-limit"), std::string::npos)
      << to_text(comparison);
}

TEST(Compare, JsonAndPageHoldEveryTrial) {
  CompareOptions options;
  options.solvers = {"newton", "quasi-newton"};
  options.steps = 3;
  options.moments = 1;
  const SceneComparison comparison = compare_solvers(write("page"), {}, options);
  const auto json = nlohmann::json::parse(to_json_text(comparison));
  EXPECT_EQ(json["trials"].size(), 2u);
  EXPECT_EQ(json["trials"][1]["series"]["distance"].size(), 3u);
  EXPECT_EQ(json["curves"][0]["points"].size(), 5u);
  EXPECT_TRUE(json["trials"][0]["series"]["gap"][0].is_null()) << "nothing is near";
  const std::string html = to_html(comparison);
  EXPECT_NE(html.find("A beam &lt;sags&gt; &amp; swings"), std::string::npos);
  const auto count = [&](const std::string& what) {
    std::size_t n = 0;
    for (std::size_t p = html.find(what); p != std::string::npos; p = html.find(what, p + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("data:image/gif;base64,"), 3u) << "two solvers and the reference";
  EXPECT_EQ(count("<svg "), 9u) << "the first of eight plots for wide and for narrow screens";
  EXPECT_EQ(count("prefers-color-scheme:dark"), 1u);
  EXPECT_EQ(count("http"), 0u) << "self-contained";
}

TEST(Compare, FiguresAreThoseOfARun) {
  CompareOptions options;
  options.solvers = {"quasi-newton", "newton"};
  options.curves = false;
  options.moments = 0;
  const std::filesystem::path scene = write("run");
  const SceneComparison comparison = compare_solvers(scene, {}, options);
  for (const Trial& trial : comparison.trials) {
    Simulation simulation(load_scene(scene, {{}, trial.solver}));
    for (std::size_t k = 0; k < 12; ++k) {
      const StepReport report = simulation.step();
      EXPECT_EQ(trial.series.iterations[k], report.iterations) << trial.solver << ", step " << k;
      EXPECT_EQ(trial.series.acceleration[k], report.residuals.acceleration) << trial.solver << ", step " << k;
    }
  }
}

TEST(Sweep, ASolversKeyIsMeasuredAgainstTheReferenceOthersAgainstTheFirst) {
  CompareOptions options;
  options.steps = 6;
  options.moments = 0;
  const SceneComparison of_solver =
      sweep_key(write("sweep"), {{}, "quasi-newton"}, "solver.iterations", {"1", "5", "40"}, options);
  ASSERT_EQ(of_solver.trials.size(), 3u);
  EXPECT_GT(of_solver.trials[0].error(), of_solver.trials[1].error());
  EXPECT_GT(of_solver.trials[1].error(), of_solver.trials[2].error());
  EXPECT_EQ(*of_solver.trials[2].effort, 40);
  const SceneComparison of_body = sweep_key(write("sweep"), {}, "body.0.young", {"2e5", "2e5", "1e6"}, options);
  EXPECT_EQ(of_body.trials[1].error(), 0);
  EXPECT_GT(of_body.trials[2].error(), 1e-3);
  EXPECT_THROW(sweep_key(write("sweep"), {}, "body.0.yong", {"1"}, options), InputError);
}

TEST(Compare, ASweepOverTheTimeStepTakesDistancesAtTheSameTimeAndTheyFallWithTheFirstOrder) {
  CompareOptions options;
  options.steps = 20;
  options.moments = 0;
  const SceneComparison swept = sweep_key(write("steps"), {{"simulation.dt=0.01", "solver.tolerance=1e-6"}, ""},
                                          "simulation.dt", {"0.00125", "0.0025", "0.005", "0.01"}, options);
  for (const Trial& trial : swept.trials)
    EXPECT_NEAR(trial.series.time.back(), swept.trials.front().series.time.back(), 1e-9);
  // Against an eighth of the largest step: errors of (8 - 1), (4 - 1) and (2 - 1) eighths of it.
  EXPECT_NEAR(swept.trials[3].error() / swept.trials[2].error(), 7.0 / 3, 0.35);
  EXPECT_NEAR(swept.trials[2].error() / swept.trials[1].error(), 3, 0.45);
  const SceneComparison finer =
      sweep_key(write("steps"), {{"simulation.dt=0.01"}, ""}, "simulation.dt", {"0.01", "0.004"}, options);
  EXPECT_GT(finer.trials[1].error(), 0);  // between the steps of the first
  EXPECT_LT(finer.trials[1].error(), 0.01);
}

TEST(Effort, EverySolverThatIteratesHasSomethingToSweep) {
  for (const SolverEntry& solver : solver_catalogue()) {
    const Effort effort = effort_of(solver);
    if (effort.parameter.empty()) {
      EXPECT_TRUE(solver.name == "corotational" || solver.name == "stiffness-warping" ||
                  solver.name == "linearly-implicit")
          << solver.name;
      continue;
    }
    for (double value : effort.values) {
      ParameterMap given;
      if (std::holds_alternative<std::int64_t>(complete_parameters(solver, {}).at(effort.parameter)))
        given[effort.parameter] = static_cast<std::int64_t>(value);
      else
        given[effort.parameter] = value;
      EXPECT_NO_THROW(complete_parameters(solver, given)) << solver.name;
    }
    EXPECT_NO_THROW(complete_parameters(solver, converged_parameters(solver, complete_parameters(solver, {}))));
  }
}

TEST(SvgPlot, LeavesOutWhatALogarithmicAxisCannotShowAndSaysWhereNothingIsLeft) {
  const std::string svg =
      to_svg({"t", "x", "y", true, true, {{"a", "#000", {1, 10, 100}, {0, 1e-3, 1e-6}, false, true}}});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  std::size_t circles = 0;
  for (std::size_t p = svg.find("<circle"); p != std::string::npos; p = svg.find("<circle", p + 1)) ++circles;
  EXPECT_EQ(circles, 2u);
  EXPECT_NE(svg.find("10\u207b\u2076</text>"), std::string::npos) << svg;
  EXPECT_NE(to_svg({"t", "x", "y", false, true, {{"a", "#000", {1}, {0}, false, false}}}).find("nothing to draw"),
            std::string::npos);
}

}  // namespace
}  // namespace pliant
