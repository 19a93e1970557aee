#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

/// A model needs a body beside the links: a small cube, held.
void add_bystander(ModelBuilder& builder) {
  BodyOptions body;
  body.name = "bystander";
  body.mesh = std::make_shared<TetMesh>(box({.origin = {9, 9, 9}, .size = {0.1, 0.1, 0.1}}));
  body.material = testing::material("stable-neo-hookean", 1e5, 0.3);
  const std::size_t b = builder.add_body(body);
  std::vector<Index> nodes;
  for (Index i = builder.body(b).nodes.begin; i < builder.body(b).nodes.end; ++i) nodes.push_back(i);
  builder.add_pin({"still", nodes});
}

struct Period {
  double seconds = 0, swing = 0;  ///< of a whole swing, mean over the run; the largest angle in the last one
};

/// The period of a rod of length 0.3 m that begins at `angle` from hanging, by the sign changes of its end's velocity.
Period swing(double angle, double h, double duration) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  add_bystander(builder);
  const Vec3 end = 0.3 * Vec3(std::sin(angle), -std::cos(angle), 0);
  builder.add_link({"rod", -1, JointKind::hinge, Vec3::Zero(), Vec3::UnitZ(),
                    CylinderShape{end / 2, end.normalized(), 0.01, 0.15}, 700});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "conjac");
  State state = model->rest_state();
  const Index first = model->bodies()[1].nodes.begin;
  std::vector<double> turns;
  double before = 0, largest = 0;
  while (state.time < duration) {
    EXPECT_TRUE(stepper->step(state, h).succeeded());
    double now = 0;
    for (Index i = first; i < model->nodes(); ++i) now += node(state.v, i).x();
    if (before * now < 0) turns.push_back(state.time - h * now / (now - before));
    before = now;
    Vec3 centre = Vec3::Zero();
    for (Index i = first; i < model->nodes(); ++i) centre += node(state.x, i);
    if (turns.size() >= 2 && state.time > duration - 1.5)
      largest = std::max(largest, std::abs(std::atan2(centre.x(), -centre.y())));
  }
  return {2 * (turns.back() - turns.front()) / static_cast<double>(turns.size() - 1), largest};
}

/// A uniform cylinder about its end, with the correction of large swings (a series of the elliptic integral).
double theory(double angle) {
  const double l = 0.3, r = 0.01, inertia = l * l / 3 + r * r / 4, a2 = angle * angle;
  return 2 * std::numbers::pi * std::sqrt(inertia / (9.81 * l / 2)) *
         (1 + a2 / 16 + 11 * a2 * a2 / 3072 + 173 * a2 * a2 * a2 / 737280);
}

TEST(Links, APendulumKeepsItsPeriodAndItsSwing) {
  for (double angle : {0.1, 1.0}) {
    const Period period = swing(angle, 2e-3, 8);
    EXPECT_NEAR(period.seconds, theory(angle), 1e-3 * theory(angle)) << "angle " << angle;
    EXPECT_NEAR(period.swing, angle, 0.01 * angle) << "angle " << angle;
  }
  EXPECT_NEAR(swing(0.5, 1e-2, 8).seconds, theory(0.5), 5e-3 * theory(0.5));
}

