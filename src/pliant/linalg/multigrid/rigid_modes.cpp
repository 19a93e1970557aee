#include "pliant/linalg/multigrid/rigid_modes.hpp"

#include <cmath>

namespace pliant::multigrid {
namespace {

using Block = Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor, 6, 6>;

/// w -> w x d
Mat3 turning(const Vec3& d) {
  Mat3 S;
  S << 0, d.z(), -d.y(), -d.z(), 0, d.x(), d.y(), -d.x(), 0;
  return S;
}

/// How node i moves where its group moves by t and turns by w / length about `centre`.
Block modes_of(const RigidModes& fine, Index i, const Vec3& centre, double length) {
  const Mat3 S = turning(fine.centre[at(i)] - centre) / length;
  if (fine.is_finest()) {
    Block block(3, 6);
    block << Mat3::Identity(), S;
    for (int r = 0; r < 3; ++r)
      if (fine.fixed[at(3 * std::int64_t(i) + r)]) block.row(r).setZero();
    return block;
  }
  Mat6 shift;
  shift << Mat3::Identity(), S, Mat3::Zero(), Mat3::Identity() * (fine.length[at(i)] / length);
  return fine.modes[at(i)] * shift;
}

/// G = U^T U without pivoting; rows of U are zero where what is left of a column is rounding.
Mat6 root(const Mat6& G) {
  constexpr double kLeast = 1e-6;
  Mat6 U = Mat6::Zero();
  for (int k = 0; k < 6; ++k) {
    const double pivot = G(k, k) - U.col(k).head(k).squaredNorm();
    if (!(pivot > kLeast * G(k, k))) continue;
    U(k, k) = std::sqrt(pivot);
    for (int l = k + 1; l < 6; ++l) U(k, l) = (G(k, l) - U.col(k).head(k).dot(U.col(l).head(k))) / U(k, k);
  }
  return U;
}

}  // namespace

void tentative_prolongation(const RigidModes& fine, const Aggregates& groups, const SparseColumns& members,
                            std::vector<Real>& Q, RigidModes& coarse) {
  constexpr Index kGrain = 128;
  const int b = fine.is_finest() ? 3 : 6;
  Q.assign(at(fine.nodes()) * at(6 * b) + kSlack, Real(0));
  coarse.centre.resize(at(groups.count));
  coarse.length.resize(at(groups.count));
  coarse.modes.resize(at(groups.count));
  for_chunks(groups.count, kGrain, [&](Index begin, Index end) {
    for (Index a = begin; a < end; ++a) {
      const auto nodes = members.column(a);
      Vec3 centre = Vec3::Zero();
      for (const auto& [i, k] : nodes) centre += fine.centre[at(i)];
      centre /= static_cast<double>(nodes.size());
      double square = 0;
      for (const auto& [i, k] : nodes)
        square +=
            (fine.centre[at(i)] - centre).squaredNorm() + (fine.is_finest() ? 0 : std::pow(fine.length[at(i)], 2));
      const double length = square > 0 ? std::sqrt(square / static_cast<double>(nodes.size())) : 1;
      Mat6 G = Mat6::Zero();
      for (const auto& [i, k] : nodes) {
        const Block block = modes_of(fine, i, centre, length);
        G.noalias() += block.transpose() * block;
      }
      const Mat6 U = root(G);
      for (const auto& [i, k] : nodes) {
        const Block block = modes_of(fine, i, centre, length);
        Real* q = Q.data() + at(i) * at(6 * b);
        for (int r = 0; r < b; ++r) {
          double row[6];
          for (int c = 0; c < 6; ++c) {
            row[c] = block(r, c);
            for (int e = 0; e < c; ++e) row[c] -= row[e] * U(e, c);
            row[c] = U(c, c) > 0 ? row[c] / U(c, c) : 0;
            q[6 * r + c] = static_cast<Real>(row[c]);
          }
        }
      }
      coarse.centre[at(a)] = centre;
      coarse.length[at(a)] = length;
      coarse.modes[at(a)] = U;
    }
  });
}

}  // namespace pliant::multigrid
