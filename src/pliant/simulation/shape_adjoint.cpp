#include <cassert>
#include <utility>

#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/simulation/lagged_adjoint.hpp"
#include "pliant/simulation/step_adjoint.hpp"

namespace pliant {

namespace {

double product(const Mat3& A, const Mat3& B) { return A.cwiseProduct(B).sum(); }

}  // namespace

VecX to_vertices(const Body& body, const VecX& nodes) {
  const FeMesh& mesh = *body.elements;
  const ReferenceElement& reference = mesh.reference();
  VecX found = VecX::Zero(3 * Eigen::Index(body.mesh->vertices().size()));
  std::vector<std::uint8_t> done(static_cast<std::size_t>(mesh.node_count()), 0);
  for (Index e = 0; e < mesh.element_count(); ++e) {
    const Index* of = mesh.elements().data() + std::ptrdiff_t(e) * reference.nodes();
    for (int a = 0; a < reference.nodes(); ++a) {
      if (std::exchange(done[static_cast<std::size_t>(of[a])], std::uint8_t{1})) continue;
      for (std::size_t k = 0; k < 4; ++k)
        node(found, of[k]) += double(reference.lattice()[static_cast<std::size_t>(a)][k]) / reference.order() *
                              node(nodes, body.nodes.begin + of[a]);
    }
  }
  return found;
}

/// With G the gradient of lambda at a quadrature point of weight w, an element of the volume V has the share
/// s = V sum w P(F):G + V rho q of lambda . F, q = sum m_ab lambda_a . y_b with y what inertia, damping and weight pull
/// by per mass. Vertices that move by dX change the volume by V tr D, D the gradient of dX, F by -F D, and G by -G D:
///
///   ds = V sum w ((P:G) 1 - G^T P - F^T (dP/dF:G)) : D + V rho q tr D.
///
/// Damping by stiffness has the share s = beta/h V sum w G:H(F^n):U with H = dP/dF, projected, at the step's beginning
/// and U the gradient of x - x^n, and so
///
///   ds = beta/h V sum w ((G:H:U) 1 - G^T (H:U) - U^T (H:G) - F^nT d(G:H:U)/dF^n) : D.
VecX StepAdjoint::by_vertices(const Body& body, const VecX& x, const VecX& lambda) {
  assert(body.elastic && body.fibres.empty());
  const StepProblem& problem = potential_.problem();
  const FeMesh& mesh = *body.elements;
  const ReferenceElement& reference = mesh.reference();
  const int count = reference.nodes();
  const ReferenceElement& straight = ReferenceElement::of_order(1);
  VecX pull(x.size());
  for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
    node(pull, i) = -model_->gravity(problem.end);
    if (problem.has_inertia())
      node(pull, i) += (node(x, i) - node(problem.predicted, i)) / (problem.h * problem.h) +
                       body.damping.mass / problem.h * (node(x, i) - node(problem.x_n, i));
  }
  const double viscosity = problem.has_inertia() ? body.damping.stiffness / problem.h : 0;
  const VecX displacement = x - problem.x_n;
  const bool is_lumped = model_->mass().kind() == MassKind::lumped;
  VecX found = VecX::Zero(3 * Eigen::Index(body.mesh->vertices().size()));
  for (Index e = 0; e < mesh.element_count(); ++e) {
    const Index* of = mesh.elements().data() + std::ptrdiff_t(e) * count;
    const Mat3& inverse = mesh.inverse_edges()[static_cast<std::size_t>(e)];
    const double volume = mesh.volumes()[static_cast<std::size_t>(e)];
    const Material material{body.law, lame_of(body, e)};
    Mat3 by_gradient = Mat3::Zero();
    for (int q = 0; q < reference.points(); ++q) {
      const Mat3 F = gradient_at(mesh, of, body.nodes.begin, x, inverse, q),
                 G = gradient_at(mesh, of, body.nodes.begin, lambda, inverse, q), P = material.stress(F);
      const double weight = reference.weights()[static_cast<std::size_t>(q)];
      by_gradient += weight * (product(P, G) * Mat3::Identity() - G.transpose() * P -
                               F.transpose() * apply(material.hessian(F), G));
      if (viscosity == 0) continue;
      const Mat3 start = gradient_at(mesh, of, body.nodes.begin, problem.x_n, inverse, q),
                 U = gradient_at(mesh, of, body.nodes.begin, displacement, inverse, q);
      const Mat9 H = material.hessian(start, Projection::analytic);
      const Mat3 resisted = apply(H, U);
      by_gradient += viscosity * weight *
                     (product(G, resisted) * Mat3::Identity() - G.transpose() * resisted - U.transpose() * apply(H, G) -
                      start.transpose() * projected_stiffness_by_gradient(material, start, G, U));
    }
    double work = 0;
    for (int a = 0; a < count; ++a)
      for (int b = 0; b < count; ++b) {
        const double share = is_lumped ? (a == b ? reference.lumped_mass()[a] : 0) : reference.mass()(a, b);
        if (share != 0)
          work += share * node(lambda, body.nodes.begin + of[a]).dot(node(pull, body.nodes.begin + of[b]));
      }
    by_gradient += body.density * work * Mat3::Identity();
    for (int k = 0; k < 4; ++k)
      node(found, of[k]) -= volume * by_gradient * (inverse.transpose() * straight.gradient(0, k));
  }
  if (ContactStep* contact = potential_.contact()) {
    VecX by_rest = VecX::Zero(x.size());
    contact->add_by_rest(x, lambda, by_rest);
    found -= to_vertices(body, by_rest);
  }
  // What is pinned moves with its vertices, and so do the forces on open surfaces, which are those of expected_end().
  VecX by_end = VecX::Zero(x.size()), by_pinned = VecX::Zero(x.size());
  add_surface_forces_by_end(*model_, problem, lambda, by_end);
  for (Index i : problem.fixed) by_pinned[i] = by_end[i];
  found -= to_vertices(body, by_pinned);
  return found;
}

