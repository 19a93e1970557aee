#include "pliant/solvers/newton/linear_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

/// Newton's iterations with conjugate gradients, which solve only as accurately as pays off, over those with factors.
constexpr double kMoreNewton = 1.25;
/// Before they were tried: cycles of multigrid that a system is expected to take, and the least with the factor at
/// rest, which, once made, is there to be judged.
constexpr double kUsualCycles = 4, kLeastWithRestFactor = 1;

constexpr std::int64_t kVeryLarge = 50000;
constexpr double kAnalysis = 300;  ///< cost of an order of elimination
constexpr double kHorizon = 50;    ///< steps within which an investment must pay for itself
constexpr double kStaticHorizon = 3;
constexpr double kSlowMultigrid = 600;  ///< cost of a system
constexpr double kClearly = 2;          ///< times what another method would cost: then a step goes on with that one
constexpr double kHysteresis = 0.9;     ///< a method is left for one that costs this much of it
constexpr double kClose = 1.25;         ///< times the cost of the method at hand: then a new method is tried early
constexpr int kStepsBefore = 2;         ///< steps after which that is done
constexpr double kHopeless = 3;         ///< times the cost of the method at hand: factors are not tried again
constexpr double kMostCost = 1e9;
constexpr int kFirstPatience = 16, kMostPatience = 1024;

constexpr std::array<LinearMethod, 4> kAll = {LinearMethod::gradients, LinearMethod::multigrid, LinearMethod::factor,
                                              LinearMethod::rest_factor};
std::size_t index(LinearMethod method) { return static_cast<std::size_t>(method); }

}  // namespace

LinearChoice::LinearChoice(std::int64_t nodes, std::int64_t blocks)
    : prices_{nodes, blocks}, until_retry_(kFirstPatience), patience_(kFirstPatience) {}

void LinearChoice::set_factor_costs(std::int64_t entries, double flops) {
  factor_ = {static_cast<double>(entries), flops};
}

/// Of a system, on average over a step like the last one, in which only some have matrices of their own: all but the
/// solution; with factors; by the factor at rest.
double LinearChoice::usual_other() const {
  const double fresh = last_matrices_ / last_systems_;
  return fresh * LinearPrices::other() + (1 - fresh) * LinearPrices::other_with_kept_matrix();
}

double LinearChoice::factor_cost(const FactorGuess& factor) const {
  const double fresh = last_matrices_ / last_systems_;
  return usual_other() + fresh * prices_.factorisation(factor) + (1 - fresh) * prices_.factor_solution(factor);
}

double LinearChoice::rest_factor_cost(const FactorGuess& factor, double iterations) const {
  const double fresh = last_matrices_ / last_systems_;
  return usual_other() + fresh * LinearPrices::rotations() + iterations * prices_.rest_factor_iteration(factor);
}

/// Whether what saves so much of the cost of a system pays for an investment.
bool LinearChoice::pays(double cost, double investment) const {
  const double now = std::min(expected(method_), expected(LinearMethod::multigrid));
  const double saved = now - cost, horizon = kind_.has_inertia ? kHorizon : kStaticHorizon;
  return saved > 0 && saved * last_systems_ * horizon > investment;
}

bool LinearChoice::asks_for_factor_costs() {
  if (factor_.entries > 0) return false;
  if (asked_) return true;
  // Levels of a breadth-first search are wider than separators: of a compact body, a guess is nearly twice the truth.
  constexpr double kHope = 0.6;
  const FactorGuess hoped{kHope * guess_.entries, kHope * guess_.flops};
  const bool may_ask = prices_.nodes <= kVeryLarge || cost_[index(LinearMethod::multigrid)] > kSlowMultigrid;
  const double at_rest = kAnalysis + prices_.factorisation(hoped);
  asked_ = may_ask && (pays(factor_cost(hoped) / kMoreNewton, kAnalysis) ||
                       (!kind_.has_contact && pays(rest_factor_cost(hoped, kLeastWithRestFactor), at_rest)));
  return asked_;
}

double LinearChoice::expected(LinearMethod method) const {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double known = cost_[index(method)];
  switch (method) {
    case LinearMethod::gradients:
      return known;
    case LinearMethod::multigrid:
      if (known > 0) return known;
      return usual_other() + prices_.usual_set_up() / last_systems_ + kUsualCycles * LinearPrices::usual_cycle();
    case LinearMethod::rest_factor:
      if (!may_factor_ || factor_.entries == 0 || kind_.has_contact) return kNever;
      return known > 0 ? known : rest_factor_cost(factor_, kLeastWithRestFactor);
    case LinearMethod::factor:
      break;
  }
  if (!may_factor_ || factor_.entries == 0) return kNever;
  return (known > 0 ? known : factor_cost(factor_)) / kMoreNewton;
}

/// The factor at rest is made, and made anew, only where it pays.
bool LinearChoice::may_choose(LinearMethod method) const {
  if (method != LinearMethod::rest_factor || kind_.matrix_key == rest_key_) return true;
  return pays(expected(method), prices_.factorisation(factor_));
}

LinearMethod LinearChoice::cheapest_besides(LinearMethod method) const {
  LinearMethod best = method;
  for (const LinearMethod other : kAll)
    if (other != method && may_choose(other) && (best == method || expected(other) < expected(best))) best = other;
  return best;
}

void LinearChoice::begin_step(const StepKind& kind) {
  end_step();
  kind_ = kind;
  spent_ = 0;
  systems_ = matrices_ = 0;
  if (!kind.has_inertia && cost_[index(LinearMethod::gradients)] == 0)
    cost_[index(LinearMethod::gradients)] = kMostCost;
}

