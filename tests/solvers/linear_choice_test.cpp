// `linear = "auto"` of the Newton family: what it chooses, and that it goes on from a memory with the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/error.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/newton/linear_choice.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

std::shared_ptr<const Model> clamped_bar(const Vec3& size, std::array<Index, 3> cells, double young) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = testing::box_body("bar", size, cells, 0.5 * size, young, "stable-neo-hookean");
  builder.add_body(body);
  builder.add_pin({"clamp", body.mesh->sets().at("x-min")});
  return builder.build();
}

/// With as many products as a box of 10 thousand nodes takes.
constexpr MultigridWork kSetUp{true, 2.2, 1.2e8};

void begin(LinearChoice& choice) {
  choice.begin_step({});
  choice.choose();
}

TEST(LinearChoice, AllowsMoreIterationsTheMoreTheOthersCost) {
  LinearChoice cheap(2500, 15000), dear(2500, 15000);
  cheap.set_factor_costs(300000, 2e7);
  dear.set_factor_costs(600000, 4e8);
  begin(cheap);
  begin(dear);
  EXPECT_GE(cheap.most_iterations(), 10);
  EXPECT_GT(2 * dear.most_iterations(), 3 * cheap.most_iterations()) << "as many as multigrid is worth";
}

TEST(LinearChoice, GivesUpPlainIterationsForWhatIsCheapest) {
  LinearChoice choice(10000, 65000);
  begin(choice);
  EXPECT_EQ(choice.method(), LinearMethod::gradients);
  const int first = choice.most_iterations();
  EXPECT_GT(first, 100);
  choice.count_gradients(first, false);
  EXPECT_EQ(choice.method(), LinearMethod::multigrid);
  choice.count_multigrid(10, kSetUp, true);
  EXPECT_TRUE(choice.asks_for_factor_costs());
  LinearChoice large(1000000, 6500000);
  large.count_gradients(1000, true);
  EXPECT_FALSE(large.asks_for_factor_costs()) << "an order of elimination would take longer than multigrid";

  LinearChoice thin = choice, slender = choice, compact = choice;
  thin.set_factor_costs(600000, 1e7);
  begin(thin);
  EXPECT_EQ(thin.method(), LinearMethod::factor);
  slender.set_factor_costs(1500000, 1e9);
  begin(slender);
  EXPECT_EQ(slender.method(), LinearMethod::rest_factor) << "made once, it serves all systems";
  compact.set_factor_costs(40000000, 3e11);
  begin(compact);
  EXPECT_EQ(compact.method(), LinearMethod::multigrid);
  // Multigrid that is slow leaves the field to another method, within the system that showed it.
  compact.count_multigrid(compact.most_iterations(), kSetUp, false);
  EXPECT_NE(compact.method(), LinearMethod::multigrid);
  compact.rule_out_factors();
  for (int step = 0; step < 50; ++step) {
    begin(compact);
    ASSERT_NE(compact.method(), LinearMethod::factor);
    ASSERT_NE(compact.method(), LinearMethod::rest_factor);
    compact.count_gradients(1000, true);
  }
}

TEST(LinearChoice, TriesWhatItHasLeftAgainLessAndLessOften) {
  LinearChoice choice(10000, 65000);
  begin(choice);
  choice.count_gradients(choice.most_iterations(), false);
  int last = 0;
  for (int turn = 0; turn < 3; ++turn) {
    int steps = 0;
    for (; choice.method() == LinearMethod::multigrid && steps < 2000; ++steps) {
      choice.count_multigrid(8, kSetUp, true);
      begin(choice);
    }
    EXPECT_GT(steps, last);
    last = steps;
    ASSERT_EQ(choice.method(), LinearMethod::gradients);
    choice.count_gradients(choice.most_iterations(), false);
  }
}

TEST(LinearChoice, TakesMultigridForLargeStaticsAndSaysSo) {
  const auto model = clamped_bar({1, 0.5, 0.5}, {40, 20, 20}, 4e7);
  const auto stepper = make_stepper(model, "pod-newton", {{"integrator", std::string("quasistatic")}});
  State state = model->rest_state();
  const StepReport report = stepper->step(state, 1.0 / 60);
  ASSERT_TRUE(report.converged()) << report.detail;
  EXPECT_EQ(report.factorisations, 0);
  EXPECT_LT(report.linear_iterations, 30 * report.iterations);
  const auto has = [](const Figure& figure) { return figure.name == "multigrid_systems" && figure.value >= 1; };
  EXPECT_TRUE(std::any_of(report.figures.begin(), report.figures.end(), has));
}

int systems(const StepReport& report, const char* name) {
  for (const Figure& figure : report.figures)
    if (figure.name == name) return static_cast<int>(figure.value);
  return 0;
}

TEST(LinearChoice, LeavesSoftCompactBodiesToPlainConjugateGradients) {
  const auto model = clamped_bar({1, 0.5, 0.5}, {24, 12, 12}, 4e3);
  const auto stepper = make_stepper(model, "pod-newton");
  State state = model->rest_state();
  for (int k = 0; k < 4; ++k) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.converged()) << report.detail;
    EXPECT_GT(report.linear_iterations, 0);
    EXPECT_EQ(systems(report, "multigrid_systems") + systems(report, "rest_factor_systems"), 0);
    EXPECT_EQ(report.factorisations, 0);
  }
}

