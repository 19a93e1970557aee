#include "pliant/math/turn.hpp"

#include <gtest/gtest.h>

namespace pliant {
namespace {

TEST(Turn, TakesOneDirectionToTheOtherByTheLeastAngle) {
  const Vec3 from(1, 2, -0.5), to(-0.3, 0.8, 2);
  const Eigen::Quaterniond turn = turn_between(from, to);
  EXPECT_NEAR(turn.norm(), 1, 1e-15);
  EXPECT_NEAR((turn * from.normalized() - to.normalized()).norm(), 0, 1e-15);
  EXPECT_NEAR(turn.vec().dot(from) + turn.vec().dot(to), 0, 1e-15) << "the axis is across both";
}

TEST(Turn, IsHalfATurnBetweenOppositeDirections) {
  for (const Vec3& from : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), Vec3(1, 2, 3), Vec3(0, -3, 1e-9)}) {
    const Eigen::Quaterniond turn = turn_between(from, -2 * from);
    EXPECT_NEAR(turn.norm(), 1, 1e-15);
    EXPECT_NEAR((turn * from.normalized() + from.normalized()).norm(), 0, 1e-15);
  }
}

TEST(Turn, IsNoneBetweenTheSameDirections) {
  EXPECT_NEAR(turn_between(Vec3(0, 0, 2), Vec3(0, 0, 5)).vec().norm(), 0, 1e-15);
}

}  // namespace
}  // namespace pliant
