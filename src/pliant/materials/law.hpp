#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/math/batch.hpp"
#include "pliant/math/types.hpp"

namespace pliant {

/// How negative curvature is removed from Hessians. `analytic` clamps the eigenvalues of d2Psi/dF2 at each quadrature
/// point, `numerical` those of the assembled element matrix. `absolute` takes those of d2Psi/dF2 as positive as they
/// are negative (Chen, Hsieh, Huang, Levin and Kaufman 2024); energies other than elasticity clamp theirs.
enum class Projection { none, analytic, numerical, absolute };

/// Whether it is made at each quadrature point.
constexpr bool is_pointwise(Projection projection) {
  return projection == Projection::analytic || projection == Projection::absolute;
}

struct Lame {
  double mu = 0;      ///< shear modulus, Pa
  double lambda = 0;  ///< first parameter, Pa
};

/// From Young's modulus (Pa) and Poisson's ratio. Throws InputError unless young > 0 and -1 < poisson < 0.5.
Lame lame_from_young(double young, double poisson);

/// A dimensionless constant of a law, the same for a whole body.
struct LawConstant {
  std::string name;
  std::string summary;
  double fallback;
  double lowest, highest;  ///< both included
};

struct LawInfo {
  std::string name;                ///< as in scene files, for example "neo-hookean"
  std::string summary = {};        ///< one sentence: what it is good for
  std::string formula = {};        ///< Psi in plain text
  std::string reference = {};      ///< where it comes from
  bool survives_inversion = true;  ///< finite for J <= 0
  std::vector<LawConstant> constants = {};
};

/// A strain-energy density Psi(F), J/m^3. Immutable; mu and lambda come per point, other constants are part of the law.
class Law {
 public:
  virtual ~Law() = default;
  virtual const LawInfo& info() const = 0;
  /// Psi and the first Piola stress P = dPsi/dF. Psi is +infinity (and P unspecified but not a trap) outside the law's
  /// domain.
  virtual void stress(const Batch9& F, const Batch<2>& lame, Batch<1>& psi, Batch9& P) const = 0;
  /// d2Psi/dF2, exact, or with its negative eigenvalues clamped at zero or made positive (analytic, absolute).
  virtual void hessian(const Batch9& F, const Batch<2>& lame, Projection projection, Batch45& H) const = 0;
  /// The parameters of linear elasticity that the law equals to second order at rest: mostly the ones given.
  virtual Lame linearised(const Lame& lame) const { return lame; }
};

/// All laws, in the order `pliant materials` prints them.
std::span<const std::shared_ptr<const Law>> laws();
/// Throws InputError naming the nearest law (or constant) when there is none of this name, and for constants out of
/// range.
std::shared_ptr<const Law> find_law(std::string_view name, const std::map<std::string, double>& constants = {});

/// A law with its parameters, and the evaluation at a single point.
struct Material {
  std::shared_ptr<const Law> law;
  Lame lame;

  double energy(const Mat3& F) const;
  Mat3 stress(const Mat3& F) const;
  /// Rows and columns follow vec(F), column by column.
  Mat9 hessian(const Mat3& F, Projection projection = Projection::none) const;
};

}  // namespace pliant
