#pragma once

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "pliant/energies/energy.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/math/psd_projection.hpp"
#include "support/convergence.hpp"

// What any Energy must satisfy, whatever it models. Each check takes an energy and positions where it is finite and
// smooth; `step` is a displacement (m) small against the distances over which it varies.
namespace pliant::testing {

inline Range all_stencils(const Energy& energy) { return {0, energy.stencils().count()}; }

inline double total_value(const Energy& energy, const VecX& x) {
  std::vector<double> values(static_cast<std::size_t>(energy.stencils().count()));
  energy.evaluate(x, all_stencils(energy), values.data(), nullptr);
  double sum = 0;
  for (double v : values) sum += v;
  return sum;
}

inline VecX total_gradient(const Energy& energy, const VecX& x) {
  const Stencils& stencils = energy.stencils();
  std::vector<double> values(static_cast<std::size_t>(stencils.count())), local(3 * stencils.nodes.size());
  energy.evaluate(x, all_stencils(energy), values.data(), local.data());
  VecX g = VecX::Zero(x.size());
  for (std::size_t k = 0; k < stencils.nodes.size(); ++k) {
    node(g, stencils.nodes[k]) += Eigen::Map<const Vec3>(local.data() + 3 * k);
  }
  return g;
}

inline std::vector<double> local_hessians(const Energy& energy, const VecX& x, Range range, Projection projection) {
  std::vector<double> blocks(static_cast<std::size_t>(range.size()) *
                             static_cast<std::size_t>(9 * local_blocks(energy.stencils().size)));
  energy.hessians(x, range, projection, blocks.data());
  return blocks;
}

/// The dense matrix of one local Hessian.
inline Eigen::MatrixXd dense_hessian(const double* blocks, int size) {
  Eigen::MatrixXd K(3 * size, 3 * size);
  for (int b = 0; b < size; ++b) {
    for (int a = 0; a <= b; ++a) {
      const Eigen::Map<const Mat3> block(blocks + 9 * (b * (b + 1) / 2 + a));
      K.block<3, 3>(3 * a, 3 * b) = block;
      K.block<3, 3>(3 * b, 3 * a) = block.transpose();
    }
  }
  return K;
}

inline VecX hessian_product(const Energy& energy, const VecX& x, const VecX& d,
                            Projection projection = Projection::none) {
  const Stencils& stencils = energy.stencils();
  const auto blocks = local_hessians(energy, x, all_stencils(energy), projection);
  VecX y = VecX::Zero(x.size());
  for (Index s = 0; s < stencils.count(); ++s) {
    const Eigen::MatrixXd K =
        dense_hessian(blocks.data() + static_cast<std::ptrdiff_t>(s) * 9 * local_blocks(stencils.size), stencils.size);
    VecX local(3 * stencils.size);
    for (int a = 0; a < stencils.size; ++a) local.segment<3>(3 * a) = node(d, stencils[s][a]);
    local = (K * local).eval();
    for (int a = 0; a < stencils.size; ++a) node(y, stencils[s][a]) += local.segment<3>(3 * a);
  }
  return y;
}

inline VecX random_direction(Eigen::Index size, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  VecX d(size);
  for (Eigen::Index i = 0; i < size; ++i) d[i] = uniform(engine);
  return d;
}

inline void expect_gradient_is_derivative(const Energy& energy, const VecX& x, double step) {
  const VecX g = total_gradient(energy, x);
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const VecX d = random_direction(x.size(), seed);
    const double scale = g.norm() * d.norm() + 1e-30;
    const auto errors = difference_errors(step, [&](double h) {
      return std::abs((total_value(energy, x + h * d) - total_value(energy, x - h * d)) / (2 * h) - g.dot(d)) / scale;
    });
    EXPECT_TRUE(errors.second_order()) << energy.name() << " gradient: order " << errors.order() << ", smallest error "
                                       << errors.smallest();
  }
}

inline void expect_hessian_is_derivative(const Energy& energy, const VecX& x, double step) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const VecX d = random_direction(x.size(), seed);
    const VecX exact = hessian_product(energy, x, d);
    const auto errors = difference_errors(step, [&](double h) {
      const VecX difference = (total_gradient(energy, x + h * d) - total_gradient(energy, x - h * d)) / (2 * h);
      return (difference - exact).norm() / exact.norm();
    });
    EXPECT_TRUE(errors.second_order()) << energy.name() << " Hessian: order " << errors.order() << ", smallest error "
                                       << errors.smallest();
  }
}

