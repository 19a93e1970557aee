#include "pliant/contact/closest.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <map>

#include "contact/pair_test_support.hpp"
#include "pliant/contact/barrier.hpp"
#include "pliant/contact/pair_derivatives.hpp"
#include "pliant/math/psd_projection.hpp"
#include "support/convergence.hpp"

namespace pliant {
namespace {

using testing::from_vector;
using testing::PairSampler;
using testing::to_vector;

constexpr std::array<PairKind, 2> kKinds = {PairKind::point_triangle, PairKind::edge_edge};

/// The least squared distance by a projected descent that knows nothing of types.
double reference_distance2(PairKind kind, const Corners& x) {
  const auto segment = [](const Vec3& p, const Vec3& a, const Vec3& b) {
    const Vec3 e = b - a;
    const double l = e.squaredNorm(), t = l > 0 ? std::clamp((p - a).dot(e) / l, 0.0, 1.0) : 0;
    return (p - a - t * e).squaredNorm();
  };
  double least = 1e300;
  if (kind == PairKind::point_triangle) {
    for (int k = 0; k <= 200; ++k)  // segments that sweep the triangle
      least = std::min(least, segment(x[0], x[1] + k / 200.0 * (x[2] - x[1]), x[1] + k / 200.0 * (x[3] - x[1])));
  } else {
    for (int k = 0; k <= 200; ++k) least = std::min(least, segment(x[0] + k / 200.0 * (x[1] - x[0]), x[2], x[3]));
  }
  return least;
}

TEST(Closest, IsTheLeastDistanceOfAnyTwoPointsForOrdinaryAndDegeneratePairs) {
  PairSampler sample(1);
  for (int k = 0; k < 4000; ++k) {
    const Corners x = k % 2 ? sample.awkward() : sample.corners();
    double size = 0;
    for (std::size_t i = 1; i < 4; ++i) size = std::max(size, (x[i] - x[0]).norm());
    for (PairKind kind : kKinds) {
      const Closest c = closest(kind, x);
      const double reference = std::sqrt(reference_distance2(kind, x)), d = std::sqrt(c.d2);
      // Never more than the best sample, and never less than that by more than the samples are apart.
      EXPECT_LE(d, reference + 1e-13 * (size + x[0].norm()));
      EXPECT_GE(d, reference - size / 150);
      // And attained: the weights are those of points of the two primitives.
      const std::size_t first = kind == PairKind::point_triangle ? 1 : 2;
      double sum = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        const double w = i < first ? c.weight[i] : -c.weight[i];
        EXPECT_GE(w, 0);
        sum += i < first ? w : 0;
      }
      EXPECT_NEAR(sum, 1, 1e-15);
      EXPECT_NEAR(c.weight[0] + c.weight[1] + c.weight[2] + c.weight[3], 0, 1e-15);
    }
  }
}

TEST(Closest, EveryTypeOccursAndNamesTheCornersThatCarryWeight) {
  PairSampler sample(2);
  std::map<int, int> triangle_types, edge_types;
  for (int k = 0; k < 20000; ++k) {
    const Corners x = sample.corners();
    const Closest c = closest_point_triangle(x);
    ++triangle_types[c.type];
    static const std::array<std::array<int, 3>, 7> uses = {
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}}};
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(c.weight[i + 1] != 0, uses[c.type][i] != 0);
    const Closest e = closest_edge_edge(x);
    ++edge_types[e.type];
    static const std::array<std::array<int, 4>, 9> corners = {{{1, 0, 1, 0},
                                                               {1, 0, 0, 1},
                                                               {0, 1, 1, 0},
                                                               {0, 1, 0, 1},
                                                               {1, 1, 1, 0},
                                                               {1, 1, 0, 1},
                                                               {1, 0, 1, 1},
                                                               {0, 1, 1, 1},
                                                               {1, 1, 1, 1}}};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(e.weight[i] != 0, corners[e.type][i] != 0);
  }
  EXPECT_EQ(triangle_types.size(), 7u);
  EXPECT_EQ(edge_types.size(), 9u);
}

