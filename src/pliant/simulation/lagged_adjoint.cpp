#include "pliant/simulation/lagged_adjoint.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <span>

namespace pliant {

namespace {

/// Of the distance of the nodes. Small, since the stiffness of shells and rods has kinks where they begin to be pulled,
/// and stiff ones are strained by as little as 1e-6.
constexpr double kShare = 1e-7;

/// The largest distance of some nodes from the first, m; one where there is none.
double extent_of(std::span<const Index> nodes, const VecX& x) {
  double most = 0;
  for (Index i : nodes) most = std::max(most, (node(x, i) - node(x, nodes.front())).norm());
  return most > 0 ? most : 1;
}

/// Adds to g the central differences of product() by the places of some nodes in y. A node that a stencil names again,
/// as those of shells and rods do at a rim, is one node.
template <class Product>
void add_differences(std::span<const Index> nodes, VecX& y, Product&& product, VecX& g) {
  const double step = kShare * extent_of(nodes, y);
  for (auto at = nodes.begin(); at != nodes.end(); ++at) {
    const Index i = *at;
    if (std::find(nodes.begin(), at, i) != at) continue;
    for (Eigen::Index k = 3 * Eigen::Index(i); k < 3 * Eigen::Index(i) + 3; ++k) {
      const double kept = y[k];
      y[k] = kept + step;
      const double above = y[k], more = product();
      y[k] = kept - step;
      g[k] += (more - product()) / (above - y[k]);
      y[k] = kept;
    }
  }
}

}  // namespace

Mat3 gradient_at(const FeMesh& mesh, const Index* nodes, Index first, const VecX& x, const Mat3& inverse, int point) {
  Mat3 sum = Mat3::Zero();
  for (int a = 0; a < mesh.reference().nodes(); ++a)
    sum += node(x, first + nodes[a]) * mesh.reference().gradient(point, a).transpose();
  return sum * inverse;
}

Mat3 apply(const Mat9& H, const Mat3& G) {
  const Eigen::Matrix<double, 9, 1> turned = H * Eigen::Map<const Eigen::Matrix<double, 9, 1>>(G.data());
  return Eigen::Map<const Mat3>(turned.data());
}

const Lame& lame_of(const Body& body, Index element) {
  return body.lame[body.lame.size() == 1 ? 0 : static_cast<std::size_t>(element)];
}

Mat3 projected_stiffness_by_gradient(const Material& material, const Mat3& F, const Mat3& G, const Mat3& U) {
  constexpr double kStep = 1e-6;
  const Eigen::SelfAdjointEigenSolver<Mat9> eigen(material.hessian(F));
  const auto& l = eigen.eigenvalues();
  const Mat9& V = eigen.eigenvectors();
  const Eigen::Matrix<double, 9, 1> g = V.transpose() * Eigen::Map<const Eigen::Matrix<double, 9, 1>>(G.data()),
                                    u = V.transpose() * Eigen::Map<const Eigen::Matrix<double, 9, 1>>(U.data());
  const double zero = 1e-12 * l.cwiseAbs().maxCoeff();
  Mat9 share;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) {
      const double part = std::max(l[i], 0.0) - std::max(l[j], 0.0), all = l[i] - l[j];
      const double same = std::abs(l[i]) <= zero ? 0.5 : l[i] > 0 ? 1.0 : 0.0;
      share(i, j) = g[i] * u[j] * (std::abs(all) > zero ? part / all : same);
    }
  const Mat9 weights = V * share * V.transpose();
  Mat3 found, moved = F;
  for (int k = 0; k < 9; ++k) {
    const double kept = F.data()[k];
    moved.data()[k] = kept + kStep;
    const Mat9 more = material.hessian(moved);
    moved.data()[k] = kept - kStep;
    found.data()[k] = weights.cwiseProduct(more - material.hessian(moved)).sum() / (2 * kStep);
    moved.data()[k] = kept;
  }
  return found;
}

