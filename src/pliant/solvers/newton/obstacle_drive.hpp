#pragma once

#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/solvers/line_search.hpp"

namespace pliant {

/// Moves what is prescribed, nodes and obstacles, to where the step ends, in step with the bodies in contact with it
/// (docs/contact.md, "Obstacles"). Without contact there is nothing to do: prescribed nodes are put in place before the
/// iteration begins.
///
/// An iteration either drives, that is, takes Newton's direction for bodies and prescribed motion together, or waits,
/// so that the bodies give way. It waits after a driving step that was cut short and narrowed the least gap, until the
/// bodies have made room again or are in balance.
class ObstacleDrive {
 public:
  explicit ObstacleDrive(StepFunction& function) : function_(function), contact_(function.contact()) {}

  void begin_step();
  /// Finds what is left of the prescribed motion from x.
  void update(const VecX& x) {
    if (!arrived()) contact_->find_remaining_motion(x, function_.problem(), drive_.remaining);
  }
  /// Whether the prescribed motion is complete: a step may not end before.
  bool arrived() const { return !contact_ || contact_->arrived(); }
  /// Decides whether to drive or to wait; `in_balance`: the criterion is met at x.
  void begin_iteration(const VecX& x, bool in_balance);
  /// The prescribed motion that the next direction shall include; null: it waits.
  Drive* drive() { return drives_ ? &drive_ : nullptr; }
  /// The largest permissible step along dx.
  double largest_step(const VecX& x, const VecX& dx) { return contact_ ? contact_->largest_step(x, dx, drives_) : 1; }
  /// Takes a driving step, as long as is permissible. Energy does not tell how far, since what is prescribed does work:
  /// any state with a finite one is a start for the iterations in which the bodies give way.
  LineSearchResult move(const Iterate& current, const VecX& dx, double largest, double smallest, Iterate& trial);
  /// After a driving step that was not possible at all: wait.
  void wait() { gives_way_ = true; }
  /// After a step of length alpha to x.
  void end_iteration(const VecX& x, double alpha);
  /// Appended to why a step ended, for people.
  std::string describe(const VecX& x);

 private:
  StepFunction& function_;
  ContactStep* contact_;
  Drive drive_;
  bool drives_ = false;
  bool gives_way_ = false;  ///< the bodies, while what is prescribed waits
  double room_ = 0;         ///< the least gap when it last moved, m
};

}  // namespace pliant
