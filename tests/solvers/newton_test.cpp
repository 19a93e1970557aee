#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <limits>

#include "pliant/base/error.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/criteria.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

const char* const kSolvers[] = {"newton", "projected-newton", "pod-newton", "kinetic-newton"};

State run(const std::shared_ptr<const Model>& model, const std::string& solver, const ParameterMap& parameters,
          double h, int steps) {
  State state = model->rest_state();
  const auto stepper = make_stepper(model, solver, parameters);
  for (int s = 0; s < steps; ++s) {
    const StepReport report = stepper->step(state, h);
    EXPECT_TRUE(report.converged()) << solver << " step " << s << ": " << report.detail;
    if (!report.converged()) break;
  }
  return state;
}

TEST(NewtonFamily, AllFourSolversEndOnTheSamePositionsAfterThirtySteps) {
  for (int order : {1, 2}) {
    const auto model =
        testing::clamped_beam(order == 1 ? std::array<Index, 3>{8, 4, 4} : std::array<Index, 3>{4, 2, 2}, order);
    const State reference = run(model, "newton", {{"tolerance", 1e-7}}, 1.0 / 60, 30);
    const double motion = (reference.x - model->rest()).norm();
    EXPECT_GT(motion, 1.0);
    for (const char* solver : kSolvers) {
      const State state = run(model, solver, {{"tolerance", 1e-7}}, 1.0 / 60, 30);
      EXPECT_LT((state.x - reference.x).norm(), 1e-6 * motion) << solver << ", order " << order;
    }
  }
}

TEST(NewtonFamily, ConjugateGradientsLandOnTheStateOfTheDirectSolver) {
  const auto model = testing::clamped_beam({8, 4, 4});
  const State reference = run(model, "newton", {{"tolerance", 1e-7}}, 1.0 / 60, 10);
  const double motion = (reference.x - model->rest()).norm();
  for (const char* solver : kSolvers) {
    for (const char* preconditioner : {"block-jacobi", "jacobi", "incomplete-cholesky"}) {
      const ParameterMap parameters{
          {"tolerance", 1e-7}, {"linear", std::string("pcg")}, {"preconditioner", std::string(preconditioner)}};
      const State state = run(model, solver, parameters, 1.0 / 60, 10);
      EXPECT_LT((state.x - reference.x).norm(), 1e-6 * motion) << solver << ", " << preconditioner;
    }
  }
}

TEST(NewtonFamily, NegativeCurvatureOfConjugateGradientsCountsAsAFailedFactorisation) {
  const auto model = testing::clamped_beam({8, 4, 4});
  State start = model->rest_state();
  for (Index i = 0; i < model->nodes(); ++i) start.x[3 * i] *= 0.6;  // strongly compressed
  for (const char* solver : {"pod-newton", "kinetic-newton", "newton"}) {
    State state = start;
    const auto stepper = make_stepper(model, solver, {{"linear", std::string("pcg")}});
    const StepReport report = stepper->step(state, 1.0 / 3);
    EXPECT_TRUE(report.converged()) << solver << ": " << report.detail;
    EXPECT_GT(report.failed_factorisations, 0) << solver;
    EXPECT_GT(report.linear_iterations, report.iterations);
    EXPECT_EQ(report.factorisations, 0);
  }
}

TEST(NewtonFamily, EveryCriterionLandsOnTheSameStateWhenTight) {
  const auto model = testing::clamped_beam({6, 3, 3});
  const State reference = run(model, "pod-newton", {{"tolerance", 1e-7}}, 1.0 / 60, 10);
  const std::pair<const char*, double> criteria[] = {
      {"residual", 1e-6}, {"reference-force", 1e-10}, {"characteristic", 1e-12}, {"step-length", 1e-8}};
  for (const auto& [criterion, tolerance] : criteria) {
    const State state = run(model, "pod-newton", {{"criterion", criterion}, {"tolerance", tolerance}}, 1.0 / 60, 10);
    EXPECT_LT((state.x - reference.x).lpNorm<Eigen::Infinity>(), 1e-7) << criterion;
  }
}

TEST(NewtonFamily, ResultsHaveTheSameBitsOnOneAndOnTwoThreads) {
  const auto model = testing::clamped_beam({16, 8, 8});
  std::vector<State> states;
  for (std::size_t threads : {1, 2}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    states.push_back(run(model, "pod-newton", {}, 1.0 / 60, 5));
  }
  EXPECT_EQ(states[0].x, states[1].x);
  EXPECT_EQ(states[0].v, states[1].v);
}

TEST(NewtonFamily, TheResultDependsOnTheStateAloneNotOnWhatTheStepperDidBefore) {
  const auto model = testing::clamped_beam({6, 3, 3});
  const auto stepper = make_stepper(model, "pod-newton");
  State first = model->rest_state(), again = model->rest_state();
  for (int s = 0; s < 5; ++s) stepper->step(first, 0.05);
  for (int s = 0; s < 5; ++s) stepper->step(again, 0.05);
  EXPECT_EQ(first.x, again.x);
}

