#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "pliant/solvers/catalogue.hpp"

namespace pliant::test {

inline std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Every solver of the catalogue.
inline std::vector<std::string> solver_names() {
  std::vector<std::string> all;
  for (const SolverEntry& solver : solver_catalogue()) all.push_back(solver.name);
  return all;
}
inline std::string solver_test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// A new folder for one test, removed before and left for inspection after.
inline std::filesystem::path fresh_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("pliant_app_" + name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

struct Ended {
  int code = -1;  ///< exit code, or -1 when a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

/// What a program may use; 0: no limit.
struct Limits {
  rlim_t file = 0;       ///< bytes of a file: writing fails beyond it, as on a full disk
  rlim_t addresses = 0;  ///< bytes of memory it may ask for
};

/// The program as a person runs it, its streams in files of `folder`.
class Program {
 public:
  /// `environment`: "NAME=value", besides the tester's own.
  Program(const std::filesystem::path& folder, std::vector<std::string> arguments, Limits limits = {},
          const std::vector<std::string>& environment = {})
      : folder_(folder) {
    arguments.insert(arguments.begin(), PLIANT_PROGRAM);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string out = (folder / "stdout.txt").string(), err = (folder / "stderr.txt").string();
    std::fflush(nullptr);  // or the copy writes what is in the buffers once more
    pid_ = fork();
    if (pid_ == 0) {
      if (!std::freopen(out.c_str(), "wb", stdout) || !std::freopen(err.c_str(), "wb", stderr)) _exit(126);
      if (limits.file > 0) {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{limits.file, limits.file};
        setrlimit(RLIMIT_FSIZE, &limit);
      }
      if (limits.addresses > 0) {
        const rlimit limit{limits.addresses, limits.addresses};
        setrlimit(RLIMIT_AS, &limit);
      }
      for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
      execv(argv[0], argv.data());
      _exit(127);
    }
  }

  /// Waits until the condition holds, at most a minute; false when the program ended before.
  bool wait_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 60000; ++i) {
      if (condition()) return true;
      if (waitpid(pid_, &status_, WNOHANG) == pid_) {
        ended_ = true;
        return condition();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  void send(int signal) const { kill(pid_, signal); }
  Ended wait() {
    if (!ended_) waitpid(pid_, &status_, 0);
    Ended result;
    if (WIFEXITED(status_)) result.code = WEXITSTATUS(status_);
    if (WIFSIGNALED(status_)) result.signal = WTERMSIG(status_);
    result.out = content(folder_ / "stdout.txt");
    result.err = content(folder_ / "stderr.txt");
    return result;
  }

 private:
  std::filesystem::path folder_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

inline Ended run(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  return Program(folder, std::move(arguments)).wait();
}

}  // namespace pliant::test
