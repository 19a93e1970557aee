#include "pliant/sim/tie_term.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/math/decompositions.hpp"

namespace pliant {

TieTerm::TieTerm(const Model& model)
    : energy_(*model.ties()),
      linearised_(energy_),
      damping_(energy_),
      springs_("springs and attachments", model, {&energy_}),
      linearised_springs_("springs and attachments, linearised", model, {&linearised_}),
      dampers_("damping of springs", model, {&damping_}) {}

void TieTerm::begin_step(const StepProblem& problem) {
  const std::vector<Tie>& ties = energy_.ties();
  is_damped_ =
      problem.has_inertia() && std::any_of(ties.begin(), ties.end(), [](const Tie& tie) { return tie.damping > 0; });
  if (is_damped_) damping_.begin_step(problem.x_n, problem.start, problem.h);
}

double TieTerm::value(const Pose& pose) { return springs_.value(pose) + (is_damped_ ? dampers_.value(pose) : 0); }

double TieTerm::add_gradient(const Pose& pose, VecX& g) {
  const double value = springs_.add_gradient(pose, g);
  return is_damped_ ? value + dampers_.add_gradient(pose, g) : value;
}

void TieTerm::add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) {
  springs_.add_hessian(pose, projection, A);
  if (is_damped_) dampers_.add_hessian(pose, projection, A);
}

void TieTerm::add_linearised(const Pose& pose, Projection projection, BlockMatrix& A) {
  linearised_springs_.add_hessian(pose, projection, A);
  if (is_damped_) dampers_.add_hessian(pose, projection, A);
}

double TieTerm::stored(const Pose& pose, VecX* g) { return g ? springs_.add_gradient(pose, *g) : springs_.value(pose); }

void TieTerm::append_columns(std::size_t tie, const Pose& pose, std::vector<VecX>& columns) const {
  const Tie& of = energy_.ties()[tie];
  Mat3 B = Mat3::Zero();  // between the two ends: w w^T with it in the place of every number
  if (of.slides_on_body()) {
    TieEnergy::append_columns(of, pose, columns);
    if (is_damped_) B = damping_.resistance(tie);
  } else {
    B = stiffness(tie, pose.x);
  }
  const Vec3 shift = of.shift(pose.time);
  const SymmetricEigen<3> axes(B);
  for (int e = 0; e < 3; ++e) {
    if (!(axes.values[e] > 0)) continue;
    VecX& column = columns.emplace_back(3 * static_cast<Eigen::Index>(of.nodes.size()));
    for (std::size_t a = 0; a < of.nodes.size(); ++a)
      column.segment<3>(3 * static_cast<Eigen::Index>(a)) =
          std::sqrt(axes.values[e]) * of.weight(a, shift) * axes.vectors.col(e);
  }
}

Mat3 TieTerm::stiffness(std::size_t tie, const VecX& x) const {
  const Tie& of = energy_.ties()[tie];
  Mat3 B = TieEnergy::stiffness(of, of.difference(x), x, Projection::analytic);
  if (is_damped_) B += damping_.resistance(tie);
  return B;
}

}  // namespace pliant
