// Position-based sweeps: element updates per second and core, against the plainest scalar code (one element at a time,
// Eigen's JacobiSVD), and what an iteration of B-PXPBD and FP-PXPBD costs beside one of XPBD. All are measured in
// turns, so that a change of clock or load meets all of them; medians.
//
//   pxpbd [cells along an edge, default 15 (17 thousand tetrahedra)] [seconds per measurement, default 1]

#include <oneapi/tbb/global_control.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/pxpbd/pxpbd_stepper.hpp"
#include "support/scalar_law.hpp"

namespace {

using namespace pliant;

constexpr int kTurns = 9;
constexpr double kStep = 0.01;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// FP-PXPBD's sweep over the corotated law as one would first write it: element by element in the mesh's order, 3x3
/// matrices, JacobiSVD.
class ScalarFirstPiola {
 public:
  ScalarFirstPiola(const Model& model, const State& state)
      : model_(model), x_(state.x + kStep * state.v), P_(model.bodies()[0].mesh->tets().size(), Mat3::Zero()) {
    for (const Mat3& B : model.bodies()[0].elements->inverse_edges()) {
      Eigen::Matrix<double, 3, 4> g;
      for (int a = 0; a < 3; ++a) g.col(a + 1) = B.row(a).transpose();
      g.col(0) = -(g.col(1) + g.col(2) + g.col(3));
      gradients_.push_back(g);
    }
  }
  void sweep() {
    const Body& body = model_.bodies()[0];
    const Lame lame = body.lame[0];
    const double h2 = kStep * kStep;
    for (std::size_t e = 0; e < P_.size(); ++e) {
      const Tet& t = body.mesh->tets()[e];
      const auto& g = gradients_[e];
      const double V = body.elements->volumes()[e];
      Mat3 F = Mat3::Zero(), A = Mat3::Zero();
      for (std::size_t a = 0; a < 4; ++a) {
        const auto ga = g.col(static_cast<Eigen::Index>(a));
        F += node(x_, t[a]) * ga.transpose();
        A += ga * ga.transpose() / model_.mass().lumped()[t[a]];
      }
      const testing::ScalarSvd svd = testing::scalar_svd(F);
      const Mat3 R = svd.U * svd.V.transpose();
      const double J = F.determinant(), c = 2 * lame.mu + lame.lambda * std::abs(J - 1) * svd.s[0];
      Mat3 W;
      for (int j = 0; j < 3; ++j) W.col(j) = Vec3(F.col((j + 1) % 3)).cross(Vec3(F.col((j + 2) % 3)));
      const Mat3 r = 2 * lame.mu * (F - R) + lame.lambda * (J - 1) * W - P_[e];
      const Mat3 Y = (Mat3::Identity() + h2 * V * c * A).inverse();
      const Mat3 rY = r * Y, WY = W * Y;
      const double s = -((W.cwiseProduct(r)).sum() - (W.cwiseProduct(rY)).sum()) /
                       (c + lame.lambda * (W.squaredNorm() - (W.cwiseProduct(WY)).sum()));
      const Mat3 dP = rY + lame.lambda * s * WY;
      P_[e] += dP;
      for (std::size_t a = 0; a < 4; ++a)
        node(x_, t[a]) -= h2 * V / model_.mass().lumped()[t[a]] * dP * g.col(static_cast<Eigen::Index>(a));
    }
  }

