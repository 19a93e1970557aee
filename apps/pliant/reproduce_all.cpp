#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <thread>

#include "commands.hpp"
#include "experiments/archive.hpp"
#include "interrupt.hpp"
#include "pliant/base/atomic_file.hpp"
#include "pliant/base/error.hpp"
#include "pliant/io/build_info.hpp"
#include "progress.hpp"
#include "reproduce.hpp"

namespace pliant::app {

namespace {

using experiments::Archive;
using experiments::Experiment;
using experiments::Json;
using Clock = std::chrono::steady_clock;

constexpr double kQuickLimit = 900;  // seconds for an experiment at quick size, unless told otherwise
constexpr double kGrace = 60;        // seconds to write results after a request to stop

/// This program at work on one experiment, what it prints going to a file. After its limit of seconds it is asked to
/// stop, and ended when it does not.
class Child {
 public:
  Child(std::vector<std::string> arguments, const std::filesystem::path& log, double limit) : limit_(limit) {
    // The program as it runs, also when a new build has replaced its file meanwhile.
    constexpr const char* kProgram = "/proc/self/exe";
    std::string name = "pliant";
    std::vector<char*> words = {name.data()};
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    const int error = posix_spawn(&pid_, kProgram, &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::system_error(error, std::generic_category(), kProgram);
  }

  /// Whether it has ended; to be asked again and again until it has.
  bool ended() {
    rusage used{};
    if (wait4(pid_, &status, WNOHANG, &used) != 0) {
      const auto in_seconds = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
      processor_seconds = in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
      return true;
    }
    const double age = std::chrono::duration<double>(Clock::now() - begin_).count();
    out_of_time = limit_ > 0 && age > limit_;
    if (!asked_ && (out_of_time || interrupt_requested())) {
      kill(pid_, SIGTERM);
      asked_ = true;
    }
    if (limit_ > 0 && age > limit_ + kGrace) kill(pid_, SIGKILL);
    seconds = age;
    return false;
  }

  int status = 0;
  double seconds = 0, processor_seconds = 0;
  bool out_of_time = false;

 private:
  pid_t pid_ = 0;
  double limit_;
  bool asked_ = false;
  Clock::time_point begin_ = Clock::now();
};

/// Puts the reason a run did not reach its end where its results say only that.
void explain(const Experiment& experiment, const ReproduceArguments& arguments, const Json& options, double seconds,
             const std::string& reason) {
  const Archive archive(arguments.out);
  const std::filesystem::path folder = experiments::result_folder(arguments.out, experiment.name, arguments.quick);
  const Json* written = archive.result(experiment.name, arguments.quick);
  Json results;
  if (written != nullptr && written->value("commit", "") == commit() && written->at("options") == options &&
      written->value("unfinished", "") != "") {
    results = *written;
    for (Json& claim : results["claims"])
      if (claim["why"] == results["unfinished"]) claim["why"] = reason;
    results["unfinished"] = reason;
    results["seconds"] = seconds;
  } else {
    const experiments::Context nothing(experiment.name, arguments.quick, options, {});
    results = experiments::results(experiment, nothing, {seconds, reason});
  }
  write_atomically(folder / "results.json", results.dump(2) + "\n");
}

/// Whether a finished run of this very program with these options has left its results.
bool is_done(const Json* result, const Json& options) {
  return result != nullptr && result->value("commit", "") == commit() && commit().back() != '+' &&
         result->at("options") == options && result->value("unfinished", "?").empty();
}

std::string counts(const Json& result) {
  std::map<std::string, int> number;
  for (const Json& claim : result.at("claims")) ++number[claim.at("verdict")];
  return fmt::format("{} hold, {} fail, {} undecided", number["holds"], number["fails"], number["undecided"]);
}

void print_summary(const std::string& folder, const std::string& only) {
  const Archive archive(folder);
  constexpr std::array<const char*, 5> kinds = {"holds", "fails", "undecided", "not run", "not built"};
  fmt::print("\n{:<16}", "paper");
  for (const char* kind : kinds) fmt::print("{:>11}", kind);
  std::map<std::string, int> sum;
  std::string last;
  fmt::print("\n");
  for (const experiments::Claim& claim : experiments::claims()) {
    if (claim.paper == last || (!only.empty() && claim.paper != only)) continue;
    last = claim.paper;
    auto number = experiments::count_verdicts(archive, last);
    fmt::print("{:<16}", last);
    for (const char* kind : kinds) {
      fmt::print("{:>11}", number[kind]);
      sum[kind] += number[kind];
    }
    fmt::print("\n");
  }
  fmt::print("{:<16}", "all");
  for (const char* kind : kinds) fmt::print("{:>11}", sum[kind]);
  fmt::print("\nEach claim is counted by its run at full size where {} has one, else by the quick one.\n", folder);
}

/// Runs experiments, several at a time, and says how each ended.
class Crew {
 public:
  Crew(const ReproduceArguments& arguments, std::size_t total)
      : arguments_(arguments),
        given_(parse_options(arguments.options)),
        before_(arguments.out),
        total_(total),
        limit_(arguments.limit > 0 ? arguments.limit
               : arguments.quick   ? kQuickLimit
                                   : 0) {}

