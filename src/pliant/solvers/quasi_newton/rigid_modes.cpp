#include "pliant/solvers/quasi_newton/rigid_modes.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

using Matrix6 = Eigen::Matrix<double, 6, 6>;

Mat3 cross(const Vec3& a) {
  Mat3 m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

/// sum_ij a_ij P_i^T P_j with P_i = [1, -r_i x], from the moments of a.
Matrix6 rigid_block(const Eigen::Matrix4d& moments) {
  const Mat3 second = moments.bottomRightCorner<3, 3>();
  Matrix6 block;
  block.topLeftCorner<3, 3>() = moments(0, 0) * Mat3::Identity();
  block.topRightCorner<3, 3>() = -cross(moments.block<1, 3>(0, 1).transpose());
  block.bottomLeftCorner<3, 3>() = cross(moments.block<3, 1>(1, 0));
  block.bottomRightCorner<3, 3>() = second.trace() * Mat3::Identity() - second.transpose();
  return block;
}

}  // namespace

void RigidModes::begin_step(const StepProblem& problem) {
  std::vector<std::uint8_t> is_held(at(model_.nodes()), 0), is_rigid(at(model_.nodes()), 0);
  for (const Body& body : model_.bodies())
    if (body.rigid) std::fill_n(is_rigid.begin() + body.nodes.begin, body.nodes.size(), std::uint8_t{1});
  if (const TieEnergy* ties = model_.ties())
    for (const Tie& tie : ties->ties()) {
      // What slides is free in some direction, and what is tied to a rigid body goes where that goes.
      const bool holds = !tie.slides() && std::none_of(tie.nodes.begin(), tie.nodes.end(),
                                                       [&](Index i) { return is_rigid[at(i)] != 0; });
      for (Index i : tie.nodes)
        if (holds) is_held[at(i)] = 1;
    }
  for (Index unknown : problem.fixed) is_held[at(unknown / 3)] = 1;
  for (Index i : problem.boundary.penalised) is_held[at(i)] = 1;
  bodies_.clear();
  body_of_.assign(at(model_.nodes()), -1);
  for (const Body& body : model_.bodies()) {
    if (std::find(is_held.begin() + body.nodes.begin, is_held.begin() + body.nodes.end, 1) !=
        is_held.begin() + body.nodes.end)
      continue;
    std::fill(body_of_.begin() + body.nodes.begin, body_of_.begin() + body.nodes.end,
              static_cast<Index>(bodies_.size()));
    bodies_.push_back({body.nodes, body.damping.mass, Vec3::Zero(), Moments::Zero()});
  }
  is_usable_ = false;
}

void RigidModes::set_matrix(const VecX& x, const BlockMatrix& A, const ContactSprings& springs) {
  if (bodies_.empty()) return;
  const VecX& mass = model_.mass().lumped();
  arm_.resize(x.size());
  extended_.setZero(4 * Eigen::Index(model_.nodes()));
  for (FreeBody& body : bodies_) {
    Vec3 sum = Vec3::Zero();
    double total = 0;
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      sum += mass[i] * node(x, i);
      total += mass[i];
    }
    body.centre = sum / total;
    body.mass.setZero();
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      node(arm_, i) = node(x, i) - body.centre;
      auto extended = extended_.segment<4>(4 * Eigen::Index(i));
      extended << 1, node(arm_, i);
      body.mass += mass[i] * extended * extended.transpose();
    }
  }
  G_.factor(matrix_modes(A, springs));
}

void RigidModes::append_ties(const TieTerm& ties, const VecX& x, std::vector<ContactSpring>& springs) const {
  if (bodies_.empty() || !model_.ties()) return;
  for (std::size_t t = 0; t < model_.ties()->ties().size(); ++t) {
    const Tie& tie = model_.ties()->ties()[t];
    ContactSpring spring;
    std::size_t used = 0;
    for (std::size_t a = 0; a < tie.nodes.size() && used < kContactNodes; ++a)
      if (body_of_[at(tie.nodes[a])] >= 0) {
        spring.nodes[used] = tie.nodes[a];
        spring.weight[used++] = tie.weights[a];
      }
    if (used == 0) continue;
    spring.stiffness = ties.stiffness(t, x);
    springs.push_back(spring);
  }
}

void RigidModes::set_springs(const StepProblem& problem, std::span<const ContactSpring> springs) {
  if (bodies_.empty()) return;
  C_.factor(exact_modes(problem, springs));
  is_usable_ = G_.is_valid() && C_.is_valid();
}

