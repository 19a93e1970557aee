#include "pliant/solvers/quasi_newton/contact_compliance.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <numeric>
#include <random>

#include "linalg/test_matrices.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

using testing::box_body, testing::floor_plane;

constexpr Index kSide = 7, kNodes = kSide * kSide * kSide;

/// Like M/h^2 + L of a block, with a few nodes held.
BlockMatrix constant_matrix(std::vector<std::uint8_t>& held) {
  const auto pattern = test::grid_pattern(kSide, kSide, kSide);
  BlockMatrix A(pattern, 1);
  A.set_zero();
  for (Index i = 0; i < kNodes; ++i)
    for (std::int64_t k = pattern->diagonal(i) + 1; k < pattern->row_start()[at(i) + 1]; ++k) {
      *A.block(k) -= 100;
      *A.block(pattern->diagonal(i)) += 100;
      *A.block(pattern->diagonal(pattern->columns()[at(k)])) += 100;
    }
  for (Index i = 0; i < kNodes; ++i) *A.block(pattern->diagonal(i)) += 1 + i % 3;
  held.assign(at(kNodes), 0);
  held[0] = held[5] = 1;
  A.eliminate(held);
  return A;
}

Eigen::MatrixXd dense(const BlockMatrix& A) {
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(kNodes, kNodes);
  for (Index i = 0; i < kNodes; ++i)
    for (std::int64_t k = A.pattern().diagonal(i); k < A.pattern().row_start()[at(i) + 1]; ++k)
      D(i, A.pattern().columns()[at(k)]) = D(A.pattern().columns()[at(k)], i) = *A.block(k);
  return D;
}

std::vector<Index> surface() {
  std::vector<Index> nodes;
  for (Index z = 0; z < kSide; ++z)
    for (Index y = 0; y < kSide; ++y)
      for (Index x = 0; x < kSide; ++x)
        if (std::min({x, y, z}) == 0 || std::max({x, y, z}) == kSide - 1) nodes.push_back(x + kSide * (y + kSide * z));
  return nodes;
}

/// Points against a floor, and vertices against triangles, from hardly there to a million times as stiff as the body.
ContactSprings random_springs(int count, std::mt19937& random) {
  const std::vector<Index> nodes = surface();
  std::uniform_int_distribution<std::size_t> any(0, nodes.size() - 1);
  std::uniform_real_distribution<double> share(0, 1), exponent(-4, 8);
  ContactSprings springs;
  for (int s = 0; s < count; ++s) {
    auto& stencil = springs.nodes.emplace_back();
    auto& weight = springs.weight.emplace_back();
    stencil.fill(-1);
    weight.fill(0);
    stencil[0] = nodes[any(random)];
    weight[0] = 1;
    for (std::size_t k = 1; k < 4 && s % 2; ++k) {
      stencil[k] = nodes[any(random)];
      weight[k] = -share(random);
    }
    springs.stiffness.push_back(std::pow(10, exponent(random)));
  }
  return springs;
}

ContactCompliance compliance_of(const BlockMatrix& A, const std::vector<std::uint8_t>& held) {
  ContactCompliance compliance;
  std::vector<Index> order(at(kNodes));
  std::iota(order.begin(), order.end(), 0);
  compliance.set_model(surface(), order, 1e9);
  EXPECT_EQ(compliance.set_constant(A, held), FactorStatus::ok);
  return compliance;
}

TEST(ContactCompliance, SolvesWithTheMatrixOfAllContacts) {
  std::mt19937 random(3);
  std::vector<std::uint8_t> held;
  const BlockMatrix A = constant_matrix(held);
  ContactCompliance compliance = compliance_of(A, held);
  for (int count : {0, 40, 5, 90}) {
    const ContactSprings springs = random_springs(count, random);
    ASSERT_TRUE(compliance.serves(springs));
    ASSERT_TRUE(compliance.set_springs(springs));
    Eigen::MatrixXd whole = dense(A);
    for (std::size_t s = 0; s < springs.size(); ++s) {
      VecX w = VecX::Zero(kNodes);
      for (std::size_t k = 0; k < kContactNodes; ++k)
        if (const Index i = springs.nodes[s][k]; i >= 0 && !held[at(i)]) w[i] += springs.weight[s][k];
      whole += springs.stiffness[s] * w * w.transpose();
    }
    VecX q = VecX::Random(3 * kNodes), r;
    compliance.solve(q, r);
    const Eigen::MatrixXd expected =
        whole.llt().solve(Eigen::Map<const Eigen::MatrixXd>(q.data(), 3, kNodes).transpose());
    const Eigen::MatrixXd got = Eigen::Map<const Eigen::MatrixXd>(r.data(), 3, kNodes).transpose();
    EXPECT_LT((got - expected).norm(), 1e-9 * expected.norm()) << count;
    // What is stiff hardly moves, and so is held against forces, too.
    EXPECT_LT((whole * got - whole * expected).norm(), 1e-4 * q.norm()) << count;
  }
}

