#include "experiments/report.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "experiments/summary.hpp"
#include "pliant/base/child_process.hpp"

namespace pliant::experiments {
namespace {

constexpr const char* kReported = "pitfalls/fig-1/newton-mesh-independent";

/// A run of the swinging beam that decides one claim.
void leave_results(const std::filesystem::path& folder, bool quick, double spread, const std::string& unfinished = "") {
  const Experiment& experiment = find("pitfalls/swinging-beam");
  Context context(experiment.name, quick, complete_options(experiment, quick, {}), {});
  context.row({{"solver", "newton <b>"}, {"iterations_per_step", 2.03}});
  context.decide(Decision(kReported).at_most("spread", spread, 0.15));
  const auto place = result_folder(folder, experiment.name, quick);
  std::filesystem::create_directories(place);
  std::ofstream(place / "results.json") << results(experiment, context, {9, unfinished, 1.5});
  std::ofstream(place / "curve.svg") << "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>";
}

TEST(Reports, TakeTheVerdictOfTheFullSizeWhereThereIsOne) {
  const TemporaryFolder folder;
  EXPECT_EQ(Archive(folder.path()).outcome(claim(kReported)).verdict, "not run");
  leave_results(folder.path(), true, 0.1);
  EXPECT_EQ(Archive(folder.path()).outcome(claim(kReported)).verdict, "holds");
  leave_results(folder.path(), false, 0.2);
  const Archive archive(folder.path());
  EXPECT_EQ(archive.outcome(claim(kReported)).verdict, "fails");
  EXPECT_EQ(archive.outcome(claim(kReported)).size, "full");
  EXPECT_EQ(archive.outcome(claim(kReported), true).verdict, "holds");
  auto counts = count_verdicts(archive);
  EXPECT_EQ(counts["holds"], 0);
  EXPECT_EQ(counts["fails"], 1);
  EXPECT_EQ(counts["undecided"], static_cast<int>(claims_of("pitfalls/swinging-beam").size()) - 1);
  int all = 0;
  for (const auto& [verdict, count] : counts) all += count;
  EXPECT_EQ(all, static_cast<int>(claims().size()));
}

TEST(Reports, LetAStoppedRunJudgeOnlyWhatItHadDecided) {
  const TemporaryFolder folder;
  const auto own = claims_of("pitfalls/swinging-beam");
  leave_results(folder.path(), true, 0.1);
  leave_results(folder.path(), false, 0.2, "the run was stopped before its end");
  const Archive archive(folder.path());
  EXPECT_EQ(archive.outcome(claim(kReported)).verdict, "fails");
  EXPECT_EQ(archive.outcome(claim(kReported)).size, "full");
  for (const Claim* other : own)
    EXPECT_EQ(archive.outcome(*other).size, other->id == kReported ? "full" : "quick") << other->id;
  EXPECT_EQ(count_verdicts(archive, "", "full")["fails"], 1);
  EXPECT_EQ(count_verdicts(archive, "", "full")["undecided"], 0);
}

TEST(Reports, NameWhatNoRunAtFullSizeHasJudged) {
  const TemporaryFolder folder;
  leave_results(folder.path(), false, 0.2, "the run was stopped before its end");
  const Archive archive(folder.path());
  int waiting = 0;
  for (const Unrun& unrun : not_run_at_full_size(archive)) {
    waiting += unrun.claims;
    if (unrun.experiment->name == "pitfalls/swinging-beam") {
      EXPECT_DOUBLE_EQ(unrun.begun, 1.5 / 3600);
    }
  }
  EXPECT_EQ(waiting, static_cast<int>(claims().size()) - 1);
  EXPECT_NE(summary(archive).find("| `pitfalls/swinging-beam` | " +
                                  std::to_string(claims_of("pitfalls/swinging-beam").size() - 1) + " | "),
            std::string::npos);
  EXPECT_NE(report(archive).find("claims wait for hours of computing"), std::string::npos);
  leave_results(folder.path(), false, 0.2);  // to its end: what is undecided then stays so
  for (const Unrun& unrun : not_run_at_full_size(Archive(folder.path())))
    EXPECT_NE(unrun.experiment->name, "pitfalls/swinging-beam");
}

TEST(Reports, HoldEveryClaimAndFetchNothing) {
  const TemporaryFolder folder;
  leave_results(folder.path(), false, 0.2);
  const std::string page = report(Archive(folder.path()));
  for (const Claim& c : claims()) EXPECT_NE(page.find("<code>" + c.id + "</code>"), std::string::npos) << c.id;
  EXPECT_NE(page.find("spread is 0.2, at most 0.15 was asked"), std::string::npos);
  EXPECT_NE(page.find("newton &lt;b&gt;"), std::string::npos);
  EXPECT_NE(page.find("<svg xmlns"), std::string::npos);
  for (const char* fetched : {"src=\"http", "href=\"http", "@import", "url("})
    EXPECT_EQ(page.find(fetched), std::string::npos) << fetched;
}

TEST(Reports, SetEveryNumberBesideWhatWasAskedOfIt) {
  const TemporaryFolder folder;
  leave_results(folder.path(), false, 0.2);
  const std::string page = report(Archive(folder.path()));
  EXPECT_NE(page.find("<span class=misses>✗</span> spread <b>0.2</b> <span class=soft>at most 0.15</span>"),
            std::string::npos);
}

TEST(Summaries, CountEveryClaimAndNameFailingAndUndecidedOnesWithTheirReasons) {
  const TemporaryFolder folder;
  leave_results(folder.path(), true, 0.2);
  const Archive archive(folder.path());
  const std::string text = summary(archive);
  const auto undecided = claims_of("pitfalls/swinging-beam").size() - 1;
  const auto row = "| all | 0 | 0 | 0 | 0 | 1 | " + std::to_string(undecided) + " | " +
                   std::to_string(claims().size() - undecided - 1) + " |";
  EXPECT_NE(text.find(row), std::string::npos) << text;
  EXPECT_NE(text.find("| `fig-1/newton-mesh-independent` | quick | spread is 0.2, at most 0.15 was asked |"),
            std::string::npos);
  EXPECT_NE(text.find("| undecided | size | why |"), std::string::npos);
  EXPECT_NE(text.find("Runs: 1, at quick size"), std::string::npos);
  EXPECT_EQ(provenance(archive).runs, 1);
  EXPECT_EQ(provenance(archive).commits.size(), 1u);
}

TEST(Reports, AreMadeOfFilesThatAreNoResultsToo) {
  const TemporaryFolder folder;
  const auto place = result_folder(folder.path(), "pitfalls/swinging-beam", true);
  std::filesystem::create_directories(place);
  std::ofstream(place / "results.json") << "{\"rows\": [";
  EXPECT_EQ(Archive(folder.path()).outcome(claim(kReported)).verdict, "not run");
}

}  // namespace
}  // namespace pliant::experiments
