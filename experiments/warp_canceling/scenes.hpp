#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

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

/// A cube of 1 m with so many cells along each edge that falls askew by 0.3 m onto a floor, E = 5e6 Pa: of equal cells,
/// graded so that the longest cell is 100 times as long as the shortest, or with E of each element between 1e5 and 1e9.
enum class BoxKind { uniform, graded, random_stiffness };
std::shared_ptr<const Model> dropped_box(Index cells, BoxKind kind);

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
std::shared_ptr<const Model> draped_sheet(Index cells, double thickness = 1e-4);

/// A trampoline of 1 m x 1 m held along its edges, onto which a light stiff ball is thrown, and a sheet of 1 m x 0.5 m
/// that hangs where the ball is thrown back to. `cells` along each side of the trampoline. Bodies 0, 1 and 2.
struct TrampolineScene {
  std::shared_ptr<const Model> model;
  double side = 1, hanging_height = 0.5;  ///< m
  std::vector<Index> lower_edge;          ///< nodes of the hanging sheet
};
TrampolineScene trampoline(Index cells);

/// A toy on a thread: a body with eight legs of two joints each. Legs and thread are two cells thick, in cells ten
/// times as long as wide; legs and body are `ratio` times as stiff as joints and thread, whose end is swung. `fine` 1
/// gives about 3 thousand tets, 2 about 13 thousand.
struct SpiderScene {
  std::shared_ptr<const Model> model;
  double size = 0;                           ///< from foot to foot, m
  std::vector<Index> slender;                ///< elements of legs and thread
  std::vector<std::array<Index, 4>> joints;  ///< two nodes before a joint, two after it
  std::vector<Index> trunk;                  ///< nodes of the body without legs and thread
};
SpiderScene spider(Index fine, double ratio = 300);

/// Copies of a body brought to 0.3 m that fall into a bowl one after the other, E = 3e6 Pa.
struct BowlScene {
  std::shared_ptr<const Model> model;
  double radius = 0;  ///< of the bowl, whose centre is the origin, m
  double size = 0.3;  ///< of a body, m
};
BowlScene bowl_of_bodies(Index bodies, const MeshData& mesh);

}  // namespace pliant::experiments
