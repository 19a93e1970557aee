#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/settings/bound_settings.hpp"
#include "pliant/sim/incremental_potential.hpp"

namespace pliant {

struct SolverEntry;

/// When a solver takes gas in a cavity; `in_motion`: not in quasistatic steps.
enum class GasSupport : std::uint8_t { none, in_motion, always };

/// What a solver can do, as data: each entry of the catalogue has one. Refusals, the table in docs/solvers.md,
/// `pliant solvers`, `pliant check`, the viewer and Python all read it; nothing else asks what a solver is.
struct SolverSupport {
  std::vector<Integrator> integrators = {Integrator::implicit_euler};
  /// The integrators with which it keeps surfaces apart ([contact]); none: it has no such contact. The implicit
  /// midpoint is never among them: the end of its step is a mirror image that nobody checks for intersections.
  std::vector<Integrator> contact = {};
  std::string own_contact = {};  ///< contact between bodies in a way of its own: in a few words, which
  bool colliders = true;
  bool friction = true;  ///< with colliders, and in contact where it has that
  bool links = false;    ///< rigid links
  bool rigid = true;     ///< rigid bodies and their joints
  bool cloth = true;     ///< other networks of springs, shells and rods
  bool fibres = true;
  int highest_order = 3;  ///< of elements
  bool consistent_mass = true;
  bool mass_damping = true;
  bool stiffness_damping = true;
  bool cuts = true;
  /// Cuts of bodies that touch themselves: contact begins with surfaces that are apart, and the two sides of a cut are
  /// not.
  bool cuts_in_contact = false;
  bool grabs = true;
  /// Gas in a closed surface: every node of the surface acts on every other, and stiffly so. All take other loads.
  GasSupport gas = GasSupport::always;
  bool energies = true;                ///< further ones, from code
  std::vector<std::string> laws = {};  ///< that it takes; empty: all
};

/// What the solver can do in place of `SolverEntry::supports` where a parameter has a certain value.
struct SupportVariant {
  std::string parameter, value;
  SolverSupport supports;
};

/// What a scene asks for that its model does not show.
struct SceneDemands {
  Integrator integrator = Integrator::implicit_euler;
  std::vector<std::size_t> cut_bodies = {};  ///< those that [[cut]] will cut
};

/// As users write it, and back; the latter for names of integrators only.
std::string_view to_string(Integrator integrator);
Integrator integrator_of(std::string_view name);

/// Why a solver with these parameters (complete) cannot run a model: a clause for each reason, with the name of the
/// body or key at fault and the solver as "it". Empty: it can. Where `demands` asks for no other integrator, that of
/// the parameters counts.
std::vector<std::string> refusals(const SolverEntry& solver, const Model& model, const SettingMap& parameters,
                                  const SceneDemands& demands = {});

/// Throws InputError with all of these and the solvers that take the model.
void check_support(const SolverEntry& solver, const Model& model, const SettingMap& parameters,
                   const SceneDemands& demands = {});

/// One solver and a model.
struct SolverFit {
  const SolverEntry* solver;
  std::vector<std::string> refusals;  ///< with its default parameters; empty: it takes the model
  std::string unless;                 ///< a parameter with which it would take it all the same: `method = "fp-pxpbd"`
  bool fits() const { return refusals.empty(); }
  /// All refusals in one line, with `unless`.
  std::string reason() const;
};
/// Whether each solver fits, in the order of the catalogue.
std::vector<SolverFit> solver_fits(const Model& model, const SceneDemands& demands = {});
/// The names of those that fit, with commas; "none" when there are none.
std::string list_fitting(const Model& model, const SceneDemands& demands = {});

/// A column of the table of solvers and features.
struct SolverFeature {
  std::string name;                                    ///< "contact"
  std::string summary;                                 ///< a sentence
  std::string (*mark)(const SolverSupport& supports);  ///< "yes", "" for no, or a few words
};
std::span<const SolverFeature> solver_features();

/// docs/solvers.md: every solver, what it can do, and its parameters.
std::string solver_documentation();

}  // namespace pliant
