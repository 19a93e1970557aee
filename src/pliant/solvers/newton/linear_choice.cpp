#include "pliant/solvers/newton/linear_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

// Of one core of the machines at hand, ns. Only ratios matter, and those of arithmetic to memory have been much the
// same for years.
constexpr double kFlop = 0.041;         ///< of a factorisation's dense kernels
constexpr double kFactorEntry = 9.5;    ///< assembling and solving with it
constexpr double kSolveEntry = 2;       ///< solving alone
constexpr double kFloatEntry = 0.8;     ///< in float
constexpr double kRotationBlock = 45;   ///< of the nodes' rotations
constexpr double kProductBlock = 7;     ///< of an iteration of conjugate gradients, in float
constexpr double kAssemblyBlock = 200;  ///< of all else in a Newton iteration
/// Newton's iterations with conjugate gradients, which solve only as accurately as pays off, over those with factors.
constexpr double kMoreNewton = 1.25;
// Of multigrid: what a block of the finest level costs, what all levels cost in proportion to their numbers, and what a
// product of two numbers costs in making coarse matrices.
constexpr double kSetUpFinest = 270, kSetUpProduct = 0.13;
constexpr double kCycleFinest = 32, kCycleAll = 14;

/// All else, in plain iterations.
constexpr double kOther = kAssemblyBlock / kProductBlock;
/// What is expected of multigrid before it was tried: levels of twice the finest matrix, products in proportion to the
/// blocks of a row, four cycles a system.
constexpr double kUsualComplexity = 2, kUsualProducts = 120, kUsualCycles = 4;
/// Of the factor at rest the least: once made, it is there to be judged.
constexpr double kLeastWithRestFactor = 1;

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

double cycle_cost(double complexity) { return (kCycleFinest + kCycleAll * complexity) / kProductBlock; }

}  // namespace

LinearChoice::LinearChoice(std::int64_t nodes, std::int64_t blocks)
    : nodes_(nodes), blocks_(blocks), until_retry_(kFirstPatience), patience_(kFirstPatience) {}

void LinearChoice::set_factor_costs(std::int64_t entries, double flops) {
  constexpr double kWorthwhile = 6;  // an inexact direction may cost a Newton iteration
  const double iteration = kProductBlock * static_cast<double>(blocks_), count = static_cast<double>(entries);
  factor_entries_ = count;
  factor_cost_ = (kFlop * flops + kFactorEntry * count) / iteration;
  factor_iteration_ = kSolveEntry * count / iteration + 2;  // the product is in double
  const double iterations = std::min(0.5 * factor_cost_ / factor_iteration_, 50.0);
  factor_iterations_ = iterations < kWorthwhile ? 0 : static_cast<int>(iterations);
}

void LinearChoice::set_guess(const FactorGuess& guess) { guess_ = guess; }

/// Of a system by the factor at rest.
double LinearChoice::rest_factor_cost(double entries, double iterations) const {
  const double product = kProductBlock * static_cast<double>(blocks_);
  return kOther + kRotationBlock / kProductBlock + iterations * (kFloatEntry * entries / product + 2);
}

/// Whether what saves so much of the cost of a system pays for an investment.
bool LinearChoice::pays(double cost, double investment) const {
  const double now = std::min(expected(method_), expected(LinearMethod::multigrid));
  const double saved = now - cost, horizon = kind_.has_inertia ? kHorizon : kStaticHorizon;
  return saved > 0 && saved * last_systems_ * horizon > investment;
}

bool LinearChoice::asks_for_factor_costs() {
  if (factor_cost_ > 0) return false;
  if (asked_) return true;
  const double making = (kFlop * guess_.flops + kFactorEntry * guess_.entries) / (kProductBlock * double(blocks_));
  const bool may_ask = nodes_ <= kVeryLarge || cost_[index(LinearMethod::multigrid)] > kSlowMultigrid;
  asked_ = may_ask &&
           (pays((kOther + making) / kMoreNewton, kAnalysis) ||
            (!kind_.has_contact && pays(rest_factor_cost(guess_.entries, kLeastWithRestFactor), kAnalysis + making)));
  return asked_;
}

double LinearChoice::set_up_cost(double products) const {
  return (kSetUpFinest + kSetUpProduct * products / static_cast<double>(blocks_)) / kProductBlock;
}

double LinearChoice::usual_products() const {
  const double count = static_cast<double>(blocks_), row = 2 * count / static_cast<double>(nodes_) - 1;
  return kUsualProducts * row * count;
}

