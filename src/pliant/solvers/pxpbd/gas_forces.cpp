#include "pliant/solvers/pxpbd/gas_forces.hpp"

#include <cmath>

namespace pliant::pbd {

void GasForces::begin_step(const StepProblem& problem) {
  cavities_.clear();
  h2_ = problem.h * problem.h;
  for (const SurfaceLoad& load : problem.surface_loads)
    if (load.kind == LoadKind::gas) cavities_.push_back({&load, load.factor.at(problem.end), {}, {}});
  if (none()) return;
  const VecX expected = problem.expected_end();
  x_.setZero(expected.size());
  area_.setZero(expected.size());
  for (Cavity& cavity : cavities_) {
    const FaceSet& faces = *cavity.load->faces;
    const double pressure =
        gas_state(*cavity.load, cavity.factor, -faces.volume(expected, faces.mean(expected))).pressure;
    for (Index i : faces.nodes()) node(area_, i).setZero();
    faces.add_areas(expected, -1, area_);
    cavity.predicted.resize(3 * static_cast<Eigen::Index>(faces.nodes().size()));
    for (std::size_t k = 0; k < faces.nodes().size(); ++k)
      cavity.predicted.segment<3>(3 * static_cast<Eigen::Index>(k)) = h2_ * pressure * node(area_, faces.nodes()[k]);
    cavity.impulse = cavity.predicted;
  }
}

void GasForces::update(double* nodes, const double* axes) {
  const auto inverse_mass = [&](Index i, int axis) {
    return nodes[4 * at(i) + 3] * (axes ? axes[3 * at(i) + at(axis)] : 1.0);
  };
  for (Cavity& cavity : cavities_) {
    const FaceSet& faces = *cavity.load->faces;
    for (Index i : faces.nodes()) {
      node(x_, i) = Vec3::Map(nodes + 4 * at(i));
      node(area_, i).setZero();
    }
    const GasState gas = gas_state(*cavity.load, cavity.factor, -faces.volume(x_, faces.mean(x_)));
    if (!std::isfinite(gas.pressure)) continue;  // turned inside out: nothing here leads back
    faces.add_areas(x_, -1, area_);
    double own = 0, applied = 0;
    for (std::size_t k = 0; k < faces.nodes().size(); ++k)
      for (int axis = 0; axis < 3; ++axis) {
        const Index i = faces.nodes()[k];
        const double a = area_[3 * Eigen::Index(i) + axis], w = inverse_mass(i, axis);
        own += w * a * a;
        applied += w * a * cavity.impulse[3 * static_cast<Eigen::Index>(k) + axis];
      }
    const double pressure = (gas.pressure + gas.stiffness * applied) / (1 + gas.stiffness * h2_ * own);
    for (std::size_t k = 0; k < faces.nodes().size(); ++k)
      for (int axis = 0; axis < 3; ++axis) {
        const Index i = faces.nodes()[k];
        double& impulse = cavity.impulse[3 * static_cast<Eigen::Index>(k) + axis];
        const double wanted = h2_ * pressure * area_[3 * Eigen::Index(i) + axis];
        nodes[4 * at(i) + at(axis)] += inverse_mass(i, axis) * (wanted - impulse);
        impulse = wanted;
      }
  }
}

}  // namespace pliant::pbd
