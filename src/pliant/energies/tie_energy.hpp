#pragma once

#include <array>
#include <memory>

#include "pliant/energies/energy.hpp"
#include "pliant/math/motion.hpp"

namespace pliant {

/// When a spring resists.
enum class TieSide { always, longer, shorter };

/// Where the ends of a tie may go against each other without a force: nowhere, along a line, over a plane.
enum class TieFreedom { none, line, plane };

/// How the place that a tie is held to moves over time, as the body it belongs to is at rest: by a motor.
struct TieMotion {
  Keyframes<double> value;  ///< rad or m
  bool turns = false;       ///< about the axis, or along it
  Vec3 centre = Vec3::Zero(), axis = Vec3::UnitX(), place = Vec3::Zero();

  /// From `place`, m.
  Vec3 shift(double time) const;
};

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
  TieSide side = TieSide::always;
  /// Along a = axis + sum axis_weights_i x_i, a unit vector but for what bodies give, or across it: the energy is
  /// k/2 |a x d|^2 or k/2 (a . d)^2. Such a tie has no length.
  TieFreedom freedom = TieFreedom::none;
  Vec3 axis = Vec3::Zero();
  std::vector<double> axis_weights = {};
  /// Moves what it is held to; `slopes` are what the weights of a body change by as its place does, 1/m.
  std::shared_ptr<const TieMotion> motion = nullptr;
  std::vector<Vec3> slopes = {};
  /// How many of the nodes, from the first on, move its first end. Of a spring within one body, whose ends may share
  /// nodes, those of positive weight. Drawings alone need it.
  std::size_t first_end = 0;

  Vec3 difference(const VecX& x, double time = 0) const;
  Vec3 shift(double time) const { return motion ? motion->shift(time) : Vec3(Vec3::Zero()); }
  double weight(std::size_t k, const Vec3& shift) const {
    return slopes.empty() ? weights[k] : weights[k] - slopes[k].dot(shift);
  }
  bool slides() const { return freedom != TieFreedom::none; }
  Vec3 direction(const VecX& x) const;
  double axis_weight(std::size_t k) const { return axis_weights.empty() ? 0 : axis_weights[k]; }
  /// Of a tie that slides: e with the energy k/2 |e|^2, of which the first number alone counts for a plane, and what it
  /// changes by as a node does whose weights are w in d and v in a.
  Vec3 excess(const Vec3& a, const Vec3& d) const;
  Mat3 excess_by_node(const Vec3& a, const Vec3& d, double w, double v) const;
  /// Whether bodies turn the direction that it slides along or across.
  bool slides_on_body() const { return slides() && !axis_weights.empty(); }
  /// Whether a spring of this length does nothing.
  bool is_slack(double length) const {
    return (side == TieSide::longer && length < rest_length) || (side == TieSide::shorter && length > rest_length);
  }
  /// Whether its other end does not move.
  bool is_to_world() const;
  /// Whether it is a spring that people see as one: neither a tie nor a part of a joint.
  bool is_spring() const { return rest_length > 0 && side == TieSide::always && !slides(); }
  /// Where the ends of a spring are.
  std::array<Vec3, 2> ends(const VecX& x) const;
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
  /// What a tie's force changes by as its difference d does, N/m; x is where the directions of sliding ties are taken.
  /// What slides on a body resists its turning besides (append_columns).
  static Mat3 stiffness(const Tie& tie, const Vec3& d, const VecX& x, Projection projection);
  /// Of a tie that slides, the vectors c with sum c c^T = k J^T J: three numbers for each of its nodes, (N/m)^(1/2).
  static void append_columns(const Tie& tie, const Pose& pose, std::vector<VecX>& columns);
  /// The force by which a tie pulls its first end, N, without its damping.
  static Vec3 force(const Tie& tie, const VecX& x, double time);

 private:
  std::vector<Tie> ties_;
  Stencils stencils_;
};

/// The same for steps that are linearised once: what slides has k J^T J of its Hessian alone. The rest, k e times the
/// second derivative of e, turns the force with the line. But where such a step ends, e is not what the force calls
/// for: it is also what the step has left over, da x dd of a line that turns by da and a body that slides by dd, and by
/// the stiffness k that is far more. A bead on a turning rod was held back by it, at 0.205 m of 0.309 m.
class LinearisedTies final : public Energy {
 public:
  /// The energy stays where it is.
  explicit LinearisedTies(const TieEnergy& of) : of_(of) {}

  std::string_view name() const override { return of_.name(); }
  const Stencils& stencils() const override { return of_.stencils(); }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override {
    of_.evaluate(pose, range, values, gradients);
  }
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;

 private:
  const TieEnergy& of_;
};

/// Their damping over a step: 1/2 (d - d^n)^T C (d - d^n)/h, with C = c n n^T for springs, n their direction where the
/// step begins, and C = c for ties of no length. What slides is resisted where it is free: C = c n n^T with n along its
/// line, c (1 - n n^T) with n across its plane.
class TieDamping final : public Energy {
 public:
  /// The energy stays where it is.
  explicit TieDamping(const TieEnergy& of);
  void begin_step(const VecX& x_n, double time, double h);

  std::string_view name() const override { return "damping of ties"; }
  const Stencils& stencils() const override { return of_.stencils(); }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;

  /// C/c of a tie, which is a projection.
  static Mat3 directions(const Tie& tie, const VecX& x, double time);
  /// C/h of a tie, N/m, and d^n.
  const Mat3& resistance(std::size_t tie) const { return resistance_[tie]; }
  const Vec3& start(std::size_t tie) const { return start_[tie]; }

 private:
  const TieEnergy& of_;
  std::vector<Mat3> resistance_;
  std::vector<Vec3> start_;
};

}  // namespace pliant
