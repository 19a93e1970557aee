#include "pliant/solvers/pxpbd/local_update.hpp"

#include "pliant/solvers/pxpbd/constraint_update.hpp"
#include "pliant/solvers/pxpbd/first_piola_update.hpp"

namespace pliant::pbd {

std::unique_ptr<LocalUpdate> make_local_update(const Elements& elements, const LocalOptions& options) {
  if (options.method == Method::first_piola) return std::make_unique<FirstPiolaUpdate>(elements, options);
  if (options.constraints == ConstraintForm::sqrt_energy) return std::make_unique<SqrtEnergyUpdate>(elements);
  return std::make_unique<ConstraintUpdate>(elements, options);
}

}  // namespace pliant::pbd