TEST(Closest, DoesNotDependOnTheScaleOfTheScene) {
  PairSampler sample(3);
  for (int k = 0; k < 500; ++k) {
    const Corners x = sample.corners();
    for (double scale : {1e-8, 1e-6, 1e4}) {
      Corners y = x;
      for (Vec3& p : y) p *= scale;
      for (PairKind kind : kKinds) {
        EXPECT_EQ(closest(kind, y).type, closest(kind, x).type);
        EXPECT_NEAR(closest(kind, y).d2, scale * scale * closest(kind, x).d2, 1e-12 * scale * scale);
      }
    }
  }
}

TEST(Closest, TiesGoToTheLowerDimension) {
  // Above a corner, above an edge, across the ends of two edges.
  const Corners above_corner{Vec3(0, 1, 0), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 0, 1)};
  EXPECT_EQ(closest_point_triangle(above_corner).type, static_cast<int>(PointTriangleType::t0));
  const Corners above_edge{Vec3(0.5, 1, 0), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 0, 1)};
  EXPECT_EQ(closest_point_triangle(above_edge).type, static_cast<int>(PointTriangleType::edge0));
  const Corners crossing_at_end{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, -1), Vec3(0, 1, 1)};
  EXPECT_EQ(closest_edge_edge(crossing_at_end).type, static_cast<int>(EdgeEdgeType::a0_b));
}

template <class Value>
void expect_second_order(double step, const Vec12& d, const Value& exact, double scale, auto&& difference) {
  const auto errors = testing::difference_errors(step, [&](double h) { return difference(h, d, exact) / scale; });
  EXPECT_TRUE(errors.second_order()) << "order " << errors.order() << ", smallest error " << errors.smallest();
}

/// Whether the type stays the same in the neighbourhood that differences look at.
bool well_inside(PairKind kind, const Corners& x, double step) {
  const Closest c = closest(kind, x);
  for (unsigned k = 0; k < 20; ++k) {
    Vec12 v = to_vector(x);
    PairSampler sample(100 + k);
    for (double& e : v) e += step * sample.uniform();
    if (closest(kind, from_vector(v)).type != c.type) return false;
  }
  return true;
}

TEST(PairDerivatives, GradientAndHessianOfEveryTypeAreDerivatives) {
  PairSampler sample(4);
  std::map<std::pair<PairKind, int>, int> checked;
  for (int k = 0; k < 3000 && checked.size() < 16; ++k) {
    const Corners x = sample.corners();
    for (PairKind kind : kKinds) {
      const Closest c = closest(kind, x);
      if (c.d2 < 0.05 || edge_cross_norm(x) < 0.1 || !well_inside(kind, x, 0.03)) continue;
      if (checked[{kind, c.type}]++ >= 3) continue;
      Vec12 d;
      for (double& e : d) e = sample.uniform();
      const Vec12 at = to_vector(x), g = distance_gradient(c);
      expect_second_order(1e-2, d, g.dot(d), 1, [&](double h, const Vec12& dir, double exact) {
        return std::abs((closest(kind, from_vector(at + h * dir)).d2 - closest(kind, from_vector(at - h * dir)).d2) /
                            (2 * h) -
                        exact);
      });
      const Vec12 Hd = distance_hessian(c, x) * d;
      expect_second_order(1e-2, d, Hd, 1, [&](double h, const Vec12& dir, const Vec12& exact) {
        return ((distance_gradient(closest(kind, from_vector(at + h * dir))) -
                 distance_gradient(closest(kind, from_vector(at - h * dir)))) /
                    (2 * h) -
                exact)
            .norm();
      });
    }
  }
  EXPECT_EQ(checked.size(), 16u);
}

TEST(PairDerivatives, DistanceAndGradientAreContinuousAcrossTheBordersOfTypes) {
  PairSampler sample(5);
  int crossings = 0;
  for (int k = 0; k < 4000; ++k) {
    const Corners x = sample.corners(), y = sample.corners();
    for (PairKind kind : kKinds) {
      // Bisect along a line for the place where the type changes.
      double low = 0, high = 0.02;
      const auto at = [&](double s) { return testing::moved(x, y, s); };
      const int type = closest(kind, at(low)).type;
      const double triangle2 = (x[2] - x[1]).cross(x[3] - x[1]).squaredNorm();
      if (closest(kind, at(high)).type == type || edge_cross_norm(x) < 0.2 || triangle2 < 0.2) continue;
      for (int step = 0; step < 60; ++step) {
        const double middle = 0.5 * (low + high);
        (closest(kind, at(middle)).type == type ? low : high) = middle;
      }
      const Closest before = closest(kind, at(low)), after = closest(kind, at(high));
      if (before.d2 < 1e-3) continue;
      ++crossings;
      EXPECT_NEAR(before.d2, after.d2, 1e-12);
      EXPECT_LE((distance_gradient(before) - distance_gradient(after)).norm(), 1e-12) << before.d2;
    }
  }
  EXPECT_GT(crossings, 30);
}

