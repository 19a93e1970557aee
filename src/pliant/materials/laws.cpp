#include <array>

#include "pliant/materials/isotropic.hpp"
#include "pliant/math/error.hpp"
#include "pliant/math/nearest.hpp"

namespace pliant {

namespace {

class Isotropic final : public Law {
 public:
  Isotropic(IsotropicLaw law, LawInfo info) : law_(law), info_(std::move(info)) {}
  const LawInfo& info() const override { return info_; }
  void stress(const Batch9& F, const Batch<2>& lame, Batch<1>& psi, Batch9& P) const override {
    isotropic_stress(law_, F, lame, psi, P);
  }
  void hessian(const Batch9& F, const Batch<2>& lame, Projection projection, Batch45& H) const override {
    isotropic_hessian(law_, F, lame, projection, H);
  }

 private:
  IsotropicLaw law_;
  LawInfo info_;
};

std::shared_ptr<const Law> make(IsotropicLaw law, LawInfo info) {
  return std::make_shared<const Isotropic>(law, std::move(info));
}

}  // namespace

std::span<const std::shared_ptr<const Law>> laws() {
  static const std::array<std::shared_ptr<const Law>, 6> all = {
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
  };
  return all;
}

std::shared_ptr<const Law> find_law(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& law : laws()) {
    if (law->info().name == name) return law;
    names.push_back(law->info().name);
  }
  std::string message = "unknown material law \"" + std::string(name) + "\"";
  if (const std::string close = nearest(name, names); !close.empty()) message += "; did you mean \"" + close + "\"?";
  message += " Known laws:";
  for (std::size_t i = 0; i < names.size(); ++i) message += (i == 0 ? " " : ", ") + names[i];
  throw InputError(message);
}

}  // namespace pliant