Eigen::MatrixXd RigidModes::matrix_modes(const BlockMatrix& A, const ContactSprings& springs) const {
  const auto count = static_cast<Eigen::Index>(bodies_.size());
  Eigen::MatrixXd moments = Eigen::MatrixXd::Zero(4 * count, 4 * count);
  const BlockPattern& pattern = A.pattern();
  const auto extended = [&](Index i) { return extended_.segment<4>(4 * Eigen::Index(i)); };
  for (Index i = 0; i < pattern.rows(); ++i) {
    const Index b = body_of_[at(i)];
    if (b < 0) continue;
    // The rest of a row mostly belongs to the row's own body: its sum first, then one product.
    const Range body = bodies_[at(b)].nodes;
    Eigen::Vector4d own = 0.5 * *A.block(pattern.diagonal(i)) * extended(i);
    for (std::int64_t k = pattern.diagonal(i) + 1; k < pattern.row_start()[at(i) + 1]; ++k) {
      const Index j = pattern.columns()[at(k)];
      if (j < body.end)  // columns are no less than i
        own += *A.block(k) * extended(j);
      else if (const Index c = body_of_[at(j)]; c >= 0)
        moments.block<4, 4>(4 * b, 4 * c) += *A.block(k) * extended(i) * extended(j).transpose();
    }
    moments.block<4, 4>(4 * b, 4 * b) += extended(i) * own.transpose();
  }
  for (std::size_t s = 0; s < springs.size(); ++s)
    for (std::size_t k = 0; k < kContactNodes; ++k)
      for (std::size_t l = 0; l <= k; ++l) {
        const Index i = springs.nodes[s][k], j = springs.nodes[s][l];
        const Index b = i < 0 ? -1 : body_of_[at(i)], c = j < 0 ? -1 : body_of_[at(j)];
        if (b < 0 || c < 0) continue;
        const double entry = springs.stiffness[s] * springs.weight[s][k] * springs.weight[s][l] * (k == l ? 0.5 : 1);
        moments.block<4, 4>(4 * b, 4 * c) += entry * extended(i) * extended(j).transpose();
      }
  moments = (moments + moments.transpose()).eval();
  Eigen::MatrixXd G(6 * count, 6 * count);
  for (Eigen::Index b = 0; b < count; ++b)
    for (Eigen::Index c = 0; c < count; ++c)
      G.block<6, 6>(6 * b, 6 * c) = rigid_block(moments.block<4, 4>(4 * b, 4 * c));
  return G;
}

Eigen::MatrixXd RigidModes::exact_modes(const StepProblem& problem, std::span<const ContactSpring> springs) const {
  const auto count = static_cast<Eigen::Index>(bodies_.size());
  Eigen::MatrixXd C = Eigen::MatrixXd::Zero(6 * count, 6 * count);
  for (Eigen::Index b = 0; b < count && problem.has_inertia(); ++b) {
    const FreeBody& body = bodies_[at(b)];
    C.block<6, 6>(6 * b, 6 * b) = (1 / problem.h + body.mass_damping) / problem.h * rigid_block(body.mass);
  }
  // Springs between the same two bodies come in runs: their sum about the first one's centre is taken first.
  Matrix6 sum = Matrix6::Zero();
  Index first = -1, second = -1;
  const auto flush = [&] {
    if (first < 0) return;
    C.block<6, 6>(6 * first, 6 * first) += sum;
    if (second >= 0) {
      // The motion of the second body as seen from the first one's centre.
      Matrix6 shift = Matrix6::Identity();
      shift.topRightCorner<3, 3>() = cross(bodies_[at(second)].centre - bodies_[at(first)].centre);
      const Matrix6 mixed = sum * shift;
      C.block<6, 6>(6 * first, 6 * second) -= mixed;
      C.block<6, 6>(6 * second, 6 * first) -= mixed.transpose();
      C.block<6, 6>(6 * second, 6 * second) += shift.transpose() * mixed;
    }
    sum.setZero();
  };
  for (const ContactSpring& spring : springs) {
    // The two sides are no further apart than dhat: as far as turning goes, they are at the same place.
    std::array<Index, 2> body = {-1, -1};
    double weight = 0;
    Vec3 arm = Vec3::Zero();
    for (std::size_t k = 0; k < kContactNodes; ++k) {
      const Index i = spring.nodes[k], b = i >= 0 ? body_of_[at(i)] : -1;
      if (b < 0) continue;
      if (body[0] < 0) body[0] = b;
      if (b != body[0]) {
        body[1] = b;
        continue;
      }
      weight += spring.weight[k];
      arm += spring.weight[k] * node(arm_, i);
    }
    if (body[0] < 0 || std::abs(weight) < 0.5) continue;  // nothing free, or a body that touches itself
    if (body[0] != first || body[1] != second) {
      flush();
      first = body[0];
      second = body[1];
    }
    const Mat3 turned = cross(arm / weight) * spring.stiffness;
    sum.topLeftCorner<3, 3>() += spring.stiffness;
    sum.bottomLeftCorner<3, 3>() += turned;
    sum.topRightCorner<3, 3>() += turned.transpose();
    sum.bottomRightCorner<3, 3>() -= turned * cross(arm / weight);
  }
  flush();
  return C;
}

void RigidModes::correct(const VecX& q, VecX& r) {
  if (!is_usable_) return;
  force_.setZero(6 * static_cast<Eigen::Index>(bodies_.size()));
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    auto force = force_.segment<3>(6 * static_cast<Eigen::Index>(b)),
         torque = force_.segment<3>(6 * static_cast<Eigen::Index>(b) + 3);
    for (Index i = bodies_[b].nodes.begin; i < bodies_[b].nodes.end; ++i) {
      force += node(q, i);
      torque += node(arm_, i).cross(node(q, i));
    }
  }
  motion_ = C_.solve(force_) - G_.solve(force_);
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const Vec3 shift = motion_.segment<3>(6 * static_cast<Eigen::Index>(b)),
               turn = motion_.segment<3>(6 * static_cast<Eigen::Index>(b) + 3);
    for (Index i = bodies_[b].nodes.begin; i < bodies_[b].nodes.end; ++i)
      node(r, i) += shift + turn.cross(Vec3(node(arm_, i)));
  }
}

}  // namespace pliant
