#include "pliant/solvers/newton/linear_choice.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

// Of one core of the machines at hand, ns. Only ratios matter, and those of arithmetic to memory have been much the
// same for years.
constexpr double kFlop = 0.05;          ///< of a factorisation's dense kernels
constexpr double kFactorEntry = 12;     ///< assembling and solving with it
constexpr double kProductBlock = 7;     ///< of an iteration of conjugate gradients, in float
constexpr double kAssemblyBlock = 400;  ///< of all else in a Newton iteration
/// Newton's iterations with conjugate gradients, which solve only as accurately as pays off, over those with factors.
constexpr double kMoreNewton = 1.25;

}  // namespace

void LinearChoice::set_costs(std::int64_t blocks, std::int64_t factor_entries, double flops) {
  const auto count = static_cast<double>(blocks);
  const double other = kAssemblyBlock * count;
  const double factor = kFlop * flops + kFactorEntry * static_cast<double>(factor_entries);
  const double left = (factor + other) / kMoreNewton - other;
  most_iterations_ = static_cast<int>(std::clamp(left / (kProductBlock * count), 1.0, 1e9));
}

void LinearChoice::count_given_up() {
  systems_ = patience_;
  patience_ = std::min(2 * patience_, kMostPatience);
}

std::vector<double> LinearChoice::memory() const {
  if (spent_ == 0) return {};
  return {static_cast<double>(systems_), static_cast<double>(patience_), static_cast<double>(spent_)};
}

void LinearChoice::recall(std::span<const double> memory) {
  systems_ = 0;
  patience_ = kFirstPatience;
  spent_ = 0;
  most_iterations_ = 0;  // what it was before is a matter of what was spent
  if (memory.empty()) return;
  const auto is_count = [](double v) { return v >= 0 && v <= kMostPatience && v == std::floor(v); };
  if (memory.size() != 3 || !is_count(memory[0]) || !is_count(memory[1]) || !is_count(memory[2]) ||
      memory[1] < kFirstPatience)
    throw InputError("the saved choice of a linear solver is none");
  systems_ = static_cast<int>(memory[0]);
  patience_ = static_cast<int>(memory[1]);
  spent_ = static_cast<int>(memory[2]);
}

}  // namespace pliant
