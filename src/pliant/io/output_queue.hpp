#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace pliant {

/// Writes results while the next step is computed: a thread that runs what it is given, one after the other and in
/// order, so that what a checkpoint counts on is there before it. With a single thread allowed to the program, or none
/// to be had from the system, all is done at once by the one who asks.
///
/// After a job has thrown, those behind it are dropped, and the next call throws what it threw.
class OutputQueue {
 public:
  OutputQueue() = default;
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;
  /// Waits for what is under way.
  ~OutputQueue();

  /// Waits while more than a few jobs are waiting: they hold copies of states.
  void post(std::function<void()> job);
  /// Until everything is done.
  void wait();

 private:
  void work();
  void throw_failure();

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::exception_ptr failure_;
  bool is_busy_ = false, is_closing_ = false;
};

}  // namespace pliant