TEST(LineSearch, RobustOneFinishesOnSteelWhereArmijoFails) {
  ModelBuilder builder;
  builder.set_mass(MassKind::consistent);
  BodyOptions body;
  body.mesh = testing::box_mesh({2, 1, 1}, {10, 5, 5}, BoxSplit::six);
  body.material = testing::material("neo-hookean", 220e9, 0.3);
  body.density = 8000;
  body.angular_velocity = {0, 0, 10};
  builder.add_body(body);
  const auto model = builder.build();
  for (const char* solver : kSolvers)
    for (const char* search : {"armijo", "robust"}) {
      const auto stepper = make_stepper(
          model, solver,
          {{"tolerance", 1e-4}, {"line_search", search}, {"turning", "linear"}, {"assembly", "every-iteration"}});
      State state = model->rest_state();
      bool failed = false;
      for (int s = 0; s < 30 && !failed; ++s) {
        const StepReport report = stepper->step(state, 1.0 / 60);
        failed = !report.converged();
        if (failed) {
          EXPECT_EQ(report.outcome, Outcome::line_search_failed);
        }
      }
      EXPECT_EQ(failed, std::string(search) == "armijo") << solver << " with " << search;
    }
}

TEST(Outcomes, AnInvertedStartIsNamedAndLeavesTheStateAlone) {
  const auto model = testing::clamped_beam({4, 2, 2});
  State state = model->rest_state();
  node(state.x, 12) += Vec3(5, 0, 0);
  const State before = state;
  for (const char* solver : kSolvers) {
    const StepReport report = make_stepper(model, solver)->step(state, 1.0 / 60);
    EXPECT_EQ(report.outcome, Outcome::inverted_start);
    EXPECT_NE(report.detail.find("element"), std::string::npos);
    EXPECT_EQ(state.x, before.x);
    EXPECT_EQ(state.time, before.time);
  }
}

TEST(Outcomes, NotANumberIsNamedAndLeavesTheStateAlone) {
  const auto model = testing::clamped_beam({4, 2, 2});
  State state = model->rest_state();
  state.v[7] = std::numeric_limits<double>::quiet_NaN();
  const StepReport report = make_stepper(model, "pod-newton")->step(state, 1.0 / 60);
  EXPECT_EQ(report.outcome, Outcome::not_finite);
  EXPECT_EQ(state.step, 0);
}

TEST(Outcomes, TheIterationLimitIsReportedWithTheResidualLeft) {
  const auto model = testing::clamped_beam({4, 2, 2});
  State state = model->rest_state();
  const StepReport report =
      make_stepper(model, "pod-newton", {{"max_iterations", std::int64_t{1}}, {"tolerance", 1e-9}})->step(state, 0.1);
  EXPECT_EQ(report.outcome, Outcome::iteration_limit);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_GT(report.residuals.acceleration, 1e-9);
  EXPECT_EQ(state.step, 1);
}

TEST(Outcomes, QuasistaticsWithoutSupportsReportsASingularMatrix) {
  const auto model = testing::free_block("stable-neo-hookean", Vec3::Zero(), Vec3::Zero(), {0, -9.81, 0});
  for (const char* solver : {"newton", "projected-newton", "pod-newton"}) {
    State state = model->rest_state();
    const StepReport report =
        make_stepper(model, solver, {{"integrator", "quasistatic"}, {"max_iterations", std::int64_t{20}}})
            ->step(state, 1.0);
    EXPECT_NE(report.outcome, Outcome::converged) << solver;
  }
  EXPECT_THROW(make_stepper(model, "kinetic-newton", {{"integrator", "quasistatic"}}), InputError);
}

TEST(Outcomes, AHugeStepEndsWithAReport) {
  const auto model = testing::clamped_beam({4, 2, 2});
  for (const char* solver : kSolvers) {
    State state = model->rest_state();
    const StepReport report = make_stepper(model, solver, {{"max_iterations", std::int64_t{50}}})->step(state, 1e6);
    EXPECT_TRUE(state.x.allFinite()) << solver;
    EXPECT_LE(report.iterations, 50);
  }
}

TEST(Report, HistoryFollowsTheIterations) {
  const auto model = testing::clamped_beam({6, 3, 3});
  State state = model->rest_state();
  const StepReport report =
      make_stepper(model, "pod-newton", {{"history", true}, {"tolerance", 1e-6}, {"assembly", "every-iteration"}})
          ->step(state, 0.05);
  ASSERT_TRUE(report.converged());
  ASSERT_EQ(static_cast<int>(report.history.size()), report.iterations);
  for (std::size_t k = 1; k < report.history.size(); ++k)
    EXPECT_LT(report.history[k].energy, report.history[k - 1].energy);
  EXPECT_LT(report.residuals.acceleration, 1e-6);
}

TEST(Catalogue, RefusesWhatItDoesNotKnowAndNamesTheNearest) {
  const auto message = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message([] { find_solver("pod-newtn"); }).find("did you mean 'pod-newton'"), std::string::npos);
  const SolverEntry& solver = find_solver("pod-newton");
  EXPECT_NE(message([&] {
              complete_parameters(solver, {{"tolerence", 0.1}});
            }).find("did you mean 'tolerance'"),
            std::string::npos);
  EXPECT_NE(message([&] {
              complete_parameters(solver, {{"tolerance", -1.0}});
            }).find("must be a number of at least 0"),
            std::string::npos);
  EXPECT_NE(message([&] {
              complete_parameters(solver, {{"tolerance", "tight"}});
            }).find("must be a number"),
            std::string::npos);
  EXPECT_NE(message([&] {
              complete_parameters(solver, {{"criterion", "best"}});
            }).find("must be one of"),
            std::string::npos);
  EXPECT_EQ(std::get<double>(complete_parameters(solver, {{"tolerance", std::int64_t{1}}}).at("tolerance")), 1.0);
}

}  // namespace
}  // namespace pliant
