#include "pliant/sim/judgement.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/sim/incremental_potential.hpp"
#include "pliant/sim/sharing.hpp"
#include "pliant/sim/stepper.hpp"

namespace pliant {

namespace {

/// Times the energy that doubles the length of every body: no elasticity stores as much.
constexpr double kBeyondElasticity = 10;
/// Times what the start of the step and its colliders can account for.
constexpr double kUnaccounted = 1.5;

/// The diagonal of the body's box at x, m.
double size_of(const Body& body, const VecX& x) {
  Vec3 low = node(x, body.nodes.begin), high = low;
  for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
    low = low.cwiseMin(node(x, i));
    high = high.cwiseMax(node(x, i));
  }
  return (high - low).norm();
}

}  // namespace

bool was_ended_by_newton(const StepReport& report) {
  return std::any_of(report.figures.begin(), report.figures.end(), [](const Figure& figure) {
    return figure.value > 0 &&
           (figure.name == "repaired" || figure.name == "corrections" || figure.name == "ended_by_newton");
  });
}

double rigid_strain(const Body& body, const VecX& x) {
  if (!body.rigid) return 0;
  Mat3 edges;
  for (Index k = 0; k < 3; ++k) edges.col(k) = node(x, body.nodes.begin + k + 1) - node(x, body.nodes.begin);
  const Mat3 F = edges * body.elements->inverse_edges().front();
  return 0.5 * (F.transpose() * F - Mat3::Identity()).norm();
}

VecX accelerated_mass(const Model& model) {
  const bool is_lumped = model.mass().kind() == MassKind::lumped;
  if (const Sharing* sharing = model.sharing()) return is_lumped ? sharing->lumped_mass() : sharing->consistent_mass();
  return is_lumped ? model.mass().lumped() : model.mass().consistent_diagonal();
}

double largest_acceleration(const Model& model, const VecX& r) {
  const VecX mass = accelerated_mass(model);
  double largest = 0;
  for (Index i = 0; i < model.nodes(); ++i) largest = std::max(largest, node(r, i).cwiseAbs().maxCoeff() / mass[i]);
  return greatest(model.sharing(), largest);
}

double elastic_energy_scale(const Model& model) {
  double sum = 0;
  for (const Body& body : model.bodies()) {
    if (body.springs) {
      const auto &k = body.springs->stiffness(), &r = body.springs->rest_length();
      for (std::size_t s = 0; s < k.size(); ++s) sum += 0.5 * k[s] * r[s] * r[s];
    }
    if (body.shell) {
      const ShellMaterial& shell = body.shell->material();
      for (double area : body.shell->areas()) sum += 0.5 * shell.young * shell.thickness * area;
    }
    if (body.rod)
      for (double length : body.rod->lengths()) sum += 0.5 * body.rod->material().stretching_rigidity() * length;
    if (!body.is_solid()) continue;
    for (Index e = 0; e < body.elements->element_count(); ++e) {
      const auto i = static_cast<std::size_t>(e);
      const Lame &given = body.lame[body.lame.size() == 1 ? 0 : i], lame = body.law->linearised(given);
      // A law may have no stiffness at rest, and gain it as it is stretched.
      const double modulus = std::max(lame.lambda + 2 * lame.mu, given.lambda + 2 * given.mu);
      sum += 0.5 * body.elements->volumes()[i] * modulus;
    }
  }
  return total(model.sharing(), sum);
}

double smallest_body_size(const Model& model) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const Body& body : model.bodies()) smallest = std::min(smallest, size_of(body, model.rest()));
  return smallest;
}

Growth largest_growth(const Model& model, const VecX& x) {
  Growth largest{0, 0};
  for (std::size_t b = 0; b < model.bodies().size(); ++b) {
    const Body& body = model.bodies()[b];
    const double times = size_of(body, x) / size_of(body, model.rest());
    if (times > largest.times) largest = {b, times};
  }
  largest.times = greatest(model.sharing(), largest.times);
  return largest;
}

bool has_inverted(const Model& model, const VecX& x) {
  return std::any_of(model.bodies().begin(), model.bodies().end(),
                     [&](const Body& body) { return body.elastic && body.elastic->first_inverted(x) >= 0; });
}

std::string describe_divergence(IncrementalPotential& potential, double scale, const Solution& solution) {
  const StepProblem& problem = potential.problem();
  if (!std::isfinite(solution.energy)) {
    for (const Body& body : potential.model().bodies())
      if (const Index e = body.elastic ? body.elastic->first_inverted(solution.x) : -1; e >= 0)
        return fmt::format("element {} of body '{}' was inverted, where '{}' has no finite energy", e, body.name,
                           body.law->info().name);
    return "the energy at the end of the step is infinite";
  }
  if (solution.energy <= kBeyondElasticity * scale) return "";
  const double start = potential.value(potential.start()), pressed = potential.collider_energy(problem.predicted);
  if (!(solution.energy > kUnaccounted * (start + pressed))) return "";
  return fmt::format(
      "the step ran away: it raised the incremental potential from {:.3g} to {:.3g} J, where stretching "
      "every body to twice its length takes {:.3g} J",
      start, solution.energy, scale);
}

}  // namespace pliant
