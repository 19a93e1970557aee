#include "pliant/sim/load_term.hpp"

namespace pliant {

LoadTerm::Part::Part(const Model& model, const SurfaceLoad& from)
    : load(from), energy(*from.faces), assembler(model.nodes(), {&energy}) {}

LoadTerm::LoadTerm(const Model& model) {
  for (const SurfaceLoad& load : model.surface_loads())
    if (load.has_potential()) parts_.push_back(std::make_unique<Part>(model, load));
}

void LoadTerm::begin_step(const StepProblem& problem) {
  std::size_t k = 0;
  for (auto& part : parts_) {
    while (!problem.surface_loads[k].has_potential()) ++k;
    const Vec3& origin = problem.load_origins[k++];
    part->factor = part->load.factor.at(problem.end);
    part->energy.set(part->factor * part->load.pressure, origin);
    part->energy.set_start(problem.x_n);
    if (part->load.kind != LoadKind::gas) continue;
    part->start_volume = -part->load.faces->volume(problem.x_n, origin);
    part->start_energy = gas_state(part->load, part->factor, part->start_volume).energy;
  }
}

/// The gas at a pose, with its pressure in the energy.
GasState LoadTerm::gas(Part& part, const Pose& pose) {
  part.energy.set_pressure(1);
  const double volume = part.start_volume - part.assembler.value(pose);
  const GasState state = gas_state(part.load, part.factor, volume);
  part.energy.set_pressure(state.pressure);
  return state;
}

double LoadTerm::value(const Pose& pose) {
  double sum = 0;
  for (auto& part : parts_)
    sum +=
        part->load.kind == LoadKind::gas ? gas(*part, pose).energy - part->start_energy : part->assembler.value(pose);
  return sum;
}

double LoadTerm::add_gradient(const Pose& pose, VecX& g) {
  double sum = 0;
  for (auto& part : parts_) {
    if (part->load.kind != LoadKind::gas) {
      sum += part->assembler.add_gradient(pose, g);
      continue;
    }
    sum += gas(*part, pose).energy - part->start_energy;
    part->assembler.add_gradient(pose, g);
  }
  return sum;
}

void LoadTerm::add_hessian(const Pose& pose, Projection projection, BlockMatrix& A) {
  if (projection != Projection::none) return;
  for (auto& part : parts_) {
    if (part->load.kind == LoadKind::gas) gas(*part, pose);
    part->assembler.add_hessian(pose, projection, A);
  }
}

void LoadTerm::rank_ones(const Pose& pose, std::vector<RankOne>& found) {
  for (auto& part : parts_) {
    if (part->load.kind != LoadKind::gas) continue;
    RankOne one{gas(*part, pose).stiffness, VecX::Zero(pose.x.size())};
    part->energy.set_pressure(1);
    part->assembler.add_gradient(pose, one.vector);
    found.push_back(std::move(one));
  }
}

}  // namespace pliant
