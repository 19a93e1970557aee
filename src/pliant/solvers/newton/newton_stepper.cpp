#include "pliant/solvers/newton/newton_stepper.hpp"
#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/sharing.hpp"

#include <fmt/format.h>

namespace pliant {

namespace {

/// Of every gap, where a step begins: barriers that are steeper there would say nothing of where it ends.
constexpr double kGapLeft = 0.4;

}  // namespace

NewtonStepper::NewtonStepper(std::shared_ptr<const Model> model, const NewtonOptions& options)
    : Stepper(std::move(model), {options.integrator}),
      options_(options),
      minimiser_(potential(), this->model(), options) {}

std::string_view NewtonStepper::name() const {
  switch (options_.method) {
    case NewtonMethod::newton:
      return "newton";
    case NewtonMethod::projected:
      return "projected-newton";
    case NewtonMethod::on_demand:
      return "pod-newton";
    case NewtonMethod::kinetic:
      return "kinetic-newton";
  }
  return "";
}

void NewtonStepper::advance(Solution& solution, StepReport& report) {
  minimiser_.begin_step(report);
  if (!find_start(report)) return;
  minimiser_.run(report);
  Iterate& found = minimiser_.current();
  std::swap(solution.x, found.x);
  std::swap(solution.gradient, found.gradient);
  solution.energy = found.energy;
  solution.is_measured = true;
}

/// False, with the report's outcome, when the energy is infinite everywhere the step could begin to search.
bool NewtonStepper::find_start(StepReport& report) {
  const bool may_jump = problem().has_inertia() && !potential().contact();  // not over what it might hit
  if (options_.start == NewtonStart::prediction && may_jump && minimiser_.start_at(problem().predicted_start()))
    return true;
  if (minimiser_.start_at(potential().start())) {
    if (options_.start == NewtonStart::automatic && problem().has_inertia()) find_better_start();
    return true;
  }
  report.end(Outcome::inverted_start, describe_infinite_start(potential().start()));
  return false;
}

/// A body that moves smoothly goes on with the velocity it has, or with its acceleration, too. After a jolt the latter
/// is nonsense for a stiff body, which its energy says. With contact, as far as either leads without touching.
void NewtonStepper::find_better_start() {
  const Sharing* sharing = model()->sharing();
  const VecX& lumped = sharing ? sharing->lumped_mass() : model()->mass().lumped();
  const VecX explicit_end = explicit_step(minimiser_.current(), lumped, problem().h);
  const VecX predicted_end = problem().predicted_start();
  if (!potential().contact()) {
    minimiser_.start_lower(predicted_end);
    minimiser_.start_lower(explicit_end);
    return;
  }
  ContactStep& contact = *potential().contact();
  const VecX& begin = potential().start();
  VecX way;
  contact.find_remaining_motion(begin, problem(), way);
  if (!contact.arrived()) return;  // bodies have to make way for what is prescribed
  for (const VecX* end : {&predicted_end, &explicit_end}) {
    way = *end - begin;
    const double share = contact.largest_step(begin, way, false, kGapLeft);
    if (share > 0) minimiser_.start_lower(begin + share * way);
  }
}

std::string NewtonStepper::describe_infinite_start(const VecX& x) const {
  for (const Body& body : model()->bodies())
    if (const Index e = body.elastic ? body.elastic->first_inverted(x) : -1; e >= 0)
      return fmt::format(
          "element {} of body '{}' is inverted where the step begins, and '{}' has no finite energy there; a directly "
          "imposed boundary may have moved "
          "too far (use a penalty or a smaller step), or the material must survive inversion",
          e, body.name, body.law->info().name);
  return "the energy is not finite where the step begins";
}

}  // namespace pliant
