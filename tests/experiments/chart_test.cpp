#include "experiments/chart.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "experiments/plot.hpp"

namespace pliant::experiments {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Chart, DrawsACurvePerSeriesAndBreaksItWhereThereIsNothingToDraw) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Chart chart{"a < b", "x", "y", true, {{"one", {0, 1, 2, 3}, {1, 0.1, nan, 1e-3}}, {"two", {0, 3}, {1, 0}}}};
  const std::string picture = svg(chart);
  EXPECT_EQ(count(picture, "<path"), 2u);
  EXPECT_EQ(count(picture, "M"), 3u);  // the first curve is broken once
  EXPECT_EQ(count(picture, ">1e-3<"), 1u);
  EXPECT_NE(picture.find("a &lt; b"), std::string::npos);
  EXPECT_EQ(count(picture, "nan"), 0u);
}

TEST(Chart, SurvivesHavingNothingOrOnePointToShow) {
  EXPECT_EQ(count(svg({"", "", "", true, {}}), "nan"), 0u);
  EXPECT_EQ(count(svg({"", "", "", false, {{"one", {2}, {5}}}}), "nan"), 0u);
}

TEST(Plot, NamesCurvesByWhatTellsTheirRowsApart) {
  const std::vector<Json> rows = {{{"step", "pulled"}, {"cells", 6}, {"kappa", 0.5}},
                                  {{"step", "pulled"}, {"cells", 6}, {"kappa", 2}},
                                  {{"step", "squeezed"}, {"cells", 6}, {"kappa", 2}}};
  std::vector<Json> curves;
  for (int row : {0, 1, 2}) curves.push_back({{"row", row}, {"name", "r"}, {"values", {3, 2, 1}}});
  const std::string picture = svg("", "r", rows, curves);
  EXPECT_EQ(count(picture, ">pulled, kappa 0.5<"), 1u);
  EXPECT_EQ(count(picture, ">pulled, kappa 2<"), 1u);
  EXPECT_EQ(count(picture, ">squeezed<"), 1u);
}

}  // namespace
}  // namespace pliant::experiments