namespace {

/// With G and U the gradients of lambda and x - x^n: of beta/h V sum w G:H(F^n):U, by the nodes' part of F^n.
void add_solid_damping_by_start(const Body& body, const StepProblem& problem, const VecX& moved, const VecX& lambda,
                                VecX& g) {
  const FeMesh& mesh = *body.elements;
  const ReferenceElement& reference = mesh.reference();
  for (Index e = 0; e < mesh.element_count(); ++e) {
    const Index* of = mesh.elements().data() + std::ptrdiff_t(e) * reference.nodes();
    const Mat3& inverse = mesh.inverse_edges()[static_cast<std::size_t>(e)];
    const Material material{body.law, lame_of(body, e)};
    const double scale = body.damping.stiffness / problem.h * mesh.volumes()[static_cast<std::size_t>(e)];
    for (int q = 0; q < reference.points(); ++q) {
      const auto gradient = [&](const VecX& y) { return gradient_at(mesh, of, body.nodes.begin, y, inverse, q); };
      const Mat3 by_gradient =
          scale * reference.weights()[static_cast<std::size_t>(q)] *
          projected_stiffness_by_gradient(material, gradient(problem.x_n), gradient(lambda), gradient(moved));
      for (int a = 0; a < reference.nodes(); ++a)
        node(g, body.nodes.begin + of[a]) += by_gradient * (inverse.transpose() * reference.gradient(q, a));
    }
  }
}

}  // namespace

void add_damping_by_start(const Model& model, const StepProblem& problem, const VecX& x, const VecX& lambda, VecX& g) {
  VecX y = problem.x_n;
  const VecX moved = x - problem.x_n;
  for (const Body& body : model.bodies()) {
    if (!(body.damping.stiffness > 0)) continue;
    if (body.elastic && !body.rigid && body.fibres.empty()) {
      add_solid_damping_by_start(body, problem, moved, lambda, g);
      continue;
    }
    const Energy& energy = body.energy();
    const int size = energy.stencils().size;
    std::vector<double> blocks(static_cast<std::size_t>(9 * local_blocks(size)));
    for (Index s = 0; s < energy.stencils().count(); ++s) {
      const std::span<const Index> nodes(energy.stencils()[s], static_cast<std::size_t>(size));
      add_differences(
          nodes, y,
          [&] {
            energy.hessians({y, problem.start_activation, problem.start}, {s, s + 1}, Projection::analytic,
                            blocks.data());
            double sum = 0;
            const double* at = blocks.data();
            for (std::size_t b = 0; b < nodes.size(); ++b)
              for (std::size_t a = 0; a <= b; ++a, at += 9) {
                const Eigen::Map<const Mat3> K(at);
                sum += node(lambda, nodes[a]).dot(K * node(moved, nodes[b]));
                if (a != b) sum += node(moved, nodes[a]).dot(K * node(lambda, nodes[b]));
              }
            return body.damping.stiffness / problem.h * sum;
          },
          g);
    }
  }
}

void add_tie_damping_by_start(const Model& model, const StepProblem& problem, const VecX& x, const VecX& lambda,
                              VecX& g) {
  if (!model.ties()) return;
  VecX y = problem.x_n;
  for (const Tie& tie : model.ties()->ties()) {
    if (!(tie.damping > 0)) continue;
    const TieEnergy alone({tie});
    TieDamping damping(alone);
    const Stencils& stencils = alone.stencils();
    std::vector<double> gradients(static_cast<std::size_t>(3 * stencils.size));
    add_differences(
        tie.nodes, y,
        [&] {
          double value = 0, sum = 0;
          damping.begin_step(y, problem.start, problem.h);
          damping.evaluate(problem.pose(x), {0, 1}, &value, gradients.data());
          for (int k = 0; k < stencils.size; ++k)
            if (const Index i = stencils[0][k]; i >= 0)
              sum += node(lambda, i).dot(Eigen::Map<const Vec3>(gradients.data() + 3 * k));
          return sum;
        },
        g);
  }
}

void add_surface_forces_by_end(const Model& model, const StepProblem& problem, const VecX& lambda, VecX& g) {
  VecX y = problem.expected_end(), force = VecX::Zero(y.size());
  for (const SurfaceLoad& load : model.surface_loads()) {
    if (load.has_potential()) continue;
    const double factor = load.factor.at(problem.end);
    const Stencils& faces = load.faces->stencils();
    for (Index s = 0; s < faces.count(); ++s) {
      const std::span<const Index> nodes(faces[s], static_cast<std::size_t>(faces.size));
      const FaceSet face(load.faces->reference().order(), {nodes.begin(), nodes.end()});
      add_differences(
          nodes, y,
          [&] {
            for (Index i : nodes) node(force, i).setZero();
            if (load.kind == LoadKind::traction)
              face.add_turning_traction(model.rest(), y, factor * load.traction, force);
            else
              face.add_areas(y, -factor * load.pressure, force);
            double sum = 0;
            for (Index i : nodes) sum -= node(lambda, i).dot(node(force, i));
            return sum;
          },
          g);
    }
  }
}

}  // namespace pliant