void LinearChoice::choose() {
  const LinearMethod other = cheapest_besides(method_);
  const bool is_new = cost_[index(other)] == 0 && patience_ - until_retry_ >= kStepsBefore;
  if (expected(other) < (is_new ? kClose : kHysteresis) * expected(method_)) {
    method_ = other;
    until_retry_ = patience_;
  } else if (--until_retry_ <= 0) {
    until_retry_ = patience_;
    if (other == LinearMethod::factor && expected(other) > kHopeless * expected(method_)) return;
    method_ = other;
    until_retry_ = patience_ = std::min(2 * patience_, kMostPatience);
  }
}

/// What a step by one method has cost is what its systems cost, on average; a mean with what was known before.
void LinearChoice::end_step() {
  if (systems_ == 0) return;
  double& known = cost_[index(method_)];
  const double cost = spent_ / systems_;
  known = known > 0 && known < kMostCost ? 0.5 * (known + cost) : cost;
  last_systems_ = systems_;
  last_matrices_ = std::max(1, matrices_);
  spent_ = 0;
  systems_ = matrices_ = 0;
}

double LinearChoice::iteration_cost() const {
  if (method_ == LinearMethod::multigrid) return LinearPrices::usual_cycle();
  return method_ == LinearMethod::rest_factor ? prices_.rest_factor_iteration(factor_) : 1;
}

/// Of the whole step, as long as its systems are as many as those of the step before.
double LinearChoice::allowance() const {
  return kClearly * expected(cheapest_besides(method_)) * std::max<double>(last_systems_, systems_ + 1);
}

int LinearChoice::most_iterations() const {
  constexpr double kAtLeast = 10, kAtMost = 1e6;
  const double left = (allowance() - spent_ - usual_other()) / iteration_cost();
  return std::isfinite(left) ? static_cast<int>(std::clamp(left, kAtLeast, kAtMost)) : 0;
}

void LinearChoice::add(double cost, bool solved) {
  spent_ += cost;
  if (solved) {
    spent_ += is_kept_ ? LinearPrices::other_with_kept_matrix() : LinearPrices::other();
    ++systems_;
    if (!is_kept_) ++matrices_;
    return;
  }
  // What the next method costs is judged by what is left of the step.
  const LinearMethod next = cheapest_besides(method_);
  cost_[index(method_)] = std::min(kMostCost, std::max(1.5 * expected(next), spent_ / (systems_ + 1)));
  method_ = next;
  spent_ = 0;
  systems_ = matrices_ = 0;
  until_retry_ = patience_;
}

void LinearChoice::count_gradients(int iterations, bool solved) { add(iterations, solved); }

void LinearChoice::count_multigrid(int iterations, const MultigridWork& work, bool solved) {
  add((work.was_set_up ? prices_.set_up(work.products) : 0) + iterations * LinearPrices::cycle(work.complexity),
      solved);
}

void LinearChoice::count_factor(const FactorGuess& made) {
  add(is_kept_ ? prices_.factor_solution(made) : prices_.factorisation(made), true);
}

void LinearChoice::count_kept_factor(int iterations, bool solved) {
  const double cost = iterations * prices_.factor_iteration(factor_);
  if (solved) return add(cost, true);
  spent_ += cost;  // a new factor follows
}

void LinearChoice::count_rest_factor(int iterations, bool solved) {
  // The first one is an investment, those that another key asks for are what it costs.
  const double making = rest_key_ != 0 && rest_key_ != kind_.matrix_key ? prices_.factorisation(factor_) : 0;
  rest_key_ = kind_.matrix_key;
  add(making + (is_kept_ ? 0 : LinearPrices::rotations()) + iterations * prices_.rest_factor_iteration(factor_),
      solved);
}

std::vector<double> LinearChoice::memory() const {
  if (std::all_of(cost_.begin(), cost_.end(), [](double c) { return c == 0; })) return {};
  std::vector<double> memory = {double(index(method_)), last_systems_, double(until_retry_), double(patience_),
                                double(asked_),         rest_key_,     last_matrices_};
  memory.insert(memory.end(), cost_.begin(), cost_.end());
  return memory;
}

void LinearChoice::recall(std::span<const double> memory) {
  const FactorGuess guess = guess_;
  *this = LinearChoice(prices_.nodes, prices_.blocks);  // what a factor costs is asked again
  guess_ = guess;
  if (memory.empty()) return;
  const auto is_count = [](double v, int most) { return v >= 0 && v <= most && v == std::floor(v); };
  if (memory.size() != 7 + kMethods || !is_count(memory[0], int(kMethods) - 1) ||
      !(memory[1] >= 1 && memory[1] <= 1e6) || !is_count(memory[2], kMostPatience) ||
      !is_count(memory[3], kMostPatience) || memory[3] < kFirstPatience || !is_count(memory[4], 1) ||
      !(memory[5] >= 0 && memory[5] < 1e16) || !(memory[6] >= 1 && memory[6] <= memory[1]) ||
      !std::all_of(memory.begin() + 7, memory.end(), [](double v) { return v >= 0 && v <= kMostCost; }))
    throw InputError("the saved choice of a linear solver is none");
  method_ = static_cast<LinearMethod>(static_cast<int>(memory[0]));
  last_systems_ = memory[1];
  until_retry_ = static_cast<int>(memory[2]);
  patience_ = static_cast<int>(memory[3]);
  asked_ = memory[4] != 0;
  rest_key_ = memory[5];
  last_matrices_ = memory[6];
  std::copy_n(memory.begin() + 7, kMethods, cost_.begin());
}

}  // namespace pliant
