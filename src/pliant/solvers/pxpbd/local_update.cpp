#include "pliant/solvers/pxpbd/local_update.hpp"

#include <fmt/format.h>

#include "pliant/base/error.hpp"
#include "pliant/solvers/pxpbd/constraint_update.hpp"
#include "pliant/solvers/pxpbd/first_piola_update.hpp"

namespace pliant::pbd {

std::unique_ptr<LocalUpdate> make_local_update(const Elements& elements, const LocalOptions& options,
                                               std::string_view solver) {
  if (options.method == Method::first_piola) return std::make_unique<FirstPiolaUpdate>(elements, options);
  for (const ElementGroup& group : elements.groups()) {
    const auto fail = [&](const std::string& what) {
      throw InputError(fmt::format("solver '{}', body '{}': {}", solver, group.bodies, what));
    };
    if (group.fibres) fail("fibres are not quadratic in a constraint; use fp-pxpbd, which takes any law");
    if (group.damping > 0)
      fail("constraints know no damping by stiffness; use damping.mass, or fp-pxpbd, which knows both");
    if (options.constraints == ConstraintForm::split && group.kind != LocalLaw::corotated &&
        group.kind != LocalLaw::macklin_mueller)
      fail(
          fmt::format("\"{}\" cannot be written as two constraints; use fixed-corotated, arap or macklin-mueller, or "
                      "fp-pxpbd, which takes any law",
                      group.law->info().name));
  }
  if (options.constraints == ConstraintForm::sqrt_energy) return std::make_unique<SqrtEnergyUpdate>(elements);
  return std::make_unique<ConstraintUpdate>(elements, options);
}

}  // namespace pliant::pbd
