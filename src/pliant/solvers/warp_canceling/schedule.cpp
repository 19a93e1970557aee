#include "pliant/solvers/warp_canceling/schedule.hpp"

#include <algorithm>
#include <numeric>

namespace pliant {

namespace {

/// Weight of a new measurement in the moving averages.
constexpr double kLearning = 0.2;
/// Part of the budget that is planned for; the rest covers the scatter of the clock.
constexpr double kPlanned = 0.9;

}  // namespace

Schedule::Schedule(const ScheduleOptions& options, std::vector<Index> parent)
    : options_(options), parent_(std::move(parent)), cost_(parent_.size(), 0.0) {}

void Schedule::mark_path(Index s, std::vector<std::uint8_t>& marked) const {
  for (; s >= 0 && !marked[at(s)]; s = parent_[at(s)]) marked[at(s)] = 1;
}

double Schedule::path_cost(Index s, const std::vector<std::uint8_t>& marked) const {
  double sum = 0;
  for (; s >= 0 && !marked[at(s)]; s = parent_[at(s)]) sum += cost_[at(s)];
  return sum * wall_per_cost_;
}

double Schedule::budget() const {
  if (options_.budget_ms > 0) return 1e-3 * options_.budget_ms;
  return options_.budget_share * wall_per_cost_ * std::accumulate(cost_.begin(), cost_.end(), 0.0);
}

double Schedule::predicted(std::span<const std::uint8_t> marked) const {
  double sum = 0;
  for (std::size_t s = 0; s < marked.size(); ++s) sum += marked[s] ? cost_[s] : 0;
  return sum * wall_per_cost_;
}

void Schedule::mark(std::span<const double> badness, std::int64_t steps, const std::vector<std::uint8_t>& dirty,
                    std::vector<std::uint8_t>& marked) const {
  if (options_.kind == ScheduleKind::never || options_.kind == ScheduleKind::periodic)
    marked.assign(parent_.size(), 0);
  else
    marked = dirty;
  const auto mark_worse_than = [&](double limit) {
    for (std::size_t s = 0; s < badness.size(); ++s)
      if (badness[s] > limit) mark_path(static_cast<Index>(s), marked);
  };
  switch (options_.kind) {
    case ScheduleKind::never:
      return;
    case ScheduleKind::periodic:
      if (steps % options_.period != 0) return;
      [[fallthrough]];
    case ScheduleKind::everything:
      marked.assign(parent_.size(), 1);
      return;
    case ScheduleKind::target_quality:
      mark_worse_than(options_.tau);
      return;
    case ScheduleKind::hybrid:
      mark_worse_than(std::max(options_.must, options_.tau));
      break;
    case ScheduleKind::target_time:
      break;
  }
  double left = kPlanned * budget() - predicted(marked);
  std::vector<Index> worst;
  for (std::size_t s = 0; s < badness.size(); ++s)
    if (badness[s] > options_.tau && !marked[s]) worst.push_back(static_cast<Index>(s));
  std::stable_sort(worst.begin(), worst.end(), [&](Index a, Index b) { return badness[at(a)] > badness[at(b)]; });
  for (Index s : worst) {
    const double cost = path_cost(s, marked);
    if (cost > left) continue;
    mark_path(s, marked);
    left -= cost;
  }
}

void Schedule::learn(const std::vector<SparseCholesky::SupernodeCost>& costs, std::span<const std::uint8_t> marked,
                     double seconds) {
  if (options_.costs == CostKind::flops) {
    for (std::size_t s = 0; s < cost_.size(); ++s) cost_[s] = costs[s].flops;
    return;
  }
  double sum = 0;
  for (std::size_t s = 0; s < cost_.size(); ++s) {
    if (!marked[s]) continue;
    sum += costs[s].seconds;
    cost_[s] += (known_ ? kLearning : 1) * (costs[s].seconds - cost_[s]);
  }
  if (sum > 0) wall_per_cost_ += (known_ ? kLearning : 1) * (seconds / sum - wall_per_cost_);
  known_ = known_ || sum > 0;
}

}  // namespace pliant
