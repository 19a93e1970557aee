#include "pliant/contact/ccd.hpp"

#include <gtest/gtest.h>

#include "contact/ccd_campaign.hpp"

namespace pliant {
namespace {

using testing::PairSampler;

constexpr std::array<PairKind, 2> kCcdKinds = {PairKind::point_triangle, PairKind::edge_edge};

TEST(Ccd, FindsEveryConstructedCollisionAndNeverOvershoots) {
  const testing::CcdCampaign result = testing::run_ccd_campaign(20000, 1);
  EXPECT_EQ(result.missed, 0);
  EXPECT_EQ(result.overshot, 0);
  EXPECT_EQ(result.touching, 0);
  EXPECT_GT(result.ordinary, 1000);
  EXPECT_LE(result.worst_early, 0.01);
  EXPECT_LE(result.near_misses, 0.001 * result.ordinary);
}

TEST(Ccd, StopsAtTheAskedGapOfAStraightApproach) {
  // A point falls on a triangle from 1 m at 4 m/s.
  const Corners x{Vec3(0.2, 1, 0.2), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 0, 1)};
  const Corners dx{Vec3(0, -4, 0), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
  const auto time = time_of_impact(PairKind::point_triangle, x, dx, {.gap = 0.1});
  ASSERT_TRUE(time);
  EXPECT_NEAR(*time, 0.225, 1e-12);
  EXPECT_FALSE(time_of_impact(PairKind::point_triangle, x, dx, {.until = 0.2, .gap = 0.1}));
}

TEST(Ccd, SlidingAtATinyGapIsNoCollision) {
  for (double gap : {1e-4, 1e-8, 1e-11}) {
    const Corners point{Vec3(0.1, gap, 0.2), Vec3(0, 0, 0), Vec3(9, 0, 0), Vec3(0, 0, 9)};
    const Corners past{Vec3(8, 0, 0), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
    EXPECT_FALSE(time_of_impact(PairKind::point_triangle, point, past)) << gap;
    const Corners edges{Vec3(-1, gap, 0), Vec3(1, gap, 0), Vec3(0, 0, -1), Vec3(0, 0, 9)};
    const Corners along{Vec3::Zero(), Vec3::Zero(), Vec3(0, 0, -8), Vec3(0, 0, -8)};
    EXPECT_FALSE(time_of_impact(PairKind::edge_edge, edges, along)) << gap;
  }
}

TEST(Ccd, ACommonMotionIsNoCollisionHoweverFast) {
  PairSampler sample(3);
  for (int k = 0; k < 200; ++k) {
    const Corners x = sample.corners();
    const Vec3 v = sample.vector(1e6);
    for (PairKind kind : kCcdKinds) {
      if (closest(kind, x).d2 < 1e-6) continue;
      EXPECT_FALSE(time_of_impact(kind, x, {v, v, v, v}));
    }
  }
}

TEST(Ccd, TouchingPairsStopAtOnce) {
  const Corners x{Vec3(0.2, 0, 0.2), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 0, 1)};
  const Corners dx{Vec3(0, 1, 0), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
  EXPECT_EQ(time_of_impact(PairKind::point_triangle, x, dx), 0.0);
}

TEST(Ccd, TheIterationLimitKeepsItSafe) {
  PairSampler sample(4);
  for (int k = 0; k < 500; ++k) {
    const Corners x = sample.corners(), dx = sample.corners(3);
    for (PairKind kind : kCcdKinds) {
      const auto rough = time_of_impact(kind, x, dx, {.max_iterations = 2});
      const auto fine = time_of_impact(kind, x, dx);
      if (fine) {
        ASSERT_TRUE(rough);
        EXPECT_LE(*rough, *fine);
      }
    }
  }
}

}  // namespace
}  // namespace pliant
