#include "experiments/claims.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "experiments/experiment.hpp"

namespace pliant::experiments {
namespace {

TEST(Claims, EachHasAllItsFieldsAndAnExperimentThatIsBuiltOrPlanned) {
  std::set<std::string> built, planned, ids;
  for (const Experiment& experiment : catalogue()) built.insert(experiment.name);
  for (const Planned& experiment : planned_experiments()) {
    EXPECT_FALSE(built.contains(experiment.name)) << experiment.name << " is built: take it off the planned ones";
    EXPECT_GT(experiment.summary.size(), 20u) << experiment.name;
    EXPECT_FALSE(claims_of(experiment.name).empty()) << experiment.name << " would decide nothing";
    planned.insert(experiment.name);
  }
  for (const Claim& claim : claims()) {
    EXPECT_TRUE(ids.insert(claim.id).second) << claim.id;
    EXPECT_TRUE(claim.id.starts_with(claim.paper + "/")) << claim.id;
    EXPECT_TRUE(claim.experiment.starts_with(claim.paper + "/")) << claim.id;
    EXPECT_TRUE(built.contains(claim.experiment) || planned.contains(claim.experiment)) << claim.id;
    for (const std::string& text : {claim.statement, claim.test, claim.full, claim.quick})
      EXPECT_FALSE(text.empty()) << claim.id;
    EXPECT_LT(claim.statement.size(), 200u) << claim.id;
    EXPECT_LT(claim.test.size(), 420u) << claim.id;
  }
  EXPECT_EQ(ids.size(), 388u);
}

TEST(Claims, EveryIdNamedInAnExperimentIsInTheRegister) {
  const std::regex quoted("\"((?:pitfalls|quasi-newton|warp-canceling|conjac|pxpbd)/[a-zA-Z0-9.-]+/[a-zA-Z0-9./-]+)\"");
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PLIANT_SOURCE_DIR "/experiments")) {
    if (entry.path().extension() != ".cpp") continue;
    ++files;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator found(source.begin(), source.end(), quoted), end; found != end; ++found)
      EXPECT_NO_THROW(claim((*found)[1])) << entry.path();
  }
  EXPECT_GT(files, 50);
}

// The tests were written by others than those who measure, in a folder beside this one.
TEST(Claims, NoIdOfTheContractIsMissing) {
  const std::filesystem::path contract = PLIANT_SOURCE_DIR "/../shared/papers/claims";
  if (!std::filesystem::is_directory(contract)) GTEST_SKIP() << "the contract is not beside this folder";
  std::set<std::string> theirs, ours;
  for (const auto& entry : std::filesystem::directory_iterator(contract)) {
    std::ifstream file(entry.path());
    const Json paper = Json::parse(file);
    for (const Json& claim : paper.at("claims")) {
      theirs.insert(claim.at("id"));
      EXPECT_EQ(experiments::claim(claim.at("id")).published, claim.at("published")) << claim.at("id");
    }
  }
  for (const Claim& claim : claims()) ours.insert(claim.id);
  EXPECT_EQ(ours, theirs);
}

}  // namespace
}  // namespace pliant::experiments
