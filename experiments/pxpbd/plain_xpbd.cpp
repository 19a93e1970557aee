#include "experiments/pxpbd/plain_xpbd.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>

namespace pliant::experiments {

namespace {

/// The nearest rotation, by the eigenvectors of F^T F in closed form.
Mat3 rotation_of(const Mat3& F) {
  Eigen::SelfAdjointEigenSolver<Mat3> solver;
  solver.computeDirect(F.transpose() * F);
  Vec3 s = solver.eigenvalues().cwiseMax(1e-24).cwiseSqrt();
  if (F.determinant() < 0) s[0] = -s[0];  // the smallest
  return F * solver.eigenvectors() * s.cwiseInverse().asDiagonal() * solver.eigenvectors().transpose();
}

Mat3 cofactor(const Mat3& F) {
  Mat3 C;
  C.col(0) = F.col(1).cross(F.col(2));
  C.col(1) = F.col(2).cross(F.col(0));
  C.col(2) = F.col(0).cross(F.col(1));
  return C;
}

}  // namespace

PlainXpbd::PlainXpbd(const Model& model, const Options& options) : model_(model), options_(options) {
  const Body& body = model.bodies()[0];
  const auto tets = body.mesh->tets();
  of_node_.resize(static_cast<std::size_t>(model.nodes()));
  for (std::size_t e = 0; e < tets.size(); ++e) {
    Mat3 edges;
    for (std::size_t k = 0; k < 3; ++k)
      edges.col(static_cast<Eigen::Index>(k)) = node(model.rest(), tets[e][k + 1]) - node(model.rest(), tets[e][0]);
    inverse_.push_back(edges.inverse());
    volume_.push_back(edges.determinant() / 6);
    const Lame& lame = body.lame.size() == 1 ? body.lame[0] : body.lame[e];
    for (bool volume : {false, true}) {
      for (int a = 0; a < 4; ++a)
        of_node_[static_cast<std::size_t>(tets[e][static_cast<std::size_t>(a)])].emplace_back(constraints_.size(), a);
      Constraint c{static_cast<Index>(e), volume};
      c.compliance = options.compliance_scale / ((volume ? lame.lambda : 2 * lame.mu) * volume_.back());
      constraints_.push_back(c);
    }
  }
}

double PlainXpbd::evaluate(const Constraint& c, Corners& gradient) const {
  const auto e = static_cast<std::size_t>(c.element);
  const Tet& t = model_.bodies()[0].mesh->tets()[e];
  Mat3 edges;
  for (std::size_t k = 0; k < 3; ++k) edges.col(static_cast<Eigen::Index>(k)) = node(x_, t[k + 1]) - node(x_, t[0]);
  const Mat3 F = edges * inverse_[e];
  double value;
  Mat3 P;
  if (c.volume) {
    value = F.determinant() - 1;
    P = cofactor(F);
  } else {
    const Mat3 D = F - rotation_of(F);
    value = std::sqrt(D.squaredNorm() + options_.epsilon);
    P = D / value;
  }
  const Mat3 G = P * inverse_[e].transpose();
  gradient[0].setZero();
  for (std::size_t k = 0; k < 3; ++k) {
    gradient[k + 1] = G.col(static_cast<Eigen::Index>(k));
    gradient[0] -= gradient[k + 1];
  }
  return value;
}

void PlainXpbd::begin_step(const State& state, double h) {
  h_ = h;
  before_ = state.x;
  const BoundaryState boundary = boundary_state(model_.pins(), model_.scripts(), model_.rest(), state.time + h);
  inverse_mass_.assign(static_cast<std::size_t>(model_.nodes()), 0.0);
  predicted_ = state.x + h * state.v;
  for (Index i = 0; i < model_.nodes(); ++i) {
    node(predicted_, i) += h * h * model_.gravity();
    if (boundary.fixed[static_cast<std::size_t>(3 * i)])
      node(predicted_, i) = node(boundary.positions, i);
    else
      inverse_mass_[static_cast<std::size_t>(i)] = 1 / model_.mass().lumped()[i];
  }
  x_ = predicted_;
  for (Constraint& c : constraints_) {
    c.lambda = 0;
    for (Vec3& total : c.total) total.setZero();
  }
}

/// g of (11) at a node, with the gradients of its constraints where everything is now.
Vec3 PlainXpbd::primal_at(Index i) const {
  Vec3 g = model_.mass().lumped()[i] * (node(x_, i) - node(predicted_, i));
  Corners gradient;
  for (const auto& [c, corner] : of_node_[static_cast<std::size_t>(i)]) {
    if (constraints_[c].lambda == 0) continue;
    evaluate(constraints_[c], gradient);
    g -= constraints_[c].lambda * gradient[static_cast<std::size_t>(corner)];
  }
  return g;
}

void PlainXpbd::sweep() {
  Corners gradient, plain, fixed_point, sum;
  for (Constraint& c : constraints_) {
    const double value = evaluate(c, gradient);
    const Tet& t = model_.bodies()[0].mesh->tets()[static_cast<std::size_t>(c.element)];
    const double alpha = c.compliance / (h_ * h_);
    double metric = alpha, right = -(value + alpha * c.lambda);
    Corners g = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
    const bool needs_primal =
        options_.primal != Primal::omitted || on_visit || (options_.zeta < 1 && !options_.stored_totals);
    for (std::size_t a = 0; a < 4; ++a) {
      const double w = inverse_mass_[static_cast<std::size_t>(t[a])];
      metric += w * gradient[a].squaredNorm();
      if (!needs_primal || w == 0) continue;
      g[a] = primal_at(t[a]);
      if (options_.primal == Primal::shared)
        g[a] /= static_cast<double>(of_node_[static_cast<std::size_t>(t[a])].size());
      if (options_.primal != Primal::omitted) right += w * gradient[a].dot(g[a]);
    }
    if (!(metric > 0)) continue;
    const double change = right / metric;  // (16), without the stray lambda in its denominator
    for (std::size_t a = 0; a < 4; ++a) {
      const double w = inverse_mass_[static_cast<std::size_t>(t[a])];
      plain[a] = w * change * gradient[a];
      sum[a] = plain[a] - w * g[a];                                         // (20)
      fixed_point[a] = w * (c.lambda + change) * gradient[a] - c.total[a];  // (22), with the updated multiplier
    }
    if (on_visit) on_visit(sum, fixed_point, plain);
    for (std::size_t a = 0; a < 4; ++a) {
      Vec3 step = plain[a];
      if (options_.primal != Primal::omitted)
        step = sum[a];
      else if (options_.zeta < 1)
        step = options_.zeta * plain[a] + (1 - options_.zeta) * (options_.stored_totals ? fixed_point[a] : sum[a]);
      node(x_, t[a]) += step;
      c.total[a] += step;
    }
    c.lambda += change;
  }
}

VecX PlainXpbd::primal_residual() const {
  VecX g = VecX::Zero(x_.size());
  for (Index i = 0; i < model_.nodes(); ++i)
    if (inverse_mass_[static_cast<std::size_t>(i)] > 0) node(g, i) = primal_at(i);
  return g;
}

double PlainXpbd::true_residual() const {
  VecX g = VecX::Zero(x_.size());
  for (Index i = 0; i < model_.nodes(); ++i)
    node(g, i) = model_.mass().lumped()[i] / (h_ * h_) * (node(x_, i) - node(predicted_, i));
  Corners gradient;
  for (const Constraint& c : constraints_) {
    const double value = evaluate(c, gradient);
    const Tet& t = model_.bodies()[0].mesh->tets()[static_cast<std::size_t>(c.element)];
    for (std::size_t a = 0; a < 4; ++a) node(g, t[a]) += value / c.compliance * gradient[a];
  }
  for (Index i = 0; i < model_.nodes(); ++i)
    if (inverse_mass_[static_cast<std::size_t>(i)] == 0) node(g, i).setZero();
  return g.norm();
}

void PlainXpbd::end_step(State& state) const {
  state.v = (x_ - before_) / h_;
  state.x = x_;
  state.time += h_;
  ++state.step;
}

}  // namespace pliant::experiments
