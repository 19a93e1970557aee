#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// Runs many short stages one after the other, each in parallel: the colours of a sweep, some tens of microseconds of
/// work each. A for_chunks() per stage sends for its helpers every time, which takes as long as such a stage; here they
/// come once, take chunks of whatever stage is at hand, and wait actively for its end. Nobody is counted on: whoever is
/// there does the work, and a helper that comes late finds stages that are done.
///
/// Chunks are [k grain, (k+1) grain) of a stage's items, whatever the number of threads: the same bits on one and on
/// many where the chunks of a stage do not depend on each other.
class Stages {
 public:
  /// `items` of each stage.
  Stages(std::vector<Index> items, Index grain);

  /// body(stage, begin, end) for all chunks of all stages. What it throws is thrown here, after the others have ended.
  void run(const std::function<void(Index stage, Index begin, Index end)>& body);

 private:
  struct Progress {
    std::atomic<Index> next = 0, done = 0;
  };
  using Body = std::function<void(Index, Index, Index)>;
  void work(const Body& body);

  std::vector<Index> items_, chunks_;
  Index grain_;
  bool is_worth_help_ = false;
  std::vector<Progress> progress_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace pliant
