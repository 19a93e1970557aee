#include "pliant/energies/elastic_projection.hpp"

#include <Eigen/Cholesky>
#include <cassert>

#include "pliant/math/batch.hpp"
#include "pliant/math/psd_projection.hpp"
#include "pliant/math/types.hpp"

namespace pliant {

namespace {

/// For elements of up to 20 nodes, without allocation; one instance for all sizes, each of which takes long to compile.
using ElementMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 60, 60>;

}  // namespace

void project_element(int nodes, double* blocks) {
  assert(nodes == 4 || nodes == 10 || nodes == 20);
  ElementMatrix K(3 * nodes, 3 * nodes);
  for (int b = 0; b < nodes; ++b) {
    for (int a = 0; a <= b; ++a) {
      const Eigen::Map<const Mat3> block(blocks + 9 * packed(a, b));
      K.block<3, 3>(3 * a, 3 * b) = block;
      K.block<3, 3>(3 * b, 3 * a) = block.transpose();
    }
  }
  // Translations are null vectors: K is semidefinite exactly when it is so without its first node. Most elements pass
  // this test, at a small fraction of the cost of the eigenvalues.
  const int reduced = 3 * (nodes - 1);
  const Eigen::LLT<ElementMatrix> cholesky(K.bottomRightCorner(reduced, reduced));
  if (cholesky.info() == Eigen::Success) return;
  project_psd(K);
  for (int b = 0; b < nodes; ++b) {
    for (int a = 0; a <= b; ++a) Eigen::Map<Mat3>(blocks + 9 * packed(a, b)) = K.block<3, 3>(3 * a, 3 * b);
  }
}

}  // namespace pliant
