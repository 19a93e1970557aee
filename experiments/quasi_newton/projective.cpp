// Section 4 of quasi-newton: with energies of Projective Dynamics a whole step along -A^{-1} grad g is one local/global
// iteration, never raises g, and is said to be the best step. The local/global step is coded here on its own.

#include <fmt/format.h>

#include <Eigen/LU>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>

#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/descent.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "experiments/random.hpp"
#include "pliant/math/decompositions.hpp"

namespace pliant::experiments {

namespace {

/// (M/h^2 + L) x = M/h^2 y + J p, with the projections p of ARAP tetrahedra (rotations) or springs (unit vectors).
class LocalGlobal {
 public:
  explicit LocalGlobal(const Model& model) : model_(model) {}

  VecX iterate(const VecX& x, const VecX& y, const BoundaryState& boundary) {
    const Index n = model_.nodes();
    std::vector<Eigen::Triplet<double>> entries;
    Eigen::MatrixXd b(n, 3);
    for (Index i = 0; i < n; ++i) {
      const double inertia = model_.mass().lumped()[i] / (kFrame * kFrame);
      entries.emplace_back(i, i, inertia);
      b.row(i) = inertia * node(y, i).transpose();
    }
    const Body& body = model_.bodies()[0];
    const auto couple = [&](Index a, Index c, double k) { entries.emplace_back(a, c, k); };
    if (body.is_solid()) {
      for (const Tet& t : body.mesh->tets()) {
        Mat3 rest, now;
        for (int k = 0; k < 3; ++k) {
          rest.col(k) = node(model_.rest(), t[static_cast<std::size_t>(k) + 1]) - node(model_.rest(), t[0]);
          now.col(k) = node(x, t[static_cast<std::size_t>(k) + 1]) - node(x, t[0]);
        }
        const Mat3 inverse = rest.inverse();
        const double weight = std::abs(rest.determinant()) / 6 * 2 * body.lame[0].mu;
        const Mat3 R = nearest_rotation(now * inverse);
        Eigen::Matrix<double, 3, 4> G;  // gradients of the shape functions
        G.rightCols<3>() = inverse.transpose();
        G.col(0) = -G.rightCols<3>().rowwise().sum();
        for (std::size_t p = 0; p < 4; ++p) {
          const auto column = static_cast<Eigen::Index>(p);
          b.row(t[p]) += weight * (R * G.col(column)).transpose();
          for (std::size_t q = 0; q < 4; ++q)
            couple(t[p], t[q], weight * G.col(column).dot(G.col(static_cast<Eigen::Index>(q))));
        }
      }
    } else {
      for (std::size_t s = 0; s < body.network->springs.size(); ++s) {
        const auto [a, c, kind] = body.network->springs[s];
        const double k = body.springs->stiffness()[s];
        const Vec3 d = node(x, a) - node(x, c);
        const Vec3 p = (node(model_.rest(), a) - node(model_.rest(), c)).norm() * d.normalized();
        b.row(a) += k * p.transpose();
        b.row(c) -= k * p.transpose();
        couple(a, a, k), couple(c, c, k), couple(a, c, -k), couple(c, a, -k);
      }
    }
    // Prescribed nodes are known: what they pull at goes to the right-hand side.
    std::vector<Eigen::Triplet<double>> kept;
    const auto is_fixed = [&](Index i) { return boundary.fixed[static_cast<std::size_t>(3 * i)] != 0; };
    for (const auto& entry : entries) {
      const auto row = static_cast<Index>(entry.row()), column = static_cast<Index>(entry.col());
      if (is_fixed(row)) continue;
      if (is_fixed(column))
        b.row(row) -= entry.value() * node(boundary.positions, column).transpose();
      else
        kept.push_back(entry);
    }
    for (Index i = 0; i < n; ++i)
      if (is_fixed(i)) {
        kept.emplace_back(i, i, 1.0);
        b.row(i) = node(boundary.positions, i).transpose();
      }
    if (!is_factored_) {
      Eigen::SparseMatrix<double> A(n, n);
      A.setFromTriplets(kept.begin(), kept.end());
      factor_.compute(A);
      is_factored_ = true;
    }
    const Eigen::MatrixXd solution = factor_.solve(b);
    VecX result(3 * n);
    for (Index i = 0; i < n; ++i) node(result, i) = solution.row(i).transpose();
    return result;
  }

