#pragma once

namespace pliant {

/// How a step of time becomes a problem, and its solution the next state (docs/newton.md):
///
///  - implicit_euler: the minimum of the incremental potential is the next state.
///  - implicit_midpoint: forces are taken half-way. The problem is that of an implicit Euler step of h/2, and the next
///    state lies as far beyond its solution as that is from the start. It keeps energy where implicit Euler damps, and
///    is far less stable. The state beyond is not checked for contact.
///  - quasistatic: no inertia and no damping; the solution is a state of rest under the boundaries of the step's end.
enum class Integrator { implicit_euler, implicit_midpoint, quasistatic };

inline bool has_inertia(Integrator integrator) { return integrator != Integrator::quasistatic; }
/// The share of the time step that the problem covers.
inline double share_of_step(Integrator integrator) { return integrator == Integrator::implicit_midpoint ? 0.5 : 1; }

}  // namespace pliant
