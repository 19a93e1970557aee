#include "experiments/conjac/plain.hpp"

#include <Eigen/Dense>

#include "pliant/solvers/conjac/dynamic_nodes.hpp"

namespace pliant::experiments {

PlainConjac::PlainConjac(std::shared_ptr<const Model> model, std::vector<Index> dynamic, Options options)
    : model_(std::move(model)),
      dynamic_(std::move(dynamic)),
      options_(std::move(options)),
      assembler_(model_->nodes(), {model_->energies().begin(), model_->energies().end()}),
      H_(model_->pattern(), 3),
      of_q_(model_->pattern(), 3) {
  cholesky_.analyze(model_->pattern(), 3);
  mass_.resize(model_->rest().size());
  for (Index i = 0; i < model_->nodes(); ++i) node(mass_, i).setConstant(model_->mass().lumped()[i]);
}

void PlainConjac::forces(const VecX& x, VecX& f) {
  f.setZero(x.size());
  assembler_.add_gradient({x}, f);
  f = model_->external_force() - f;
  if (options_.floor == 0) return;
  for (Index i = 0; i < model_->nodes(); ++i)
    if (const double y = node(x, i).y(); y < 0) node(f, i).y() -= options_.floor * model_->mass().lumped()[i] * y;
}

void PlainConjac::set_boundary(double time, const VecX& x, double h) {
  const BoundaryState boundary = boundary_state(model_->pins(), model_->scripts(), model_->rest(), time);
  fixed_ = not_q_ = boundary.fixed;
  for (Index i : dynamic_)
    for (int c = 0; c < 3; ++c) not_q_[3 * at(i) + at(c)] = 1;
  is_q_.resize(x.size());
  v_boundary_.setZero(x.size());
  x_boundary_ = boundary.positions;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    is_q_[i] = not_q_[at(i)] ? 0 : 1;
    if (fixed_[at(i)] && h > 0) v_boundary_[i] = (boundary.positions[i] - x[i]) / h;
  }
}

/// H = -K over all nodes, and the factor of H_qq.
bool PlainConjac::factor(const VecX& x) {
  H_.set_zero();
  assembler_.add_hessian({x}, Projection::none, H_);
  if (options_.floor > 0 && options_.floor_in_K)
    for (Index i = 0; i < model_->nodes(); ++i)
      if (node(x, i).y() < 0) H_.block(H_.pattern().diagonal(i))[4] += options_.floor * model_->mass().lumped()[i];
  std::copy(H_.values().begin(), H_.values().end(), of_q_.values().begin());
  of_q_.eliminate(not_q_);
  FactorStatus status = cholesky_.factor(of_q_);
  if (status == FactorStatus::not_positive_definite) status = cholesky_.factor(of_q_, Factorisation::ldlt);
  return status == FactorStatus::ok;
}

bool PlainConjac::linearise(const State& state) {
  set_boundary(state.time, state.x, 0);
  if (!factor(state.x)) return false;
  const Eigen::Index n = state.x.size(), columns = 3 * static_cast<Eigen::Index>(dynamic_.size());
  J_.setZero(n, columns);
  VecX unit(n), image;
  for (Eigen::Index c = 0; c < columns; ++c) {
    const Eigen::Index row = 3 * Eigen::Index(dynamic_[at(c / 3)]) + c % 3;
    if (fixed_[at(row)]) continue;
    unit.setZero();
    unit[row] = 1;
    H_.multiply(unit, image);
    J_.col(c) = -image.cwiseProduct(is_q_);
  }
  if (columns > 0) cholesky_.solve(J_);
  for (Eigen::Index c = 0; c < columns; ++c) {
    const Eigen::Index row = 3 * Eigen::Index(dynamic_[at(c / 3)]) + c % 3;
    if (!fixed_[at(row)]) J_(row, c) = 1;
  }
  return true;
}