 private:
  const Model& model_;
  bool is_factored_ = false;
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor_;
};

DescentOptions plain_steps() {
  DescentOptions options;
  options.window = 0;
  options.search.kind = LineSearchKind::none;
  options.hessian.laplacian.precision = LaplacianMatrix::Precision::double_precision;
  return options;
}

FrameScene shaken_arap(const MeshData& mesh) {
  const Table1Row& row = table1_row("shaking-bar");
  Table1Row arap = row;
  arap.law = "arap";
  return table1_frame_scene(arap, mesh, row.factor);
}

void decide_identity(Context& context, const std::vector<std::pair<std::string, FrameScene>>& scenes) {
  Decision decision("quasi-newton/section-4/pd-is-quasi-newton");
  for (const auto& labelled : scenes) {
    const std::string& label = labelled.first;
    const FrameScene& scene = labelled.second;
    Descent ours(scene.model, plain_steps());
    LocalGlobal rival(*scene.model);
    State state = scene.start;
    double apart = 0, wrong = 0;
    for (int frame = 0; frame < 20 && !context.stopped(); ++frame) {
      begin_frame(scene, state);
      VecX x;
      const auto watch = [&](const Iterate& current, const VecX&, double) {
        if (x.size() > 0) apart = std::max(apart, (x - current.x).cwiseAbs().maxCoeff() / scene.size);
        const StepProblem& problem = ours.potential().problem();
        x = rival.iterate(current.x, problem.predicted, problem.boundary);
      };
      const DescentFrame done = ours.solve(state, kFrame, watch);
      apart = std::max(apart, (x - done.x).cwiseAbs().maxCoeff() / scene.size);
      VecX v;
      ours.potential().velocities(done.x, v);
      // Central differences of g along a random direction, at a random state near this one.
      Random random(static_cast<std::uint64_t>(frame) + 1);
      VecX probe = done.x, direction(done.x.size()), g;
      for (Eigen::Index i = 0; i < probe.size(); ++i) {
        probe[i] += 0.02 * scene.size * (random.unit() - 0.5);
        direction[i] = random.unit() - 0.5;
      }
      ours.potential().clear_prescribed(direction);
      ours.potential().gradient(probe, g);
      const double h = 1e-6 * scene.size, slope = g.dot(direction);
      const double difference =
          (ours.potential().value(probe + h * direction) - ours.potential().value(probe - h * direction)) / (2 * h);
      wrong = std::max(wrong, std::abs(difference - slope) / std::abs(slope));
      ours.potential().end_step(done.x, v, state);
    }
    decision.at_most(label + ": largest difference of iterates in sizes", apart, 1e-10)
        .at_most(label + ": relative error of central differences", wrong, 1e-6);
    context.row({{"body", label}, {"apart", apart}, {"differences", wrong}});
  }
  if (decision.verdict() == Verdict::fails) decision.because("see the differences of each body");
  context.decide(decision);
}

/// Runs by whole steps and looks at other step lengths along the same directions.
void decide_unit_steps(Context& context, const std::vector<std::pair<std::string, FrameScene>>& scenes, int frames,
                       int optimal_frames) {
  Decision works("quasi-newton/section-4/unit-step-works-for-pd"),
      optimal("quasi-newton/section-4/unit-step-optimal-for-pd");
  constexpr double kLengths[] = {0.5, 0.75, 1.25, 1.5, 2};
  int rises = 0, iterations = 0;
  for (const auto& labelled : scenes) {
    const std::string& label = labelled.first;
    const FrameScene& scene = labelled.second;
    Descent ours(scene.model, plain_steps());
    State state = scene.start;
    double best_at[6] = {}, asked = 0;
    VecX trial;
    for (int frame = 0; frame < frames && !context.stopped(); ++frame) {
      begin_frame(scene, state);
      double last = std::numeric_limits<double>::infinity();
      const auto watch = [&](const Iterate& current, const VecX& direction, double) {
        rises += current.energy > last + 1e-12 * std::abs(last);
        ++iterations;
        last = current.energy;
        if (frame >= optimal_frames) return;
        trial = current.x + direction;
        double least = ours.potential().value(trial);
        std::size_t best = 5;
        for (std::size_t k = 0; k < 5; ++k) {
          trial = current.x + kLengths[k] * direction;
          const double g = ours.potential().value(trial);
          if (g < least - 1e-12 * std::abs(least)) {
            least = g;
            best = k;
          }
        }
        ++best_at[best];
        ++asked;
      };
      const DescentFrame done = ours.solve(state, kFrame, watch);
      rises += done.energy > last + 1e-12 * std::abs(last);
      VecX v;
      ours.potential().velocities(done.x, v);
      ours.potential().end_step(done.x, v, state);
    }
    optimal.at_least(label + ": share of iterations in which no other length is better", best_at[5] / asked, 0.99)
        .note(label + ": how often 0.5, 0.75, 1.25, 1.5, 2 and 1 are best",
              Json::array({best_at[0], best_at[1], best_at[2], best_at[3], best_at[4], best_at[5]}));
    if (optimal.verdict() == Verdict::fails)
      optimal.because(
          fmt::format("{}: longer steps are best in {:.0f}% of the iterations: 1 minimises the surrogate with "
                      "fixed projections, not g",
                      label, 100 * (best_at[2] + best_at[3] + best_at[4]) / asked));
  }
  works.needs(iterations >= (context.quick() ? 1000 : 5000), "enough iterations")
      .equal("iterations in which g rose", rises, 0)
      .note("iterations", iterations);
  if (works.verdict() == Verdict::fails) works.because(fmt::format("g rose in {} of {} iterations", rises, iterations));
  context.decide(works);
  context.decide(optimal);
}

void run_projective(Context& context) {
  const auto bar = find_mesh(context, "longbar");
  if (!bar) return decide_without_meshes(context, "quasi-newton/projective");
  const double cloth_factor = table1_row("cloth").factor;
  decide_identity(context, {{"longbar", shaken_arap(*bar)}, {"cloth 41 x 41", cloth_scene(40, cloth_factor)}});
  std::vector<std::pair<std::string, FrameScene>> scenes = {
      {"longbar", shaken_arap(*bar)},
      {"cloth", cloth_scene(static_cast<Index>(context.number("cloth")), cloth_factor)}};
  if (!context.quick()) {
    FrameScene hippo =
        body_scene(ten_kilograms(std::make_shared<TetMesh>(*find_mesh(context, "hippo")), "arap", {20, 0}), {}, {});
    hippo.gravity.setZero();
    Random random(1);
    for (Eigen::Index i = 0; i < hippo.start.x.size(); ++i) hippo.start.x[i] = hippo.size * (random.unit() - 0.5);
    scenes.emplace_back("hippo from random places", hippo);
  }
  decide_unit_steps(context, scenes, static_cast<int>(context.number("frames")),
                    static_cast<int>(context.number("optimal_frames")));
}

}  // namespace

Experiment projective() {
  return {"quasi-newton/projective",
          "Projective Dynamics as a quasi-Newton method, checked against a local/global step (section 4)",
          {meshes_option("longbar.mesh and hippo.mesh"),
           {"cloth", "80", "40", "cells of the cloth along an edge"},
           {"frames", "200", "60", "of each run"},
           {"optimal_frames", "120", "30", "in which other step lengths are tried"}},
          run_projective};
}

}  // namespace pliant::experiments
