#pragma once

#include <cmath>
#include <vector>

#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/incremental_potential.hpp"

namespace pliant::experiments {

/// How the incremental potential changes along a ray, from differences per element in numbers of 64 bits of mantissa:
/// what the difference of two energies in double would be without rounding. For linear Neo-Hookean elements with
/// consistent or lumped mass; of contact, the differences of its pairs in double.
class ExtendedEnergy {
 public:
  using Real = long double;

  ExtendedEnergy(IncrementalPotential& potential, const VecX& x, const VecX& dx)
      : potential_(potential), model_(potential.model()), x_(x), dx_(dx) {
    const StepProblem& problem = potential.problem();
    VecX M_dx, M_way;
    model_.mass().multiply(dx, M_dx);
    const VecX way = x - problem.predicted;
    model_.mass().multiply(way, M_way);
    const Real h2 = Real(problem.h) * problem.h;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      linear_ += Real(dx[i]) * M_way[i] / h2 - Real(dx[i]) * model_.external_force()[i];
      quadratic_ += Real(dx[i]) * M_dx[i] / (2 * h2);
    }
    for (const Body& body : model_.bodies())
      for (Index e = 0; e < body.elements->element_count(); ++e) start_.push_back(element(body, e, 0));
    if (potential.contact()) contact_start_ = contact(0);
  }

  /// E(x + alpha dx) - E(x), J.
  Real difference(double alpha) {
    Real sum = alpha * linear_ + Real(alpha) * alpha * quadratic_;
    std::size_t k = 0;
    for (const Body& body : model_.bodies())
      for (Index e = 0; e < body.elements->element_count(); ++e, ++k) sum += element(body, e, alpha) - start_[k];
    if (potential_.contact()) sum += contact(alpha) - contact_start_;
    return sum;
  }

 private:
  Real contact(double alpha) {
    const VecX x = x_ + alpha * dx_;
    return potential_.contact()->value(potential_.problem().pose(x));
  }

  /// V (mu/2 (I - 3) - mu log J + lambda/2 log^2 J).
  Real element(const Body& body, Index e, double alpha) const {
    const Index* corners = body.elements->elements().data() + 4 * std::ptrdiff_t(e);
    Real edges[3][3];  // columns x_c - x_0
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < 3; ++r) {
        const Index i = 3 * (body.nodes.begin + corners[c + 1]) + r, o = 3 * (body.nodes.begin + corners[0]) + r;
        edges[r][c] = (Real(x_[i]) - x_[o]) + Real(alpha) * (Real(dx_[i]) - dx_[o]);
      }
    const Mat3& inverse = body.elements->inverse_edges()[std::size_t(e)];
    Real F[3][3] = {}, I = 0;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        for (int k = 0; k < 3; ++k) F[r][c] += edges[r][k] * inverse(k, c);
        I += F[r][c] * F[r][c];
      }
    const Real J = F[0][0] * (F[1][1] * F[2][2] - F[1][2] * F[2][1]) -
                   F[0][1] * (F[1][0] * F[2][2] - F[1][2] * F[2][0]) +
                   F[0][2] * (F[1][0] * F[2][1] - F[1][1] * F[2][0]);
    const Lame& lame = body.lame.front();
    const Real L = std::log(J);
    return body.elements->volumes()[std::size_t(e)] *
           (lame.mu / Real(2) * (I - 3) - lame.mu * L + lame.lambda / Real(2) * L * L);
  }

  IncrementalPotential& potential_;
  const Model& model_;
  const VecX &x_, &dx_;
  Real linear_ = 0, quadratic_ = 0, contact_start_ = 0;
  std::vector<Real> start_;
};

}  // namespace pliant::experiments
