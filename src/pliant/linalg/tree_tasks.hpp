#pragma once

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <memory>

#include "pliant/base/step_control.hpp"
#include "pliant/linalg/symbolic_factor.hpp"

namespace pliant {

/// The assembly tree cut into tasks: whole subtrees with little work, and above them one task per supernode. The cut
/// depends on the work alone, never on the number of threads, and a task sees only the finished results of its
/// children: what is computed has the same bits in whatever order the tasks run.
class TreeTasks {
 public:
  struct Task {
    Index first = 0;  ///< supernodes [first, last] in this order; a lone supernode when equal
    Index last = 0;
    Index parent = -1;
    Index child_start = 0;  ///< into children_
    Index child_end = 0;
  };

  TreeTasks() = default;
  explicit TreeTasks(const SymbolicFactor& plan);

  std::span<const Task> tasks() const { return tasks_; }

  /// Runs body(task) for every task, children before parents. Must not be called from two threads at once.
  template <class Body>
  void leaves_to_roots(Body&& body) {
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      pending_[t].store(tasks_[t].child_end - tasks_[t].child_start, std::memory_order_relaxed);
    }
    // Whoever finishes the last child of a task goes on with it.
    tbb::parallel_for(std::size_t{0}, leaves_.size(), [&](std::size_t leaf) {
      for (Index t = leaves_[leaf];;) {
        const Task& task = tasks_[static_cast<std::size_t>(t)];
        StepControl::check();
        body(task);
        t = task.parent;
        if (t < 0 || pending_[static_cast<std::size_t>(t)].fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      }
    });
  }

  /// Runs body(task) for every task, parents before children.
  template <class Body>
  void roots_to_leaves(Body&& body) {
    tbb::task_group group;
    const auto descend = [&](const auto& self, Index t) -> void {
      for (;;) {
        const Task& task = tasks_[static_cast<std::size_t>(t)];
        StepControl::check();
        body(task);
        if (task.child_start == task.child_end) return;
        for (Index c = task.child_start + 1; c < task.child_end; ++c) {
          const Index child = children_[static_cast<std::size_t>(c)];
          group.run([&self, child] { self(self, child); });
        }
        t = children_[static_cast<std::size_t>(task.child_start)];
      }
    };
    for (std::size_t r = 0; r < roots_.size(); ++r) group.run([&, r] { descend(descend, roots_[r]); });
    group.wait();
  }

 private:
  std::vector<Task> tasks_;
  std::vector<Index> children_, leaves_, roots_;
  std::unique_ptr<std::atomic<Index>[]> pending_;
};

}  // namespace pliant
