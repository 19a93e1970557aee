#include "pliant/materials/fibre.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

/// What stress and Hessian need of a batch: F d = l n with |n| = 1, and psi with its derivatives. A fibre squashed to
/// nothing has no direction n: there n is zero, which leaves psi'/l, kept finite, in all directions.
struct Stretched {
  double n[3][kBatch], length[kBatch];
  FibreLaw::Values f[kBatch];
};

void stretch(const FibreLaw& law, const Batch9& F, const FibreBatch& fibres, double activation, Stretched& out) {
  constexpr double kNothing = 1e-12;
  for (int p = 0; p < kBatch; ++p) {
    double square = 0;
    for (int i = 0; i < 3; ++i) {
      out.n[i][p] = F[i][p] * fibres[0][p] + F[3 + i][p] * fibres[1][p] + F[6 + i][p] * fibres[2][p];
      square += out.n[i][p] * out.n[i][p];
    }
    const double length = std::sqrt(square);
    const double inverse = length > kNothing ? 1 / length : (std::isnan(length) ? length : 0);
    for (int i = 0; i < 3; ++i) out.n[i][p] *= inverse;
    out.length[p] = std::max(length, kNothing);
    out.f[p] = law.evaluate(length, {fibres[3][p], fibres[4][p], fibres[5][p]}, activation);
  }
}

}  // namespace

void add_fibre_stress(const FibreLaw& law, const Batch9& F, const FibreBatch& fibres, double activation, Batch<1>& psi,
                      Batch9& P) {
  Stretched s;
  stretch(law, F, fibres, activation, s);
  for (int p = 0; p < kBatch; ++p) psi[0][p] += s.f[p].psi;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      for (int p = 0; p < kBatch; ++p) P[3 * j + i][p] += s.f[p].d * s.n[i][p] * fibres[j][p];
}

void add_fibre_hessian(const FibreLaw& law, const Batch9& F, const FibreBatch& fibres, double activation,
                       Projection projection, Batch45& H) {
  Stretched s;
  stretch(law, F, fibres, activation, s);
  double along[kBatch], across[kBatch];
  for (int p = 0; p < kBatch; ++p) {
    along[p] = s.f[p].dd;
    across[p] = s.f[p].d / s.length[p];
    if (projection == Projection::analytic) {
      along[p] = std::max(along[p], 0.0);
      across[p] = std::max(across[p], 0.0);
    }
    if (projection == Projection::absolute) {
      along[p] = std::abs(along[p]);
      across[p] = std::abs(across[p]);
    }
    along[p] -= across[p];
  }
  double B[6][kBatch];  // psi'/l 1 + (psi'' - psi'/l) n n^T
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i <= k; ++i)
      for (int p = 0; p < kBatch; ++p)
        B[packed(i, k)][p] = along[p] * s.n[i][p] * s.n[k][p] + (i == k ? across[p] : 0.0);
  for (int l = 0; l < 3; ++l)
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j <= l; ++j)
        for (int i = 0; i < 3; ++i) {
          const int r = 3 * j + i, c = 3 * l + k;
          if (r > c) continue;
          double* h = H[packed(r, c)];
          const double* b = B[packed_any(i, k)];
          for (int p = 0; p < kBatch; ++p) h[p] += fibres[j][p] * fibres[l][p] * b[p];
        }
}

}  // namespace pliant
