#include "experiments/decision.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "experiments/experiment.hpp"

namespace pliant::experiments {
namespace {

constexpr const char* kId = "pitfalls/fig-1/newton-mesh-independent";
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

TEST(Decisions, AreUndecidedUntilANumberIsPutBesideABound) {
  EXPECT_EQ(Decision(kId).verdict(), Verdict::undecided);
  EXPECT_EQ(Decision(kId).why(), "nothing was compared");
  EXPECT_EQ(Decision(kId).needs(true, "all runs complete").note("spread", 0.1).verdict(), Verdict::undecided);
  EXPECT_EQ(Decision(kId).at_most("spread", 0.1, 0.15).verdict(), Verdict::holds);
  EXPECT_THROW(Decision("pitfalls/fig-1/no-such-claim"), std::invalid_argument);
}

TEST(Decisions, FailByOnePartAndSayWhichNumber) {
  Decision decision(kId);
  decision.at_most("spread", 0.2, 0.15).at_least("runs", 4, 4).because("the coarsest mesh is too coarse");
  EXPECT_EQ(decision.verdict(), Verdict::fails);
  EXPECT_EQ(decision.why(), "spread is 0.2, at most 0.15 was asked; the coarsest mesh is too coarse");
  const Json json = decision.json();
  EXPECT_EQ(json["measured"], (Json{{"spread", 0.2}, {"runs", 4.0}}));
  EXPECT_EQ(json["parts"][1]["met"], true);
}

TEST(Decisions, NeverHoldWithANumberThatIsNotFiniteOnEitherSide) {
  for (const double value : {kNaN, kInfinity, -kInfinity}) {
    EXPECT_EQ(Decision(kId).at_most("a", value, 1).verdict(), Verdict::undecided);
    EXPECT_EQ(Decision(kId).at_least("a", value, 1).verdict(), Verdict::undecided);
    EXPECT_EQ(Decision(kId).at_most("a", 1, value).verdict(), Verdict::undecided);
    EXPECT_EQ(Decision(kId).above("a", 1, value).verdict(), Verdict::undecided);
    EXPECT_EQ(Decision(kId).between("a", 1, -kInfinity, kInfinity).verdict(), Verdict::undecided);
    EXPECT_EQ(Decision(kId).part("a", value, "anything", true).verdict(), Verdict::undecided);
    // A part that fails for certain does not make up for one that is not known.
    EXPECT_EQ(Decision(kId).at_most("a", value, 1).at_most("b", 2, 1).verdict(), Verdict::undecided);
  }
  EXPECT_TRUE(Decision(kId).at_most("a", kNaN, 1).json()["measured"]["a"].is_string());
}

TEST(Decisions, AreUndecidedWhenWhatTheTestNeedsDidNotHappen) {
  const Decision decision = Decision(kId).at_most("spread", 0.1, 0.15).needs(false, "newton completes");
  EXPECT_EQ(decision.verdict(), Verdict::undecided);
  EXPECT_EQ(decision.why(), "did not happen: newton completes");
}

TEST(Decisions, AreSettledByOneCounterexampleWhileRunsAreStillToCome) {
  const auto after = [](double spread, bool all_there) {
    return Decision(kId).at_most("spread", spread, 0.15).awaits(all_there, "the finest mesh");
  };
  EXPECT_EQ(after(0.1, true).verdict(), Verdict::holds);
  EXPECT_EQ(after(0.1, false).verdict(), Verdict::undecided);
  EXPECT_EQ(after(0.1, false).why(), "not run: the finest mesh");
  EXPECT_EQ(after(0.2, false).verdict(), Verdict::fails);
  EXPECT_EQ(after(0.2, false).why(),
            "spread is 0.2, at most 0.15 was asked; not run, as this decides: the finest mesh");
  // What the test presupposes, and what cannot be compared, is not made up for.
  EXPECT_EQ(after(0.2, false).needs(false, "newton completes").verdict(), Verdict::undecided);
  EXPECT_EQ(after(0.2, false).at_most("other", kNaN, 1).verdict(), Verdict::undecided);

  Context context("pitfalls/swinging-beam", true, {}, {});
  context.settle(after(0.1, false));
  EXPECT_TRUE(context.decisions().empty());
  const Json running = results(find("pitfalls/swinging-beam"), context, {1, "the run has not reached its end"});
  const auto look = std::find_if(running["claims"].begin(), running["claims"].end(),
                                 [](const Json& claim) { return claim["id"] == kId; });
  EXPECT_EQ((*look)["verdict"], "undecided");
  EXPECT_EQ((*look)["measured"], (Json{{"spread", 0.1}}));
  context.settle(after(0.2, false));
  context.settle(after(0.1, true));
  ASSERT_EQ(context.decisions().size(), 1u);
  EXPECT_EQ(context.decisions()[0].verdict(), Verdict::fails);
}

TEST(Decisions, GoIntoTheResultsWithEveryOtherClaimOfTheExperimentUndecided) {
  const Experiment& experiment = find("pitfalls/swinging-beam");
  Context context(experiment.name, true, {}, {});
  context.decide(Decision(kId).at_most("spread", 0.1, 0.15));
  EXPECT_THROW(context.decide(Decision(kId)), std::invalid_argument) << "twice";
  EXPECT_THROW(context.decide(Decision("conjac/fig-2/linear")), std::invalid_argument) << "of another experiment";
  const Json running = results(experiment, context, {1, "the run has not reached its end"});
  EXPECT_EQ(running["claims"].size(), claims_of(experiment.name).size());
  int undecided = 0;
  for (const Json& claim : running["claims"]) {
    EXPECT_EQ(claim["verdict"], claim["id"] == kId ? "holds" : "undecided");
    if (claim["id"] == kId) continue;
    EXPECT_EQ(claim["why"], "the run has not reached its end");
    ++undecided;
  }
  EXPECT_EQ(undecided + 1, static_cast<int>(running["claims"].size()));
}

TEST(Decisions, HandedOverAfterARequestToStopAreUndecided) {
  Context::Listener listener;
  listener.stop = [] { return true; };
  Context context("pitfalls/swinging-beam", true, {}, listener);
  context.decide(Decision(kId).at_most("spread", 0.1, 0.15));
  EXPECT_EQ(context.decisions()[0].verdict(), Verdict::undecided);
}

TEST(Decisions, ChecksWithNumbersThatAreNotFiniteDoNotPass) {
  Context context("pitfalls/swinging-beam", true, {}, {});
  context.check({"both infinite", kInfinity, kInfinity, true});
  context.check({"a list", 1, Json::array({1.0, kNaN}), true});
  context.check({"finite", 1, Json::array({1.0, 2.0}), true});
  EXPECT_FALSE(context.checks()[0].holds);
  EXPECT_FALSE(context.checks()[1].holds);
  EXPECT_TRUE(context.checks()[2].holds);
}

}  // namespace
}  // namespace pliant::experiments
