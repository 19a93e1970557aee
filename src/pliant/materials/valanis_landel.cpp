#include "pliant/materials/valanis_landel.hpp"

#include <cmath>
#include <limits>
#include <sstream>

#include "pliant/math/error.hpp"

namespace pliant {

namespace {

class ValanisLandel final : public Law {
 public:
  ValanisLandel(LawInfo info, ValanisLandelCurves curves) : info_(std::move(info)), curves_(std::move(curves)) {}
  const LawInfo& info() const override { return info_; }
  void stress(const Batch9& F, const Batch<2>& lame, Batch<1>& psi, Batch9& P) const override {
    valanis_landel_stress(curves_, F, lame, psi, P);
  }
  void hessian(const Batch9& F, const Batch<2>& lame, Projection projection, Batch45& H) const override {
    valanis_landel_hessian(curves_, F, lame, projection, H);
  }
  /// With Psi_ii = a'' + 2 b'' + c'' and Psi_ij = b'' + b' + c'' + c' at rest: 2 mu = Psi_ii - Psi_ij, lambda = Psi_ij.
  Lame linearised(const Lame& lame) const override {
    const auto a = curves_.a(1), b = curves_.b(1), c = curves_.c(1);
    Lame result{lame.mu * (a.dd + b.dd - b.d - c.d) / 2, lame.mu * (b.dd + b.d + c.dd + c.d)};
    if (curves_.logarithmic_volume) {
      result.mu += lame.mu / 2;
      result.lambda += lame.lambda;
    }
    return result;
  }

 private:
  LawInfo info_;
  ValanisLandelCurves curves_;
};

}  // namespace

std::shared_ptr<const Law> valanis_landel_law(LawInfo info, ValanisLandelCurves curves) {
  const double a = curves.a(1).d, b = curves.b(1).d, c = curves.c(1).d - (curves.logarithmic_volume ? 1 : 0);
  const double scale = std::abs(a) + 2 * std::abs(b) + std::abs(c) + std::abs(curves.a(1).dd);
  if (!(std::abs(a + 2 * b + c) <= 1e-9 * scale)) {
    std::ostringstream message;
    message << "the material curves leave a stress of " << a + 2 * b + c
            << " Pa at rest; a'(1) + 2 b'(1) + c'(1) must be zero, here " << a << " + 2 (" << b << ") + " << c;
    throw InputError(message.str());
  }
  if (curves.a.is_zero() && curves.b.is_zero() && curves.c.is_zero())
    throw InputError("a Valanis-Landel material needs at least one of the curves a, b, c");
  return std::make_shared<const ValanisLandel>(std::move(info), std::move(curves));
}

std::shared_ptr<const Law> valanis_landel_law(ValanisLandelCurves curves) {
  return valanis_landel_law(
      {.name = "valanis-landel",
       .summary = "Your own curves of stress over stretch, by points or as polynomials.",
       .formula = "sum a(s_i) + sum_(i<j) b(s_i s_j) + c(J)",
       .reference = "Valanis and Landel 1967; Xu, Sin, Zhu, Barbic, Nonlinear Material Design Using Principal "
                    "Stretches, 2015",
       .survives_inversion = true},
      std::move(curves));
}

void evaluate_curves(const ValanisLandelCurves& curves, int count, const double* const s[3], const double* mu,
                     const double* lambda, double* const out[10]) {
  for (int p = 0; p < count; ++p) {
    const double x[3] = {s[0][p], s[1][p], s[2][p]};
    double psi = 0, d[3] = {0, 0, 0}, dd[6] = {0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 3; ++i) {
      const Curve::Values a = curves.a(x[i]);
      psi += a.value;
      d[i] += a.d;
      dd[packed(i, i)] += a.dd;
    }
    if (!curves.b.is_zero()) {
      for (int j = 1; j < 3; ++j) {
        for (int i = 0; i < j; ++i) {
          const Curve::Values b = curves.b(x[i] * x[j]);
          psi += b.value;
          d[i] += b.d * x[j];
          d[j] += b.d * x[i];
          dd[packed(i, i)] += b.dd * x[j] * x[j];
          dd[packed(j, j)] += b.dd * x[i] * x[i];
          dd[packed(i, j)] += b.dd * x[i] * x[j] + b.d;
        }
      }
    }
    const double J = x[0] * x[1] * x[2];
    Curve::Values c = curves.c(J);
    bool inside = true;
    if (curves.logarithmic_volume) {
      inside = J > 0 || std::isnan(J);
      const double L = inside ? std::log(J) : 0, inverse = inside ? 1 / J : 0;
      const double ratio = lambda[p] / mu[p], slope = ratio * L - 1;
      c.value += L * (ratio * L / 2 - 1);
      c.d += slope * inverse;
      c.dd += (ratio - slope) * inverse * inverse;
    }
    const double g[3] = {x[1] * x[2], x[2] * x[0], x[0] * x[1]};
    psi += c.value;
    for (int j = 0; j < 3; ++j) {
      d[j] += c.d * g[j];
      for (int i = 0; i <= j; ++i) dd[packed(i, j)] += c.dd * g[i] * g[j] + (i == j ? 0 : c.d * x[3 - i - j]);
    }
    out[0][p] = inside ? mu[p] * psi : std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) out[1 + i][p] = mu[p] * d[i];
    for (int k = 0; k < 6; ++k) out[4 + k][p] = mu[p] * dd[k];
  }
}

}  // namespace pliant
