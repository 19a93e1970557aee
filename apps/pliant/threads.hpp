#pragma once

#include <oneapi/tbb/global_control.h>

#include <CLI/App.hpp>
#include <optional>
#include <string>

namespace pliant::app {

void add_threads(CLI::App& command, int& threads,
                 const std::string& help = "Number of threads; by default all cores. Results do not depend on it");

/// No more threads than this while it lives; 0: all cores.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads) {
    if (threads > 0) limit_.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  }

 private:
  std::optional<tbb::global_control> limit_;
};

}  // namespace pliant::app
