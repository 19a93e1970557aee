#pragma once

#include "pliant/sim/step_problem.hpp"

namespace pliant::pbd {

/// Positions, inverse masses and predictions of all nodes during a step. Everything quadratic in the position of a
/// single node (inertia, external force, damping by mass, penalties that hold scripted nodes) is folded into one mass
/// and one predicted position, m/(2 h^2) |x - x~|^2; prescribed nodes have no inverse mass.
class Nodes {
 public:
  explicit Nodes(const Model& model);

  /// Sets masses and predictions from the problem, and the positions to the predictions. True when the inverse masses
  /// are not those of the last call.
  bool begin_step(const StepProblem& problem);
  /// The next round of a quasistatic step: predictions from the positions reached, which go on by as much as they went
  /// in the round before, so that M (x - x~) stays what it was.
  void begin_round(const StepProblem& problem);

  Index count() const { return static_cast<Index>(mass_.size()); }
  double* data() { return data_.data(); }  ///< four doubles per node, see kNodeStride
  const double* data() const { return data_.data(); }
  /// Null, or three factors per node: 0 along axes that are held, 1 else.
  const double* axes() const { return partly_held_ ? axes_.data() : nullptr; }
  double inverse_mass(Index i, int axis) const {
    return data_[4 * static_cast<std::size_t>(i) + 3] * axis_factor(i, axis);
  }
  /// Largest over the axes, one per node.
  std::span<const double> inverse_masses() const { return inverse_mass_; }
  Vec3 position(Index i) const { return Vec3::Map(data_.data() + 4 * static_cast<std::size_t>(i)); }
  void write_positions(VecX& x) const;
  /// g = m (x - x~), zero where prescribed; kg m.
  void inertia(VecX& g) const;

 private:
  void predict(const StepProblem& problem, const VecX& x, const VecX* v);
  double axis_factor(Index i, int axis) const {
    return partly_held_ ? axes_[3 * static_cast<std::size_t>(i) + static_cast<std::size_t>(axis)] : 1.0;
  }

  const Model& model_;
  VecX penalty_mass_;  ///< consistent M_ii, kg
  VecX damping_;       ///< alpha of each node's body, 1/s
  std::vector<double> data_;
  std::vector<double> mass_;  ///< effective, kg
  std::vector<double> inverse_mass_;
  VecX predicted_;  ///< x~
  VecX base_;       ///< where the round began
  std::vector<double> axes_;
  bool partly_held_ = false;
};

}  // namespace pliant::pbd
