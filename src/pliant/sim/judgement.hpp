#pragma once

#include <string>

#include "pliant/sim/model.hpp"

namespace pliant {

class IncrementalPotential;
struct Solution;
struct StepReport;

/// Whether a step of a solver that is not of the Newton family was ended by Newton's method, since the solver alone did
/// not do: the linear step was repaired, sweeps corrected, or the matrix of the quasi-Newton family did not serve.
bool was_ended_by_newton(const StepReport& report);

/// The mass that accelerates each node, kg: lumped, or M_ii of the consistent mass.
VecX accelerated_mass(const Model& model);
/// The largest component of r over that mass, m/s^2.
double largest_acceleration(const Model& model, const VecX& r);

/// The energy of all bodies when everything is stretched to twice its length by its stiffness at rest, J:
/// sum_e V_e (lambda + 2 mu)/2, and k r^2/2 for springs.
double elastic_energy_scale(const Model& model);

/// The diagonal of the smallest body's box at rest, m.
double smallest_body_size(const Model& model);

/// The diagonal of a body's box at x over that at rest, of the body that grew most.
struct Growth {
  std::size_t body = 0;
  double times = 1;
};
Growth largest_growth(const Model& model, const VecX& x);

/// By how much a rigid body is strained at x, |F^T F - 1|/2: its frame is stiff, not rigid. Zero of others.
double rigid_strain(const Body& body, const VecX& x);

/// Whether any element is inverted at x.
bool has_inverted(const Model& model, const VecX& x);

/// Why a step counts as having run away, or nothing (docs/architecture.md, "Steps that run away").
///
/// Backward Euler minimises the incremental potential E, so that E at the end of a step is at most E at its start,
/// E(x^n), whatever is prescribed or pulled: E knows all of it. Families that do not minimise may end above: a little
/// where they are inaccurate, by the energy of colliders that inertia alone would lead into, more and more where they
/// run away. A step has run away when its end lies above what the start can account for,
///
///   E(x) > 1.5 (E(x^n) + E_colliders(x^n + h v^n)),
///
/// and above all that elasticity could have stored, E(x) > 10 S, with S the scale of elastic_energy_scale(); or when
/// E(x) is infinite: an element is inverted whose law has no energy there. E(x^n) costs an evaluation, and is asked for
/// only beyond 10 S.
std::string describe_divergence(IncrementalPotential& potential, double scale, const Solution& solution);

}  // namespace pliant
