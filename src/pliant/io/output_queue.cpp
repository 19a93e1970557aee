#include "pliant/io/output_queue.hpp"

#include <oneapi/tbb/global_control.h>

#include <system_error>
#include <utility>

namespace pliant {

namespace {

constexpr std::size_t kMostWaiting = 2;

bool is_single_threaded() {
  return tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism) <= 1;
}

}  // namespace

OutputQueue::~OutputQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void OutputQueue::post(std::function<void()> job) {
  if (!thread_.joinable()) {
    if (is_single_threaded()) return job();
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {  // the system has none to give: what is written then is written at once
      return job();
    }
  }
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() < kMostWaiting || failure_; });
    throw_failure();
    waiting_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void OutputQueue::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !is_busy_; });
  throw_failure();
}

void OutputQueue::throw_failure() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void OutputQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !waiting_.empty() || is_closing_; });
    if (waiting_.empty()) return;
    std::function<void()> job = std::move(waiting_.front());
    waiting_.pop_front();
    is_busy_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      job();
    } catch (...) {
      failure = std::current_exception();
    }
    job = nullptr;  // with the state that it holds
    lock.lock();
    is_busy_ = false;
    if (failure) {
      failure_ = failure;
      waiting_.clear();
    }
    changed_.notify_all();
  }
}

}  // namespace pliant
