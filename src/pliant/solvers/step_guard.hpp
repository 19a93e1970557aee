#pragma once

#include <optional>

#include "pliant/sim/judgement.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/newton/newton_minimiser.hpp"
#include "pliant/solvers/turn_stretch.hpp"

namespace pliant {

/// What becomes of a step that the linear system of its family did badly.
enum class Safeguard { newton, none };

/// The safeguard of the linearly implicit families (docs/conjac.md, "The safeguard").
///
/// They solve one linear system a step. Where forces are not linear over the step, what it leads to may have more
/// energy than the step began with, which nothing gave it: the step is then thrown away, and Newton's method minimises
/// the incremental potential in its place, from where the step began. With v the velocities that the family ends with,
/// K the kinetic energy of what is not prescribed, Phi what is stored in the bodies and f all other forces at the end
/// of the step (weight, damping, colliders, contact, friction, springs of scripts and grabs),
///
///   gain = K(v) - K(v^n) + Phi(x) - Phi(x^n) - f . (x - x^n) - the work of what is prescribed.
///
/// Backward Euler has gain = -1/2 |v - v^n|_M^2 - (Phi(x^n) - Phi(x) + grad Phi(x) . (x - x^n)), negative wherever Phi
/// is convex along the step. A step that ends with inverted elements is bad too, wherever it began: a linearised force
/// does not lead them back, and where they belong there Newton's method keeps them so; one that strains a rigid body is
/// bad, too, and one that stretches a stiff part of a body by turning it (TurnStretch). And so is one that leaves
/// forces out of balance which move a body by a share of its size, where all nodes are to be in balance; where they are
/// not, one that contact moved by such a share beyond what the linear system knew of it, or in which joints turn a
/// rigid body far.
///
/// Rejected: the test E(x) <= E(x^n) of the incremental potential E. Inertia is part of E(x^n), h^2 |v^n|^2/2, so that
/// a body that flies fast may do what it likes within. Rejected too: to shorten the step until E falls. A shortened
/// step is one in which time passes more slowly: what falls is held back in the air.
class StepGuard {
 public:
  /// Which nodes are in dynamic balance after a good step. Those that conjac moves quasistatically are not: what is
  /// left over there is their inertia, and says nothing about the step.
  enum class Balance { all_nodes, some_nodes };
  StepGuard(IncrementalPotential& potential, std::shared_ptr<const Model> model, Balance balance = Balance::all_nodes);

  /// The step begins. A family that has the stored energy of x^n at hand (J) passes it.
  void begin();
  void begin(double stored);
  /// Whether the linear system led where contact need not be looked for any more: elements are inverted, or a rigid
  /// body turned far.
  bool is_hopeless(const VecX& x) const { return !x.allFinite() || has_inverted(*model_, x) || turns_far(x); }
  /// Contact has moved the solution of the family's linear system, which knew it as it was where the step began, by
  /// this, m.
  void note_unforeseen(const VecX& motion) { unforeseen_ = motion.cwiseAbs().maxCoeff(); }
  /// The family's linear system moves nodes along straight lines from y, where exact turns or a search for balance
  /// have led, and its stiffness has the stress there, which holds back what turns.
  void note_straight_from(const VecX& y) { straight_from_ = y; }
  /// Measures the family's solution; where the step failed or gained energy, replaces it. The report has the figure
  /// `repaired`, 0 or 1.
  void end(Solution& solution, StepReport& report);
  /// With the stored energy of the solution's positions and its gradient over all unknowns.
  void end(Solution& solution, StepReport& report, double stored, const VecX& stored_gradient);

 private:
  bool is_bad(const Solution& solution, double stored, const VecX& stored_gradient);
  bool is_rough(const Solution& solution);
  bool turns_far(const VecX& x) const;
  bool is_held_back(const VecX& x);
  double work_of_prescribed(const VecX& x, const VecX& stored_gradient);
  double internal_energy() const;
  void repair(Solution& solution, StepReport& report);

  IncrementalPotential& potential_;
  std::shared_ptr<const Model> model_;
  Balance balance_;
  double elastic_scale_;               ///< J
  double size_;                        ///< of the smallest body, m
  std::vector<std::uint8_t> is_tied_;  ///< whether a node is of a tie
  double stored_ = 0;                  ///< where the step begins, J
  double kinetic_ = 0;                 ///< of what is not prescribed, likewise
  double unforeseen_ = 0;              ///< m
  TurnStretch turn_stretch_;
  VecX straight_from_;                        ///< y, m; empty where the family's matrix has no stress
  std::optional<NewtonMinimiser> minimiser_;  ///< once it was needed
  VecX gradient_, momentum_, motion_;         ///< scratch
};

}  // namespace pliant