/// Two links joined by a hinge, floating, with a muscle between them.
std::shared_ptr<const Model> floating_arm(const Vec3& velocity) {
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  const Index muscle = builder.add_muscle({"biceps", {{{0, 0}, {0.05, 1}}}});
  BodyOptions flesh;
  flesh.name = "muscle";
  flesh.mesh =
      std::make_shared<TetMesh>(box({.origin = {0.03, 0.01, -0.01}, .size = {0.12, 0.02, 0.02}, .cells = {8, 2, 2}}));
  flesh.material = testing::material("stable-neo-hookean", 3e4, 0.4);
  flesh.fibres = {{find_fibre_law("muscle"), {{5e4, 1.4, 0}}, {Vec3::UnitX()}, muscle}};
  flesh.velocity = velocity;
  builder.add_body(flesh);
  const Index upper = builder.add_link(
      {"upper", -1, JointKind::free, {0.05, 0, 0}, Vec3::UnitZ(), CapsuleShape{{0, 0, 0}, {0.1, 0, 0}, 0.008}, 1500});
  const Index lower = builder.add_link({"lower",
                                        upper,
                                        JointKind::hinge,
                                        {0.1, 0, 0},
                                        Vec3::UnitZ(),
                                        CapsuleShape{{0.1, 0, 0}, {0.2, 0, 0}, 0.008},
                                        1500});
  std::vector<Index> left, right;
  for (Index i = 0; i < builder.body(0).nodes.size(); ++i) {
    const double x = flesh.mesh->vertices()[static_cast<std::size_t>(i)].x();
    if (x < 0.04) left.push_back(i);
    if (x > 0.14) right.push_back(i);
  }
  builder.attach(upper, left);
  builder.attach(lower, right);
  return builder.build();
}

double elbow(const Model& model, const State& state) {
  const auto poses = model.articulation()->poses(state.x);
  const Mat3 relative = poses[0].rotation.transpose() * poses[1].rotation;
  return std::atan2(relative(1, 0), relative(0, 0));
}

TEST(Links, AFloatingArmBendsByItsMuscleAndKeepsItsMomentum) {
  const Vec3 velocity(0.1, -0.2, 0.05);
  const auto model = floating_arm(velocity);
  const auto stepper = make_stepper(model, "conjac", {{"dynamic_nodes", std::int64_t{1}}});
  State state = model->rest_state();
  for (Index i = 0; i < model->nodes(); ++i) node(state.v, i) = velocity;
  const double mass = model->mass().lumped().sum();
  double most = 0, fastest = 0;
  for (int s = 0; s < 100; ++s) {
    const StepReport report = stepper->step(state, 2e-3);
    ASSERT_TRUE(report.succeeded()) << report.detail;
    Vec3 momentum = Vec3::Zero();
    for (Index i = 0; i < model->nodes(); ++i) momentum += model->mass().lumped()[i] * node(state.v, i);
    most = std::max(most, (momentum - mass * velocity).norm());
    for (Index i = 0; i < model->nodes(); ++i) fastest = std::max(fastest, (node(state.v, i) - velocity).norm());
  }
  EXPECT_GT(elbow(*model, state), 0.2);  // it has bent, and fast
  EXPECT_GT(fastest, 0.2);
  EXPECT_LT(most, 1e-6 * mass * velocity.norm());
}

TEST(Links, HoldWhatIsAttached) {
  const auto model = floating_arm(Vec3::Zero());
  const auto stepper = make_stepper(model, "conjac");
  State state = model->rest_state();
  for (int s = 0; s < 20; ++s) ASSERT_TRUE(stepper->step(state, 5e-3).succeeded());
  const Articulation& links = *model->articulation();
  const auto poses = links.poses(state.x);
  for (std::size_t l = 0; l < links.links().size(); ++l)
    for (Index i : links.links()[l].nodes)
      EXPECT_LT((node(state.x, i) - poses[l].from_rest(node(model->rest(), i))).norm(), 1e-12);
}

TEST(Links, LandOnTheFloor) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  add_bystander(builder);
  builder.add_collider(testing::floor_plane(0));
  builder.add_link({"ball", -1, JointKind::free, Vec3::Zero(), Vec3::UnitZ(), SphereShape{{0, 0.5, 0}, 0.1}, 700});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "conjac");
  State state = model->rest_state();
  for (int s = 0; s < 200; ++s) {
    const StepReport report = stepper->step(state, 1e-2);
    ASSERT_TRUE(report.succeeded()) << report.detail;
  }
  double lowest = 1;
  for (Index i = model->bodies()[1].nodes.begin; i < model->nodes(); ++i) lowest = std::min(lowest, state.x[3 * i + 1]);
  EXPECT_NEAR(lowest, 0, 0.005);
}

}  // namespace
}  // namespace pliant
