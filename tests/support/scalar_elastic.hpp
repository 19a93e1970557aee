#pragma once

#include <vector>

#include "pliant/energies/energy.hpp"
#include "pliant/fem/fe_mesh.hpp"
#include "support/scalar_law.hpp"

namespace pliant::testing {

/// The elastic energy one element and one quadrature point at a time, with gradients in rest coordinates stored per
/// element and point; `Nodes` per element. Outputs laid out as Energy's.
template <int Nodes>
class ScalarElastic {
 public:
  using Gradients = Eigen::Matrix<double, 3, Nodes>;

  ScalarElastic(const FeMesh& mesh, ScalarLaw law)
      : law_(law), elements_(mesh.elements().begin(), mesh.elements().end()) {
    const ReferenceElement& reference = mesh.reference();
    points_ = reference.points();
    for (Index e = 0; e < mesh.element_count(); ++e) {
      const auto k = static_cast<std::size_t>(e);
      for (int q = 0; q < points_; ++q) {
        Gradients g;
        for (int a = 0; a < Nodes; ++a) g.col(a) = mesh.inverse_edges()[k].transpose() * reference.gradient(q, a);
        gradients_.push_back(g);
        weights_.push_back(mesh.volumes()[k] * reference.weights()[static_cast<std::size_t>(q)]);
      }
    }
  }

  void evaluate(const VecX& x, Range range, double* values, double* gradients) const {
    for (Index e = range.begin; e < range.end; ++e) {
      const Gradients nodes = gather(x, e);
      Gradients force = Gradients::Zero();
      double energy = 0;
      for (int q = 0; q < points_; ++q) {
        const std::size_t k =
            static_cast<std::size_t>(e) * static_cast<std::size_t>(points_) + static_cast<std::size_t>(q);
        const Mat3 F = nodes * gradients_[k].transpose();
        Mat3 P;
        energy += weights_[k] * law_.stress(F, P);
        force += weights_[k] * P * gradients_[k];
      }
      *values++ = energy;
      Eigen::Map<Gradients>(gradients + 3 * Nodes * static_cast<std::ptrdiff_t>(e - range.begin)) = force;
    }
  }

  void hessians(const VecX& x, Range range, double* blocks) const {
    for (Index e = range.begin; e < range.end; ++e, blocks += 9 * local_blocks(Nodes)) {
      const Gradients nodes = gather(x, e);
      std::fill_n(blocks, 9 * local_blocks(Nodes), 0.0);
      for (int q = 0; q < points_; ++q) {
        const std::size_t k =
            static_cast<std::size_t>(e) * static_cast<std::size_t>(points_) + static_cast<std::size_t>(q);
        const Gradients& g = gradients_[k];
        const Mat9 H = weights_[k] * law_.hessian(nodes * g.transpose());
        for (int b = 0; b < Nodes; ++b) {
          const Eigen::Matrix<double, 9, 3> column =
              g(0, b) * H.leftCols<3>() + g(1, b) * H.middleCols<3>(3) + g(2, b) * H.rightCols<3>();
          for (int a = 0; a <= b; ++a) {
            Eigen::Map<Mat3>(blocks + 9 * (b * (b + 1) / 2 + a)) +=
                g(0, a) * column.topRows<3>() + g(1, a) * column.middleRows<3>(3) + g(2, a) * column.bottomRows<3>();
          }
        }
      }
    }
  }

 private:
  Gradients gather(const VecX& x, Index e) const {
    Gradients nodes;
    for (int a = 0; a < Nodes; ++a) nodes.col(a) = node(x, elements_[static_cast<std::size_t>(e * Nodes + a)]);
    return nodes;
  }

  ScalarLaw law_;
  int points_;
  std::vector<Index> elements_;
  std::vector<Gradients> gradients_;
  std::vector<double> weights_;
};

}  // namespace pliant::testing
