#include "pliant/solvers/newton/linear_choice.hpp"

#include <cmath>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

// Of one core of the machines at hand, ns. Only ratios matter, and those of arithmetic to memory have been much the
// same for years.
constexpr double kFlop = 0.05;          ///< of a factorisation's dense kernels
constexpr double kFactorEntry = 12;     ///< assembling and solving with it
constexpr double kSolveEntry = 2;       ///< solving alone
constexpr double kProductBlock = 7;     ///< of an iteration of conjugate gradients, in float
constexpr double kAssemblyBlock = 400;  ///< of all else in a Newton iteration
/// Newton's iterations with conjugate gradients, which solve only as accurately as pays off, over those with factors.
constexpr double kMoreNewton = 1.25;
// Of multigrid, per block: what the finest level costs, and what all levels cost in proportion to their numbers.
constexpr double kSetUpFinest = 100, kSetUpAll = 200;
constexpr double kCycleFinest = 40, kCycleAll = 12;

constexpr std::int64_t kVeryLarge = 50000;
constexpr int kSlowMultigrid = 600, kMostCost = 1000000;

}  // namespace

void LinearChoice::set_factor_costs(std::int64_t blocks, std::int64_t factor_entries, double flops) {
  const auto count = static_cast<double>(blocks);
  const double other = kAssemblyBlock * count;
  const double factor = kFlop * flops + kFactorEntry * static_cast<double>(factor_entries);
  const double with_factor = kSolveEntry * static_cast<double>(factor_entries) + 2 * kProductBlock * count;
  factor_iterations_ = static_cast<int>(std::clamp(0.5 * factor / with_factor, 1.0, 50.0));
  const double left = (factor + other) / kMoreNewton - other;
  factor_cost_ = static_cast<int>(std::clamp(left / (kProductBlock * count), 1.0, double(kMostCost)));
}

bool LinearChoice::asks_for_costs(std::int64_t nodes) const {
  return spent_ >= kUnquestioned && (nodes <= kVeryLarge || multigrid_cost_ > kSlowMultigrid);
}

void LinearChoice::expect_no_inertia() {
  if (spent_ > 0) return;
  spent_ = kUnquestioned;
  systems_ = patience_ = kMostPatience;
}

LinearMethod LinearChoice::method() const {
  if (systems_ == 0) return LinearMethod::gradients;
  return prefers_factor() ? LinearMethod::factor : LinearMethod::multigrid;
}

int LinearChoice::most_iterations() const {
  switch (method()) {
    case LinearMethod::gradients:
      if (!knows_costs() && spent_ < kUnquestioned) return kUnquestioned;
      if (!may_multigrid_) return may_factor_ ? factor_cost_ : 0;
      return may_factor_ && knows_costs() ? std::min(factor_cost_, multigrid_cost_) : multigrid_cost_;
    case LinearMethod::multigrid:
      if (!may_factor_ || !knows_costs()) return 0;
      return std::max(1, static_cast<int>(kProductBlock * factor_cost_ / (kCycleFinest + 2 * kCycleAll)));
    case LinearMethod::factor:
      break;
  }
  return 0;
}

void LinearChoice::give_up() {
  systems_ = patience_;
  patience_ = std::min(2 * patience_, kMostPatience);
}

void LinearChoice::count_gradients(int iterations, bool solved) {
  spent_ = std::min(spent_ + iterations, kUnquestioned);
  if (solved) {
    patience_ = kFirstPatience;
  } else if (may_multigrid_ || knows_costs()) {  // else they may well go on, once it is known what a factor costs
    give_up();
  }
}

void LinearChoice::count_multigrid(int iterations, bool was_set_up, double complexity, bool solved) {
  if (solved) --systems_;
  const double set_up = was_set_up ? kSetUpFinest + kSetUpAll * complexity : 0;
  const double cost = (set_up + iterations * (kCycleFinest + kCycleAll * complexity)) / kProductBlock;
  // Numbers that were kept are cheap; what counts is what a step costs on the whole.
  const double known = was_set_up ? cost : (3 * multigrid_cost_ + cost) / 4;
  multigrid_cost_ = static_cast<int>(std::clamp(solved ? known : 2 * cost, 1.0, double(kMostCost)));
}

std::vector<double> LinearChoice::memory() const {
  if (spent_ == 0) return {};
  return {double(systems_), double(patience_), double(spent_), double(multigrid_cost_)};
}

void LinearChoice::recall(std::span<const double> memory) {
  *this = LinearChoice();  // what a factor costs is asked again
  if (memory.empty()) return;
  const auto is_count = [](double v, int most) { return v >= 0 && v <= most && v == std::floor(v); };
  if (memory.size() != 4 || !is_count(memory[0], kMostPatience) || !is_count(memory[1], kMostPatience) ||
      !is_count(memory[2], kUnquestioned) || !is_count(memory[3], kMostCost) || memory[1] < kFirstPatience)
    throw InputError("the saved choice of a linear solver is none");
  systems_ = static_cast<int>(memory[0]);
  patience_ = static_cast<int>(memory[1]);
  spent_ = static_cast<int>(memory[2]);
  multigrid_cost_ = static_cast<int>(memory[3]);
}

}  // namespace pliant
