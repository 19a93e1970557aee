// What a convergence criterion may not do to the motion: hold it up. A criterion judges a step that was taken, so that
// bodies fall, slide and are pressed at any time step and at default tolerances.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace criteria {
namespace {

constexpr double kGravity = 9.81;  ///< m/s^2
constexpr std::array kNewton = {"pod-newton", "newton", "projected-newton", "kinetic-newton"};
constexpr std::array kCriteria = {"acceleration", "residual", "reference-force", "characteristic", "step-length"};

BodyOptions block(const std::string& law, const Vec3& size, std::array<Index, 3> cells, const Vec3& corner,
                  double young = 1e5) {
  MeshData data = box({.origin = corner, .size = size, .cells = cells});
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = testing::material(law, young, 0.3);
  return body;
}

Collider plane(double height) { return {"floor", PlaneShape{Vec3(0, height, 0), Vec3::UnitY()}, {}, 1e5, 0}; }

Vec3 centre_of_mass(const Model& model, const VecX& x) {
  Vec3 sum = Vec3::Zero();
  for (Index i = 0; i < model.nodes(); ++i) sum += model.mass().lumped()[i] * node(x, i);
  return sum / model.mass().lumped().sum();
}

/// The centre of mass and every node, after each of n steps, against backward Euler's x0 - g h^2 n (n + 1)/2.
void expect_free_fall(const std::string& solver, const ParameterMap& parameters, double h) {
  SCOPED_TRACE(fmt::format("{}, dt = {} s", solver, h));
  ModelBuilder builder;
  builder.set_gravity({0, -kGravity, 0});
  builder.add_body(block(testing::law_for(solver), {0.5, 0.5, 0.5}, {2, 2, 2}, Vec3::Zero()));
  const auto model = builder.build();
  const auto stepper = make_stepper(model, solver, parameters);
  State state = model->rest_state();
  const int steps = 20;
  for (int n = 1; n <= steps; ++n) {
    const StepReport report = stepper->step(state, h);
    ASSERT_TRUE(report.succeeded()) << to_string(report.outcome) << ": " << report.detail;
    double fallen = kGravity * h * h * n * (n + 1) / 2;
    if (solver == "grid-b-pxpbd") {  // divides the step as its grid asks for, and comes nearer to g t^2/2
      const double seen = model->rest()[1] - state.x[1], exact = kGravity * h * h * n * n / 2;
      fallen = std::clamp(seen, exact, fallen);
    }
    const Vec3 moved = centre_of_mass(*model, state.x) - centre_of_mass(*model, model->rest());
    ASSERT_LT((moved + Vec3(0, fallen, 0)).norm(), 1e-3 * fallen) << "after " << n << " steps";
    const VecX off = state.x - model->rest() + Vec3(0, fallen, 0).replicate(model->nodes(), 1);
    ASSERT_LT(off.cwiseAbs().maxCoeff(), 1e-3 * fallen) << "after " << n << " steps";
  }
}

class FreeFall : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Steps, FreeFall, ::testing::Values(1e-4, 1e-3, 1e-2, 1e-1), [](const auto& instance) {
  return fmt::format("of_{}_microseconds", static_cast<int>(std::lround(1e6 * instance.param)));
});

TEST_P(FreeFall, IsExactUnderEveryCriterionAtItsDefaultTolerance) {
  for (const char* solver : kNewton)
    for (const char* criterion : kCriteria) {
      SCOPED_TRACE(criterion);
      expect_free_fall(solver, {{"criterion", criterion}}, GetParam());
      if (HasFatalFailure()) ADD_FAILURE() << solver << " with " << criterion;
    }
}

TEST_P(FreeFall, IsExactUnderEverySolver) {
  for (const std::string& solver : testing::solver_names()) expect_free_fall(solver, {}, GetParam());
}

