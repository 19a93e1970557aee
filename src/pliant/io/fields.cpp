#include "pliant/io/fields.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kGrain = 512;

/// sqrt(3/2 s:s), s the deviator of the Cauchy stress P F^T / J.
double von_mises(const Mat3& P, const Mat3& F) {
  const Mat3 cauchy = P * F.transpose() / F.determinant();
  const Mat3 deviator = cauchy - cauchy.trace() / 3 * Mat3::Identity();
  return std::sqrt(1.5) * deviator.norm();
}

double largest_stretch(const Mat3& F) {
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(F.transpose() * F, Eigen::EigenvaluesOnly);
  return std::sqrt(eigen.eigenvalues()[2]);
}

/// First Piola stresses of up to kBatch elements; unused places repeat the first, so that no law meets garbage.
void batch_stress(const Body& body, Index first, Index count, const Mat3* F, Mat3* P) {
  Batch9 gradients, stresses;
  Batch<2> lame;
  Batch<1> psi;
  for (int p = 0; p < kBatch; ++p) {
    const Index k = p < count ? p : 0;
    const Lame& l = body.lame.size() == 1 ? body.lame[0] : body.lame[static_cast<std::size_t>(first + k)];
    for (int c = 0; c < 9; ++c) gradients[c][p] = F[k](c);
    lame[0][p] = l.mu;
    lame[1][p] = l.lambda;
  }
  body.law->stress(gradients, lame, psi, stresses);
  for (Index k = 0; k < count; ++k)
    for (int c = 0; c < 9; ++c) P[k](c) = stresses[c][k];
}

}  // namespace

ElementFields element_fields(const Body& body, const VecX& x) {
  const Index count = body.elements->element_count();
  ElementFields fields;
  fields.von_mises.resize(static_cast<std::size_t>(count));
  fields.stretch.resize(static_cast<std::size_t>(count));
  for_chunks(count, kGrain, [&](Index begin, Index end) {
    Mat3 F[kBatch], P[kBatch];
    for (Index first = begin; first < end; first += kBatch) {
      const Index n = std::min<Index>(kBatch, end - first);
      body.elastic->deformation_gradients(x, {first, first + n}, F);
      batch_stress(body, first, n, F, P);
      for (Index k = 0; k < n; ++k) {
        fields.von_mises[static_cast<std::size_t>(first + k)] = von_mises(P[k], F[k]);
        fields.stretch[static_cast<std::size_t>(first + k)] = largest_stretch(F[k]);
      }
    }
  });
  return fields;
}

}  // namespace pliant
