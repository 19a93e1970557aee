#include "pliant/solvers/criteria.hpp"

#include <algorithm>

#include "pliant/math/decompositions.hpp"
#include "pliant/sim/judgement.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

double characteristic_force(const Model& model) {
  VecX per_node = VecX::Zero(model.nodes());
  for (const Body& body : model.bodies()) {
    if (body.shell) {  // and likewise for a membrane
      const ShellMaterial& shell = body.shell->material();
      for (Index s = 0; s < body.shell->triangle_count(); ++s)
        for (int a = 0; a < 3; ++a)
          per_node[body.shell->stencils()[s][a]] +=
              shell.young * shell.thickness * std::sqrt(body.shell->areas()[at(s)]);
      continue;
    }
    if (body.rod) {  // Y A is to a segment what k r is to a spring
      const Stencils& segments = body.rod->stencils();
      for (Index s = 0; s < segments.count(); ++s)
        for (int a = 0; a < 2; ++a) per_node[segments[s][a]] += body.rod->material().stretching_rigidity();
      continue;
    }
    if (!body.is_solid()) {  // k r is to a spring what W V |grad N| is to an element
      const Stencils& ends = body.springs->stencils();
      for (Index s = 0; s < ends.count(); ++s)
        for (int a = 0; a < 2; ++a)
          per_node[ends[s][a]] += body.springs->stiffness()[s] * body.springs->rest_length()[s];
      continue;
    }
    const FeMesh& mesh = *body.elements;
    const ReferenceElement& reference = mesh.reference();
    const int n = reference.nodes();
    std::vector<double> stiffness;  // Pa, per entry of body.lame
    for (const Lame& lame : body.lame) {
      const Mat9 H = Material{body.law, lame}.hessian(Mat3::Identity());
      stiffness.push_back(symmetric_eigenvalues<9>(H).maxCoeff());
    }
    for (Index e = 0; e < mesh.element_count(); ++e) {
      const double W = stiffness[stiffness.size() == 1 ? 0 : e];
      const Mat3 to_physical = mesh.inverse_edges()[e].transpose();
      for (int q = 0; q < reference.points(); ++q)
        for (int a = 0; a < n; ++a)
          per_node[body.nodes.begin + mesh.elements()[e * n + a]] +=
              W * mesh.volumes()[e] * reference.weights()[q] * (to_physical * reference.gradient(q, a)).norm();
    }
  }
  if (model.sharing()) model.sharing()->sum_copies(per_node);
  return norm(model.sharing(), per_node);
}

bool StagnationTest::is_tiny(double largest_x, double largest_dx) {
  constexpr double kTiny = 1e-9;
  return largest_dx <= kTiny * largest_x;
}

bool StagnationTest::reached(double largest_x, double largest_dx, double residual) {
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  constexpr int kPatience = 5;
  since_best_ = residual < 0.9 * best_ ? 0 : since_best_ + 1;
  best_ = std::min(best_, residual);
  return largest_dx <= kRounding * largest_x || (since_best_ >= kPatience && is_tiny(largest_x, largest_dx));
}

ConvergenceTest::ConvergenceTest(std::shared_ptr<const Model> model, const CriterionOptions& options)
    : model_(std::move(model)), options_(options) {
  if (options_.kind == Criterion::automatic) {
    options_.kind = model_->contact() ? Criterion::step_length : Criterion::acceleration;
    if (model_->contact()) options_.tolerance *= 0.01;
    if (model_->contact()) size_ = model_->sharing() ? model_->contact()->size : smallest_body_size(*model_);
  }
  tolerance_ = options_.tolerance;
  if (options_.kind == Criterion::characteristic) scale_ = characteristic_force(*model_);
}

void ConvergenceTest::begin_step(const StepProblem& problem) {
  // 8 cm at 60 steps a second. A millimetre would otherwise stop a thousandth of its size from where it belongs, step
  // after step, and never fall over.
  constexpr double kSmall = 5;  // m/s: size over step
  if (size_ > 0) tolerance_ = options_.tolerance * std::min(1.0, size_ / (kSmall * problem.h));
  if (options_.kind != Criterion::reference_force) return;
  VecX force = problem.explicit_force;
  if (model_->sharing()) model_->sharing()->sum_copies(force);
  scale_ = norm(model_->sharing(), force);
}

void ConvergenceTest::measure(const VecX& r, const BoundaryState& boundary, Residuals& residuals) {
  residuals.force = norm(model_->sharing(), r);
  residuals.acceleration = acceleration(r, boundary);
}

bool ConvergenceTest::satisfied(const Residuals& residuals, int iterations) const {
  constexpr double kStill = 1e-6;  // m/s^2
  if (iterations == 0 && residuals.acceleration > kStill) return false;
  switch (options_.kind) {
    case Criterion::residual:
    case Criterion::reference_force:
    case Criterion::characteristic:
      return residuals.force <= tolerance_ * scale_;
    case Criterion::acceleration:
      return residuals.acceleration <= tolerance_;
    case Criterion::automatic:
    case Criterion::step_length:
      return false;
  }
  return false;
}

double ConvergenceTest::distance(const Residuals& residuals, double contraction) const {
  switch (options_.kind) {
    case Criterion::residual:
    case Criterion::reference_force:
    case Criterion::characteristic:
      return tolerance_ * scale_ / residuals.force;
    case Criterion::acceleration:
      return tolerance_ / residuals.acceleration;
    case Criterion::automatic:
    case Criterion::step_length:
      break;
  }
  return tolerance_ / (contraction * residuals.step_length);
}

double ConvergenceTest::acceleration(const VecX& r, const BoundaryState& boundary) {
  const bool factorised =
      options_.mass == AccelerationMass::factorised && model_->mass().kind() == MassKind::consistent;
  if (!factorised) return largest_acceleration(*model_, r);
  // M_FF over the free unknowns; prescribed ones have identity rows and a zero right-hand side.
  if (factored_ != boundary.fixed) {
    if (factored_.empty()) mass_factor_.analyze(model_->pattern(), 3);
    BlockMatrix M(model_->pattern(), 3);
    model_->mass().add_to(M, 1.0);
    M.eliminate(boundary.fixed);
    mass_factor_.factor(M, Factorisation::llt);
    factored_ = boundary.fixed;
  }
  Eigen::MatrixXd a = r;
  mass_factor_.solve(a);
  return a.cwiseAbs().maxCoeff();
}

}  // namespace pliant
