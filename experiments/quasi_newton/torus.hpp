#pragma once

#include "experiments/quasi_newton/descent.hpp"
#include "experiments/quasi_newton/frames.hpp"
#include "pliant/mesh/tet_mesh.hpp"

namespace pliant::experiments {

/// Fig. 4: a ball pushes a body through a torus whose hole is narrower than it. Sizes are those of
/// the authors' commented scene (torus of radii 6 and 2, ball of radius 3), with the hole at 0.7 of the body's radius.
struct TorusScene {
  FrameScene scene;
  int axis = 2;                                  ///< the way, downwards
  double radius = 1;                             ///< of the body across its way, m
  double hole = 0.7, tube = 0.35, ball = 0.525;  ///< m
  int frames = 0;                                ///< until the ball has stopped below the torus
};
/// `factor` multiplies the printed moduli mu = 5 and lambda = 200; the ball takes `seconds` for its way.
TorusScene torus_scene(const MeshData& mesh, double factor, double seconds);

/// How a body went through, iterated as printed: ten iterations a frame, window 5.
struct TorusRun {
  bool finite = true;
  std::vector<State> contact_begins;  ///< where frames in contact begin, gravity included
  std::vector<Index> touching;        ///< nodes inside an obstacle at the end of each frame
  std::vector<int> evaluations;       ///< trial points of each frame
  int changing_frames = 0;            ///< whose set of contacts differs from the last frame's
  int factorisations = 0;
  int rises = 0, iterations = 0;  ///< iterations in which g with their own contact set rose, and all
  State end;
};
TorusRun squeeze_through(Context& context, const TorusScene& torus, int most_frames);

/// Nodes inside the colliders at the end of a step.
std::vector<Index> nodes_inside(const Model& model, const VecX& x, double time);
/// Largest distance of a vertex from rest after the best rigid alignment, m.
double aligned_distance(const VecX& rest, const VecX& x);

}  // namespace pliant::experiments
