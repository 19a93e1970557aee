#include "pliant/solvers/quasi_newton/contact_laplacian.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

/// A matrix serves until contact has made a node this much stiffer or softer. Too soft a matrix makes for steps that
/// must be cut short, too stiff a one only for short steps. Within a step the pairs of L-BFGS make up for much; a step
/// that begins is more particular.
struct Tolerance {
  double stiffer, softer;
};
constexpr Tolerance kWithinAStep{4, 30}, kFromStepToStep{2, 4};

/// Numbers that a memory has for a contact: nodes, weights, stiffness.
constexpr std::size_t kRemembered = 2 * kContactNodes + 1;

}  // namespace

ContactLaplacian::ContactLaplacian(std::shared_ptr<const Model> model, const LaplacianMatrix::Options& options)
    : model_(model), base_(model, options), pattern_(model->pattern()), modes_(*model) {
  cholesky_.analyze(model_->pattern(), 1);
  analysed_ = model_->pattern();
  model_order_.assign(cholesky_.order().begin(), cholesky_.order().end());
  model_flops_ = cholesky_.statistics().flops;
}

bool ContactLaplacian::prepare(IncrementalPotential& potential, StepReport& report) {
  problem_ = &potential.problem();
  modes_.begin_step(*problem_);
  has_modes_ = false;
  status_ = FactorStatus::ok;
  if (made_for_.fits_without_grabs(*problem_)) return false;
  made_for_ = MatrixKey(*problem_);
  constant_ = base_.assemble(*problem_);
  const std::vector<std::uint8_t>& fixed = problem_->boundary.fixed;
  is_held_.resize(at(model_->nodes()));
  for (std::size_t i = 0; i < is_held_.size(); ++i) is_held_[i] = fixed[3 * i] && fixed[3 * i + 1] && fixed[3 * i + 2];
  factored_diagonal_.resize(0);
  if (!recalled_.empty() && recalled_[0] == made_for_.digest_without_grabs()) {
    in_matrix_.clear();
    for (std::size_t k = 1; k < recalled_.size(); k += kRemembered) {
      const double* numbers = &recalled_[k];
      auto& nodes = in_matrix_.nodes.emplace_back();
      for (std::size_t c = 0; c < kContactNodes; ++c) nodes[c] = static_cast<Index>(numbers[c]);
      std::copy_n(numbers + kContactNodes, kContactNodes, in_matrix_.weight.emplace_back().begin());
      in_matrix_.stiffness.push_back(numbers[2 * kContactNodes]);
    }
    factorise(report);
  }
  recalled_.clear();
  return true;
}

bool ContactLaplacian::update(IncrementalPotential& potential, const VecX& x, StepReport& report) {
  springs_.clear();
  if (ContactStep* contact = potential.contact()) contact->find_springs(x, springs_);
  for (const Grab& grab : problem_->grabs)
    if (grab.stiffness > 0) {
      ContactSpring& spring = springs_.emplace_back();
      std::copy_n(grab.nodes.begin(), 3, spring.nodes.begin());
      std::copy_n(grab.weights.begin(), 3, spring.weight.begin());
      spring.stiffness = grab.stiffness * Mat3::Identity();
      spring.largest = grab.stiffness;
    }
  now_.clear();
  for (const ContactSpring& spring : springs_) {
    now_.nodes.push_back(spring.nodes);
    now_.weight.push_back(spring.weight);
    now_.stiffness.push_back(spring.largest);
  }
  find_diagonal(now_, diagonal_);
  if (!still_fits()) {
    std::swap(now_, in_matrix_);
    if (!factorise(report)) return false;
    has_modes_ = false;
  }
  if (!has_modes_) modes_.set_matrix(x, A_);
  has_modes_ = true;
  if (TieTerm* ties = potential.ties()) modes_.append_ties(*ties, x, springs_);
  modes_.set_springs(*problem_, springs_);
  return true;
}

