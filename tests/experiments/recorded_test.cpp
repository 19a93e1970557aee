#include "experiments/recorded.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "experiments/report.hpp"
#include "experiments/summary.hpp"
#include "pliant/base/child_process.hpp"

namespace pliant::experiments {
namespace {

constexpr const char* kJudged = "pitfalls/fig-1/newton-mesh-independent";
constexpr const char* kStopped = "the run was stopped before its end";

/// A run of the swinging beam that finds this spread; with a reason why it did not reach its end.
Json beam_run(bool quick, double spread, const std::string& unfinished = "") {
  const Experiment& experiment = find("pitfalls/swinging-beam");
  Context context(experiment.name, quick, complete_options(experiment, quick, {}), {});
  context.row({{"solver", "newton"}, {"iterations", std::vector<int>(90, 2)}});
  Decision decision(kJudged);
  decision.at_most("spread", spread, 0.15).note("each step", std::vector<double>(90, 1.0));
  if (unfinished.empty() || spread > 0) context.decide(decision);
  return results(experiment, context, {1.23456789, unfinished});
}

void leave_in(const std::filesystem::path& folder, const Json& result) {
  const auto place = result_folder(folder, result.at("experiment"), result.at("size") == "quick");
  std::filesystem::create_directories(place);
  std::ofstream(place / "results.json") << result;
}

TEST(RecordedResults, AreShownWhereThereIsNoRunOfTheUsersOwn) {
  const TemporaryFolder folder;
  const Json recorded = recorded_form(beam_run(false, 0.2));
  const Archive before(folder.path(), {recorded});
  EXPECT_EQ(before.outcome(claim(kJudged)).verdict, "fails");
  EXPECT_EQ(before.outcome(claim(kJudged)).size, "full");
  EXPECT_FALSE(before.is_own(*before.outcome(claim(kJudged)).result));
  EXPECT_NE(report(before).find("Recorded with the program"), std::string::npos);
  EXPECT_NE(summary(before).find("spread is 0.2, at most 0.15 was asked"), std::string::npos);
  EXPECT_EQ(Archive(folder.path()).outcome(claim(kJudged)).verdict, "not run");

  leave_in(folder.path(), beam_run(false, 0.1));
  const Archive after(folder.path(), {recorded});
  EXPECT_EQ(after.outcome(claim(kJudged)).verdict, "holds");
  EXPECT_TRUE(after.is_own(*after.outcome(claim(kJudged)).result));
}

TEST(RecordedResults, StandForWhatAStoppedRunHadNotDecided) {
  const TemporaryFolder folder;
  leave_in(folder.path(), beam_run(false, 0, kStopped));
  const Archive archive(folder.path(), {recorded_form(beam_run(false, 0.2))});
  EXPECT_EQ(archive.outcome(claim(kJudged)).verdict, "fails");
  EXPECT_EQ(archive.outcome(claim(kJudged)).size, "full");
  for (const Unrun& unrun : not_run_at_full_size(archive)) EXPECT_NE(unrun.experiment->name, "pitfalls/swinging-beam");
}

TEST(RecordedResults, KeepVerdictsAndNumbersButNoRowsCurvesLongListsAndPaths) {
  Json result = beam_run(true, 0.123456789);
  result["options"]["meshes"] = "/home/somebody/meshes";
  const Json kept = recorded_form(result);
  EXPECT_FALSE(kept.contains("rows"));
  EXPECT_FALSE(kept.contains("curves"));
  EXPECT_EQ(kept.at("options").at("meshes"), "meshes");
  EXPECT_EQ(kept.at("commit"), result.at("commit"));
  EXPECT_EQ(kept.at("machine"), result.at("machine"));
  EXPECT_EQ(kept.at("seconds"), 1.23457);
  ASSERT_EQ(kept.at("claims").size(), result.at("claims").size());
  for (std::size_t k = 0; k < kept.at("claims").size(); ++k) {
    const Json &now = kept["claims"][k], &then = result["claims"][k];
    for (const char* key : {"id", "verdict", "why"}) EXPECT_EQ(now.at(key), then.at(key));
    if (now.at("id") != kJudged) continue;
    EXPECT_EQ(now.at("measured").at("spread"), 0.123457);
    EXPECT_FALSE(now.at("measured").contains("each step"));
    EXPECT_EQ(now.at("parts").size(), 1u);
  }
}

TEST(RecordedResults, AreNotReplacedByARunThatWasStopped) {
  const TemporaryFolder runs, kept;
  leave_in(runs.path(), beam_run(false, 0.1));
  EXPECT_EQ(record(Archive(runs.path()), kept.path()), 1);
  leave_in(runs.path(), beam_run(false, 0.2, kStopped));
  EXPECT_EQ(record(Archive(runs.path()), kept.path()), 0);
  EXPECT_EQ(Archive(kept.path()).outcome(claim(kJudged)).verdict, "holds");
  leave_in(runs.path(), beam_run(false, 0.2));
  EXPECT_EQ(record(Archive(runs.path()), kept.path()), 1);
  EXPECT_EQ(Archive(kept.path()).outcome(claim(kJudged)).verdict, "fails");
}

TEST(RecordedResults, OfStoppedRunsAddUp) {
  const TemporaryFolder runs, kept;
  Json first = beam_run(false, 0.1, kStopped);
  first["commit"] = "earlier";
  first["machine"]["processor"] = "another";
  leave_in(runs.path(), first);
  EXPECT_EQ(record(Archive(runs.path()), kept.path()), 1);
  Json second = beam_run(false, 0, kStopped);
  second["commit"] = "later";
  leave_in(runs.path(), second);
  EXPECT_EQ(record(Archive(runs.path()), kept.path()), 1);
  const Archive both(kept.path());
  EXPECT_EQ(both.outcome(claim(kJudged)).verdict, "holds");
  EXPECT_EQ(both.outcome(claim(kJudged)).claim->at("commit"), "earlier");
  EXPECT_EQ(both.outcome(claim(kJudged)).claim->at("machine").at("processor"), "another");
  EXPECT_FALSE(both.outcome(claim(kJudged)).claim->contains("options")) << "they are the same";
  EXPECT_EQ(both.outcome(claim(kJudged)).result->at("commit"), "later");
  EXPECT_EQ(provenance(both).commits, (std::set<std::string>{"earlier", "later"}));
  leave_in(runs.path(), beam_run(false, 0.2, kStopped));
  EXPECT_EQ(record(Archive(runs.path()), kept.path()), 1);
  EXPECT_EQ(Archive(kept.path()).outcome(claim(kJudged)).verdict, "fails");
  EXPECT_FALSE(Archive(kept.path()).outcome(claim(kJudged)).claim->contains("commit"));
}

TEST(RecordedResults, AreOfRegisteredClaimsWithANumberForEveryVerdictAndNoUncommittedSource) {
  for (const Json& result : recorded_results()) {
    const std::string name = result.at("experiment");
    EXPECT_EQ(result.at("claims").size(), claims_of(name).size()) << name;
    EXPECT_EQ(result.at("commit").get<std::string>().find('+'), std::string::npos) << name;
    for (const Json& entry : result.at("claims")) {
      EXPECT_EQ(claim(entry.at("id")).experiment, name);
      EXPECT_TRUE(entry.at("verdict") == "undecided" || !entry.at("measured").empty()) << entry.at("id");
      EXPECT_TRUE(entry.at("verdict") == "holds" || !entry.at("why").get<std::string>().empty()) << entry.at("id");
    }
  }
}

}  // namespace
}  // namespace pliant::experiments
