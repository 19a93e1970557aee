#pragma once

#include <string>

#include "pliant/base/error.hpp"

namespace pliant {

/// What is wrong, gathered: a person mends all of it at once.
class Complaints {
 public:
  /// Runs `check` and keeps what it throws. Whether it threw nothing.
  template <class Check>
  bool gather(Check&& check) {
    try {
      check();
      return true;
    } catch (const InputError& error) {
      add(error.what());
      return false;
    }
  }
  /// Throws what was gathered as one message, a line each.
  void report() const {
    if (count_ > kMost) throw InputError(text_ + "\nand " + std::to_string(count_ - kMost) + " more");
    if (count_ > 0) throw InputError(text_);
  }

 private:
  void add(const std::string& message) {
    if (message == last_) return;  // the same of every entry of a list
    last_ = message;
    if (++count_ <= kMost) text_ += (text_.empty() ? "" : "\n") + message;
  }

  static constexpr int kMost = 12;
  std::string text_, last_;
  int count_ = 0;
};

}  // namespace pliant
