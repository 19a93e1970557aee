#include "lack_of_memory.hpp"

#include <unistd.h>

#include <atomic>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "commands.hpp"

namespace pliant::app {

namespace {

std::atomic<bool> ran_short = false;
std::terminate_handler usual = nullptr;

void on_shortage() {
  ran_short = true;
  throw std::bad_alloc();
}

/// Whether a lack of memory is why the process ends. While a stack is being unwound, the exception cannot be seen.
bool is_lack_of_memory() noexcept {
  const std::exception_ptr reason = std::current_exception();
  if (!reason) return ran_short;
  try {
    std::rethrow_exception(reason);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const std::exception& error) {
    return is_lack_of_a_thread(error);
  } catch (...) {
    return false;
  }
}

void on_terminate() {
  if (is_lack_of_memory()) {
    constexpr std::string_view text = "error: out of memory; what was written before is intact\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    _exit(kRunFailed);
  }
  usual();
}

}  // namespace

bool is_lack_of_a_thread(const std::exception& error) {
  const auto* said = dynamic_cast<const std::system_error*>(&error);
  return (said && said->code() == std::errc::resource_unavailable_try_again) ||
         std::string_view(error.what()).find("pthread_create") !=
             std::string_view::npos;  // oneTBB's, of no type of its own
}

void make_lack_of_memory_an_outcome() {
  std::set_new_handler(on_shortage);
  usual = std::set_terminate(on_terminate);
}

}  // namespace pliant::app
