#include "pliant/materials/valanis_landel.hpp"

#include <cmath>
#include <sstream>

#include "pliant/base/error.hpp"

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

}  // namespace pliant