  /// `at_once` of them, with so many threads each (0: all cores).
  void run(const std::vector<const Experiment*>& experiments, std::size_t at_once, int threads) {
    std::size_t next = 0;
    std::vector<Task> tasks;
    while (next < experiments.size() || !tasks.empty()) {
      for (; tasks.size() < at_once && next < experiments.size() && !interrupt_requested(); ++next)
        start(*experiments[next], threads, tasks);
      for (std::size_t k = 0; k < tasks.size();) {
        if (!tasks[k].child->ended()) {
          ++k;
          continue;
        }
        finish(tasks[k]);
        tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(k));
      }
      if (interrupt_requested() && tasks.empty()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  int code() const { return interrupt_requested() ? kInterrupted : code_; }
  double processor_seconds() const { return processor_seconds_; }

 private:
  struct Task {
    const Experiment* experiment;
    std::map<std::string, std::string> options;
    std::unique_ptr<Child> child;
  };

  void say(const Experiment& experiment, const std::string& text) {
    fmt::print("[{:>2}/{}] {:<34} {}\n", ++done_, total_, experiment.name, text);
    std::fflush(stdout);
  }

  void start(const Experiment& experiment, int threads, std::vector<Task>& tasks) {
    std::map<std::string, std::string> own;
    for (const experiments::Option& option : experiment.options)
      if (given_.contains(option.key)) own[option.key] = given_.at(option.key);
    const auto options = experiments::complete_options(experiment, arguments_.quick, own);
    if (const Json* result = before_.result(experiment.name, arguments_.quick);
        !arguments_.force && is_done(result, options))
      return say(experiment, "there already: " + counts(*result));
    std::vector<std::string> words = {"reproduce", experiment.name, "--out", arguments_.out};
    if (arguments_.quick) words.push_back("--quick");
    if (threads > 0) words.insert(words.end(), {"--threads", std::to_string(threads)});
    for (const auto& [key, value] : own) words.insert(words.end(), {"--option", key + "=" + value});
    const auto folder = experiments::result_folder(arguments_.out, experiment.name, arguments_.quick);
    std::filesystem::create_directories(folder);
    tasks.push_back({&experiment, options, std::make_unique<Child>(words, folder / "log.txt", limit_)});
  }

  void finish(const Task& task) {
    const Child& child = *task.child;
    processor_seconds_ += child.processor_seconds;
    if (interrupt_requested()) return say(*task.experiment, "stopped");
    const bool ended = WIFEXITED(child.status);
    const int ending = ended ? WEXITSTATUS(child.status) : WTERMSIG(child.status);
    std::string trouble;
    if (child.out_of_time)
      trouble = fmt::format("the run did not end within its limit of {:g} s", limit_);
    else if (!ended)
      trouble = fmt::format("the program was ended by signal {}", ending);
    else if (ending != kSuccess && ending != kRunFailed)
      trouble = fmt::format("the program ended with exit code {} (see log.txt)", ending);
    if (!trouble.empty())
      explain(*task.experiment, arguments_, task.options, child.seconds, trouble);
    else if (ending == kRunFailed)
      trouble = "a check of its own fails or it met an error (see log.txt)";
    if (!trouble.empty()) code_ = kRunFailed;
    const Archive after(arguments_.out);
    const Json* result = after.result(task.experiment->name, arguments_.quick);
    say(*task.experiment, fmt::format("{:>8} ({:>6.1f} s of processor time)  {}{}{}", format_seconds(child.seconds),
                                      child.processor_seconds, result != nullptr ? counts(*result) : "no results",
                                      trouble.empty() ? "" : "; ", trouble));
  }

  const ReproduceArguments& arguments_;
  std::map<std::string, std::string> given_;
  Archive before_;
  std::size_t total_, done_ = 0;
  double limit_, processor_seconds_ = 0;
  int code_ = kSuccess;
};

}  // namespace

int run_all_experiments(const ReproduceArguments& arguments) {
  std::vector<const Experiment*> together, alone;
  std::set<std::string> unused;
  for (const auto& [key, value] : parse_options(arguments.options)) unused.insert(key);
  for (const Experiment& experiment : experiments::catalogue()) {
    if (!arguments.name.empty() && !experiment.name.starts_with(arguments.name + "/")) continue;
    (experiment.alone ? alone : together).push_back(&experiment);
    for (const experiments::Option& option : experiment.options) unused.erase(option.key);
  }
  if (together.empty() && alone.empty())
    throw InputError(fmt::format("--all {}: there is no such paper", arguments.name));
  if (!unused.empty()) throw InputError(fmt::format("no experiment has an option '{}'", *unused.begin()));

  // Small experiments use a second core badly: one thread each, and as many at a time as there are cores.
  const bool small = arguments.quick && arguments.threads == 0;
  const std::size_t at_once = arguments.jobs > 0 ? static_cast<std::size_t>(arguments.jobs)
                              : small            ? std::max(1u, std::thread::hardware_concurrency())
                                                 : 1;
  Crew crew(arguments, together.size() + alone.size());
  crew.run(together, at_once, arguments.threads > 0 ? arguments.threads : at_once > 1 ? 1 : 0);
  if (!interrupt_requested()) crew.run(alone, 1, arguments.threads);
  print_summary(arguments.out, arguments.name);
  fmt::print("{:.0f} s of processor time.\n", crew.processor_seconds());
  return crew.code();
}

}  // namespace pliant::app
