#include "pliant/sim/term.hpp"

#include "pliant/math/parallel.hpp"

namespace pliant {

InertiaTerm::InertiaTerm(const Model& model) : model_(model) {
  if (model.mass().kind() != MassKind::lumped) return;
  lumped_.resize(model.rest().size());
  for (Index i = 0; i < model.nodes(); ++i) node(lumped_, i).setConstant(model.mass().lumped()[i]);
}

void InertiaTerm::begin_step(const StepProblem& problem) {
  problem_ = &problem;
  predicted_work_ = problem.h * problem.v_n.dot(problem.external_force);
}

double InertiaTerm::add_gradient(const Pose& pose, VecX& g) {
  VecX own(g.size());
  const double value = evaluate(pose.x, &own, true);
  g += own;
  return value;
}

void InertiaTerm::add_hessian(const Pose&, Projection, BlockMatrix& A) {
  if (problem_->has_inertia()) model_.mass().add_to(A, 1 / (problem_->h * problem_->h));
}

/// With o = x - x~: 1/(2 h^2) |o|_M^2 - o^T f - (x~ - x^n)^T f.
double InertiaTerm::evaluate(const VecX& x, VecX* g, bool with_inertia) {
  if (!with_inertia || !problem_->has_inertia() || lumped_.size() == 0) return evaluate_by_matrix(x, g, with_inertia);
  constexpr Index kChunk = 3072;  // a few vectors of this many numbers fit the first cache
  const auto size = static_cast<Index>(x.size());
  const double scale = 1 / (problem_->h * problem_->h);
  const VecX &f = problem_->external_force, &predicted = problem_->predicted;
  partial_.resize(static_cast<std::size_t>((size + kChunk - 1) / kChunk));
  offset_.resize(size);
  for_chunks(size, kChunk, [&](Index begin, Index end) {
    const auto part = [&](const VecX& v) { return v.segment(begin, end - begin).array(); };
    auto offset = offset_.segment(begin, end - begin).array();
    offset = part(x) - part(predicted);
    partial_[static_cast<std::size_t>(begin / kChunk)] =
        (offset * (0.5 * scale * part(lumped_) * offset - part(f))).sum();
    if (g) g->segment(begin, end - begin).array() = scale * part(lumped_) * offset - part(f);
  });
  double sum = -predicted_work_;
  for (double p : partial_) sum += p;
  return sum;
}

double InertiaTerm::evaluate_by_matrix(const VecX& x, VecX* g, bool with_inertia) {
  const VecX& f = problem_->external_force;
  const double h2 = problem_->h * problem_->h, work = (x - problem_->x_n).dot(f);
  if (g) *g = -f;
  if (!with_inertia || !problem_->has_inertia()) return -work;
  offset_ = x - problem_->predicted;
  model_.mass().multiply(offset_, product_);
  if (g) *g += product_ / h2;
  return 0.5 / h2 * offset_.dot(product_) - work;
}

EnergyTerm::EnergyTerm(std::string_view name, const Model& model, std::vector<const Energy*> energies)
    : name_(name), is_empty_(energies.empty()), assembler_(model.nodes(), energies) {}

DampingTerm::DampingTerm(const Model& model, EnergyTerm& elasticity)
    : model_(model), elasticity_(elasticity), D_(model.pattern(), 3) {}

void DampingTerm::begin_step(const StepProblem& problem) {
  problem_ = &problem;
  is_made_ = false;
}

const BlockMatrix& DampingTerm::matrix() {
  if (!is_made_) {
    D_.set_zero();
    add_damping({problem_->x_n, problem_->start_activation, problem_->start}, 1, D_);
    is_made_ = true;
  }
  return D_;
}

void DampingTerm::add_at_rest(double scale, BlockMatrix& A) { add_damping(model_.rest(), scale, A); }

void DampingTerm::add_damping(const Pose& pose, double scale, BlockMatrix& A) {
  std::vector<double> beta;
  bool any = false;
  for (const Body& body : model_.bodies()) {
    beta.push_back(scale * body.damping.stiffness);
    any = any || body.damping.stiffness > 0;
    if (!(body.damping.mass > 0)) continue;
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      double* diagonal = A.block(model_.pattern()->diagonal(i));
      for (int c = 0; c < 3; ++c) diagonal[4 * c] += scale * body.damping.mass * model_.mass().lumped()[i];
    }
  }
  if (any) elasticity_.add_scaled_hessian(pose, Projection::analytic, beta, A);
}

double DampingTerm::value(const Pose& pose) {
  displacement_ = pose.x - problem_->x_n;
  matrix().multiply(displacement_, resistance_);
  return 0.5 / problem_->h * displacement_.dot(resistance_);
}

double DampingTerm::add_gradient(const Pose& pose, VecX& g) {
  const double result = value(pose);
  g += resistance_ / problem_->h;
  return result;
}

void DampingTerm::add_hessian(const Pose&, Projection, BlockMatrix& A) {
  const BlockMatrix& D = matrix();
  for (std::size_t i = 0; i < A.values().size(); ++i) A.values()[i] += D.values()[i] / problem_->h;
}

double GrabTerm::value(const Pose& pose) {
  double sum = 0;
  for (const Grab& grab : problem_->grabs) sum += grab.energy(pose.x);
  return sum;
}

double GrabTerm::add_gradient(const Pose& pose, VecX& g) {
  for (const Grab& grab : problem_->grabs) grab.add_gradient(pose.x, g);
  return value(pose);
}

void GrabTerm::add_hessian(const Pose&, Projection, BlockMatrix& A) { add_grab_hessian(problem_->grabs, 1, A); }

namespace {

/// All nodes that some script holds by a penalty at some time.
std::vector<Index> penalised_nodes(const Model& model) {
  std::vector<std::uint8_t> marked(static_cast<std::size_t>(model.nodes()), 0);
  for (const Script& script : model.scripts())
    if (script.imposition == Imposition::penalty)
      for (Index i : script.nodes) marked[static_cast<std::size_t>(i)] = 1;
  std::vector<Index> nodes;
  for (Index i = 0; i < model.nodes(); ++i)
    if (marked[static_cast<std::size_t>(i)]) nodes.push_back(i);
  return nodes;
}

}  // namespace

PenaltyTerm::PenaltyTerm(const Model& model)
    : penalty_(penalised_nodes(model)),
      stencil_(static_cast<std::size_t>(model.nodes()), -1),
      mass_(model.mass().consistent_diagonal()),
      springs_("penalties", model,
               penalty_.stencils().count() > 0 ? std::vector<const Energy*>{&penalty_} : std::vector<const Energy*>{}) {
  const Stencils& stencils = penalty_.stencils();
  for (Index s = 0; s < stencils.count(); ++s)
    stencil_[static_cast<std::size_t>(stencils.nodes[static_cast<std::size_t>(s)])] = s;
}

void PenaltyTerm::begin_step(const StepProblem& problem) {
  penalty_.release_all();
  const BoundaryState& boundary = problem.boundary;
  for (std::size_t k = 0; k < boundary.penalised.size(); ++k) {
    const Index i = boundary.penalised[k];
    penalty_.hold(stencil_[static_cast<std::size_t>(i)], boundary.targets[k], boundary.sigma[k] * mass_[i]);
  }
}

}  // namespace pliant
