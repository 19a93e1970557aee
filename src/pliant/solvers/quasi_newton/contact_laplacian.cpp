#include "pliant/solvers/quasi_newton/contact_laplacian.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pliant/base/error.hpp"
#include "pliant/sim/contact/contact_step.hpp"

namespace pliant {

namespace {

/// Numbers that a memory has before all others, for the model's part and the number of contacts; for a contact: nodes,
/// weights, stiffness; for a coupling of the pattern: its nodes.
constexpr std::size_t kHead = 2, kRemembered = 2 * kContactNodes + 1, kCoupling = 2;

/// Nodes that contacts may touch.
std::vector<Index> contact_nodes(const Model& model) {
  std::vector<Index> nodes;
  const auto contact = model.contact();
  if (!contact) return nodes;
  const Index own = model.nodes();
  for (Index i : contact->surface->points)
    if (i < own) nodes.push_back(i);
  for (const CarriedPoint& point : contact->carried)
    for (Index i : point.nodes) nodes.push_back(i);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

bool is_node(double number, Index nodes, Index least) {
  return number >= least && number < nodes && number == std::floor(number);
}

}  // namespace

ContactLaplacian::ContactLaplacian(std::shared_ptr<const Model> model, const LaplacianMatrix::Options& options,
                                   bool is_timed)
    : model_(model), base_(model, options), is_timed_(is_timed), pattern_(model->pattern()), modes_(*model) {
  cholesky_.analyze(model_->pattern(), 1);
  analysed_ = model_->pattern();
  model_order_.assign(cholesky_.order().begin(), cholesky_.order().end());
  model_flops_ = cholesky_.statistics().flops;
  if (is_timed_) compliance_.set_model(contact_nodes(*model_), model_order_, model_flops_);
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
  if (is_timed_ && compliance_.set_constant(constant_, is_held_) == FactorStatus::ok) compliance_.prepare_columns();
  if (!recalled_.empty() && recalled_[0] == made_for_.digest_without_grabs()) {
    recall_springs();
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
    if (compliance_serves(now_))
      in_matrix_ = now_;
    else
      renew();
    if (!factorise(report)) return false;
    has_modes_ = false;
  }
  if (!has_modes_) by_compliance_ ? modes_.set_matrix(x, constant_, in_matrix_) : modes_.set_matrix(x, A_, {});
  has_modes_ = true;
  if (TieTerm* ties = potential.ties()) modes_.append_ties(*ties, x, springs_);
  modes_.set_springs(*problem_, springs_);
  return true;
}

void ContactLaplacian::find_diagonal(const ContactSprings& springs, VecX& diagonal) const {
  diagonal.resize(model_->nodes());
  for (Index i = 0; i < model_->nodes(); ++i) diagonal[i] = *constant_.block(constant_.pattern().diagonal(i));
  for (std::size_t s = 0; s < springs.nodes.size(); ++s)
    for (std::size_t k = 0; k < kContactNodes; ++k)
      if (const Index i = springs.nodes[s][k]; i >= 0 && !is_held_[at(i)])
        diagonal[i] += springs.stiffness[s] * springs.weight[s][k] * springs.weight[s][k];
}

/// Too soft a matrix makes for steps that must be cut short, too stiff a one only for short steps. Within a step the
/// pairs of L-BFGS make up for much; a step that begins is more particular.
bool ContactLaplacian::still_fits() const {
  constexpr Tolerance kWithinAStep{4, 30}, kFromStepToStep{2, 4};
  const Tolerance tolerance = has_modes_ ? kWithinAStep : kFromStepToStep;
  return factored_diagonal_.size() > 0 && find_misfits(factored_diagonal_, tolerance, nullptr) == 0;
}

/// Marks nodes of which this diagonal is not what it is at the last iterate. Returns how many were not marked before.
Index ContactLaplacian::find_misfits(const VecX& diagonal, const Tolerance& tolerance,
                                     std::vector<std::uint8_t>* marks) const {
  Index count = 0;
  for (Index i = 0; i < model_->nodes(); ++i) {
    if (diagonal_[i] <= tolerance.stiffer * diagonal[i] && tolerance.softer * diagonal_[i] >= diagonal[i]) continue;
    if (marks && std::exchange((*marks)[at(i)], std::uint8_t{1})) continue;
    ++count;
  }
  return count;
}

/// Contacts of nodes that are far from what A has of them take the place of those that A has of the same nodes. A
/// contact is replaced as a whole, so that its other nodes may have to follow.
void ContactLaplacian::renew() {
  constexpr Tolerance kGood{1.4, 2};
  const auto touches = [&](const ContactSprings& springs, std::size_t s) {
    const auto& nodes = springs.nodes[s];
    return std::any_of(nodes.begin(), nodes.end(), [&](Index i) { return i >= 0 && is_renewed_[at(i)]; });
  };
  is_renewed_.assign(at(model_->nodes()), factored_diagonal_.size() == 0);
  mixed_ = in_matrix_;
  find_diagonal(in_matrix_, mixed_diagonal_);
  while (find_misfits(mixed_diagonal_, kGood, &is_renewed_) > 0) {
    mixed_.clear();
    for (std::size_t s = 0; s < in_matrix_.size(); ++s)
      if (!touches(in_matrix_, s)) mixed_.add(in_matrix_, s);
    for (std::size_t s = 0; s < now_.size(); ++s)
      if (touches(now_, s)) mixed_.add(now_, s);
    find_diagonal(mixed_, mixed_diagonal_);
  }
  std::vector<std::uint8_t> is_changed(at(model_->nodes()), 0);
  changed_.clear();
  for (const ContactSprings* springs : {&in_matrix_, &now_})
    for (std::size_t s = 0; s < springs->size(); ++s) {
      if (!touches(*springs, s)) continue;
      for (Index i : springs->nodes[s])
        if (i >= 0 && !std::exchange(is_changed[at(i)], std::uint8_t{1})) changed_.push_back(i);
    }
  std::swap(mixed_, in_matrix_);
}

/// A function of in_matrix_, of the pattern's couplings and of what is constant, to the last bit: no order of
/// elimination remains from what was before, and a factor that is computed anew in parts is that of the whole.
bool ContactLaplacian::factorise(StepReport& report) {
  const bool was_by_compliance = std::exchange(by_compliance_, compliance_serves(in_matrix_));
  if (by_compliance_ && compliance_.set_springs(in_matrix_)) {
    find_diagonal(in_matrix_, factored_diagonal_);
    return true;
  }
  by_compliance_ = false;
  const auto& pattern = pattern_.cover(in_matrix_.nodes);
  if (A_.shared_pattern() != pattern) A_ = BlockMatrix(pattern, 1);
  pattern_.copy_base(constant_, A_);
  add_springs();
  ++report.factorisations;
  const bool is_in_parts = pattern == analysed_ && factored_diagonal_.size() > 0 && !was_by_compliance;
  analyze();
  cholesky_.keep_updates(true);
  status_ = is_in_parts ? cholesky_.refactor(A_, changed_) : cholesky_.factor(A_);
  factored_diagonal_.resize(0);
  if (status_ != FactorStatus::ok) return false;
  cholesky_.store_in_float();
  find_diagonal(in_matrix_, factored_diagonal_);
  return true;
}

/// Keeping a factorisation over many iterations is quicker, where there is time for one.
bool ContactLaplacian::compliance_serves(const ContactSprings& springs) {
  return is_timed_ && compliance_.has_constant() && compliance_.serves(springs);
}

void ContactLaplacian::add_springs() {
  const BlockPattern& pattern = A_.pattern();
  for (std::size_t s = 0; s < in_matrix_.size(); ++s)
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
  by_compliance_ ? compliance_.solve(q, r) : cholesky_.solve_coordinates(q, r);
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
  std::vector<double> memory{made_for_.digest_without_grabs(), static_cast<double>(in_matrix_.size())};
  for (std::size_t s = 0; s < in_matrix_.size(); ++s) {
    memory.insert(memory.end(), in_matrix_.nodes[s].begin(), in_matrix_.nodes[s].end());
    memory.insert(memory.end(), in_matrix_.weight[s].begin(), in_matrix_.weight[s].end());
    memory.push_back(in_matrix_.stiffness[s]);
  }
  for (const auto& coupling : pattern_.added()) memory.insert(memory.end(), coupling.begin(), coupling.end());
  return memory;
}

void ContactLaplacian::recall(std::span<const double> memory) {
  const Index nodes = model_->nodes();
  const auto springs = [&] { return memory.subspan(kHead, static_cast<std::size_t>(memory[1]) * kRemembered); };
  bool is_sound = memory.empty() || (memory.size() >= kHead && memory[1] >= 0 && memory[1] == std::floor(memory[1]) &&
                                     memory[1] <= static_cast<double>((memory.size() - kHead) / kRemembered));
  if (is_sound && !memory.empty()) {
    for (std::size_t k = 0; k < springs().size() && is_sound; ++k) {
      const double number = springs()[k];
      const std::size_t place = k % kRemembered;
      is_sound = std::isfinite(number) && (place != 2 * kContactNodes || number >= 0) &&
                 (place >= kContactNodes || is_node(number, nodes, -1));
    }
    const auto couplings = memory.subspan(kHead + springs().size());
    is_sound = is_sound && couplings.size() % kCoupling == 0;
    for (std::size_t k = 0; k < couplings.size() && is_sound; k += kCoupling)
      is_sound = is_node(couplings[k], nodes, 0) && is_node(couplings[k + 1], nodes, 0) &&
                 couplings[k] < couplings[k + 1] &&
                 (k == 0 || std::pair(couplings[k - 2], couplings[k - 1]) < std::pair(couplings[k], couplings[k + 1]));
  }
  if (!is_sound) throw InputError("the saved contacts of the quasi-Newton matrix are not contacts of this scene");
  recalled_.assign(memory.begin(), memory.end());
  made_for_ = MatrixKey();
  factored_diagonal_.resize(0);
}

void ContactLaplacian::recall_springs() {
  in_matrix_.clear();
  const std::size_t end = kHead + static_cast<std::size_t>(recalled_[1]) * kRemembered;
  for (std::size_t k = kHead; k < end; k += kRemembered) {
    const double* numbers = &recalled_[k];
    auto& nodes = in_matrix_.nodes.emplace_back();
    for (std::size_t c = 0; c < kContactNodes; ++c) nodes[c] = static_cast<Index>(numbers[c]);
    std::copy_n(numbers + kContactNodes, kContactNodes, in_matrix_.weight.emplace_back().begin());
    in_matrix_.stiffness.push_back(numbers[2 * kContactNodes]);
  }
  std::vector<std::array<Index, 2>> couplings;
  for (std::size_t k = end; k < recalled_.size(); k += kCoupling)
    couplings.push_back({static_cast<Index>(recalled_[k]), static_cast<Index>(recalled_[k + 1])});
  pattern_.set_added(std::move(couplings));
}

}  // namespace pliant