void ContactLaplacian::find_diagonal(const Springs& springs, VecX& diagonal) const {
  diagonal.resize(model_->nodes());
  for (Index i = 0; i < model_->nodes(); ++i) diagonal[i] = *constant_.block(constant_.pattern().diagonal(i));
  for (std::size_t s = 0; s < springs.nodes.size(); ++s)
    for (std::size_t k = 0; k < kContactNodes; ++k)
      if (const Index i = springs.nodes[s][k]; i >= 0 && !is_held_[at(i)])
        diagonal[i] += springs.stiffness[s] * springs.weight[s][k] * springs.weight[s][k];
}

bool ContactLaplacian::still_fits() const {
  const auto [stiffer, softer] = has_modes_ ? kWithinAStep : kFromStepToStep;
  return factored_diagonal_.size() > 0 && (diagonal_.array() <= stiffer * factored_diagonal_.array()).all() &&
         (softer * diagonal_.array() >= factored_diagonal_.array()).all();
}

/// A function of in_matrix_ and of what is constant, to the last bit: no pattern or order of elimination remains from
/// what was before.
bool ContactLaplacian::factorise(StepReport& report) {
  const auto& pattern = pattern_.cover_only(in_matrix_.nodes);
  if (A_.shared_pattern() != pattern) A_ = BlockMatrix(pattern, 1);
  pattern_.copy_base(constant_, A_);
  add_springs();
  analyze();
  ++report.factorisations;
  status_ = cholesky_.factor(A_);
  factored_diagonal_.resize(0);
  if (status_ != FactorStatus::ok) return false;
  cholesky_.store_in_float();
  find_diagonal(in_matrix_, factored_diagonal_);
  return true;
}

void ContactLaplacian::add_springs() {
  const BlockPattern& pattern = A_.pattern();
  for (std::size_t s = 0; s < in_matrix_.nodes.size(); ++s)
    for (std::size_t k = 0; k < kContactNodes; ++k)
      for (std::size_t l = 0; l < kContactNodes; ++l) {
        const Index i = in_matrix_.nodes[s][k], j = in_matrix_.nodes[s][l];
        if (i < 0 || j < i || is_held_[at(i)] || is_held_[at(j)]) continue;
        *A_.block(pattern.find(i, j)) += in_matrix_.stiffness[s] * in_matrix_.weight[s][k] * in_matrix_.weight[s][l];
      }
}

/// In the order made for the model alone, or where contact makes that one expensive, in one of its own: a new order
/// takes longer than several factorisations of a scalar matrix.
void ContactLaplacian::analyze() {
  constexpr double kMostExtraWork = 4;
  const std::shared_ptr<const BlockPattern> pattern = A_.shared_pattern();
  if (pattern == analysed_) return;
  cholesky_.analyze_in_order(pattern, 1, model_order_);
  if (cholesky_.statistics().flops > kMostExtraWork * model_flops_) cholesky_.analyze(pattern, 1);
  analysed_ = pattern;
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

std::vector<double> ContactLaplacian::memory() const {
  if (factored_diagonal_.size() == 0) return recalled_;
  std::vector<double> memory{made_for_.digest_without_grabs()};
  for (std::size_t s = 0; s < in_matrix_.nodes.size(); ++s) {
    memory.insert(memory.end(), in_matrix_.nodes[s].begin(), in_matrix_.nodes[s].end());
    memory.insert(memory.end(), in_matrix_.weight[s].begin(), in_matrix_.weight[s].end());
    memory.push_back(in_matrix_.stiffness[s]);
  }
  return memory;
}

void ContactLaplacian::recall(std::span<const double> memory) {
  bool is_sound = memory.empty() || memory.size() % kRemembered == 1;
  for (std::size_t k = 1; k < memory.size() && is_sound; ++k) {
    const std::size_t place = (k - 1) % kRemembered;
    is_sound = std::isfinite(memory[k]) && (place != 2 * kContactNodes || memory[k] >= 0) &&
               (place >= kContactNodes ||
                (memory[k] >= -1 && memory[k] < model_->nodes() && memory[k] == std::floor(memory[k])));
  }
  if (!is_sound) throw InputError("the saved contacts of the quasi-Newton matrix are not contacts of this scene");
  recalled_.assign(memory.begin(), memory.end());
  made_for_ = MatrixKey();
  factored_diagonal_.resize(0);
}

}  // namespace pliant
