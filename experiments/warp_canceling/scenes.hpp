#pragma once

#include <memory>
#include <string>

#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/sim/model.hpp"

namespace pliant::experiments {

/// A bar of 1.5 x 0.5 x 0.5 m with so many cells across, rho = 1000, nu = 0.4: clamped at one end under gravity, or
/// dropped askew from 0.3 m onto a floor.
std::shared_ptr<const Model> swinging_bar(Index across, double young);
std::shared_ptr<const Model> dropped_bar(Index across, double young);
/// The same bar with nothing around it.
std::shared_ptr<const Model> free_bar(Index across, double young);

/// A lattice of struts in a sphere of 0.8 m that lands askew on a floor with 2.4 m/s, as after a fall of 0.3 m: about
/// 7, 115 and 330 thousand tets with 2, 5 and 7 cells across a strut.
std::shared_ptr<const Model> sculpture(Index across, double young);

/// Three rings of 0.62 x 0.18 m joined in a row, a round body of genus three, that falls on a cylinder that lies on a
/// floor; `cells` along its thickness.
std::shared_ptr<const Model> three_torus(Index cells, double young);

/// A mesh brought to 1 m that falls by 0.3 m onto a floor.
std::shared_ptr<const Model> dropped_figure(MeshData mesh, double young);

/// A bar of 2 x 0.25 x 0.25 m, cells 24 x 3 x 3, held in the middle and shaken by 0.4 m at 5 Hz.
std::shared_ptr<const Model> shaken_bar(double young);

/// A mesh brought to 0.3 m that lies on a floor. A cylinder comes down on it within a second, to a twentieth of its
/// height above the floor, waits for 0.2 s and rises again.
struct PistonScene {
  std::shared_ptr<const Model> model;
  Vec3 centre = Vec3::Zero();    ///< of the piston's face, m
  double radius = 0;             ///< m
  double start = 0, travel = 0;  ///< height of its face at first, and its way down, m
  double least_gap = 0;          ///< over the body's height
  double piston_bottom(double time) const;
};
PistonScene body_under_piston(MeshData mesh, double young);

/// A sheet of 1 m x 1 m x 0.1 mm that falls on a ball of 0.25 m; `cells` along each side.
std::shared_ptr<const Model> draped_sheet(Index cells);
/// The same 1 mm thick, held along its edges, into which a ball is pushed and drawn back.
std::shared_ptr<const Model> trampoline(Index cells);
/// A toy on a thread: a body with eight jointed legs, one or more cells thick; legs and body are 300 times as stiff as
/// joints and thread, which is shaken.
std::shared_ptr<const Model> spider(Index across);

/// Bodies of 0.3 m that fall into a bowl with a radius of 0.6 m one after the other: balls, cylinders and rings with so
/// many cells across, or the mesh of a file. E = 3e6 Pa.
std::shared_ptr<const Model> bowl_of_bodies(Index bodies, Index cells, const std::string& mesh_file);

}  // namespace pliant::experiments
