#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pliant/energies/assembler.hpp"
#include "pliant/energies/barrier_energy.hpp"
#include "pliant/energies/carried_energy.hpp"
#include "pliant/energies/friction_energy.hpp"
#include "pliant/sim/contact/contact_search.hpp"
#include "pliant/sim/term.hpp"

namespace pliant {

class Sharing;

/// Contact in one step of a minimising solver (docs/contact.md): the barrier at whatever positions are asked for,
/// friction with the normal forces of the step's beginning, obstacles on their way, and how far an iteration may go.
class ContactStep final : public Term {
 public:
  /// `sharing`: that of the model, where it is a part of a larger one.
  explicit ContactStep(std::shared_ptr<const ContactModel> model, Sharing* sharing = nullptr);

  std::string_view name() const override { return "contact and friction"; }

  const ContactModel& model() const { return *model_; }
  /// Obstacles are where they are at the start of the step, and will move to where they are at its end.
  void begin_step(const StepProblem& problem);
  /// Without a step: obstacles are where they are at this time.
  void place_at(double time);
  /// What intersects, for people, or nothing. Looked at only where x is not what end_step was told.
  std::string describe_intersections(const VecX& x);
  void end_step(const VecX& x) { left_behind_ = x; }

  double value(const Pose& pose) override;
  double add_gradient(const Pose& pose, VecX& g) override;
  /// Brings the stencils up to date with x, so that the pattern of a matrix for it can be made.
  std::span<const Energy* const> energies_at(const VecX& x);
  void add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) override;
  /// For linear systems whose solution leads from x about as far as `way`: overwrites `force` (N) and H, on a pattern
  /// that covers energies_at(x), with f(y) = force - H (y - x). Repulsion is linearised at x, friction at x + way: a
  /// body that slides at speed is to be held back with the force of sliding, not with the stiffness of sticking.
  void linearise(const Pose& pose, const VecX& way, VecX& force, BlockMatrix& H);
  /// Contact and friction at x as springs, for matrices that only have to come near the Hessian.
  void find_springs(const VecX& x, std::vector<ContactSpring>& springs);

  /// How much of this step's prescribed motion is complete, 0 to 1, and whether all of it is.
  double progress() const { return progress_; }
  bool arrived() const { return progress_ >= 1; }
  /// The displacement that the prescribed unknowns still have to make from x; zero elsewhere. Where there is none, nor
  /// any of obstacles, the prescribed motion is complete.
  void find_remaining_motion(const VecX& x, const StepProblem& problem, VecX& remaining);
  /// Adds to g the change of the gradient, to first order, over the remaining motion of the obstacles.
  void add_coupling(const Pose& pose, Projection projection, VecX& g);
  /// Moves the obstacles, at 1 to where the step ends. Changes the potential.
  void place_obstacles(double progress);
  /// The largest permissible step of a line search, at most 1: leaves a tenth of every gap, and half of it where
  /// obstacles make their remaining motion at the same time: the bodies need room to give way.
  double largest_step(const VecX& x, const VecX& dx, bool with_obstacles);
  /// The same, leaving this share of every gap.
  double largest_step(const VecX& x, const VecX& dx, bool with_obstacles, double share);
  /// Doubles kappa when the least gap is tiny and still shrinking, where the options ask for it. Changes the potential.
  bool adapt(const VecX& x);
  /// Friction with the normal forces and tangents at x.
  void renew_friction(const VecX& x);
  bool has_friction() const;
  /// For derivatives of a step that ended at x: adds to g those of lambda . (the gradient of friction at x) by where
  /// the step began, which its forces, directions and ways come from. Obstacles are left where the step ends.
  void add_friction_by_start(const VecX& x, const VecX& lambda, VecX& g);
  /// The same of lambda . (the gradient of contact and friction at x) by the positions at rest, which areas, lengths
  /// and reaches are measured at. With dhat and kappa as they are.
  void add_by_rest(const VecX& x, const VecX& lambda, VecX& g);

  /// The least distance of any two surfaces at x, m; infinity where none is below dhat.
  double minimum_gap(const VecX& x);
  Index pairs() const { return static_cast<Index>(near_.pairs.size()); }
  /// Forces on the nodes at the end of the step, N: those of the barrier, and those with friction.
  struct Forces {
    VecX normal, total;
  };
  Forces forces(const Pose& pose);
  double stiffness() const { return barrier_.stiffness(); }

  /// For methods that take every pair as a problem of its own: the pairs of the last evaluation, which keep their names
  /// when other parts of them become nearest, the barrier with obstacles where they are now, the friction of this step,
  /// and where the obstacles will be.
  const std::vector<ContactPair>& near_pairs() const { return near_.pairs; }
  const BarrierEnergy& barrier() const { return barrier_; }
  const FrictionEnergy& friction() const { return friction_; }
  const ObstacleState& obstacles_at_end() const { return end_; }

  /// Seconds spent in here are added to this counter, if any.
  void count_seconds_in(double* seconds) { seconds_ = seconds; }

 private:
  void update(const VecX& x);
  ObstacleState obstacles_at(double progress) const;
  /// The friction of a pair as it lies at `all`, of a step that began at `start`, both over all positions; none where
  /// the pair does not press.
  std::optional<FrictionPair> friction_of(const ContactPair& pair, const VecX& all, const VecX& start) const;
  /// lambda . (the gradient of a pair's friction at `all`), both over all positions, of a step that began at `start`.
  double friction_work(const ContactPair& pair, const VecX& start, const VecX& all, const VecX& lambda) const;
  bool is_carried() const { return !model_->carried.empty(); }
  /// x, or with points that are carried the positions of all, in `all`.
  const VecX& extend(const VecX& x, VecX& all) const;
  /// Over nodes in place of positions.
  void to_unknowns(std::vector<ContactSpring>& springs) const;

  std::shared_ptr<const ContactModel> model_;
  Sharing* sharing_;
  ContactSearch search_;
  BarrierEnergy barrier_;
  FrictionEnergy friction_;
  CarriedEnergy carried_barrier_, carried_friction_;  ///< the same over nodes, where there are points that are carried
  std::vector<const Energy*> energies_;
  Assembler assembler_;
  ContactSearch::Near near_;
  VecX all_, all_motion_, all_elsewhere_;  ///< positions where near_ holds, and scratch
  VecX near_at_;                           ///< where near_ holds; empty: nowhere
  VecX x_n_, all_n_, left_behind_;
  ObstacleState begin_, end_;  ///< of the step
  double time_ = 0, h_ = 0;    ///< where the step begins, and how long it is, s
  double progress_ = 1;        ///< of the prescribed motion, 0 to 1
  double last_gap_ = 0;
  double* seconds_ = nullptr;
  double uncounted_ = 0;
};

}  // namespace pliant
