#include "pliant/solvers/quasi_newton/contact_laplacian.hpp"

namespace pliant {

namespace {

/// A matrix serves until contact has made a node this much stiffer or softer. Too soft a matrix makes for steps that
/// must be cut short, too stiff a one only for short steps.
constexpr double kStiffer = 4, kSofter = 30;

}  // namespace

ContactLaplacian::ContactLaplacian(std::shared_ptr<const Model> model, const LaplacianMatrix::Options& options)
    : model_(model), base_(model, options), pattern_(model->pattern()), modes_(*model) {
  cholesky_.analyze(model_->pattern(), 1);
  analysed_ = model_->pattern();
  is_first_analysis_ = true;
  model_order_.assign(cholesky_.order().begin(), cholesky_.order().end());
  model_flops_ = cholesky_.statistics().flops;
}

bool ContactLaplacian::prepare(IncrementalPotential& potential, StepReport&) {
  problem_ = &potential.problem();
  pattern_.begin_step();
  modes_.begin_step(*problem_);
  factored_diagonal_.resize(0);
  step_begins_ = true;
  status_ = FactorStatus::ok;
  if (made_for_.fits_without_grabs(*problem_)) return false;
  made_for_ = MatrixKey(*problem_);
  constant_ = base_.assemble(*problem_);
  const std::vector<std::uint8_t>& fixed = problem_->boundary.fixed;
  is_held_.resize(at(model_->nodes()));
  for (std::size_t i = 0; i < is_held_.size(); ++i) is_held_[i] = fixed[3 * i] && fixed[3 * i + 1] && fixed[3 * i + 2];
  return true;
}

bool ContactLaplacian::update(IncrementalPotential& potential, const VecX& x, StepReport& report) {
  ContactStep& contact = *potential.contact();
  contact.find_springs(x, springs_);
  for (const Grab& grab : problem_->grabs)
    if (grab.stiffness > 0)
      springs_.push_back({{grab.nodes[0], grab.nodes[1], grab.nodes[2], -1},
                          {grab.weights[0], grab.weights[1], grab.weights[2], 0},
                          grab.stiffness * Mat3::Identity(),
                          grab.stiffness});
  diagonal_.resize(model_->nodes());
  for (Index i = 0; i < model_->nodes(); ++i) diagonal_[i] = *constant_.block(constant_.pattern().diagonal(i));
  for (const ContactSpring& spring : springs_)
    for (std::size_t k = 0; k < 4; ++k)
      if (const Index i = spring.nodes[k]; i >= 0 && !is_held_[at(i)])
        diagonal_[i] += spring.largest * spring.weight[k] * spring.weight[k];
  if (!still_fits() && !make_matrix(potential, x, report)) return false;
  modes_.set_springs(*problem_, springs_);
  return true;
}

bool ContactLaplacian::make_matrix(IncrementalPotential& potential, const VecX& x, StepReport& report) {
  ContactStep& contact = *potential.contact();
  const auto& pattern = pattern_.cover(contact.energies_at(x));
  if (A_.shared_pattern() != pattern) A_ = BlockMatrix(pattern, 1);
  pattern_.copy_base(constant_, A_);
  add_springs();
  analyze();
  ++report.factorisations;
  status_ = cholesky_.factor(A_);
  if (status_ != FactorStatus::ok) return false;
  cholesky_.store_in_float();
  factored_diagonal_ = diagonal_;
  modes_.set_matrix(x, A_);
  return true;
}

bool ContactLaplacian::still_fits() const {
  return factored_diagonal_.size() > 0 && (diagonal_.array() <= kStiffer * factored_diagonal_.array()).all() &&
         (kSofter * diagonal_.array() >= factored_diagonal_.array()).all();
}

void ContactLaplacian::add_springs() {
  const BlockPattern& pattern = A_.pattern();
  for (const ContactSpring& spring : springs_)
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t l = 0; l < 4; ++l) {
        const Index i = spring.nodes[k], j = spring.nodes[l];
        if (i < 0 || j < i || is_held_[at(i)] || is_held_[at(j)]) continue;
        *A_.block(pattern.find(i, j)) += spring.largest * spring.weight[k] * spring.weight[l];
      }
}

/// As in NewtonSystem::analyze: a step begins with the order made for the model alone, or where contact makes that one
/// expensive, with one of its own. A new order takes longer than several factorisations of a scalar matrix.
void ContactLaplacian::analyze() {
  constexpr double kMostExtraWork = 4;
  const bool begins = step_begins_;
  step_begins_ = false;
  const std::shared_ptr<const BlockPattern> pattern = A_.shared_pattern();
  if (pattern == analysed_ && (!begins || is_first_analysis_)) return;
  if (begins) {
    cholesky_.analyze_in_order(pattern, 1, model_order_);
    if (cholesky_.statistics().flops > kMostExtraWork * model_flops_) cholesky_.analyze(pattern, 1);
  } else {
    cholesky_.change_pattern(pattern);
  }
  analysed_ = pattern;
  is_first_analysis_ = begins;
}

void ContactLaplacian::solve(const VecX& q, const Lbfgs&, VecX& r) {
  cholesky_.solve_coordinates(q, r);
  modes_.correct(q, r);
  for (Index i : problem_->fixed) r[i] = 0;
}

/// Contact comes and goes: at rest there is none.
void ContactLaplacian::solve_at_rest(const VecX& q, const Lbfgs&, VecX& r) {
  int factorisations = 0;
  base_.prepare(*problem_, factorisations);
  base_.solve(q, r);
}

}  // namespace pliant
