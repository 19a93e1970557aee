#pragma once

#include <atomic>
#include <utility>

namespace pliant {

/// Thrown out of a step that was asked to end, and caught where steps are taken (Stepper::step). Not a std::exception:
/// nothing went wrong, and nobody who handles errors on the way shall take it for one.
struct Interrupted {};

/// A step in progress, as others see it: they may ask it to end, from any thread or a signal handler, and look how far
/// it is.
///
/// A step asks in every iteration and in every chunk of its parallel loops (math/parallel.hpp), so that it ends within
/// milliseconds wherever it is: in a sweep, a line search, conjugate gradients, the search for contact or a
/// factorisation. Those loops lie deep below the step, in folders that know of no steps, which is why the control of
/// the step at hand belongs to the thread that takes it (Scope) and is not passed down through every one of them: a
/// loop added tomorrow asks without anybody thinking of it.
class StepControl {
 public:
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  bool stop_requested() const noexcept { return stop_.load(std::memory_order_relaxed); }
  void clear() noexcept { stop_.store(false, std::memory_order_relaxed); }
  /// Of the step at hand, so far.
  int iterations() const noexcept { return iterations_.load(std::memory_order_relaxed); }

  /// While it lives, what this thread runs is a step under this control; null: under none.
  class Scope {
   public:
    explicit Scope(StepControl* control) : before_(std::exchange(current, control)) {
      if (control) control->iterations_.store(0, std::memory_order_relaxed);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { current = before_; }

   private:
    StepControl* before_;
  };

  /// Throws Interrupted when the step of this thread was asked to end.
  static void check() {
    if (current && current->stop_requested()) throw Interrupted();
  }
  /// The same, and tells how far the step is.
  static void at_iteration(int number) {
    if (!current) return;
    current->iterations_.store(number, std::memory_order_relaxed);
    check();
  }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free);  // or a signal handler could not ask
  std::atomic<bool> stop_ = false;
  std::atomic<int> iterations_ = 0;
  static constinit inline thread_local StepControl* current = nullptr;
};

}  // namespace pliant
