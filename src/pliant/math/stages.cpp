#include "pliant/math/stages.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <thread>

namespace pliant {

Stages::Stages(std::vector<Index> items, Index grain)
    : items_(std::move(items)), grain_(grain), progress_(items_.size()) {
  for (Index count : items_) chunks_.push_back((count + grain - 1) / grain);
  // Helpers pay where most stages have something to share.
  const auto shared = std::count_if(chunks_.begin(), chunks_.end(), [](Index chunks) { return chunks > 1; });
  is_worth_help_ = 2 * shared > static_cast<std::ptrdiff_t>(chunks_.size());
}

void Stages::run(const Body& body) {
  const auto allowed =
      static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
  const Index most = chunks_.empty() ? 0 : *std::max_element(chunks_.begin(), chunks_.end());
  const int helpers = std::min({allowed, tbb::this_task_arena::max_concurrency(), static_cast<int>(most)}) - 1;
  if (!is_worth_help_ || helpers < 1) {
    for (std::size_t s = 0; s < items_.size(); ++s)
      if (items_[s] > 0) body(static_cast<Index>(s), 0, items_[s]);
    return;
  }
  for (Progress& stage : progress_) stage.next = stage.done = 0;
  failure_ = nullptr;
  tbb::task_group group;
  for (int h = 0; h < helpers; ++h) group.run([&] { work(body); });
  work(body);
  group.wait();
  if (failure_) std::rethrow_exception(failure_);
}

void Stages::work(const Body& body) {
  constexpr int kSpins = 2000;
  for (std::size_t s = 0; s < items_.size(); ++s) {
    Progress& stage = progress_[s];
    const Index chunks = chunks_[s];
    for (Index k; (k = stage.next.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
      try {
        body(static_cast<Index>(s), k * grain_, std::min(items_[s], (k + 1) * grain_));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
      stage.done.fetch_add(1, std::memory_order_release);
    }
    // Others may be at work on its last chunks, or may have been set aside by the system.
    for (int spins = 0; stage.done.load(std::memory_order_acquire) < chunks; ++spins)
      if (spins > kSpins) std::this_thread::yield();
  }
}

}  // namespace pliant
