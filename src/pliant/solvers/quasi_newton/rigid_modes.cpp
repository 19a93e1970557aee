#include "pliant/solvers/quasi_newton/rigid_modes.hpp"

namespace pliant {

namespace {

Mat3 cross(const Vec3& a) {
  Mat3 m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

/// sum_ij a_ij P_i^T P_j with P_i = [1, -r_i x], from the moments of a.
Eigen::Matrix<double, 6, 6> rigid_block(const Eigen::Matrix4d& moments) {
  const Mat3 second = moments.bottomRightCorner<3, 3>();
  Eigen::Matrix<double, 6, 6> block;
  block.topLeftCorner<3, 3>() = moments(0, 0) * Mat3::Identity();
  block.topRightCorner<3, 3>() = -cross(moments.block<1, 3>(0, 1).transpose());
  block.bottomLeftCorner<3, 3>() = cross(moments.block<3, 1>(1, 0));
  block.bottomRightCorner<3, 3>() = second.trace() * Mat3::Identity() - second.transpose();
  return block;
}

}  // namespace

void RigidModes::begin_step(const StepProblem& problem) {
  std::vector<std::uint8_t> is_held(at(model_.nodes()), 0);
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
    bodies_.push_back({body.nodes, body.damping.mass, Vec3::Zero()});
  }
  is_usable_ = false;
}

void RigidModes::set_matrix(const VecX& x, const BlockMatrix& A) {
  if (bodies_.empty()) return;
  const VecX& mass = model_.mass().lumped();
  arm_.resize(x.size());
  for (FreeBody& body : bodies_) {
    Vec3 sum = Vec3::Zero();
    double total = 0;
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      sum += mass[i] * node(x, i);
      total += mass[i];
    }
    body.centre = sum / total;
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) node(arm_, i) = node(x, i) - body.centre;
  }
  G_.compute(matrix_modes(A));
}

void RigidModes::set_springs(const StepProblem& problem, std::span<const ContactSpring> springs) {
  if (bodies_.empty()) return;
  C_.compute(exact_modes(problem, springs));
  is_usable_ = G_.info() == Eigen::Success && C_.info() == Eigen::Success;
}

Eigen::MatrixXd RigidModes::matrix_modes(const BlockMatrix& A) const {
  const auto count = static_cast<Eigen::Index>(bodies_.size());
  Eigen::MatrixXd moments = Eigen::MatrixXd::Zero(4 * count, 4 * count);
  const BlockPattern& pattern = A.pattern();
  const auto extended = [&](Index i) { return Eigen::Vector4d(1, arm_[3 * i], arm_[3 * i + 1], arm_[3 * i + 2]); };
  for (Index i = 0; i < pattern.rows(); ++i) {
    const Index b = body_of_[at(i)];
    if (b < 0) continue;
    // The rest of a row mostly belongs to the row's own body: its sum first, then one product.
    Eigen::Vector4d own = 0.5 * *A.block(pattern.diagonal(i)) * extended(i);
    for (std::int64_t k = pattern.diagonal(i) + 1; k < pattern.row_start()[at(i) + 1]; ++k) {
      const Index j = pattern.columns()[at(k)], c = body_of_[at(j)];
      if (c < 0) continue;
      if (c == b)
        own += *A.block(k) * extended(j);
      else
        moments.block<4, 4>(4 * b, 4 * c) += *A.block(k) * extended(i) * extended(j).transpose();
    }
    moments.block<4, 4>(4 * b, 4 * b) += extended(i) * own.transpose();
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
  const VecX& mass = model_.mass().lumped();
  for (Eigen::Index b = 0; b < count && problem.has_inertia(); ++b) {
    const FreeBody& body = bodies_[at(b)];
    Moments moments = Moments::Zero();
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      const Eigen::Vector4d arm(1, arm_[3 * i], arm_[3 * i + 1], arm_[3 * i + 2]);
      moments += mass[i] * arm * arm.transpose();
    }
    C.block<6, 6>(6 * b, 6 * b) = (1 / problem.h + body.mass_damping) / problem.h * rigid_block(moments);
  }
  for (const ContactSpring& spring : springs) {
    // How the two sides move with their bodies: mostly one each.
    struct Side {
      Index body;
      double weight = 0;
      Vec3 arm = Vec3::Zero();
    };
    std::array<Side, 4> sides;
    std::size_t found = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const Index i = spring.nodes[k], b = i >= 0 ? body_of_[at(i)] : -1;
      if (b < 0) continue;
      std::size_t s = 0;
      while (s < found && sides[s].body != b) ++s;
      if (s == found) sides[found++].body = b;
      sides[s].weight += spring.weight[k];
      sides[s].arm += spring.weight[k] * node(arm_, i);
    }
    for (std::size_t s = 0; s < found; ++s) {
      Eigen::Matrix<double, 3, 6> pulled;  // K [w, -r x]
      pulled.leftCols<3>() = sides[s].weight * spring.stiffness;
      pulled.rightCols<3>() = -spring.stiffness * cross(sides[s].arm);
      for (std::size_t t = 0; t < found; ++t) {
        auto block = C.block<6, 6>(6 * sides[t].body, 6 * sides[s].body);
        block.topRows<3>() += sides[t].weight * pulled;
        block.bottomRows<3>() += cross(sides[t].arm) * pulled;
      }
    }
  }
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