TEST_P(FreeFall, IsExactUnderEverySolverThatCanStopEarly) {
  for (const std::string& solver : testing::solver_names()) {
    const bool has_criterion = find_solver(solver).parameters.find("criterion") != nullptr;
    if (!has_criterion || find_solver(solver).paper == "pitfalls") continue;
    for (const char* criterion : kCriteria) {
      SCOPED_TRACE(criterion);
      expect_free_fall(solver, {{"criterion", criterion}, {"tolerance", 0.01}}, GetParam());
    }
  }
}

// Sliding.

/// A block that has settled on the floor is pushed to 1 mm/s: after n steps it has gone n h times that.
void expect_sliding(const std::shared_ptr<const Model>& model, Stepper& stepper, double h) {
  State state = model->rest_state();
  for (int s = 0; s < 300; ++s) {
    ASSERT_TRUE(stepper.step(state, h).advanced());
    state.v.setZero();  // settles without swinging
  }
  const double speed = 1e-3;
  const Vec3 start = centre_of_mass(*model, state.x);
  for (Index i = 0; i < model->nodes(); ++i) node(state.v, i).x() += speed;
  double last = 0;
  for (int n = 1; n <= 40; ++n) {
    ASSERT_TRUE(stepper.step(state, h).advanced());
    const double gone = centre_of_mass(*model, state.x).x() - start.x();
    ASSERT_GT(gone - last, 0.5 * speed * h) << "stands still in step " << n;
    last = gone;
  }
  EXPECT_NEAR(last, 40 * h * speed, 0.02 * 40 * h * speed);
}

TEST(Sliding, AtAMillimetrePerSecondGoesOnUnderContactWithTheStepLengthCriterion) {
  for (const char* solver : kNewton)
    for (double h : {1e-3, 1e-2}) {
      SCOPED_TRACE(fmt::format("{}, dt = {} s", solver, h));
      ModelBuilder builder;
      builder.set_gravity({0, -kGravity, 0});
      builder.add_body(block("neo-hookean", {0.2, 0.1, 0.2}, {2, 1, 2}, {0, 8e-4, 0}));
      builder.add_collider(plane(0));
      builder.set_contact({.dhat = 1e-3});
      const auto model = builder.build();
      expect_sliding(model, *make_stepper(model, solver, {{"criterion", "step-length"}}), h);
    }
}

TEST(Sliding, AtAMillimetrePerSecondGoesOnUnderEverySolverOnACollider) {
  for (const std::string& solver : testing::solver_names())
    for (double h : {1e-3, 5e-3}) {
      SCOPED_TRACE(fmt::format("{}, dt = {} s", solver, h));
      ModelBuilder builder;
      builder.set_gravity({0, -kGravity, 0});
      builder.add_body(block(testing::law_for(solver), {0.2, 0.1, 0.2}, {2, 1, 2}, Vec3::Zero()));
      builder.add_collider(plane(0));
      const auto model = builder.build();
      expect_sliding(model, *make_stepper(model, solver), h);
    }
}

// A press.

/// Follows a press that goes down at 1 mm/s: the top of the body moves down in every step, nearly as fast.
void expect_smooth_pressing(const std::shared_ptr<const Model>& model, Stepper& stepper, double start) {
  const double h = 1e-3, speed = 1e-3;
  State state = model->rest_state();
  std::vector<Index> top;
  for (Index i = 0; i < model->nodes(); ++i)
    if (node(model->rest(), i).y() > 0.0999) top.push_back(i);
  const auto height = [&] {
    double sum = 0;
    for (Index i : top) sum += node(state.x, i).y() / double(top.size());
    return sum;
  };
  double last = height(), lowest_pace = 1, highest_pace = 0;
  for (int n = 1; n <= 60; ++n) {
    const StepReport report = stepper.step(state, h);
    ASSERT_TRUE(report.succeeded()) << to_string(report.outcome) << ": " << report.detail;
    const double pace = (last - height()) / (h * speed);
    last = height();
    if (n * h < start) continue;
    lowest_pace = std::min(lowest_pace, pace);
    highest_pace = std::max(highest_pace, pace);
  }
  EXPECT_GT(lowest_pace, 0.5) << "the body stands still";
  EXPECT_LT(highest_pace, 1.5) << "the body jumps";
}

