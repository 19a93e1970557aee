#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pliant/energies/pressure_energy.hpp"
#include "pliant/math/motion.hpp"

namespace pliant {

struct Body;

/// What a load is multiplied by: one, keyframes, or a number that whoever embeds the library writes between steps.
struct LoadFactor {
  Keyframes<double> keyframes;           ///< empty: one
  std::shared_ptr<const double> driven;  ///< in place of them

  bool is_constant() const { return !driven && keyframes.keys.empty(); }
  double at(double time) const { return driven ? *driven : keyframes.at(time, 1.0); }
};

enum class LoadKind { force, traction, pressure, body_force, gas };

/// Gas in a closed surface: its pressure follows from the volume, p = p0 (V0/V)^exponent with the volume V0 at rest.
struct Gas {
  double pressure = 101325;  ///< p0, absolute, Pa
  double outside = 101325;   ///< of the air around, absolute, Pa
  double exponent = 1;       ///< 1: as warm as the air around; 1.4: air that has no time to exchange heat
};

/// A load on a body, for ModelBuilder.
struct LoadOptions {
  std::string name = "load";
  std::size_t body = 0;
  std::vector<Index> vertices;  ///< of the body: those it pulls, the corners of faces or of elements
  LoadKind kind = LoadKind::force;
  /// A force in all (N), spread evenly over nodes, a traction (Pa), or a force per volume at rest (N/m^3).
  Vec3 vector = Vec3::Zero();
  double pressure = 0;  ///< Pa, against the surface
  Gas gas = {};
  /// Whether pressure and traction act on the present surface and turn with it, or are those of the rest shape.
  bool follows = true;
  LoadFactor factor = {};
};

/// Forces that do not depend on the positions.
struct DeadLoad {
  std::string name;
  std::vector<Index> nodes;
  std::vector<Vec3> forces;  ///< of each of them at the factor 1, N
  LoadFactor factor;
};

/// What acts on a surface as it is now: a pressure (with a rim or without), the pressure of a gas, or a traction.
///
/// Pressure within a closed surface has a potential. At a rim, where the surface ends, and for tractions that turn,
/// there is none: these forces are taken where a step is expected to end, x^n + h v^n, and stay for the step, as
/// friction does.
struct SurfaceLoad {
  std::string name;
  LoadKind kind = LoadKind::pressure;
  std::shared_ptr<const FaceSet> faces;
  double pressure = 0;           ///< Pa
  Vec3 traction = Vec3::Zero();  ///< of the surface at rest, Pa
  Gas gas;
  double rest_volume = 0;  ///< of the gas, m^3
  LoadFactor factor;

  /// Whether its forces are the gradient of an energy, which a step then minimises: those of a pressure in a closed
  /// surface are.
  bool has_potential() const { return kind != LoadKind::traction && faces->is_closed(); }
};

/// A gas at an instant: its pressure beyond that outside (Pa), what the volume makes of it per m^3 (Pa/m^3, never
/// negative) and its energy with the air around it (J). All but the volume are infinite where that is not positive.
struct GasState {
  double pressure = 0, stiffness = 0, energy = 0;
};
GasState gas_state(const SurfaceLoad& load, double factor, double volume);

/// The forces of a load that does not follow. `rest` has the positions of all nodes. Throws InputError.
DeadLoad dead_load(const LoadOptions& options, const Body& body, const VecX& rest);
/// One that follows. Throws InputError.
SurfaceLoad surface_load(const LoadOptions& options, const Body& body, const VecX& rest);
bool follows(const LoadOptions& options);

/// What SurfaceLoads do in a step whose end is expected at x. `fixed` gets the forces that stay for the step and are no
/// part of a potential; `explicit_force` gets all of them. Returns for each load where volumes are measured from.
std::vector<Vec3> add_surface_forces(const std::vector<SurfaceLoad>& loads, const VecX& rest, const VecX& x,
                                     double time, VecX& fixed, VecX& explicit_force);

}  // namespace pliant