VecX StepAdjoint::by_stiffness(const Body& body, const VecX& x, const VecX& lambda) const {
  assert(body.elastic);
  constexpr double kStep = 1e-3;  // stress is linear in the parameters, or nearly so
  const FeMesh& mesh = *body.elements;
  const ReferenceElement& reference = mesh.reference();
  const StepProblem& problem = potential_.problem();
  const double viscosity = problem.has_inertia() ? body.damping.stiffness / problem.h : 0;
  const VecX displacement = x - problem.x_n;
  VecX found = VecX::Zero(mesh.element_count());
  for (Index e = 0; e < mesh.element_count(); ++e) {
    const Index* of = mesh.elements().data() + std::ptrdiff_t(e) * reference.nodes();
    const Mat3& inverse = mesh.inverse_edges()[static_cast<std::size_t>(e)];
    const Lame& lame = lame_of(body, e);
    const Material stiffer{body.law, {(1 + kStep) * lame.mu, (1 + kStep) * lame.lambda}},
        softer{body.law, {(1 - kStep) * lame.mu, (1 - kStep) * lame.lambda}};
    for (int q = 0; q < reference.points(); ++q) {
      const Mat3 F = gradient_at(mesh, of, body.nodes.begin, x, inverse, q),
                 G = gradient_at(mesh, of, body.nodes.begin, lambda, inverse, q);
      Mat3 change = stiffer.stress(F) - softer.stress(F);
      if (viscosity != 0) {  // damping by stiffness, with that of where the step begins
        const Mat3 start = gradient_at(mesh, of, body.nodes.begin, problem.x_n, inverse, q),
                   U = gradient_at(mesh, of, body.nodes.begin, displacement, inverse, q);
        change += viscosity *
                  apply(stiffer.hessian(start, Projection::analytic) - softer.hessian(start, Projection::analytic), U);
      }
      found[e] -= mesh.volumes()[static_cast<std::size_t>(e)] * reference.weights()[static_cast<std::size_t>(q)] *
                  product(change, G) / (2 * kStep);
    }
  }
  return found;
}

}  // namespace pliant
