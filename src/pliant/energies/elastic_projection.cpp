#include "pliant/energies/elastic_projection.hpp"

#include <Eigen/Cholesky>
#include <cassert>

#include "pliant/math/batch.hpp"
#include "pliant/math/psd_projection.hpp"
#include "pliant/math/types.hpp"

namespace pliant {

namespace {

template <int Nodes>
void project(double* blocks) {
  using Matrix = Eigen::Matrix<double, 3 * Nodes, 3 * Nodes>;
  Matrix K;
  for (int b = 0; b < Nodes; ++b) {
    for (int a = 0; a <= b; ++a) {
      const Eigen::Map<const Mat3> block(blocks + 9 * packed(a, b));
      K.template block<3, 3>(3 * a, 3 * b) = block;
      K.template block<3, 3>(3 * b, 3 * a) = block.transpose();
    }
  }
  // Translations are null vectors: K is semidefinite exactly when it is so without its first node. Most elements pass
  // this test, at a small fraction of the cost of the eigenvalues.
  constexpr int kReduced = 3 * (Nodes - 1);
  const Eigen::LLT<Eigen::Matrix<double, kReduced, kReduced>> cholesky(
      K.template bottomRightCorner<kReduced, kReduced>());
  if (cholesky.info() == Eigen::Success) return;
  project_psd(K);
  for (int b = 0; b < Nodes; ++b) {
    for (int a = 0; a <= b; ++a) Eigen::Map<Mat3>(blocks + 9 * packed(a, b)) = K.template block<3, 3>(3 * a, 3 * b);
  }
}

}  // namespace

void project_element(int nodes, double* blocks) {
  switch (nodes) {
    case 4:
      return project<4>(blocks);
    case 10:
      return project<10>(blocks);
    case 20:
      return project<20>(blocks);
    default:
      assert(false && "elements have 4, 10 or 20 nodes");
  }
}

}  // namespace pliant
