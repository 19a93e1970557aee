#include "pliant/io/telemetry.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "pliant/base/error.hpp"
#include "support/text_file.hpp"

namespace pliant {
namespace {

using Json = nlohmann::ordered_json;

StepReport sample_report() {
  StepReport report;
  report.outcome = Outcome::iteration_limit;
  report.detail = "not converged after 7 iterations";
  report.iterations = 7;
  report.factorisations = 9;
  report.smallest_alpha = 0.25;
  report.energy = 0.1 + 0.2;
  report.residuals = {1.0 / 3, 2e-300, 5};
  report.seconds = {1, 2, 3, 4, 0.5, 10};
  return report;
}

std::filesystem::path test_file(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "pliant_telemetry";
  std::filesystem::create_directories(folder);
  return folder / name;
}

TEST(Telemetry, NumbersReadBackAsTheSameBits) {
  const Json json = Json::parse(step_line(3, 0.1 * 3, sample_report()));
  EXPECT_EQ(json.at("time").get<double>(), 0.1 * 3);
  EXPECT_EQ(json.at("energy").get<double>(), 0.1 + 0.2);
  EXPECT_EQ(json.at("residuals").at("force").get<double>(), 1.0 / 3);
  EXPECT_EQ(json.at("residuals").at("acceleration").get<double>(), 2e-300);
  EXPECT_EQ(json.at("outcome"), "iteration-limit");
  EXPECT_EQ(json.at("iterations"), 7);
}

TEST(Telemetry, WhatIsNotFiniteIsNull) {
  StepReport report = sample_report();
  report.energy = std::numeric_limits<double>::infinity();
  report.residuals.force = std::numeric_limits<double>::quiet_NaN();
  const Json json = Json::parse(step_line(1, 0, report));
  EXPECT_TRUE(json.at("minimum_gap").is_null());
  EXPECT_TRUE(json.at("energy").is_null());
  EXPECT_TRUE(json.at("residuals").at("force").is_null());
}

TEST(Telemetry, KeysAreStable) {
  std::vector<std::string> keys;
  const Json json = Json::parse(step_line(1, 0, sample_report()));
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  const std::vector<std::string> expected = {"step",
                                             "time",
                                             "outcome",
                                             "detail",
                                             "iterations",
                                             "factorisations",
                                             "failed_factorisations",
                                             "linear_iterations",
                                             "projected_iterations",
                                             "line_search_evaluations",
                                             "smallest_alpha",
                                             "energy",
                                             "residuals",
                                             "minimum_gap",
                                             "contacts",
                                             "seconds"};
  EXPECT_EQ(keys, expected);
}

TEST(Telemetry, TheClockShowsOnlyInSeconds) {
  StepReport slow = sample_report();
  slow.seconds.total = 99;
  Json a = Json::parse(step_line(1, 0.5, sample_report()));
  Json b = Json::parse(step_line(1, 0.5, slow));
  EXPECT_NE(a, b);
  a.erase("seconds");
  b.erase("seconds");
  EXPECT_EQ(a, b);
}

TEST(Telemetry, HistoryHasOneRecordPerIteration) {
  StepReport report = sample_report();
  report.history = {{10, 3, 2, 1, 0.5, true}, {9, 0.3, 0.2, 0.1, 1, false}};
  const Json json = Json::parse(step_line(1, 0, report));
  ASSERT_EQ(json.at("history").size(), 2u);
  EXPECT_EQ(json.at("history")[0].at("alpha"), 0.5);
  EXPECT_EQ(json.at("history")[1].at("energy"), 9);
}

TEST(StepLog, ResumeCutsLaterAndTornLinesAndSumsUpTheRest) {
  const auto file = test_file("steps.jsonl");
  {
    StepLog log = StepLog::begin(file);
    for (int i = 1; i <= 4; ++i) log.append(step_line(i, 0.5 * i, sample_report()));
  }
  std::ofstream(file, std::ios::app) << "{\"step\": 5, \"ti";  // the kill came in the middle of a line
  const std::string first_two = file_content(file).substr(0, 2 * (step_line(1, 0.5, sample_report()).size() + 1));
  RunTotals totals;
  {
    StepLog log = StepLog::resume(file, 2, totals, [](const std::string& text) { FAIL() << text; });
  }
  EXPECT_EQ(file_content(file), first_two);
  EXPECT_EQ(totals.steps, 2);
  EXPECT_EQ(totals.iterations, 14);
  EXPECT_EQ(totals.outcomes.at("iteration-limit"), 2);
}

TEST(StepLog, ResumeTellsOfAFileThatIsTooShortAndKeepsWhatItHas) {
  const auto file = test_file("short.jsonl");
  {
    StepLog log = StepLog::begin(file);
    log.append(step_line(1, 0.5, sample_report()));
  }
  RunTotals totals;
  std::string told;
  {
    StepLog log = StepLog::resume(file, 2, totals, [&](const std::string& text) { told = text; });
    log.append(step_line(3, 1.5, sample_report()));
  }
  EXPECT_NE(told.find("1 of the 2 steps"), std::string::npos) << told;
  EXPECT_EQ(totals.steps, 1);
  // And again, over the gap.
  RunTotals later;
  {
    StepLog log = StepLog::resume(file, 3, later, [](const std::string&) {});
  }
  EXPECT_EQ(later.steps, 2);
}

TEST(StepLog, SaysWhyItCannotWrite) {
  EXPECT_THROW(StepLog::begin("/nonexistent/folder/steps.jsonl"), std::system_error);
  try {
    StepLog log = StepLog::begin("/dev/full");
    log.append("{}");
    FAIL() << "wrote to a full disk";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/dev/full: cannot be written: No space left on device"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace pliant