/// The layer in the middle follows the press too: what moves only where it is prescribed has stood still.
void expect_the_middle_to_follow(const std::shared_ptr<const Model>& model, Stepper& stepper) {
  State state = model->rest_state();
  for (int n = 0; n < 60; ++n) ASSERT_TRUE(stepper.step(state, 1e-3).succeeded());
  for (Index i = 0; i < model->nodes(); ++i)
    if (std::abs(node(model->rest(), i).y() - 0.05) < 1e-9) {
      EXPECT_NEAR(node(state.x, i).y() - 0.05, -0.5 * 60e-6, 0.3 * 60e-6) << "node " << i;
    }
}

TEST(Press, MovingAtAMillimetrePerSecondByAScriptPressesSmoothlyUnderEveryCriterion) {
  for (const char* solver : kNewton)
    for (const char* criterion : kCriteria)
      for (Imposition imposition : {Imposition::direct, Imposition::penalty}) {
        SCOPED_TRACE(
            fmt::format("{}, {}, {}", solver, criterion, imposition == Imposition::direct ? "direct" : "penalty"));
        ModelBuilder builder;
        builder.set_gravity({0, -kGravity, 0});
        BodyOptions body = block("neo-hookean", {0.1, 0.1, 0.1}, {2, 2, 2}, Vec3::Zero(), 1e7);
        builder.add_body(body);
        builder.add_pin({"table", body.mesh->sets().at("y-min")});
        Script press{"press", body.mesh->sets().at("y-max"), {}, imposition};
        press.motion.translation.keys = {{0, Vec3::Zero()}, {1, Vec3(0, -1e-3, 0)}};
        builder.add_script(press);
        const auto model = builder.build();
        const auto stepper = make_stepper(model, solver, {{"criterion", criterion}});
        expect_smooth_pressing(model, *stepper, 0.02);
        expect_the_middle_to_follow(model, *stepper);
      }
}

TEST(Press, OfABoxThatTouchesPressesSmoothlyWithTheStepLengthCriterion) {
  for (const char* solver : kNewton) {
    SCOPED_TRACE(solver);
    ModelBuilder builder;
    BodyOptions body = block("neo-hookean", {0.1, 0.1, 0.1}, {2, 2, 2}, Vec3::Zero());
    builder.add_body(body);
    builder.add_pin({"table", body.mesh->sets().at("y-min")});
    Collider press{"press", BoxShape{Vec3(0.05, 0.1505 + 5e-4, 0.05), Vec3(0.1, 0.05, 0.1)}, {}, 1e5, 0};
    press.motion.translation.keys = {{0, Vec3::Zero()}, {1, Vec3(0, -1e-3, 0)}};
    builder.add_collider(press);
    builder.set_contact({.dhat = 1e-3});
    const auto model = builder.build();
    expect_smooth_pressing(model, *make_stepper(model, solver, {{"criterion", "step-length"}}), 0.04);
  }
}

// A stack, after scenes/stack.toml.

