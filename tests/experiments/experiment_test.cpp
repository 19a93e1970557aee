#include "experiments/experiment.hpp"

#include <gtest/gtest.h>

#include "experiments/plot.hpp"
#include "pliant/base/error.hpp"

namespace pliant::experiments {
namespace {

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Experiments, UnknownNamesAndOptionsAreRefusedWithTheNearest) {
  EXPECT_NE(message([] { find("pitfalls/swining-beam"); }).find("did you mean 'pitfalls/swinging-beam'"),
            std::string::npos);
  const Experiment& experiment = find("pitfalls/twisting-beam");
  EXPECT_NE(message([&] {
              complete_options(experiment, true, {{"resolution", "4"}});
            }).find("did you mean 'resolutions'"),
            std::string::npos);
  EXPECT_EQ(complete_options(experiment, true, {{"resolutions", "4"}}).at("resolutions"), "4");
}

TEST(Experiments, OptionsAreParsedAsListsAndFractions) {
  const Context context("pitfalls/spinning-block", true, {{"dt", "1/30,0.5"}, {"names", "a,b"}, {"bad", "1/x"}}, {});
  EXPECT_EQ(context.numbers("dt"), (std::vector<double>{1.0 / 30, 0.5}));
  EXPECT_EQ(context.list("names"), (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(message([&] { context.number("bad"); }).find("not a number"), std::string::npos);
}

TEST(Experiments, RowsStayFlatAndListsBecomeCurves) {
  Context context("pitfalls/spinning-block", true, {}, {});
  context.row({{"solver", "newton"}, {"iterations_of_each_step", {1, 2, 3}}, {"steps", 3}});
  EXPECT_EQ(context.rows()[0], (Json{{"solver", "newton"}, {"steps", 3}}));
  EXPECT_EQ(context.curves()[0]["values"], (Json{1, 2, 3}));
}

TEST(Experiments, CurvesAreDrawnOneLineEach) {
  Context context("pitfalls/spinning-block", true, {}, {});
  context.row({{"solver", "newton & co"}, {"error", {1.0, 1e-3, 1e-9}}});
  context.row({{"solver", "other"}, {"error", {1.0, 0.5}}, {"alpha", {1, 1}}});
  const std::string drawing = svg("title", "error", context.rows(), context.curves());
  EXPECT_EQ(drawing.find("nan"), std::string::npos);
  EXPECT_NE(drawing.find("newton &amp; co"), std::string::npos);
  std::size_t lines = 0;
  for (std::size_t at = drawing.find("<path"); at != std::string::npos; at = drawing.find("<path", at + 1)) ++lines;
  EXPECT_EQ(lines, 2u);
}

TEST(Experiments, SpinningBlockShowsThatOnlyTheRobustLineSearchSurvivesSteel) {
  const Experiment& experiment = find("pitfalls/spinning-block");
  Context context(experiment.name, true, complete_options(experiment, true, {}), {});
  experiment.run(context);
  EXPECT_EQ(context.rows().size(), 8u);
  ASSERT_EQ(context.checks().size(), 2u);
  for (const Check& check : context.checks()) EXPECT_TRUE(check.holds) << check.text << ": " << check.measured;
  const Json results = experiments::results(experiment, context, {1.5, ""});
  EXPECT_EQ(results["checks"][1]["id"], "pliant/pitfalls/spinning-block/2");
  for (const char* key : {"experiment", "size", "options", "commit", "machine", "seconds", "rows", "claims", "checks"})
    EXPECT_TRUE(results.contains(key)) << key;
  for (const Json& row : results["rows"])
    for (const char* key : {"solver", "dt", "eps_a", "vertices", "iterations_per_step"})
      EXPECT_TRUE(row.contains(key)) << key;
}

}  // namespace
}  // namespace pliant::experiments