TEST(LinearChoice, TakesTheFactorAtRestForStiffBodies) {
  for (const auto& [size, cells] : {std::pair{Vec3{1, 0.5, 0.5}, std::array<Index, 3>{16, 8, 8}},
                                    {Vec3{4, 0.1, 0.1}, std::array<Index, 3>{160, 4, 4}}}) {
    const auto model = clamped_bar(size, cells, 4e7);
    const auto stepper = make_stepper(model, "pod-newton");
    State state = model->rest_state();
    for (int k = 0; k < 4; ++k) {
      const StepReport report = stepper->step(state, 1.0 / 60);
      ASSERT_TRUE(report.converged()) << report.detail;
      if (k < 2) continue;  // the others are tried first
      EXPECT_EQ(systems(report, "rest_factor_systems"), report.iterations);
      EXPECT_LE(report.linear_iterations, 5 * report.iterations);
    }
  }
}

TEST(LinearChoice, SolvesThinOnesByAFactor) {
  const auto model = clamped_bar({4, 0.01, 0.01}, {400, 1, 1}, 4e9);
  const auto stepper = make_stepper(model, "pod-newton");
  State state = model->rest_state();
  for (int k = 0; k < 4; ++k) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.converged()) << report.detail;
    if (k < 2) continue;  // the others are tried first
    EXPECT_GE(report.factorisations + systems(report, "rest_factor_systems") + systems(report, "kept_matrices"),
              report.iterations)
        << "its own, or the one at rest: either costs hardly more than an iteration";
    EXPECT_LE(report.linear_iterations, 5 * report.iterations);
  }
}

TEST(RestFactor, TakesABodyThatHasTurnedWhereFactorisationsTakeIt) {
  const auto model = clamped_bar({1, 0.1, 0.1}, {20, 2, 2}, 1e6);
  const auto direct = make_stepper(model, "pod-newton", {{"linear", std::string("direct")}, {"tolerance", 1e-3}});
  const auto turned = make_stepper(
      model, "pod-newton",
      {{"linear", std::string("pcg")}, {"preconditioner", std::string("rest-factor")}, {"tolerance", 1e-3}});
  State one = model->rest_state(), other = one;
  for (int k = 0; k < 30; ++k) {
    ASSERT_TRUE(direct->step(one, 1.0 / 60).converged());
    const StepReport report = turned->step(other, 1.0 / 60);
    ASSERT_TRUE(report.converged()) << report.detail;
    EXPECT_LE(report.linear_iterations, 12 * report.iterations) << "in step " << k;
  }
  const double moved = (one.x - model->rest_state().x).cwiseAbs().maxCoeff();
  EXPECT_GT(moved, 0.3) << "it has turned far";
  EXPECT_LT((one.x - other.x).cwiseAbs().maxCoeff(), 1e-4 * moved);
}

TEST(RestFactor, LeavesBodiesThatNothingHoldsToOtherPreconditioners) {
  ModelBuilder builder;
  builder.add_body(testing::box_body("free", {1, 1, 1}, {3, 3, 3}, {0, 0, 0}, 1e5, "stable-neo-hookean"));
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "pod-newton",
                                    {{"linear", std::string("pcg")},
                                     {"preconditioner", std::string("rest-factor")},
                                     {"integrator", std::string("quasistatic")}});
  State state = model->rest_state();
  state.x[0] += 0.01;
  EXPECT_TRUE(stepper->step(state, 1.0 / 60).succeeded());
}

TEST(LinearChoice, FactorisesSmallSystems) {
  const auto model = clamped_bar({1, 0.5, 0.5}, {4, 2, 2}, 4e5);
  State state = model->rest_state();
  const StepReport report = make_stepper(model, "pod-newton")->step(state, 1.0 / 60);
  EXPECT_GT(report.factorisations, 0);
  EXPECT_EQ(report.linear_iterations, 0);
}

TEST(LinearChoice, GoesOnFromItsMemoryWithTheSameBits) {
  for (const double young : {4e4, 4e7}) {  // the second with the factor at rest
    const auto model = clamped_bar({4, 0.1, 0.1}, {80, 3, 3}, young);
    const auto one = make_stepper(model, "pod-newton"), other = make_stepper(model, "pod-newton");
    State state = model->rest_state();
    for (int k = 0; k < 3; ++k) one->step(state, 1.0 / 60);
    State resumed = state;
    other->recall(one->memory());
    for (int k = 0; k < 3; ++k) {
      one->step(state, 1.0 / 60);
      other->step(resumed, 1.0 / 60);
    }
    EXPECT_EQ(resumed.x, state.x) << young;
  }
}

TEST(LinearChoice, RefusesAMemoryThatIsNone) {
  LinearChoice choice(10000, 65000);
  begin(choice);
  choice.count_gradients(100, true);
  choice.end_step();
  const std::vector<double> good = choice.memory();
  EXPECT_NO_THROW(choice.recall(good));
  EXPECT_EQ(choice.memory(), good);
  EXPECT_NO_THROW(choice.recall({}));
  EXPECT_THROW(choice.recall(std::vector<double>{1, 2}), InputError);
  for (std::size_t k = 0; k < good.size(); ++k)
    for (const double wrong : {-1.0, std::nan(""), 1e300}) {
      std::vector<double> bad = good;
      bad[k] = wrong;
      EXPECT_THROW(choice.recall(bad), InputError) << k << ": " << wrong;
    }
}

}  // namespace
}  // namespace pliant
