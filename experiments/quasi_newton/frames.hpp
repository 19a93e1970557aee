#pragma once

#include "experiments/experiment.hpp"
#include "pliant/linalg/block_matrix.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

/// The time step of all of them, s.
inline constexpr double kFrame = 1.0 / 30;

/// Something to simulate as the paper does: external forces belong to y = x + h v + h^2 M^{-1} f, where every method
/// begins. Its model has no gravity; begin_frame() puts it into the velocities.
struct FrameScene {
  std::shared_ptr<const Model> model;
  State start;
  Vec3 gravity = Vec3::Zero();  ///< m/s^2
  double size = 1;              ///< largest extent of the body, m
  double least_strain = 0.1;    ///< what counts as deformed
};

void begin_frame(const FrameScene& scene, State& state);

/// max |stretch - 1| over all elements, or over all springs.
double largest_strain(const Model& model, const VecX& x);
/// Largest extent, m.
double extent_of(std::span<const Vec3> vertices);

/// Newton's method run until nothing moves any more.
std::unique_ptr<Stepper> exact_newton(const FrameScene& scene);
/// One iteration of projected Newton from the prediction, with a direct solver and the paper's line search.
std::unique_ptr<Stepper> newton_iterations(const FrameScene& scene, std::int64_t iterations);

/// States at which frames begin (gravity included) along a run of converged Newton.
struct Trajectory {
  std::vector<State> begins;
  std::vector<double> strain;  ///< at the end of each frame
  State end;
  bool complete = false;
};
Trajectory converged_run(const FrameScene& scene, int frames);
/// `count` numbers of frames, spread evenly over the run, the last one included.
std::vector<std::size_t> spread_over(std::size_t frames, std::size_t count);
/// Whether at least half of these frames are deformed.
bool is_deformed(const FrameScene& scene, const Trajectory& run, const std::vector<std::size_t>& frames);

/// Eq. (12): (g - g*)/(g0 - g*), NaN where g0 - g* drowns in the energies in play.
double relative_error(double g, double g0, double best);

/// As a dense matrix over all unknowns; a matrix of scalars stands for x, y and z alike.
Eigen::MatrixXd dense_matrix(const BlockMatrix& A);

}  // namespace pliant::experiments
