#pragma once

#include <memory>
#include <optional>

#include "pliant/energies/assembler.hpp"
#include "pliant/energies/node_penalty.hpp"
#include "pliant/sim/contact/contact_pattern.hpp"
#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/model.hpp"

namespace pliant {

/// `implicit_midpoint` takes the forces half-way: an implicit Euler step of h/2, mirrored at its end (docs/newton.md).
/// It keeps energy where implicit Euler damps, and is far less stable.
enum class Integrator { implicit_euler, implicit_midpoint, quasistatic };

/// What is prescribed, on its way together with the bodies (docs/contact.md, "Obstacles").
struct Drive {
  VecX way;       ///< left of the prescribed unknowns', m; zero elsewhere
  VecX coupling;  ///< by how much the gradient changes on it, to first order, N; zero where prescribed
};

/// The function whose minimum is the next state (pitfalls, section 3; docs/newton.md):
///
///   E(x) = 1/(2 h^2) |x - x~|_M^2 + Phi(x) - (x - x^n)^T f_ext + h W((x - x^n)/h) + boundary penalties + contact,
///   x~ = x^n + h v^n,   W(v) = 1/2 v^T D v,   D = alpha M + beta K(x^n)   (Rayleigh damping, lagged).
///
/// External work is written with x - x^n, not x, so that E stays small and its differences accurate. Quasistatics drop
/// inertia and damping; the implicit midpoint has h/2 in place of h, and x is the position half-way. Prescribed
/// unknowns have a zero gradient and identity rows in the Hessian. Grabs of the state add their springs.
class IncrementalPotential {
 public:
  IncrementalPotential(std::shared_ptr<const Model> model, Integrator integrator);

  /// Fixes x^n, x~, h, the boundaries at the end of the step, and who holds what. Throws InputError for grabs of nodes
  /// that do not exist or of no surface.
  void begin_step(const State& state, double h);

  const Model& model() const { return *model_; }
  /// Of the potential: half the step's for the implicit midpoint.
  double h() const { return h_; }
  bool has_inertia() const { return integrator_ != Integrator::quasistatic; }
  const std::vector<Grab>& grabs() const { return grabs_; }
  Integrator integrator() const { return integrator_; }
  const BoundaryState& boundary() const { return boundary_; }
  /// Puts the prescribed unknowns of x where they belong at the end of the step.
  void impose_boundary(VecX& x) const;
  /// The positions with the activations and the time of the end of the step.
  Pose pose(const VecX& x) const { return {x, activation_, end_}; }
  /// x^n with directly imposed boundaries already where they belong: where the iteration begins. With contact it is
  /// x^n, and the iteration moves the boundaries.
  const VecX& start() const { return start_; }
  /// x~ with directly imposed boundaries where they belong: where real-time methods begin.
  VecX predicted_start() const;

  double value(const VecX& x);
  /// Overwrites g, returns the value.
  double gradient(const VecX& x, VecX& g);
  /// Overwrites A with (inertia_scale / h^2) M + the Hessian of all else. Kinetic Newton scales the inertia; everybody
  /// else passes 1. Where something is driven, the same matrix, before the prescribed unknowns leave it, gives what its
  /// way does to the others.
  void hessian(const VecX& x, Projection projection, double inertia_scale, BlockMatrix& A, Drive* drive = nullptr);
  /// How many surface nodes touched or left a collider between the two gradients taken before this call and the last
  /// one, and how many were in touch at either.
  struct ContactChange {
    Index changed = 0, touching = 0;
  };
  ContactChange contact_change();

  /// A matrix for hessian(), which gives it another pattern when contact couples other nodes.
  BlockMatrix make_matrix() const { return BlockMatrix(model_->pattern(), 3); }

  /// Null without contact.
  ContactStep* contact() { return contact_.get(); }

  /// StepReport::minimum_gap at the end of the step, m.
  double minimum_gap(const VecX& x) const;
  /// Writes x, v and time of the next state; friction with colliders slows v.
  void end_step(const VecX& x, State& state) const;

 private:
  double inertia_and_work(const VecX& x, VecX* g);
  double inertia_by_matrix(const VecX& x, VecX* g);
  double damping(const VecX& x);
  void assemble_damping(const State& state);

  std::shared_ptr<const Model> model_;
  Integrator integrator_;
  NodePenalty penalty_;
  std::vector<Index> penalty_stencil_;  ///< of each node, or -1
  VecX penalty_mass_;                   ///< consistent M_ii, kg
  Assembler assembler_;
  std::unique_ptr<ContactStep> contact_;
  std::optional<ContactPattern> contact_pattern_;
  BlockMatrix without_contact_;  ///< the part of a Hessian on the model's pattern
  double h_ = 0, end_ = 0;       ///< step size and the time it ends, s
  VecX x_n_, v_n_, predicted_, start_;
  double predicted_work_ = 0;  ///< of the external forces along x~ - x^n, J
  BoundaryState boundary_;
  std::vector<Index> fixed_;  ///< the prescribed unknowns
  std::vector<Grab> grabs_;
  VecX lumped_;                    ///< kg per unknown; empty for the consistent mass
  std::vector<double> partial_;    ///< scratch: sums of chunks
  std::size_t collider_part_ = 0;  ///< of the assembler
  std::vector<std::uint8_t> touching_;
  std::vector<double> activation_;      ///< at the end of the step
  std::optional<BlockMatrix> damping_;  ///< D of this step, N s/m; none for models without damping
  VecX offset_, inertia_;               ///< scratch: x - x~ and M (x - x~)
  VecX displacement_, resistance_;      ///< scratch: x - x^n and D (x - x^n)
};

}  // namespace pliant