double LinearChoice::expected(LinearMethod method) const {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double known = cost_[index(method)];
  switch (method) {
    case LinearMethod::gradients:
      return known;
    case LinearMethod::multigrid:
      if (known > 0) return known;
      return kOther + set_up_cost(usual_products()) / last_systems_ + kUsualCycles * cycle_cost(kUsualComplexity);
    case LinearMethod::rest_factor:
      if (!may_factor_ || factor_cost_ == 0 || kind_.has_contact) return kNever;
      return known > 0 ? known : rest_factor_cost(factor_entries_, kLeastWithRestFactor);
    case LinearMethod::factor:
      break;
  }
  if (!may_factor_ || factor_cost_ == 0) return kNever;
  return (known > 0 ? known : kOther + factor_cost_) / kMoreNewton;
}

/// The factor at rest is made, and made anew, only where it pays.
bool LinearChoice::may_choose(LinearMethod method) const {
  if (method != LinearMethod::rest_factor || kind_.matrix_key == rest_key_) return true;
  return pays(expected(method), factor_cost_);
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
  systems_ = 0;
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
  spent_ = 0;
  systems_ = 0;
}

double LinearChoice::iteration_cost() const {
  if (method_ == LinearMethod::multigrid) return cycle_cost(kUsualComplexity);
  return method_ == LinearMethod::rest_factor
             ? rest_factor_cost(factor_entries_, 1) - rest_factor_cost(factor_entries_, 0)
             : 1;
}

/// Of the whole step, as long as its systems are as many as those of the step before.
double LinearChoice::allowance() const {
  return kClearly * expected(cheapest_besides(method_)) * std::max<double>(last_systems_, systems_ + 1);
}

int LinearChoice::most_iterations() const {
  constexpr double kAtLeast = 10, kAtMost = 1e6;
  const double left = (allowance() - spent_ - kOther) / iteration_cost();
  return std::isfinite(left) ? static_cast<int>(std::clamp(left, kAtLeast, kAtMost)) : 0;
}

void LinearChoice::add(double cost, bool solved) {
  spent_ += cost;
  if (solved) {
    spent_ += kOther;
    ++systems_;
    return;
  }
  // What the next method costs is judged by what is left of the step.
  const LinearMethod next = cheapest_besides(method_);
  cost_[index(method_)] = std::min(kMostCost, std::max(1.5 * expected(next), spent_ / (systems_ + 1)));
  method_ = next;
  spent_ = 0;
  systems_ = 0;
  until_retry_ = patience_;
}

void LinearChoice::count_gradients(int iterations, bool solved) { add(iterations, solved); }

void LinearChoice::count_multigrid(int iterations, const MultigridWork& work, bool solved) {
  add((work.was_set_up ? set_up_cost(work.products) : 0) + iterations * cycle_cost(work.complexity), solved);
}

void LinearChoice::count_factor() { add(factor_cost_, true); }

void LinearChoice::count_kept_factor(int iterations, bool solved) {
  const double cost = iterations * factor_iteration_;
  if (solved) return add(cost, true);
  spent_ += cost;  // a new factor follows
}

void LinearChoice::count_rest_factor(int iterations, bool solved) {
  // The first one is an investment, those that another key asks for are what it costs.
  const double making = rest_key_ != 0 && rest_key_ != kind_.matrix_key ? factor_cost_ : 0;
  rest_key_ = kind_.matrix_key;
  add(making + rest_factor_cost(factor_entries_, iterations) - kOther, solved);
}

std::vector<double> LinearChoice::memory() const {
  if (std::all_of(cost_.begin(), cost_.end(), [](double c) { return c == 0; })) return {};
  std::vector<double> memory = {double(index(method_)), last_systems_,  double(until_retry_),
                                double(patience_),      double(asked_), rest_key_};
  memory.insert(memory.end(), cost_.begin(), cost_.end());
  return memory;
}

void LinearChoice::recall(std::span<const double> memory) {
  const FactorGuess guess = guess_;
  *this = LinearChoice(nodes_, blocks_);  // what a factor costs is asked again
  guess_ = guess;
  if (memory.empty()) return;
  const auto is_count = [](double v, int most) { return v >= 0 && v <= most && v == std::floor(v); };
  if (memory.size() != 6 + kMethods || !is_count(memory[0], int(kMethods) - 1) ||
      !(memory[1] >= 1 && memory[1] <= 1e6) || !is_count(memory[2], kMostPatience) ||
      !is_count(memory[3], kMostPatience) || memory[3] < kFirstPatience || !is_count(memory[4], 1) ||
      !(memory[5] >= 0 && memory[5] < 1e16) ||
      !std::all_of(memory.begin() + 6, memory.end(), [](double v) { return v >= 0 && v <= kMostCost; }))
    throw InputError("the saved choice of a linear solver is none");
  method_ = static_cast<LinearMethod>(static_cast<int>(memory[0]));
  last_systems_ = memory[1];
  until_retry_ = static_cast<int>(memory[2]);
  patience_ = static_cast<int>(memory[3]);
  asked_ = memory[4] != 0;
  rest_key_ = memory[5];
  std::copy_n(memory.begin() + 6, kMethods, cost_.begin());
}

}  // namespace pliant