TEST(PairDerivatives, TheProjectionInFiveDimensionsIsTheOneInTwelve) {
  PairSampler sample(6);
  for (int k = 0; k < 300; ++k) {
    const Corners x = sample.corners();
    for (PairKind kind : kKinds) {
      const Closest c = closest(kind, x);
      if (c.d2 < 1e-4) continue;
      const Barrier b = barrier(c.d2, 1.5 * c.d2);
      Mat12 expected = function_hessian(c, x, b.first, b.second, false);
      const Vec12 g = distance_gradient(c);
      EXPECT_LE((expected - (b.second * g * g.transpose() + b.first * distance_hessian(c, x))).norm(),
                1e-11 * expected.norm());
      project_psd(expected);
      EXPECT_LE((function_hessian(c, x, b.first, b.second, true) - expected).norm(), 1e-9 * expected.norm());
    }
  }
}

TEST(PairDerivatives, MollifierIsSmoothAndItsCrossNormHasTheRightDerivatives) {
  EXPECT_EQ(mollifier(2, 1).value, 1);
  EXPECT_DOUBLE_EQ(mollifier(1 - 1e-9, 1).value, 1);
  EXPECT_NEAR(mollifier(1 - 1e-9, 1).first, 0, 1e-8);
  EXPECT_EQ(mollifier(0, 1).value, 0);
  PairSampler sample(7);
  for (int k = 0; k < 5; ++k) {
    const Vec12 at = to_vector(sample.corners());
    Vec12 d;
    for (double& e : d) e = sample.uniform();
    const CrossNorm c = edge_cross_norm_derivatives(from_vector(at));
    EXPECT_DOUBLE_EQ(c.value, edge_cross_norm(from_vector(at)));
    EXPECT_LE((c.hessian - c.hessian.transpose()).norm(), 1e-15);
    expect_second_order(1e-2, d, c.gradient.dot(d), 1, [&](double h, const Vec12& dir, double exact) {
      return std::abs(
          (edge_cross_norm(from_vector(at + h * dir)) - edge_cross_norm(from_vector(at - h * dir))) / (2 * h) - exact);
    });
    const Vec12 Hd = c.hessian * d;
    expect_second_order(1e-2, d, Hd, 1, [&](double h, const Vec12& dir, const Vec12& exact) {
      return ((edge_cross_norm_derivatives(from_vector(at + h * dir)).gradient -
               edge_cross_norm_derivatives(from_vector(at - h * dir)).gradient) /
                  (2 * h) -
              exact)
          .norm();
    });
  }
}

TEST(Barrier, VanishesSmoothlyAtTheThresholdAndIsInfiniteAtContact) {
  const double dhat2 = 1e-6;
  EXPECT_EQ(barrier(dhat2, dhat2).value, 0);
  EXPECT_NEAR(barrier(dhat2 * (1 - 1e-7), dhat2).second, 0, 1e-6);
  EXPECT_TRUE(std::isinf(barrier(0, dhat2).value));
  for (double d2 : {1e-12, 1e-9, 3e-7, 9e-7}) {
    const double h = 1e-4 * std::min(d2, dhat2 - d2);
    const Barrier b = barrier(d2, dhat2);
    const double first = (barrier(d2 + h, dhat2).value - barrier(d2 - h, dhat2).value) / (2 * h);
    const double second = (barrier(d2 + h, dhat2).first - barrier(d2 - h, dhat2).first) / (2 * h);
    EXPECT_NEAR(b.first, first, 1e-6 * std::abs(first));
    EXPECT_NEAR(b.second, second, 1e-6 * std::abs(second));
    EXPECT_LT(b.first, 0);
    EXPECT_GT(b.second, 0);
  }
}

}  // namespace
}  // namespace pliant