bool PlainConjac::step(State& state, double h) {
  State next = state;
  next.time += h;
  // Forces and stiffness of the start, held nodes of the end.
  State here = state;
  here.time = next.time;
  last_J_ = J_;
  if (!linearise(here)) return false;
  set_boundary(next.time, state.x, h);
  VecX f, image;
  forces(state.x, f);
  const double weight = options_.explicitly ? 0 : options_.beta * h * h;
  Eigen::MatrixXd HJ(J_.rows(), J_.cols());
  for (Eigen::Index c = 0; c < J_.cols(); ++c) {
    H_.multiply(J_.col(c), image);
    HJ.col(c) = image;
  }
  Eigen::MatrixXd Z = J_.transpose() * (mass_.asDiagonal() * J_ + weight * HJ);
  // What moves when the dynamic nodes do not.
  H_.multiply(v_boundary_, image);
  Eigen::MatrixXd pulled = -over_q(image);
  cholesky_.solve(pulled);
  const VecX moved = v_boundary_ + pulled.col(0);
  H_.multiply(moved, image);
  VecX right = mass_.cwiseProduct(state.v - moved) + h * f - weight * image;
  if (options_.rate_of_J && last_J_.size() == J_.size()) {
    VecX of_d(J_.cols());
    for (Eigen::Index c = 0; c < J_.cols(); ++c) of_d[c] = state.v[3 * Eigen::Index(dynamic_[at(c / 3)]) + c % 3];
    right -= mass_.cwiseProduct((J_ - last_J_) * of_d);  // h M J' v_d
  }
  VecX rhs = J_.transpose() * right;
  for (Eigen::Index c = 0; c < J_.cols(); ++c)
    if (J_.col(c).isZero(0)) Z(c, c) = 1, rhs[c] = 0;
  VecX z = VecX::Zero(J_.cols());
  if (J_.cols() > 0 && options_.on_plane.empty()) {
    z = Z.ldlt().solve(rhs);
  } else if (J_.cols() > 0) {
    const auto m = static_cast<Eigen::Index>(options_.on_plane.size());
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(Z.rows() + m, Z.rows() + m);
    VecX b = VecX::Zero(A.rows());
    A.topLeftCorner(Z.rows(), Z.rows()) = Z;
    b.head(Z.rows()) = rhs;
    for (Eigen::Index k = 0; k < m; ++k) {
      const Eigen::Index row = 3 * Eigen::Index(options_.on_plane[at(k)]) + 1;
      A.block(Z.rows() + k, 0, 1, Z.rows()) = J_.row(row);
      A.block(0, Z.rows() + k, Z.rows(), 1) = J_.row(row).transpose();
      b[Z.rows() + k] = -moved[row];
    }
    z = A.completeOrthogonalDecomposition().solve(b).head(Z.rows());
  }
  next.v = J_ * z + moved;
  next.x += h * next.v;
  for (int k = 0; k < options_.corrections && options_.gamma > 0; ++k) {
    if (k > 0) forces(next.x, f);
    if (options_.falls) take_off_acceleration(state, next, h, f);
    if (k > 0 && options_.fresh && !factor(next.x)) return false;
    Eigen::MatrixXd b = over_q(f);
    cholesky_.solve(b);
    for (Index i : options_.on_plane) b(3 * Eigen::Index(i) + 1, 0) = 0;
    next.x += options_.gamma * b.col(0).cwiseProduct(is_q_);
  }
  for (Eigen::Index i = 0; i < next.x.size(); ++i)
    if (fixed_[at(i)]) next.x[i] = x_boundary_[i];
  ++next.step;
  if (!next.x.allFinite() || !next.v.allFinite()) return false;
  state = std::move(next);
  return true;
}

void PlainConjac::take_off_acceleration(const State& before, const State& after, double h, VecX& f) const {
  Vec3 momentum = Vec3::Zero();
  double mass = 0;
  for (Index i = 0; i < model_->nodes(); ++i) {
    const double m = model_->mass().lumped()[i];
    momentum += m * (node(after.v, i) - node(before.v, i));
    mass += m;
  }
  for (Index i = 0; i < model_->nodes(); ++i) node(f, i) -= model_->mass().lumped()[i] / (h * mass) * momentum;
}

PlainConjac::Imbalance PlainConjac::imbalance(const State& state) {
  set_boundary(state.time, state.x, 0);
  VecX f;
  forces(state.x, f);
  Imbalance result;
  for (Index i = 0; i < model_->nodes(); ++i) {
    result.largest_internal =
        std::max(result.largest_internal, (node(f, i) - node(model_->external_force(), i)).norm());
    if (is_q_[3 * Eigen::Index(i)] > 0) result.of_quasistatic = std::max(result.of_quasistatic, node(f, i).norm());
  }
  return result;
}

VecX PlainConjac::balanced(const State& state) {
  set_boundary(state.time, state.x, 0);
  VecX x = state.x, f;
  for (int k = 0; k < 200; ++k) {
    forces(x, f);
    f = over_q(f);
    const double size = f.norm();
    H_.set_zero();
    assembler_.add_hessian({x}, Projection::analytic, H_);
    H_.eliminate(not_q_);
    if (cholesky_.factor(H_) != FactorStatus::ok) break;
    Eigen::MatrixXd d = f;
    cholesky_.solve(d);
    if (d.cwiseAbs().maxCoeff() < 1e-11) return x;
    // Halved until the energy falls.
    const double before = assembler_.value({x}) - model_->external_force().dot(x);
    double length = 1;
    VecX trial;
    for (; length > 1e-6; length /= 2) {
      trial = x + length * d.col(0);
      if (assembler_.value({trial}) - model_->external_force().dot(trial) <= before + 1e-14 * std::abs(before)) break;
    }
    x = trial;
    if (size < 1e-12) return x;
  }
  return VecX::Constant(x.size(), std::numeric_limits<double>::quiet_NaN());
}

std::vector<Index> placed_nodes(const Model& model, int count, std::int64_t seed) {
  return dynamic_nodes(model, {.count = count, .seed = seed});
}

}  // namespace pliant::experiments