 private:
  const Model& model_;
  VecX x_;
  std::vector<Mat3> P_;
  std::vector<Eigen::Matrix<double, 3, 4>> gradients_;
};

std::shared_ptr<const Model> make_model(Index cells, const char* law) {
  ModelBuilder builder;
  BodyOptions body;
  const double size = 0.1 * static_cast<double>(cells);
  body.mesh = std::make_shared<TetMesh>(box({.size = {size, size, size}, .cells = {cells, cells, cells}}));
  body.material = {find_law(law), lame_from_young(1e4, 0.3)};
  body.density = 10;
  builder.add_body(body);
  return builder.build();
}

State stretched(const Model& model) {
  State state = model.rest_state();
  for (Index i = 0; i < model.nodes(); ++i) {
    const Vec3 X = node(model.rest(), i);
    node(state.x, i)[0] *= 1.3;
    node(state.v, i) = Vec3(X[1], -X[0], 0.5 * X[0]);
  }
  return state;
}

/// Seconds of an iteration: the sweeps of one step.
double iteration_seconds(Stepper& stepper, const State& start, int iterations) {
  State state = start;
  return stepper.step(state, kStep).seconds.solve / iterations;
}

void compare(Index cells, double budget, int threads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  const auto model = make_model(cells, "fixed-corotated"), neo = make_model(cells, "macklin-mueller"),
             any = make_model(cells, "neo-hookean");
  const State start = stretched(*model);
  const auto tets = static_cast<double>(model->bodies()[0].mesh->tets().size());
  struct Subject {
    const char* name;
    std::shared_ptr<const Model> model;
    pbd::Method method;
    int inner;
  };
  const std::vector<Subject> subjects = {{"XPBD, corotated", model, pbd::Method::xpbd, 1},
                                         {"B-PXPBD, corotated", model, pbd::Method::blended, 1},
                                         {"FP-PXPBD, corotated", model, pbd::Method::first_piola, 1},
                                         {"FP-PXPBD, corotated, 2 inner", model, pbd::Method::first_piola, 2},
                                         {"XPBD, Macklin-Mueller", neo, pbd::Method::xpbd, 1},
                                         {"FP-PXPBD, Macklin-Mueller", neo, pbd::Method::first_piola, 1},
                                         {"FP-PXPBD, 9x9 (Neo-Hookean)", any, pbd::Method::first_piola, 1}};
  std::vector<std::unique_ptr<Stepper>> steppers;
  std::vector<std::vector<double>> times(subjects.size() + 1);
  std::vector<int> iterations;
  for (const Subject& subject : subjects) {
    PxpbdOptions options;
    options.local.method = subject.method;
    options.local.inner = subject.inner;
    options.correction.kind = pbd::CorrectionKind::none;
    options.iterations = 3;
    const double seconds = [&] {
      PxpbdStepper warm(subject.model, options);
      iteration_seconds(warm, start, 3);
      return iteration_seconds(warm, start, 3);
    }();
    options.iterations = std::max(3, static_cast<int>(budget / kTurns / seconds));
    iterations.push_back(options.iterations);
    steppers.push_back(std::make_unique<PxpbdStepper>(subject.model, options));
  }
  ScalarFirstPiola plain(*model, start);
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t s = 0; s < subjects.size(); ++s)
      times[s].push_back(iteration_seconds(*steppers[s], start, iterations[s]));
    const double begin = now();
    plain.sweep();
    times.back().push_back(now() - begin);
  }
  std::printf("\n%d thread%s, %.0f tetrahedra, %d vertices\n", threads, threads > 1 ? "s" : "", tets, model->nodes());
  std::printf("  %-32s %10s %14s %12s\n", "", "ms/sweep", "million/s", "x XPBD");
  const double xpbd = median(times[0]), neo_xpbd = median(times[4]);
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    const double seconds = median(times[s]);
    std::printf("  %-32s %10.3f %14.2f %12.2f\n", subjects[s].name, 1e3 * seconds, 1e-6 * tets / seconds,
                seconds / (s < 4 ? xpbd : neo_xpbd));
  }
  const double scalar = median(times.back());
  std::printf("  %-32s %10.3f %14.2f   (FP-PXPBD is %.1f times as fast%s)\n", "scalar FP-PXPBD, JacobiSVD",
              1e3 * scalar, 1e-6 * tets / scalar, scalar / median(times[2]),
              threads > 1 ? ", on more threads than this one" : "");
}

}  // namespace

int main(int argc, char** argv) {
  const auto cells = static_cast<Index>(argc > 1 ? std::atoi(argv[1]) : 15);
  const double budget = argc > 2 ? std::atof(argv[2]) : 1;
  for (int threads : {1, 2}) compare(cells, budget, threads);
}
