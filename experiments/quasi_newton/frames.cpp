#include "experiments/quasi_newton/frames.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/math/decompositions.hpp"

namespace pliant::experiments {

/// What the others are compared with may take its time: laws with a kink need hundreds.
static constexpr std::int64_t kReferenceIterations = 1000;

void begin_frame(const FrameScene& scene, State& state) {
  for (Index i = 0; i < scene.model->nodes(); ++i) node(state.v, i) += kFrame * scene.gravity;
}

double largest_strain(const Model& model, const VecX& x) {
  double most = 0;
  std::vector<Mat3> F;
  for (const Body& body : model.bodies()) {
    if (!body.is_solid()) {
      for (const Spring& spring : body.network->springs) {
        const Index a = body.nodes.begin + spring.a, b = body.nodes.begin + spring.b;
        const double rest = (node(model.rest(), a) - node(model.rest(), b)).norm();
        most = std::max(most, std::abs((node(x, a) - node(x, b)).norm() / rest - 1));
      }
      continue;
    }
    const auto count = static_cast<Index>(body.mesh->tets().size());
    F.resize(static_cast<std::size_t>(count));
    body.elastic->deformation_gradients(x, {0, count}, F.data());
    for (const Mat3& each : F) {
      const Vec3 squares = rough_symmetric_eigenvalues(each.transpose() * each);
      const double low = std::sqrt(std::max(0.0, squares[0])), high = std::sqrt(squares[2]);
      most = std::max({most, high - 1, each.determinant() < 0 ? 1 + low : 1 - low});
    }
  }
  return most;
}

double extent_of(std::span<const Vec3> vertices) {
  Vec3 low = vertices[0], high = low;
  for (const Vec3& p : vertices) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  return (high - low).maxCoeff();
}

std::unique_ptr<Stepper> exact_newton(const FrameScene& scene) {
  return make_stepper(scene.model, "pod-newton",
                      {{"criterion", "step-length"},
                       {"tolerance", 1e-11 * scene.size},
                       {"max_iterations", kReferenceIterations},
                       {"start", "prediction"},
                       {"linear", "direct"}});
}

std::unique_ptr<Stepper> newton_iterations(const FrameScene& scene, std::int64_t iterations) {
  return make_stepper(scene.model, "projected-newton",
                      {{"max_iterations", iterations},
                       {"tolerance", 0.0},
                       {"start", "prediction"},
                       {"history", true},
                       {"armijo", 0.3},
                       {"linear", "direct"}});
}

Trajectory converged_run(const FrameScene& scene, int frames) {
  Trajectory run;
  const auto newton = make_stepper(scene.model, "pod-newton",
                                   {{"criterion", "step-length"},
                                    {"tolerance", 1e-7 * scene.size},
                                    {"max_iterations", kReferenceIterations},
                                    {"start", "prediction"},
                                    {"linear", "direct"}});
  State state = scene.start;
  for (int frame = 0; frame < frames; ++frame) {
    begin_frame(scene, state);
    run.begins.push_back(state);
    if (!newton->step(state, kFrame).succeeded()) {
      run.begins.pop_back();
      return run;
    }
    run.strain.push_back(largest_strain(*scene.model, state.x));
  }
  run.end = state;
  run.complete = true;
  return run;
}

std::vector<std::size_t> spread_over(std::size_t frames, std::size_t count) {
  std::vector<std::size_t> numbers;
  count = std::min(count, frames);
  for (std::size_t k = 1; k <= count; ++k) numbers.push_back(k * frames / count - 1);
  return numbers;
}

bool is_deformed(const FrameScene& scene, const Trajectory& run, const std::vector<std::size_t>& frames) {
  std::size_t deformed = 0;
  for (std::size_t frame : frames) deformed += run.strain[frame] > scene.least_strain;
  return !frames.empty() && 2 * deformed >= frames.size();
}

double relative_error(double g, double g0, double best) {
  if (!(g0 - best > 1e-9 * std::max(std::abs(g0), std::abs(best)))) return std::numeric_limits<double>::quiet_NaN();
  return (g - best) / (g0 - best);
}

Eigen::MatrixXd dense_matrix(const BlockMatrix& A) {
  const Eigen::Index n = 3 * static_cast<Eigen::Index>(A.pattern().rows());
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(n, n);
  const int b = A.block_size();
  for (Index i = 0; i < A.pattern().rows(); ++i)
    for (Index j = i; j < A.pattern().rows(); ++j) {
      const auto k = A.pattern().find(i, j);
      if (k < 0) continue;
      const Mat3 block = b == 3 ? Mat3(Eigen::Map<const Mat3>(A.block(k))) : Mat3(*A.block(k) * Mat3::Identity());
      D.block<3, 3>(3 * i, 3 * j) = block;
      D.block<3, 3>(3 * j, 3 * i) = block.transpose();
    }
  return D;
}

}  // namespace pliant::experiments
