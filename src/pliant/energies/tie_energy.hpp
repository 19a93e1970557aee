#pragma once

#include "pliant/energies/energy.hpp"

namespace pliant {

/// A spring between two places, each of which moves with nodes or stays where it is: d = sum w_i x_i - offset is the
/// difference of the two, k/2 (|d| - r)^2 its energy. A place in an element or on a face is a weighted sum of nodes, so
/// that springs, ends that are tied together (r = 0) and points held in the world are all of this kind.
struct Tie {
  std::vector<Index> nodes;
  std::vector<double> weights;  ///< of the nodes; those of a place sum up to 1, of the place it is held to, to -1
  Vec3 offset = Vec3::Zero();   ///< a place that no node moves, m
  double stiffness = 0;         ///< k, N/m
  double rest_length = 0;       ///< r, m
  double damping = 0;           ///< along the spring, of a tie in all directions, N s/m

  Vec3 difference(const VecX& x) const;
  /// Whether its other end does not move.
  bool is_to_world() const;
};

/// k/2 (|d| - r)^2 of every tie.
class TieEnergy final : public Energy {
 public:
  explicit TieEnergy(std::vector<Tie> ties);

  std::string_view name() const override { return "ties"; }
  /// Ties of fewer nodes than the largest are filled up with their first node, of no weight there.
  const Stencils& stencils() const override { return stencils_; }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;

  const std::vector<Tie>& ties() const { return ties_; }
  /// What a tie's force changes by as its difference d does, N/m.
  static Mat3 stiffness(const Tie& tie, const Vec3& d, Projection projection);

 private:
  std::vector<Tie> ties_;
  Stencils stencils_;
};

/// Their damping over a step: 1/2 (d - d^n)^T C (d - d^n)/h, with C = c n n^T for springs, n their direction where the
/// step begins, and C = c for ties of no length.
class TieDamping final : public Energy {
 public:
  /// The energy stays where it is.
  explicit TieDamping(const TieEnergy& of);
  void begin_step(const VecX& x_n, double h);

  std::string_view name() const override { return "damping of ties"; }
  const Stencils& stencils() const override { return of_.stencils(); }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;

  /// C/h of a tie, N/m, and d^n.
  const Mat3& resistance(std::size_t tie) const { return resistance_[tie]; }
  const Vec3& start(std::size_t tie) const { return start_[tie]; }

 private:
  const TieEnergy& of_;
  std::vector<Mat3> resistance_;
  std::vector<Vec3> start_;
};

}  // namespace pliant
