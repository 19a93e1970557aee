#pragma once

#include <exception>

namespace pliant::app {

/// A lack of memory is an exception nearly everywhere, and ends in `main` with a message and exit code 1. Where it
/// cannot be one, since it happens in a destructor of a library (that of a JSON value allocates) or in a thread that is
/// not ours, the process would be ended by SIGABRT. From this call on it ends with the same message and exit code; what
/// is on the disk is whole, as after a kill.
void make_lack_of_memory_an_outcome();

/// The system had no thread to give, which it says for want of memory, too.
bool is_lack_of_a_thread(const std::exception& error);

}  // namespace pliant::app
