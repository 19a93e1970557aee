#include "pliant/sim/step_problem.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>

namespace pliant {

void StepProblem::begin(const Model& model, const State& state, double step, const ProblemOptions& options) {
  assert(state.x.size() == model.rest().size() && step > 0);
  integrator = options.integrator;
  time_step = step;
  h = share_of_step(integrator) * step;
  steps_before = state.step;
  start = state.time;
  end = state.time + h;
  x_n = state.x;
  v_n = state.v;
  predicted = state.x + h * state.v;
  boundary = boundary_state(model.pins(), model.scripts(), model.rest(), end);
  if (options.imposes_scripts) boundary.impose_penalties();
  fixed.clear();
  for (std::size_t i = 0; i < boundary.fixed.size(); ++i)
    if (boundary.fixed[i]) fixed.push_back(static_cast<Index>(i));
  start_activation = state.activation;
  activation = model.activation(state, end);
  check_grabs(model, state.grabs);
  grabs = state.grabs;
  model.external_force(end, external_force);
  explicit_force = external_force;
  surface_loads = model.surface_loads();
  if (!surface_loads.empty())
    load_origins =
        add_surface_forces(model.surface_loads(), model.rest(), expected_end(), end, external_force, explicit_force);
}

void StepProblem::impose_boundary(VecX& x) const {
  for (Index i : fixed) x[i] = boundary.positions[i];
}

VecX StepProblem::predicted_start() const {
  VecX x = predicted;
  impose_boundary(x);
  return x;
}

VecX StepProblem::expected_end() const {
  VecX x = has_inertia() ? predicted : x_n;
  impose_boundary(x);
  return x;
}

MatrixKey::MatrixKey(const StepProblem& problem)
    : h_(problem.h),
      has_inertia_(problem.has_inertia()),
      fixed_(problem.boundary.fixed),
      penalised_(problem.boundary.penalised),
      sigma_(problem.boundary.sigma),
      grabs_(problem.grabs) {}

bool MatrixKey::fits(const StepProblem& problem) const {
  return fits_without_grabs(problem) && has_same_springs(problem);
}

bool MatrixKey::fits_without_grabs(const StepProblem& problem) const {
  return h_ == problem.h && has_inertia_ == problem.has_inertia() && fixed_ == problem.boundary.fixed &&
         penalised_ == problem.boundary.penalised && sigma_ == problem.boundary.sigma;
}

double MatrixKey::digest_without_grabs() const {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a, number by number
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  mix(std::bit_cast<std::uint64_t>(h_));
  mix(has_inertia_);
  for (std::uint8_t fixed : fixed_) mix(fixed);
  for (Index i : penalised_) mix(static_cast<std::uint64_t>(i) + 2);
  for (double sigma : sigma_) mix(std::bit_cast<std::uint64_t>(sigma));
  return static_cast<double>(hash >> 12);
}

bool MatrixKey::has_same_springs(const StepProblem& problem) const {
  return std::equal(grabs_.begin(), grabs_.end(), problem.grabs.begin(), problem.grabs.end(),
                    [](const Grab& a, const Grab& b) { return a.same_spring(b); });
}

}  // namespace pliant
