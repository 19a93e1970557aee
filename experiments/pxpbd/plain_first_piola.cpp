#include "experiments/pxpbd/plain_first_piola.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>

namespace pliant::experiments {

PlainFirstPiola::PlainFirstPiola(const Model& model, double curvature) : model_(model), curvature_(curvature) {
  const Body& body = model.bodies()[0];
  const auto tets = body.mesh->tets();
  for (std::size_t e = 0; e < tets.size(); ++e) {
    Mat3 edges;
    for (std::size_t k = 0; k < 3; ++k)
      edges.col(static_cast<Eigen::Index>(k)) = node(model.rest(), tets[e][k + 1]) - node(model.rest(), tets[e][0]);
    const Lame& lame = body.lame.size() == 1 ? body.lame[0] : body.lame[e];
    elements_.push_back({tets[e], edges.inverse(), edges.determinant() / 6, lame.mu, lame.lambda + lame.mu});
  }
}

void PlainFirstPiola::step(State& state, double h, int sweeps) {
  const BoundaryState boundary = boundary_state(model_.pins(), model_.scripts(), model_.rest(), state.time + h);
  std::vector<double> w(static_cast<std::size_t>(model_.nodes()), 0.0);
  VecX x = state.x + h * state.v;
  for (Index i = 0; i < model_.nodes(); ++i) {
    node(x, i) += h * h * model_.gravity();
    if (boundary.fixed[static_cast<std::size_t>(3 * i)])
      node(x, i) = node(boundary.positions, i);
    else
      w[static_cast<std::size_t>(i)] = 1 / model_.mass().lumped()[i];
  }
  std::vector<Mat3> stress(elements_.size(), Mat3::Zero());
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (std::size_t e = 0; e < elements_.size(); ++e) {
      const Element& element = elements_[e];
      Mat3 edges, A = Mat3::Zero();
      Eigen::Matrix<double, 3, 4> g;  // gradients of the shape functions
      g.rightCols<3>() = element.inverse.transpose();
      g.col(0) = -g.rightCols<3>().rowwise().sum();
      for (Eigen::Index a = 0; a < 4; ++a) {
        const Index i = element.nodes[static_cast<std::size_t>(a)];
        if (a > 0) edges.col(a - 1) = node(x, i) - node(x, element.nodes[0]);
        A += w[static_cast<std::size_t>(i)] * g.col(a) * g.col(a).transpose();
      }
      const Mat3 F = edges * element.inverse;
      Mat3 W;
      W.col(0) = F.col(1).cross(F.col(2));
      W.col(1) = F.col(2).cross(F.col(0));
      W.col(2) = F.col(0).cross(F.col(1));
      const double J = F.col(0).dot(W.col(0)), c = curvature_ * element.mu, vh2 = h * h * element.volume;
      const Mat3 r = element.mu * F + (element.l * (J - 1) - element.mu) * W - stress[e];
      const Mat3 Y = (Mat3::Identity() + vh2 * c * A).inverse(), rY = r * Y, WY = W * Y;
      // dP = r + c dF + l W (W : dF) and dF = -h^2 V dP A.
      const double s = -(W.cwiseProduct(r).sum() - W.cwiseProduct(rY).sum()) /
                       (c + element.l * (W.squaredNorm() - W.cwiseProduct(WY).sum()));
      const Mat3 change = rY + element.l * s * WY;
      stress[e] += change;
      for (Eigen::Index a = 0; a < 4; ++a) {
        const Index i = element.nodes[static_cast<std::size_t>(a)];
        node(x, i) -= w[static_cast<std::size_t>(i)] * vh2 * change * g.col(a);
      }
    }
  state.v = (x - state.x) / h;
  state.x = std::move(x);
  state.time += h;
  ++state.step;
}

}  // namespace pliant::experiments
