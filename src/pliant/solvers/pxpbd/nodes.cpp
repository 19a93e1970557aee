#include "pliant/solvers/pxpbd/nodes.hpp"

#include "pliant/math/parallel.hpp"

namespace pliant::pbd {

namespace {
constexpr Index kNodeGrain = 4096;
}

Nodes::Nodes(const Model& model) : model_(model), penalty_mass_(model.mass().consistent_diagonal()) {
  const auto n = static_cast<std::size_t>(model.nodes());
  damping_ = VecX::Zero(model.nodes());
  for (const Body& body : model.bodies())
    damping_.segment(body.nodes.begin, body.nodes.size()).setConstant(body.damping.mass);
  data_.assign(4 * n, 0.0);
  mass_.assign(n, 0.0);
  axes_.assign(3 * n, 1.0);
}

bool Nodes::begin_step(const StepProblem& problem) {
  predict(problem, problem.x_n, problem.has_inertia() ? &problem.v_n : nullptr);
  for_chunks(count(), kNodeGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) Vec3::Map(data_.data() + 4 * static_cast<std::size_t>(i)) = node(predicted_, i);
  });
  base_ = problem.x_n;
  bool changed = inverse_mass_.empty();
  inverse_mass_.resize(mass_.size());
  for (std::size_t i = 0; i < mass_.size(); ++i) {
    changed = changed || inverse_mass_[i] != data_[4 * i + 3];
    inverse_mass_[i] = data_[4 * i + 3];
  }
  return changed;
}

void Nodes::begin_round(const StepProblem& problem) {
  VecX x;
  write_positions(x);
  predict(problem, x, nullptr);
  for (Index i = 0; i < count(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double share = model_.mass().lumped()[i] / mass_[k];
    for (int axis = 0; axis < 3; ++axis)
      if (!problem.boundary.fixed[3 * k + static_cast<std::size_t>(axis)])
        data_[4 * k + static_cast<std::size_t>(axis)] += share * (x[3 * i + axis] - base_[3 * i + axis]);
  }
  base_ = x;
}

void Nodes::predict(const StepProblem& problem, const VecX& x, const VecX* v) {
  const double h = problem.h, h2 = h * h;
  const BoundaryState& boundary = problem.boundary;
  predicted_.resize(x.size());
  partly_held_ = false;
  for (Index i = 0; i < count(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double m = model_.mass().lumped()[i], damped = v ? h * damping_[i] * m : 0;
    mass_[k] = m + damped;
    node(predicted_, i) = mass_[k] * node(x, i) + h2 * node(problem.explicit_force, i);
    if (v) node(predicted_, i) += h * m * node(*v, i);
  }
  for (std::size_t s = 0; s < boundary.penalised.size(); ++s) {
    const Index i = boundary.penalised[s];
    const double stiffness = h2 * boundary.sigma[s] * penalty_mass_[i];
    mass_[static_cast<std::size_t>(i)] += stiffness;
    node(predicted_, i) += stiffness * boundary.targets[s];
  }
  for (Index i = 0; i < count(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    node(predicted_, i) /= mass_[k];
    int held = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool fixed = boundary.fixed[3 * k + axis];
      held += fixed;
      axes_[3 * k + axis] = fixed ? 0 : 1;
      if (fixed) predicted_[3 * i + static_cast<Index>(axis)] = boundary.positions[3 * i + static_cast<Index>(axis)];
    }
    partly_held_ = partly_held_ || held == 1 || held == 2;
    data_[4 * k + 3] = held == 3 ? 0 : 1 / mass_[k];
  }
}

void Nodes::write_positions(VecX& x) const {
  x.resize(3 * Eigen::Index(count()));
  for_chunks(count(), kNodeGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) node(x, i) = position(i);
  });
}

void Nodes::inertia(VecX& g) const {
  g.resize(3 * Eigen::Index(count()));
  for (Index i = 0; i < count(); ++i)
    for (int axis = 0; axis < 3; ++axis) {
      const bool free = inverse_mass(i, axis) > 0;
      g[3 * i + axis] = free ? mass_[static_cast<std::size_t>(i)] * (position(i)[axis] - predicted_[3 * i + axis]) : 0;
    }
}

}  // namespace pliant::pbd
