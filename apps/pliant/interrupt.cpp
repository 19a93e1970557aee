#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <cstring>

namespace pliant::app {

namespace {

// A signal handler can reach nothing else.
volatile std::sig_atomic_t requested = 0;
const char* volatile notice_text = "";

void on_signal(int) {
  requested = 1;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, notice_text, std::strlen(notice_text));
}

}  // namespace

void catch_interrupts(const char* notice) {
  notice_text = notice;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupt_requested() { return requested != 0; }

}  // namespace pliant::app
