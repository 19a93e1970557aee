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
  // The terminal was closed: the same, unless the program was told to bear it (nohup).
  struct sigaction hangup = {};
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  // Whoever reads what is printed may be gone first: Ctrl-C ends the `tee` of `pliant run scene.toml | tee log` at
  // once.
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
}

bool interrupt_requested() { return requested != 0; }

}  // namespace pliant::app