TEST(Stack, FallsFreelyAndComesToRestAtAMillisecondWithTheStepLengthCriterion) {
  for (const char* solver : {"pod-newton", "kinetic-newton"}) {
    SCOPED_TRACE(solver);
    ModelBuilder builder;
    builder.set_gravity({0, -kGravity, 0});
    BodyOptions lower = block("neo-hookean", {0.3, 0.15, 0.3}, {2, 1, 2}, {-0.15, 0.0025, -0.15}, 5e4);
    BodyOptions upper = block("neo-hookean", {0.2, 0.15, 0.2}, {2, 1, 2}, {-0.1, 0.17, -0.1}, 5e4);
    lower.damping = upper.damping = {0, 0.02};
    builder.add_body(lower);
    builder.add_body(upper);
    builder.add_collider(plane(0));
    builder.set_contact({.dhat = 2e-3, .friction = 0.4});
    const auto model = builder.build();
    const auto stepper = make_stepper(model, solver, {{"criterion", "step-length"}});
    State state = model->rest_state();
    const double h = 1e-3, gap = 0.17 - 0.1525;
    const Range nodes = model->bodies()[1].nodes;
    bool has_met = false;
    const auto fall = [&] {
      double sum = 0;
      for (Index i = nodes.begin; i < nodes.end; ++i) sum += node(model->rest(), i).y() - node(state.x, i).y();
      return sum / nodes.size();
    };
    for (int n = 1; n <= 400; ++n) {
      const StepReport report = stepper->step(state, h);
      ASSERT_TRUE(report.succeeded()) << to_string(report.outcome) << ": " << report.detail;
      ASSERT_GT(report.minimum_gap, 0);
      const double free = kGravity * h * h * n * (n + 1) / 2;
      has_met = has_met || free > gap - 3e-3;
      if (!has_met) {
        ASSERT_NEAR(fall(), free, 1e-3 * free + 1e-9) << "step " << n;
      }
    }
    EXPECT_TRUE(has_met);
    EXPECT_GT(fall(), gap - 2e-3);
    EXPECT_LT(fall(), gap + 0.02);
    EXPECT_LT(state.v.cwiseAbs().maxCoeff(), 0.02);
  }
}

// Integrators.

TEST(ImplicitMidpoint, IsRefusedWithContactWhoseMirroredEndNobodyChecks) {
  ModelBuilder builder;
  builder.set_gravity({0, -kGravity, 0});
  builder.add_body(block("neo-hookean", {0.2, 0.1, 0.2}, {2, 1, 2}, {0, 8e-4, 0}));
  builder.add_collider(plane(0));
  builder.set_contact({.dhat = 1e-3});
  const auto model = builder.build();
  for (const char* solver : kNewton)
    EXPECT_THROW(make_stepper(model, solver, {{"integrator", "implicit-midpoint"}}), InputError) << solver;
}

// Below rounding.

TEST(Stagnation, EndsStepsWhoseToleranceLiesBelowRounding) {
  for (const char* solver : kNewton)
    for (const char* criterion : kCriteria)
      for (double tolerance : {0.0, 1e-30}) {
        SCOPED_TRACE(fmt::format("{}, {}, tolerance {}", solver, criterion, tolerance));
        const auto model = testing::clamped_beam({4, 2, 2}, 1, "neo-hookean", MassKind::lumped);
        const auto asked = make_stepper(
            model, solver, {{"criterion", criterion}, {"tolerance", tolerance}, {"max_iterations", std::int64_t{200}}});
        const auto fine = make_stepper(model, solver, {{"criterion", "acceleration"}, {"tolerance", 1e-9}});
        State a = model->rest_state(), b = a;
        for (int s = 0; s < 4; ++s) {
          a = b;  // the same start for both
          const StepReport report = asked->step(a, 0.02);
          // Some step may end with a residual, or a correction, of exactly nothing.
          const bool is_zero =
              report.converged() && (criterion == std::string("step-length") ? report.residuals.step_length <= tolerance
                                                                             : report.residuals.force <= 1e-30);
          EXPECT_TRUE(to_string(report.outcome) == "stagnated" || is_zero)
              << to_string(report.outcome) << ": " << report.detail;
          EXPECT_LT(report.iterations, 50);
          const StepReport other = fine->step(b, 0.02);
          ASSERT_TRUE(other.converged() || to_string(other.outcome) == "stagnated") << other.detail;
          EXPECT_LE(report.residuals.acceleration, std::max(1e-9, 10 * other.residuals.acceleration));
          EXPECT_LT((a.x - b.x).cwiseAbs().maxCoeff(), 1e-10);
        }
      }
}

}  // namespace
}  // namespace criteria
}  // namespace pliant
