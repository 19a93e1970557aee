#pragma once

#include <fmt/format.h>

#include <cstdio>

namespace pliant::app {

/// Gives the program all three standard streams: where one is closed (`pliant run scene.toml >&-`), the first file that
/// is opened would get its number, and what is meant for people would end up in a result.
void open_closed_streams();

/// What is still in the buffer of the standard output; false where not all of it could be written (a full disk), which
/// a program that prints lists must not keep quiet about.
bool flush_output();
/// For commands whose results are elsewhere: flush_output() does not complain.
void output_may_be_lost();

/// Prints what may as well be lost: a run does not end because the terminal that watched it is gone.
template <class... Arguments>
void tell(std::FILE* stream, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace pliant::app
