#include "pliant/base/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

extern char** environ;  // NOLINT: the system's

namespace pliant {

namespace {

[[noreturn]] void fail(int reason, const std::string& what) {
  throw std::system_error(reason, std::generic_category(), what);
}

/// What posix_spawn does to the streams of the child.
struct FileActions {
  posix_spawn_file_actions_t actions{};
  FileActions() {
    if (const int reason = posix_spawn_file_actions_init(&actions)) fail(reason, "cannot start a program");
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions); }

  void open(int stream, const char* path, int flags) {
    if (const int reason = posix_spawn_file_actions_addopen(&actions, stream, path, flags, 0600)) fail(reason, path);
  }
};

std::string last_bytes(const std::filesystem::path& file, std::streamoff most) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const std::streamoff size = in.tellg();
  const std::streamoff begin = std::max<std::streamoff>(0, size - most);
  in.seekg(begin);
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "pliant-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) fail(errno, name + ": cannot make a temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ProcessResult run_program(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  FileActions streams;
  streams.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  streams.open(STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  if (const int reason = posix_spawn_file_actions_adddup2(&streams.actions, STDOUT_FILENO, STDERR_FILENO)) {
    fail(reason, arguments.front());
  }
  std::vector<std::string> words = arguments;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (const int reason = posix_spawnp(&child, argv.front(), &streams.actions, nullptr, argv.data(), environ)) {
    fail(reason, arguments.front() + ": cannot be started");
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail(errno, arguments.front());
  }
  ProcessResult result;
  result.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  result.ending =
      WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status)) : fmt::format("signal {}", WTERMSIG(status));
  result.output = last_bytes(log, 1000);
  return result;
}

bool program_exists(const std::string& name) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody changes it
  const std::string folders = path != nullptr ? path : "/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::filesystem::path file = std::filesystem::path(folders.substr(begin, end - begin)) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace pliant
