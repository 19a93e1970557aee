#include <cmath>

#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/materials/fibre.hpp"

namespace pliant {

namespace {

using Values = FibreLaw::Values;
using Function = Values (*)(double l, const FibreParameters& p, double activation);

/// kappa/2 (l - 1)^2
Values reinforcement(double l, const FibreParameters& p, double) {
  const double e = l - 1;
  return {0.5 * p.stiffness * e * e, p.stiffness * e, p.stiffness};
}

/// kappa/2 (l^2 - 1)^2
Values anisotropic_stvk(double l, const FibreParameters& p, double) {
  const double e = l * l - 1;
  return {0.5 * p.stiffness * e * e, 2 * p.stiffness * l * e, 2 * p.stiffness * (e + 2 * l * l)};
}

/// kappa/(2 b) (exp(b E^2) - 1) with the Green strain E = (l^2 - 1)/2. The exponent is held at 100, where the fibre is
/// 1e43 times as stiff as at rest, by continuing with the tangent: an overflow would be an infinite energy, and this
/// law has no barrier.
Values fung(double l, const FibreParameters& p, double) {
  constexpr double kLargest = 100;
  const double E = 0.5 * (l * l - 1), b = p.shape;
  const double x = std::min(b * E * E, kLargest), e = std::exp(x);
  const double beyond = b * E * E - x;  // in the exponent
  const double psi = 0.5 * p.stiffness / b * (std::expm1(x) + beyond * e);
  const double d_E = p.stiffness * E * e;  // d psi / d E
  const double dd_E = p.stiffness * e * (beyond > 0 ? 1 : 1 + 2 * x);
  return {psi, d_E * l, dd_E * l * l + d_E};
}

/// The muscle of pxpbd, eqs. (6) to (8): sigma/l_o (f_p + activation f_a), l_o the optimal fibre stretch. The published
/// constants 0.05, 1.33, 0.6612 and 0.6774 are rounded and leave small jumps in value and slope, on which a line search
/// would stall; here they are 0.0076 * 6.6, 4/3, 0.661333... and 0.677333..., and f_p is shifted by a constant: C1
/// throughout.
Values muscle(double l, const FibreParameters& p, double activation) {
  const double l_o = p.shape, t = l / l_o, scale = p.stiffness / l_o;
  Values f = {0, 0, 0};
  if (t > 1) {
    constexpr double kLargest = 100;  // as in fung()
    const double x = std::min(6.6 * (t - 1), kLargest), e = std::exp(x), beyond = 6.6 * (t - 1) - x;
    f.psi = 0.0076 * l_o * (std::expm1(x) + beyond * e) - 0.0076 * 6.6 * (l - l_o);
    f.d = 0.0076 * 6.6 * std::expm1(x);
    f.dd = beyond > 0 ? 0 : 0.0076 * 6.6 * 6.6 * e / l_o;
  }
  Values a = {0, 0, 0};
  if (t > 0.4 && t <= 0.6) {
    const double u = t - 0.4;
    a = {3 * l_o * u * u * u, 9 * u * u, 18 * u / l_o};
  } else if (t > 0.6 && t <= 1.4) {
    const double u = t - 1;
    a = {l_o * (t - 0.992 / 1.5 - 4.0 / 3 * u * u * u), 1 - 4 * u * u, -8 * u / l_o};
  } else if (t > 1.4 && t <= 1.6) {
    const double u = t - 1.6;
    a = {l_o * (1.016 / 1.5 + 3 * u * u * u), 9 * u * u, 18 * u / l_o};
  } else if (t > 1.6) {
    a = {l_o * 1.016 / 1.5, 0, 0};
  }
  return {scale * (f.psi + activation * a.psi), scale * (f.d + activation * a.d), scale * (f.dd + activation * a.dd)};
}

class FunctionLaw final : public FibreLaw {
 public:
  FunctionLaw(FibreLawInfo info, Function function) : info_(std::move(info)), function_(function) {}
  const FibreLawInfo& info() const override { return info_; }
  Values evaluate(double l, const FibreParameters& p, double activation) const override {
    if (std::isnan(l)) return {l, l, l};
    Values f = function_(l, p, activation);
    if (!info_.contracts) {
      f.psi += activation * p.active_stress * (l - 1);
      f.d += activation * p.active_stress;
    }
    return f;
  }

 private:
  FibreLawInfo info_;
  Function function_;
};

}  // namespace

std::span<const std::shared_ptr<const FibreLaw>> fibre_laws() {
  static const std::vector<std::shared_ptr<const FibreLaw>> all = {
      std::make_shared<FunctionLaw>(
          FibreLawInfo{.name = "reinforcement",
                       .summary = "Straight springs along the fibres, in tension and compression.",
                       .formula = "stiffness/2 (l - 1)^2",
                       .reference = "Liu, Bouaziz, Kavan 2017, section 4.4",
                       .stiffness = "Young's modulus of the fibres",
                       .shape = ""},
          reinforcement),
      std::make_shared<FunctionLaw>(
          FibreLawInfo{.name = "anisotropic-stvk",
                       .summary = "Linear in the Green strain of the fibres.",
                       .formula = "stiffness/2 (l^2 - 1)^2",
                       .reference = "Kim, de Goes, Iben, Anisotropic Elasticity for Inversion-Safety, 2019",
                       .stiffness = "a quarter of the fibres' modulus at rest",
                       .shape = ""},
          anisotropic_stvk),
      std::make_shared<FunctionLaw>(FibreLawInfo{.name = "fung",
                                                 .summary = "Tissue that stiffens exponentially with stretch.",
                                                 .formula = "stiffness/(2 shape) (exp(shape E^2) - 1), E = (l^2 - 1)/2",
                                                 .reference = "Fung, Biomechanics, 1993",
                                                 .stiffness = "modulus of the fibres at rest",
                                                 .shape = "how fast they stiffen",
                                                 .shape_fallback = 4},
                                    fung),
      std::make_shared<FunctionLaw>(FibreLawInfo{.name = "muscle",
                                                 .summary = "Skeletal muscle that contracts with its activation.",
                                                 .formula = "stiffness/shape (f_passive(l) + activation f_active(l))",
                                                 .reference = "Chen et al. 2024, eqs. (6) to (8), after Zajac 1989",
                                                 .stiffness = "greatest active stress",
                                                 .shape = "optimal fibre stretch, where it pulls most",
                                                 .shape_fallback = 1.4,
                                                 .contracts = true},
                                    muscle),
  };
  return all;
}

std::shared_ptr<const FibreLaw> find_fibre_law(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& law : fibre_laws()) {
    if (law->info().name == name) return law;
    names.push_back(law->info().name);
  }
  std::string message = "unknown fibre law \"" + std::string(name) + "\"";
  if (const std::string close = nearest(name, names); !close.empty()) message += "; did you mean \"" + close + "\"?";
  message += " Known:";
  for (std::size_t i = 0; i < names.size(); ++i) message += (i == 0 ? " " : ", ") + names[i];
  throw InputError(message);
}

}  // namespace pliant
