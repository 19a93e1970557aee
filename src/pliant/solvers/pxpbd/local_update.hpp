#pragma once

#include <memory>

#include "pliant/solvers/pxpbd/local_kernels.hpp"

namespace pliant::pbd {

enum class Method {
  xpbd,         ///< Macklin et al. 2016, constraints as in pxpbd, section 3.1.1
  blended,      ///< B-PXPBD
  first_piola,  ///< FP-PXPBD
};

/// How XPBD writes a law as constraints.
enum class ConstraintForm {
  split,        ///< one for shape, one for volume
  sqrt_energy,  ///< C = sqrt(Psi): any law, but unstable (pxpbd, fig. 7)
};

/// How FP-PXPBD solves for the stress of an element.
enum class LocalForm {
  automatic,  ///< Sherman-Morrison where there is a model of the Hessian, else full
  full,       ///< the 9x9 system of the projected Hessian, with a line search
};

struct LocalOptions {
  Method method = Method::first_piola;
  ConstraintForm constraints = ConstraintForm::split;
  LocalForm form = LocalForm::automatic;
  int inner = 1;    ///< steps of FP-PXPBD at each visit
  double zeta = 0;  ///< of B-PXPBD: 1 is XPBD; 0: per visit, 1 - blend / (1 + kappa) at rest
  double blend = 0.75;
};

/// Where and when a step begins.
struct StepStart {
  double h;                                   ///< s
  const VecX& x;                              ///< positions where it begins, for damping
  std::span<const double> activation;         ///< of muscles at the end of the step
  std::span<const double> activation_before;  ///< and where it begins
};

/// The unknowns that go with the elements (multipliers or stresses), and how a visit to an element changes them.
/// Batches of one colour may be updated at the same time.
class LocalUpdate {
 public:
  virtual ~LocalUpdate() = default;
  /// All multipliers or stresses become zero.
  virtual void begin_step(const StepStart& start) = 0;
  /// From F the displacements Q of one visit (local_kernels.hpp).
  virtual void update(Index batch, const Batch9& F, Batch9& Q) = 0;
  /// Energy density and stress of the law itself at F: what the true residual is made of.
  virtual void stress(Index batch, const Batch9& F, Batch<1>& psi, Batch9& P) const = 0;
  /// The stresses Q = -h^2 V P that the multipliers stand for at F, and per element the square of the secondary
  /// residual, Pa^2.
  virtual void residual(Index batch, const Batch9& F, Batch9& Q, double* secondary2) const = 0;
};

/// `elements` must stay, sorted and with its metric, while steps are taken.
std::unique_ptr<LocalUpdate> make_local_update(const Elements& elements, const LocalOptions& options);

}  // namespace pliant::pbd
