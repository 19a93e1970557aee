#include <cmath>
#include <sstream>

#include "pliant/base/error.hpp"
#include "pliant/materials/law.hpp"

namespace pliant {

namespace {

/// The same matrix at every point of a batch.
Batch9 fill(const Mat3& F) {
  Batch9 batch;
  for (int c = 0; c < 9; ++c) {
    for (int p = 0; p < kBatch; ++p) batch[c][p] = F.data()[c];
  }
  return batch;
}

Batch<2> fill(const Lame& lame) {
  Batch<2> batch;
  for (int p = 0; p < kBatch; ++p) {
    batch[0][p] = lame.mu;
    batch[1][p] = lame.lambda;
  }
  return batch;
}

}  // namespace

Lame lame_from_young(double young, double poisson) {
  std::ostringstream message;
  if (!(young > 0) || !std::isfinite(young)) {
    message << "Young's modulus must be a positive number of Pa, got " << young;
    throw InputError(message.str());
  }
  if (poisson == 0.5) {
    throw InputError(
        "Poisson's ratio 0.5 means fully incompressible, which displacement elements cannot represent (lambda would be "
        "infinite); use 0.49 for a nearly incompressible solid");
  }
  if (!(poisson > -1 && poisson < 0.5)) {
    message << "Poisson's ratio must lie between -1 and 0.5 (both excluded), got " << poisson
            << "; most solids have 0.2 to 0.49";
    throw InputError(message.str());
  }
  return {young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))};
}

double Material::energy(const Mat3& F) const {
  Batch<1> psi;
  Batch9 P;
  law->stress(fill(F), fill(lame), psi, P);
  return psi[0][0];
}

Mat3 Material::stress(const Mat3& F) const {
  Batch<1> psi;
  Batch9 P;
  law->stress(fill(F), fill(lame), psi, P);
  Mat3 stress;
  for (int c = 0; c < 9; ++c) stress.data()[c] = P[c][0];
  return stress;
}

Mat9 Material::hessian(const Mat3& F, Projection projection) const {
  Batch45 H;
  law->hessian(fill(F), fill(lame), projection, H);
  Mat9 hessian;
  for (int c = 0; c < 9; ++c) {
    for (int r = 0; r <= c; ++r) hessian(r, c) = hessian(c, r) = H[packed(r, c)][0];
  }
  return hessian;
}

}  // namespace pliant
