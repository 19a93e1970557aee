#pragma once

#include "pliant/solvers/warp_canceling/warped_matrix.hpp"

namespace pliant {

/// In which unit errors of elements are given: the velocity explained below, or the paper's impulse of an element, N s.
enum class WarpMeasure { velocity, impulse };

/// How wrong the stale matrix is, element by element (warp-canceling, 4.2; docs/warp-canceling.md).
///
/// The paper's error is an impulse, |(A_fresh - A_stale) u| over the four nodes of an element, N s. It grows with the
/// cross-section of an element; divided by V^(2/3) it is the error of a stress times a time, which does not depend on
/// the mesh. Acting through a whole cross-section of a body of density rho and length L, such an error would change the
/// body's velocity by 1/(rho L) of it: that velocity, in m/s, is the unit here.
class WarpError {
 public:
  WarpError(const Model& model, const CorotatedElements& elements, const SupernodePartition& partition,
            WarpMeasure measure = WarpMeasure::velocity);

  /// Errors of all elements for the vector u that the matrix is applied to (m/s) with the present rotations; `scale` as
  /// the matrix was assembled with.
  void measure(const WarpedMatrix& matrix, std::span<const Mat3> node_rotations, const VecX& u);
  /// The largest error of its elements, for every supernode, m/s or N s.
  std::span<const double> badness() const { return badness_; }
  double largest() const;

 private:
  const CorotatedElements& elements_;
  std::vector<Batch<1>> weight_;  ///< V^(1/3) / (rho L), or V for impulses; zero for padding
  std::vector<double> errors_;    ///< per slot
  std::vector<double> badness_;
};

}  // namespace pliant
