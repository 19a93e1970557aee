#include "pliant/linalg/tree_tasks.hpp"

#include <algorithm>
#include <utility>

namespace pliant {
namespace {

/// A subtree below this work is one task: some tens of microseconds, far above the cost of a task.
constexpr double least_task_flops = 1e6;
/// And so is one below this share of the whole: enough tasks for a good balance on many cores.
constexpr double task_share = 1.0 / 256;

}  // namespace

TreeTasks::TreeTasks(const SymbolicFactor& plan) {
  const double limit = std::max(least_task_flops, task_share * plan.flops);
  const auto& supernodes = plan.supernodes;
  const auto heavy = [&](Index s) { return supernodes[at(s)].subtree_flops > limit; };
  std::vector<Index> task_of(supernodes.size(), -1);  // of the supernodes that end a task
  // Light roots are gathered into tasks of about the limit, or a diagonal matrix would make a task per node.
  Index pending_first = -1;
  double pending_flops = 0;
  const auto close_roots = [&](Index last) {
    if (pending_first < 0) return;
    Task task;
    task.first = std::exchange(pending_first, -1);
    task.last = last;
    tasks_.push_back(task);
    pending_flops = 0;
  };
  for (Index s = 0; s < static_cast<Index>(supernodes.size()); ++s) {
    const auto& node = supernodes[at(s)];
    const bool top = heavy(s);
    const bool ends_subtree = !top && (node.parent < 0 || heavy(node.parent));
    if (!top && !ends_subtree) continue;
    if (ends_subtree && node.parent < 0) {
      if (pending_first < 0) pending_first = node.first_descendant;
      pending_flops += node.subtree_flops + 1e3;
      const bool next_is_light = s + 1 < static_cast<Index>(supernodes.size());
      if (pending_flops > limit || !next_is_light) close_roots(s);
      continue;
    }
    close_roots(ends_subtree ? node.first_descendant - 1 : s - 1);
    Task task;
    task.first = top ? s : node.first_descendant;
    task.last = s;
    task_of[at(s)] = static_cast<Index>(tasks_.size());
    tasks_.push_back(task);
  }
  for (Task& task : tasks_) {
    const Index up = supernodes[at(task.last)].parent;
    if (up < 0) continue;
    task.parent = task_of[at(up)];
    ++tasks_[at(task.parent)].child_end;
  }
  Index next = 0;
  for (Task& task : tasks_) {
    task.child_start = std::exchange(next, next + task.child_end);
    task.child_end = task.child_start;
  }
  children_.resize(at(next));
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (tasks_[t].parent < 0) {
      roots_.push_back(static_cast<Index>(t));
    } else {
      children_[at(tasks_[at(tasks_[t].parent)].child_end++)] = static_cast<Index>(t);
    }
  }
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (tasks_[t].child_start == tasks_[t].child_end) leaves_.push_back(static_cast<Index>(t));
  }
  pending_ = std::make_unique<std::atomic<Index>[]>(tasks_.size());
}

}  // namespace pliant
