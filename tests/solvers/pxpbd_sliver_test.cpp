// Meshes in use have slivers, with stiffness numbers thousands of times those of their other elements. Sweeps must not
// amplify rounding there, and steps must end where Newton's method ends them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/pxpbd/pxpbd_stepper.hpp"
#include "support/models.hpp"

namespace pliant {
namespace pxpbd_sliver {
namespace {

constexpr double kFrame = 1.0 / 60;

/// A bar of 0.84 x 0.25 x 0.25 m in cells of 83 mm, of which two layers in the middle are a thousandth as thick.
MeshData bar_with_thin_layers() {
  constexpr double kThin = 1e-3;
  MeshData data = box({.size = {12, 3, 3}, .cells = {12, 3, 3}});
  for (Vec3& p : data.vertices) {
    const double behind = std::min(std::max(p.x() - 4, 0.0), 2.0);
    p.x() -= (1 - kThin) * behind;
    p /= 12;
  }
  return data;
}

ModelBuilder bar(const std::string& law, double young) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(bar_with_thin_layers());
  body.material = testing::material(law, young, 0.4);
  builder.add_body(body);
  return builder;
}

class LawOnSlivers : public ::testing::TestWithParam<const char*> {};

TEST_P(LawOnSlivers, SweepsLeaveABodyInFreeFallAtRest) {
  const auto model = bar(GetParam(), 3e5).build();
  const auto stepper = make_stepper(model, "fp-pxpbd", {{"correction", "none"}});
  State state = model->rest_state();
  for (int s = 1; s <= 5; ++s) {
    ASSERT_TRUE(stepper->step(state, kFrame).advanced()) << s;
    const double fallen = 9.81 * kFrame * kFrame * s * (s + 1) / 2;
    for (Index i = 0; i < model->nodes(); ++i)
      ASSERT_LT((node(state.x, i) - node(model->rest(), i) + fallen * Vec3::UnitY()).norm(), 1e-12) << s << " " << i;
  }
  EXPECT_GT(dynamic_cast<PxpbdStepper&>(*stepper).largest_kappa(kFrame), 1e6);
}

TEST_P(LawOnSlivers, HangsAsUnderNewtonByDefault) {
  ModelBuilder builder = bar(GetParam(), 3e5);
  std::vector<Index> end;
  const MeshData data = bar_with_thin_layers();
  for (std::size_t i = 0; i < data.vertices.size(); ++i)
    if (data.vertices[i].x() < 1e-9) end.push_back(static_cast<Index>(i));
  builder.add_pin({"hook", end});
  const auto model = builder.build();
  const auto newton = make_stepper(model, "pod-newton"), swept = make_stepper(model, "fp-pxpbd");
  State exact = model->rest_state(), state = exact;
  double furthest = 0;
  for (int s = 0; s < 20; ++s) {
    ASSERT_TRUE(newton->step(exact, kFrame).advanced());
    ASSERT_TRUE(swept->step(state, kFrame).advanced()) << s;
    furthest = std::max(furthest, (state.x - exact.x).cwiseAbs().maxCoeff());
  }
  EXPECT_GT((exact.x - model->rest()).cwiseAbs().maxCoeff(), 0.05);
  EXPECT_LT(furthest, 5e-3);
}

INSTANTIATE_TEST_SUITE_P(Pxpbd, LawOnSlivers,
                         ::testing::Values("neo-hookean", "mooney-rivlin", "stvk", "linear-corotated",
                                           "fixed-corotated", "stable-neo-hookean"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// One node that moves along x by the given lengths, one a sweep, in a body of 1 m: the sweep that is seen to run away,
/// or 0.
int runs_away_at(std::initializer_list<double> moves) {
  pbd::RunawayTest test(1);
  double position[4] = {0, 0, 0, 1};
  test.begin(position, 1);
  int sweep = 0;
  for (double move : moves) {
    ++sweep;
    position[0] += move;
    if (test.runs_away(position)) return sweep;
  }
  return 0;
}

TEST(Runaway, IsSeenWhenMovesGrowTwiceInARowAndAreLong) {
  EXPECT_EQ(runs_away_at({0.01, 0.02, 0.04}), 3);
  EXPECT_EQ(runs_away_at({1e-12, 1e-8, 1e-4, 1}), 4);
  EXPECT_EQ(runs_away_at({0.5, 0.4, 0.3, 0.2}), 0);
  EXPECT_EQ(runs_away_at({0.1, 0.2, 0.1, 0.2, 0.1}), 0);
  EXPECT_EQ(runs_away_at({1e-4, 2e-4, 4e-4, 8e-4}), 0);
  EXPECT_EQ(runs_away_at({0.1, std::nan("")}), 2);
}

}  // namespace
}  // namespace pxpbd_sliver
}  // namespace pliant