/// Diagonal blocks are symmetric (the others are so by layout).
inline void expect_symmetric_hessian(const Energy& energy, const VecX& x, Projection projection) {
  const auto blocks = local_hessians(energy, x, all_stencils(energy), projection);
  const int size = energy.stencils().size;
  for (Index s = 0; s < energy.stencils().count(); ++s) {
    const double* local = blocks.data() + static_cast<std::ptrdiff_t>(s) * 9 * local_blocks(size);
    for (int a = 0; a < size; ++a) {
      const Eigen::Map<const Mat3> block(local + 9 * (a * (a + 1) / 2 + a));
      EXPECT_LE((block - block.transpose()).norm(), 1e-14 * block.norm());
    }
  }
}

/// Numerical projection is the brute-force one of the local matrix; analytic projection has no negative eigenvalue.
inline void expect_projections(const Energy& energy, const VecX& x) {
  const int size = energy.stencils().size;
  const auto stride = static_cast<std::ptrdiff_t>(9 * local_blocks(size));
  const auto exact = local_hessians(energy, x, all_stencils(energy), Projection::none);
  const auto numerical = local_hessians(energy, x, all_stencils(energy), Projection::numerical);
  const auto analytic = local_hessians(energy, x, all_stencils(energy), Projection::analytic);
  for (Index s = 0; s < energy.stencils().count(); ++s) {
    Eigen::MatrixXd expected = dense_hessian(exact.data() + s * stride, size);
    const double scale = expected.norm();
    project_psd(expected);
    expected -= dense_hessian(numerical.data() + s * stride, size);
    EXPECT_LE(expected.norm(), 1e-11 * scale);
    const Eigen::MatrixXd K = dense_hessian(analytic.data() + s * stride, size);
    VecX values(K.rows());
    symmetric_eigen(K.data(), 3 * size, values.data());
    EXPECT_GE(values[0], -1e-12 * scale);
  }
}

/// A rigid motion of everything leaves values alone and turns forces and stiffness with it.
inline void expect_rigid_invariance(const Energy& energy, const VecX& x) {
  const Mat3 R = Eigen::Quaterniond(0.3, -0.5, 0.7, 0.4).normalized().toRotationMatrix();
  const VecX d = random_direction(x.size(), 9);
  const auto turn = [&](const VecX& v, const Vec3& shift) {
    VecX w(v.size());
    for (Index i = 0; i < static_cast<Index>(v.size() / 3); ++i) node(w, i) = R * node(v, i) + shift;
    return w;
  };
  const VecX moved = turn(x, {1.5, -2, 0.5});
  const double value = total_value(energy, x);
  const VecX g = total_gradient(energy, x), Hd = hessian_product(energy, x, d);
  EXPECT_NEAR(total_value(energy, moved), value, 1e-11 * std::abs(value));
  EXPECT_LE((total_gradient(energy, moved) - turn(g, Vec3::Zero())).norm(), 1e-11 * (g.norm() + Hd.norm()));
  EXPECT_LE((hessian_product(energy, moved, turn(d, Vec3::Zero())) - turn(Hd, Vec3::Zero())).norm(), 1e-9 * Hd.norm());
}

/// Same bits however the stencils are split into ranges.
inline void expect_same_bits_for_any_split(const Energy& energy, const VecX& x, Projection projection) {
  const Stencils& stencils = energy.stencils();
  const auto unknowns = static_cast<std::ptrdiff_t>(3 * stencils.size);
  const auto stride = static_cast<std::ptrdiff_t>(9 * local_blocks(stencils.size));
  const auto count = static_cast<std::size_t>(stencils.count());
  std::vector<double> values(count), gradients(3 * stencils.nodes.size());
  energy.evaluate(x, all_stencils(energy), values.data(), gradients.data());
  const auto blocks = local_hessians(energy, x, all_stencils(energy), projection);
  for (Index pieces : {1, 5, 16, 23}) {
    std::vector<double> v(count), g(gradients.size()), h(blocks.size()), only(count);
    for (Index begin = 0; begin < stencils.count(); begin += pieces) {
      const Range range{begin, std::min(begin + pieces, stencils.count())};
      energy.evaluate(x, range, v.data() + begin, g.data() + begin * unknowns);
      energy.evaluate(x, range, only.data() + begin, nullptr);
      energy.hessians(x, range, projection, h.data() + begin * stride);
    }
    EXPECT_EQ(v, values);
    EXPECT_EQ(only, values);
    EXPECT_EQ(g, gradients);
    EXPECT_EQ(h, blocks);
  }
}

/// All of the above, for a potential that does not change under rigid motion.
inline void run_derivative_battery(const Energy& energy, const VecX& x, double step) {
  expect_gradient_is_derivative(energy, x, step);
  expect_hessian_is_derivative(energy, x, step);
  expect_rigid_invariance(energy, x);
  expect_projections(energy, x);
  for (Projection projection : {Projection::none, Projection::analytic, Projection::numerical}) {
    expect_symmetric_hessian(energy, x, projection);
    expect_same_bits_for_any_split(energy, x, projection);
  }
}

}  // namespace pliant::testing
