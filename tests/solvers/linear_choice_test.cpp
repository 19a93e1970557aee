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

TEST(LinearChoice, IsWorthMoreIterationsTheMoreAFactorisationCosts) {
  LinearChoice cheap, dear;
  cheap.set_factor_costs(15000, 300000, 2e7);
  dear.set_factor_costs(15000, 600000, 4e7);
  EXPECT_GT(cheap.most_iterations(), 5);
  EXPECT_GT(dear.most_iterations(), 2 * cheap.most_iterations());
}

TEST(LinearChoice, GivesUpPlainIterationsForWhatIsCheapest) {
  LinearChoice choice;
  EXPECT_EQ(choice.method(), LinearMethod::gradients);
  const int first = choice.most_iterations();
  EXPECT_GT(first, 100);
  choice.count_gradients(first, false);
  EXPECT_TRUE(choice.asks_for_costs(10000));
  EXPECT_FALSE(choice.asks_for_costs(1000000)) << "an order of elimination would take longer than multigrid";
  EXPECT_EQ(choice.method(), LinearMethod::multigrid);
  EXPECT_EQ(choice.most_iterations(), 0) << "nothing to compare with";

  LinearChoice slender = choice, compact = choice;
  slender.set_factor_costs(15000, 500000, 5e7);
  EXPECT_EQ(slender.method(), LinearMethod::factor);
  compact.set_factor_costs(200000, 50000000, 1e11);
  EXPECT_EQ(compact.method(), LinearMethod::multigrid);
  // Multigrid that is slow leaves the field to factors, within the system that showed it.
  compact.count_multigrid(compact.most_iterations(), true, 2.2, false);
  EXPECT_EQ(compact.method(), LinearMethod::factor);
  compact.rule_out_factors();
  EXPECT_EQ(compact.method(), LinearMethod::multigrid);
}

TEST(LinearChoice, TriesPlainIterationsAgainLessAndLessOften) {
  LinearChoice choice;
  int last = 0;
  for (int turn = 0; turn < 3; ++turn) {
    choice.count_gradients(500, false);
    int systems = 0;
    for (; choice.method() == LinearMethod::multigrid; ++systems) choice.count_multigrid(8, true, 2.2, true);
    EXPECT_GT(systems, last);
    last = systems;
  }
  EXPECT_LT(choice.most_iterations(), 500) << "no more than multigrid has cost";
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

TEST(LinearChoice, LeavesCompactBodiesToConjugateGradients) {
  const auto model = clamped_bar({1, 0.5, 0.5}, {16, 8, 8}, 4e5);
  const auto stepper = make_stepper(model, "pod-newton");
  State state = model->rest_state();
  for (int k = 0; k < 4; ++k) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.converged()) << report.detail;
    EXPECT_EQ(report.factorisations, 0);
    EXPECT_GT(report.linear_iterations, 0);
  }
}

TEST(LinearChoice, FactorisesSlenderOnes) {
  const auto model = clamped_bar({4, 0.1, 0.1}, {120, 3, 3}, 4e7);
  const auto stepper = make_stepper(model, "pod-newton");
  State state = model->rest_state();
  ASSERT_TRUE(stepper->step(state, 1.0 / 60).converged());
  for (int k = 0; k < 3; ++k) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.converged()) << report.detail;
    EXPECT_GT(report.factorisations, 0);
    EXPECT_LT(report.linear_iterations, 10 * report.iterations) << "with the step's first factor as preconditioner";
  }
}

TEST(LinearChoice, FactorisesSmallSystems) {
  const auto model = clamped_bar({1, 0.5, 0.5}, {4, 2, 2}, 4e5);
  State state = model->rest_state();
  const StepReport report = make_stepper(model, "pod-newton")->step(state, 1.0 / 60);
  EXPECT_GT(report.factorisations, 0);
  EXPECT_EQ(report.linear_iterations, 0);
}

TEST(LinearChoice, GoesOnFromItsMemoryWithTheSameBits) {
  for (const double young : {4e4, 4e7}) {
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
  LinearChoice choice;
  EXPECT_THROW(choice.recall(std::vector<double>{1, 2}), InputError);
  EXPECT_THROW(choice.recall(std::vector<double>{-1, 16, 3, 160}), InputError);
  EXPECT_THROW(choice.recall(std::vector<double>{0, 16, 3, std::nan("")}), InputError);
  EXPECT_NO_THROW(choice.recall({}));
}

}  // namespace
}  // namespace pliant
