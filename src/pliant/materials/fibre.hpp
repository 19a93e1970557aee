#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "pliant/materials/law.hpp"

namespace pliant {

/// What a fibre is made of, per element.
struct FibreParameters {
  double stiffness = 0;      ///< Pa; for the muscle the greatest stress
  double shape = 1;          ///< dimensionless, what it means is the law's: see FibreLawInfo::shape
  double active_stress = 0;  ///< Pa of tension at full activation, for laws without an active part of their own
};

struct FibreLawInfo {
  std::string name;
  std::string summary;
  std::string formula;
  std::string reference;
  std::string stiffness;      ///< what the parameter `stiffness` is
  std::string shape;          ///< what the parameter `shape` is; empty when the law has none
  double shape_fallback = 1;  ///< its default
  bool contracts = false;     ///< has an active part of its own
};

/// A function psi(l) of the stretch l = |F d| along a direction d, J/m^3, for one activation in [0, 1].
///
/// With n = F d / l it gives P = psi' n d^T and the Hessian d d^T (x) [psi'' n n^T + psi'/l (1 - n n^T)]: the
/// eigenvalues are psi'' once and psi'/l twice (DIGEST section 0; Kim, de Goes, Iben 2019), so that clamping these two
/// numbers is the projection.
class FibreLaw {
 public:
  struct Values {
    double psi, d, dd;
  };
  virtual ~FibreLaw() = default;
  virtual const FibreLawInfo& info() const = 0;
  virtual Values evaluate(double stretch, const FibreParameters& parameters, double activation) const = 0;
};

std::span<const std::shared_ptr<const FibreLaw>> fibre_laws();
/// Throws InputError naming the nearest law when there is none of this name.
std::shared_ptr<const FibreLaw> find_fibre_law(std::string_view name);

/// Constant data of the fibres of kBatch elements: rows 0 to 2 the unit direction at rest, 3 to 5 the parameters.
using FibreBatch = Batch<6>;

/// Adds a fibre's energy and stress to those of the isotropic law, and its Hessian to that Hessian.
void add_fibre_stress(const FibreLaw& law, const Batch9& F, const FibreBatch& fibres, double activation, Batch<1>& psi,
                      Batch9& P);
void add_fibre_hessian(const FibreLaw& law, const Batch9& F, const FibreBatch& fibres, double activation,
                       Projection projection, Batch45& H);

}  // namespace pliant
