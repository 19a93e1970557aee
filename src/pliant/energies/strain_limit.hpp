#pragma once

#include <Eigen/Core>

namespace pliant {

/// What a sheet resists with beyond a limit of its strain, per area at rest: k/6 (e - limit)^3 of each principal Green
/// strain e above the limit. Zero with its first two derivatives at the limit, and convex.
struct StrainLimit {
  double limit = 0;      ///< of Green's strain
  double stiffness = 0;  ///< k, N/m per strain; 0: there is no limit

  struct Response {
    double energy = 0;           ///< J/m^2
    Eigen::Matrix2d stress;      ///< by the strain, N/m
    Eigen::Matrix2d directions;  ///< the principal ones, in columns
    Eigen::Vector2d along;       ///< what the stress in each changes by as the strain in it does, N/m
    double across = 0;           ///< what the stress between them changes by as the strain between them does
    bool is_slack() const { return energy == 0; }
  };
  Response operator()(const Eigen::Matrix2d& strain) const;
};

}  // namespace pliant