TEST(ContactCompliance, IsTheSameWhicheverColumnsWereThereBefore) {
  std::mt19937 random(5);
  std::vector<std::uint8_t> held;
  const BlockMatrix A = constant_matrix(held);
  ContactCompliance ahead = compliance_of(A, held), late = compliance_of(A, held);
  ahead.prepare_columns();
  ASSERT_TRUE(late.set_springs(random_springs(10, random)));
  const ContactSprings springs = random_springs(30, random);
  ASSERT_TRUE(ahead.set_springs(springs) && late.set_springs(springs));
  const VecX q = VecX::Random(3 * kNodes);
  VecX r, s;
  ahead.solve(q, r);
  late.solve(q, s);
  EXPECT_EQ(r, s);
}

TEST(ContactCompliance, LeavesContactsOfManyNodesAndOfInnerOnesToAFactorisation) {
  std::vector<std::uint8_t> held;
  const BlockMatrix A = constant_matrix(held);
  ContactCompliance compliance = compliance_of(A, held);
  ContactSprings springs;
  springs.nodes.push_back({1 + kSide + kSide * kSide, -1, -1, -1, -1, -1, -1, -1});
  springs.weight.push_back({1, 0, 0, 0, 0, 0, 0, 0});
  springs.stiffness.push_back(1);
  EXPECT_FALSE(compliance.serves(springs));
  std::mt19937 random(7);
  springs = random_springs(60, random);
  EXPECT_TRUE(compliance.serves(springs));
  compliance.set_model(surface(), std::vector<Index>(at(kNodes)), 100);
  EXPECT_FALSE(compliance.serves(springs));
}

/// With time enough for any number of iterations, a block that falls on another comes to where Newton's method has it.
TEST(ContactCompliance, TimedStepsThatHaveTimeEndWhereNewtonsDo) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(box_body("lower", {0.2, 0.1, 0.2}, {6, 3, 6}, {0, 0.0508, 0}));
  builder.add_body(box_body("upper", {0.1, 0.1, 0.1}, {4, 4, 4}, {0.01, 0.155, 0.02}));
  builder.add_collider(floor_plane());
  builder.set_contact({.dhat = 2e-3, .friction = 0.3});
  const auto model = builder.build();
  const auto timed = make_stepper(model, "quasi-newton", {{"time_limit", 1e5}, {"iterations", std::int64_t{200}}});
  const auto newton = make_stepper(model, "pod-newton");
  State state = model->rest_state();
  int without_factorisation = 0;
  for (int k = 0; k < 30; ++k) {
    State reference = state;
    ASSERT_TRUE(newton->step(reference, 0.01).succeeded());
    const StepReport report = timed->step(state, 0.01);
    ASSERT_TRUE(report.succeeded()) << report.detail;
    without_factorisation += report.contacts > 0 && report.factorisations == 0;
    EXPECT_LT((state.x - reference.x).cwiseAbs().maxCoeff(), 1e-5) << k;
  }
  EXPECT_GT(without_factorisation, 20);
}

/// Kinetic energy and that of gravity, J.
double energy_of_motion(const Model& model, const State& state) {
  double sum = 0;
  for (Index i = 0; i < model.nodes(); ++i)
    sum += model.mass().lumped()[i] * (0.5 * node(state.v, i).squaredNorm() + 9.81 * node(state.x, i).y());
  return sum;
}

/// One iteration a step solves nothing, and what it leaves out must not make anything fly away.
TEST(ContactCompliance, StepsOfOneIterationDoNotGainEnergy) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(box_body("lower", {0.2, 0.1, 0.2}, {6, 3, 6}, {0, 0.0508, 0}));
  builder.add_body(box_body("upper", {0.1, 0.1, 0.1}, {4, 4, 4}, {0.12, 0.2, 0.02}));
  builder.add_collider(floor_plane());
  builder.set_contact({.dhat = 2e-3, .friction = 0.3});
  const auto model = builder.build();
  const auto stepper = make_stepper(model, "quasi-newton", {{"time_limit", 1e-9}});
  State state = model->rest_state();
  const Range upper = model->bodies()[1].nodes;
  for (Index i = upper.begin; i < upper.end; ++i)
    node(state.v, i) = Vec3(-4, -6, 0) + Vec3(0, 5, 40).cross(node(state.x, i) - Vec3(0.12, 0.2, 0.02));
  double energy = energy_of_motion(*model, state);
  const double begin = energy;
  for (int k = 0; k < 200; ++k) {
    const StepReport report = stepper->step(state, 1.0 / 60);
    ASSERT_TRUE(report.succeeded()) << report.detail;
    energy = energy_of_motion(*model, state);
    EXPECT_LE(energy, begin * (1 + 1e-9)) << k;
  }
  EXPECT_LT(energy, 0.2 * begin);
}

}  // namespace
}  // namespace pliant
