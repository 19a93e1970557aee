#include <algorithm>
#include <sstream>

#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/materials/isotropic.hpp"
#include "pliant/materials/laws-inl.hpp"
#include "pliant/materials/valanis_landel.hpp"

namespace pliant {

namespace {

class Isotropic final : public Law {
 public:
  Isotropic(IsotropicLaw law, LawInfo info, double shape) : law_(law), info_(std::move(info)), shape_(shape) {}
  const LawInfo& info() const override { return info_; }
  void stress(const Batch9& F, const Batch<2>& lame, Batch<1>& psi, Batch9& P) const override {
    isotropic_stress(law_, shape_, F, lame, psi, P);
  }
  void hessian(const Batch9& F, const Batch<2>& lame, Projection projection, Batch45& H) const override {
    isotropic_hessian(law_, shape_, F, lame, projection, H);
  }
  Lame linearised(const Lame& lame) const override {
    if (law_ == IsotropicLaw::arap) return {lame.mu, 0};
    if (law_ == IsotropicLaw::polynomial) return {0, 0};
    return lame;
  }

 private:
  IsotropicLaw law_;
  LawInfo info_;
  double shape_;
};

std::shared_ptr<const Law> make(IsotropicLaw law, LawInfo info, double shape = 0) {
  return std::make_shared<const Isotropic>(law, std::move(info), shape);
}

constexpr double kMooneyShare = 0.2;

std::shared_ptr<const Law> mooney_rivlin(double share) {
  return make(
      IsotropicLaw::mooney_rivlin,
      {"mooney-rivlin",
       "Rubber that stiffens less than Neo-Hookean in biaxial tension; infinite at inversion.",
       "c10 (J^(-2/3) I_C - 3) + c01 (J^(-4/3) II_C - 3) + K/2 (J - 1)^2, 2 (c10 + c01) = mu, K = lambda + 2/3 mu",
       "Mooney 1940, Rivlin 1948, with the isochoric split",
       false,
       {{"c01_share", "c01 / (c10 + c01); 0 is an isochoric Neo-Hookean law", kMooneyShare, 0, 1}}},
      share);
}

/// Neo-Hookean, a'(s) = mu s, with 12 mu (1 - s)^3 of additional stress on one side of rest.
std::shared_ptr<const Law> spline_law(const char* name, const char* summary, double side) {
  std::vector<Curve::Point> points;
  for (double s : {0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0}) {
    const double excess = std::max(0.0, side * (s - 1));
    points.push_back({s, s + side * 12 * excess * excess * excess});
  }
  ValanisLandelCurves curves;
  curves.a = Curve::spline(std::move(points));
  curves.logarithmic_volume = true;
  return valanis_landel_law({name, summary, "mu sum a(s_i) - mu log J + lambda/2 (log J)^2, a' a spline",
                             "Xu, Sin, Zhu, Barbic 2015, as in Liu, Bouaziz, Kavan 2017, fig. 6", false},
                            std::move(curves));
}

std::shared_ptr<const Law> default_curves() {
  ValanisLandelCurves curves;
  curves.a = Curve::polynomial({0, 0, 1});
  curves.c = Curve::polynomial({0, 0, 1});
  return valanis_landel_law(std::move(curves));
}

}  // namespace

std::span<const std::shared_ptr<const Law>> laws() {
  static const std::vector<std::shared_ptr<const Law>> all = {
      make(IsotropicLaw::neo_hookean,
           {"neo-hookean", "Rubber and tissue at large strain; an infinite barrier against inversion.",
            "mu/2 (I_C - 3) - mu log J + lambda/2 (log J)^2", "Bonet and Wood, Nonlinear Continuum Mechanics, 2008",
            false}),
      make(
          IsotropicLaw::stable_neo_hookean,
          {"stable-neo-hookean", "Neo-Hookean flesh that is finite and smooth through inversion.",
           "m/2 (I_C - 3) + l/2 (J - a)^2 - m/2 log(I_C + 1) + const, m = 4/3 mu, l = lambda + 5/6 mu, a = 1 + 3/4 m/l",
           "Smith, de Goes, Kim, Stable Neo-Hookean Flesh Simulation, 2018", true}),
      make(IsotropicLaw::fixed_corotated,
           {"fixed-corotated", "Robust general-purpose law with a true volume term; recovers from inversion.",
            "mu sum (s_i - 1)^2 + lambda/2 (J - 1)^2",
            "Stomakhin, Howes, Schroeder, Teran, Energetically Consistent Invertible Elasticity, 2012", true}),
      make(IsotropicLaw::linear_corotated,
           {"linear-corotated", "Linear elasticity in the frame of the nearest rotation; for moderate strain.",
            "mu sum (s_i - 1)^2 + lambda/2 (s_1 + s_2 + s_3 - 3)^2",
            "Mueller and Gross, Interactive Virtual Materials, 2004", true}),
      make(IsotropicLaw::st_venant_kirchhoff,
           {"stvk",
            "Linear in the Green strain; softens under compression, so use it for small strain and large rotation.",
            "mu/4 sum (s_i^2 - 1)^2 + lambda/8 (I_C - 3)^2", "Bonet and Wood, Nonlinear Continuum Mechanics, 2008",
            true}),
      make(IsotropicLaw::arap,
           {"arap", "As rigid as possible: only shear stiffness, lambda is ignored; for artistic and geometric use.",
            "mu sum (s_i - 1)^2", "Sorkine and Alexa, As-Rigid-As-Possible Surface Modeling, 2007", true}),
      make(IsotropicLaw::macklin_mueller,
           {"macklin-mueller", "The simplest Neo-Hookean law that survives inversion; quadratic in J.",
            "mu/2 (I_C - 3) + l/2 (J - 1 - mu/l)^2 + const, l = lambda + mu",
            "Macklin and Mueller, A Constraint-based Formulation of Stable Neo-Hookean Materials, 2021", true}),
      mooney_rivlin(kMooneyShare),
      make(IsotropicLaw::polynomial, {"polynomial", "Without stiffness at rest, steep beyond; a test of solvers.",
                                      "mu sum (s_i - 1)^4", "Liu, Bouaziz, Kavan 2017, fig. 2", true}),
      spline_law("spline-a", "Neo-Hookean with more resistance to compression, drawn as a spline.", -1),
      spline_law("spline-b", "Neo-Hookean with more resistance to tension, drawn as a spline.", 1),
      default_curves(),
  };
  return all;
}

namespace {

[[noreturn]] void unknown(const std::string& what, std::string_view name, const std::vector<std::string>& known) {
  std::string message = "unknown " + what + " \"" + std::string(name) + "\"";
  if (const std::string close = nearest(name, known); !close.empty()) message += "; did you mean \"" + close + "\"?";
  if (!known.empty()) message += " Known:";
  for (std::size_t i = 0; i < known.size(); ++i) message += (i == 0 ? " " : ", ") + known[i];
  throw InputError(message);
}

void check_constants(const LawInfo& info, const std::map<std::string, double>& constants) {
  for (const auto& [name, value] : constants) {
    std::vector<std::string> known;
    for (const LawConstant& constant : info.constants) {
      known.push_back(constant.name);
      if (constant.name != name) continue;
      if (value >= constant.lowest && value <= constant.highest) break;
      std::ostringstream message;
      message << "'" << name << "' of " << info.name << " must lie between " << constant.lowest << " and "
              << constant.highest << ", not " << value;
      throw InputError(message.str());
    }
    if (known.empty()) throw InputError("the law \"" + info.name + "\" has no constant '" + name + "'");
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown("constant of " + info.name, name, known);
  }
}

}  // namespace

std::shared_ptr<const Law> find_law(std::string_view name, const std::map<std::string, double>& constants) {
  std::vector<std::string> names;
  for (const auto& law : laws()) {
    names.push_back(law->info().name);
    if (names.back() != name) continue;
    check_constants(law->info(), constants);
    return constants.empty() ? law : mooney_rivlin(constants.begin()->second);  // the only law with a constant
  }
  unknown("material law", name, names);
}

}  // namespace pliant
