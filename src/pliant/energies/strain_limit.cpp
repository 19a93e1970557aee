#include "pliant/energies/strain_limit.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

StrainLimit::Response StrainLimit::operator()(const Eigen::Matrix2d& E) const {
  Response response;
  const double mean = 0.5 * E.trace(), radius = std::hypot(0.5 * (E(0, 0) - E(1, 1)), E(0, 1));
  const Eigen::Vector2d excess =
      Eigen::Vector2d(mean + radius - limit, mean - radius - limit).cwiseMax(0.0);  // the larger one first
  response.energy = stiffness / 6 * excess.array().cube().sum();
  response.stress.setZero();
  response.directions.setIdentity();
  response.along.setZero();
  if (response.is_slack()) return response;
  const double angle = 0.5 * std::atan2(2 * E(0, 1), E(0, 0) - E(1, 1)), c = std::cos(angle), s = std::sin(angle);
  response.directions << c, -s, s, c;
  const Eigen::Vector2d pull = stiffness / 2 * excess.cwiseAbs2();
  response.stress = response.directions * pull.asDiagonal() * response.directions.transpose();
  response.along = stiffness * excess;
  // (pull_1 - pull_2)/(e_1 - e_2), which is what makes a spectral function's derivative (Ball 1984); with both strains
  // beyond the limit it is a mean, without a division by what may be zero.
  response.across = excess[1] > 0 ? stiffness / 2 * excess.sum() : pull[0] / (2 * radius);
  return response;
}

}  // namespace pliant
