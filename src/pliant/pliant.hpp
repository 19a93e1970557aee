#pragma once

/// @mainpage Pliant
/// What programs that embed Pliant include. Everything is in the namespace `pliant`.
///
/// From a file or from text, with every key of docs/scene.md:
///
///     pliant::Simulation simulation(pliant::load_scene("beam.toml"));
///     const pliant::StepReport report = simulation.step();
///     const pliant::VecX& x = simulation.state()->x;   // x, y, z of node 0, then of node 1, ...
///
/// From code, a `Scene` is plain data (scene/scene.hpp): bodies, pins, scripts, colliders, contact, the solver's name.
/// Those who need no scene put a `Model` together by `ModelBuilder`, ask `make_stepper` for a solver, and step a
/// `State` themselves. Laws, energies and solvers of your own derive from `Law`, `Energy` and `Stepper`
/// (`SceneBody::law`, `Scene::energies`; CONTRIBUTING.md).
///
/// Lengths are in metres, everything else in SI units too. Bad input throws `InputError`, whose message names the place
/// and the remedy; how a step went is a value, `StepReport`. Objects may be used from any thread, each from one at a
/// time; a step uses the threads of oneTBB, of which a `tbb::global_control` of yours limits the number.

#include "pliant/base/error.hpp"
#include "pliant/energies/energy.hpp"
#include "pliant/materials/fibre.hpp"
#include "pliant/materials/law.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/mesh/write_mesh.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/sim/grab.hpp"
#include "pliant/sim/incremental_potential.hpp"
#include "pliant/sim/model.hpp"
#include "pliant/sim/step_report.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/simulation/simulation.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/version.hpp"
