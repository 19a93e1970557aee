#pragma once

#include <stdexcept>

namespace pliant {

/// Bad input. The message names the file, the line or key, and the remedy; the command line prints it and exits with 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace pliant
