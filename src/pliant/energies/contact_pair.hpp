#pragma once

#include "pliant/contact/closest.hpp"
#include "pliant/contact/contact_model.hpp"

namespace pliant {

/// Where obstacles are at an instant.
struct ObstacleState {
  VecX positions;  ///< of their vertices, m
  std::vector<PlaneShape> planes;
};

/// Two primitives that are near each other, or a point near a plane.
struct ContactPair {
  std::array<Index, 4> corners = {-1, -1, -1, -1};  ///< positions; -1 where its kind has fewer, or beside a plane
  Index plane = -1;                                 ///< number of the plane, or -1
  PairKind kind = PairKind::point_triangle;
  double area = 0;       ///< share of the surface it stands for, m^2
  double reach = 0;      ///< distance below which it repels, m: dhat, or less (ContactSearch)
  double threshold = 0;  ///< of the mollifier of edges, m^4; 0: none
};

/// A pair as it lies: its corners and where it is nearest. A point behind a plane has the distance zero.
struct PlacedPair {
  Corners x;
  Closest closest;
};
PlacedPair place(const ContactPair& pair, Index nodes, const VecX& x, const ObstacleState& obstacles);

/// Nodes that a contact can have: of two rigid bodies four each.
inline constexpr std::size_t kContactNodes = 8;

/// How a contact resists a small relative displacement sum_i weight_i u_i: its Hessian without the change of weights
/// and directions, for matrices that only have to come near it.
struct ContactSpring {
  std::array<Index, kContactNodes> nodes = {-1, -1, -1, -1, -1, -1, -1, -1};  ///< -1: none, or an obstacle's corner
  std::array<double, kContactNodes> weight{};
  Mat3 stiffness = Mat3::Zero();  ///< positive semidefinite, N/m
  double largest = 0;             ///< its largest eigenvalue, N/m
};

}  // namespace pliant
