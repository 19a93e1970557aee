#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pliant {

/// A folder of its own that is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct ProcessResult {
  bool succeeded = false;
  std::string ending;  ///< "exit code 3", "signal 11"
  std::string output;  ///< the last lines it printed
};

/// Runs a program found on the PATH with these arguments (the first is its name), without a shell, and waits for it.
/// What it prints goes to `log`. Throws std::system_error when it cannot be started.
ProcessResult run_program(const std::vector<std::string>& arguments, const std::filesystem::path& log);

/// Whether a program of this name is on the PATH.
bool program_exists(const std::string& name);

}  // namespace pliant
