#include "interrupts.hpp"

#include <pybind11/pybind11.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

namespace pliant::python {

namespace {

namespace py = pybind11;

// A signal handler can reach nothing else. Written by the main thread alone, which is also the one that handles.
StepControl* volatile at_hand = nullptr;
volatile std::sig_atomic_t times_asked = 0;
volatile double step_begin = 0;
struct sigaction before = {};  // Python's own, which remembers the signal

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);  // which a signal handler may call
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void on_signal(int number) {
  constexpr double kPatience = 1;  // s
  times_asked = times_asked + 1;
  if (StepControl* control = at_hand; control && (times_asked > 1 || now() - step_begin > kPatience))
    control->request_stop();
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) before.sa_handler(number);
}

bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

bool raises_keyboard_interrupt() {
  const py::module_ signal = py::module_::import("signal");
  return signal.attr("getsignal")(SIGINT).is(signal.attr("default_int_handler"));
}

}  // namespace

StepInterrupts::StepInterrupts() {
  if (at_hand || !is_main_thread() || !raises_keyboard_interrupt()) return;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  begin_step();
  times_asked = 0;
  at_hand = &control_;
  is_on_ = sigaction(SIGINT, &action, &before) == 0;
  if (!is_on_) at_hand = nullptr;
}

StepInterrupts::~StepInterrupts() {
  if (!is_on_) return;
  sigaction(SIGINT, &before, nullptr);
  at_hand = nullptr;
}

void StepInterrupts::begin_step() { step_begin = now(); }

}  // namespace pliant::python
