#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
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

constexpr double kGrace = 60;  // seconds to write results after a request to stop

struct Child {
  int status = 0;
  double seconds = 0;
  bool out_of_time = false;
};

/// Runs this program with these arguments, what it prints going to `log`. After `limit` seconds it is asked to stop,
/// and ended when it does not.
Child run_self(std::vector<std::string> arguments, const std::filesystem::path& log, double limit) {
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
  pid_t pid = 0;
  const int error = posix_spawn(&pid, kProgram, &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), kProgram);

  Child child;
  const auto begin = Clock::now();
  bool asked = false;
  while (waitpid(pid, &child.status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    child.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    child.out_of_time = limit > 0 && child.seconds > limit;
    if (!asked && (child.out_of_time || interrupt_requested())) {
      kill(pid, SIGTERM);
      asked = true;
    }
    if (limit > 0 && child.seconds > limit + kGrace) kill(pid, SIGKILL);
  }
  child.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return child;
}

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

}  // namespace

int run_all_experiments(const ReproduceArguments& arguments) {
  const double limit = arguments.limit > 0 ? arguments.limit : arguments.quick ? 120 : 0;
  const auto given = parse_options(arguments.options);
  std::vector<const Experiment*> chosen;
  std::set<std::string> unused;
  for (const auto& [key, value] : given) unused.insert(key);
  for (const Experiment& experiment : experiments::catalogue()) {
    if (!arguments.name.empty() && !experiment.name.starts_with(arguments.name + "/")) continue;
    chosen.push_back(&experiment);
    for (const experiments::Option& option : experiment.options) unused.erase(option.key);
  }
  if (chosen.empty()) throw InputError(fmt::format("--all {}: there is no such paper", arguments.name));
  if (!unused.empty()) throw InputError(fmt::format("no experiment has an option '{}'", *unused.begin()));

  const Archive before(arguments.out);
  int code = kSuccess;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const Experiment& experiment = *chosen[k];
    std::map<std::string, std::string> own;
    for (const experiments::Option& option : experiment.options)
      if (given.contains(option.key)) own[option.key] = given.at(option.key);
    const auto options = experiments::complete_options(experiment, arguments.quick, own);
    fmt::print("[{:>2}/{}] {:<34} ", k + 1, chosen.size(), experiment.name);
    std::fflush(stdout);
    if (const Json* result = before.result(experiment.name, arguments.quick);
        !arguments.force && is_done(result, options)) {
      fmt::print("there already: {}\n", counts(*result));
      continue;
    }
    std::vector<std::string> words = {"reproduce", experiment.name, "--out", arguments.out};
    if (arguments.quick) words.push_back("--quick");
    if (arguments.threads > 0) words.insert(words.end(), {"--threads", std::to_string(arguments.threads)});
    for (const auto& [key, value] : own) words.insert(words.end(), {"--option", key + "=" + value});
    const std::filesystem::path folder = experiments::result_folder(arguments.out, experiment.name, arguments.quick);
    std::filesystem::create_directories(folder);
    const Child child = run_self(words, folder / "log.txt", limit);

    const bool ended = WIFEXITED(child.status);
    const int ending = ended ? WEXITSTATUS(child.status) : WTERMSIG(child.status);
    std::string trouble;
    if (child.out_of_time)
      trouble = fmt::format("the run did not end within its limit of {:g} s", limit);
    else if (!ended)
      trouble = fmt::format("the program was ended by signal {}", ending);
    else if (ending != kSuccess && ending != kRunFailed)
      trouble = fmt::format("the program ended with exit code {} (see log.txt)", ending);
    if (interrupt_requested()) {
      fmt::print("stopped\n");
      code = kInterrupted;
      break;
    }
    if (!trouble.empty()) {
      explain(experiment, arguments, options, child.seconds, trouble);
      code = kRunFailed;
    } else if (ending == kRunFailed) {
      trouble = "a check of its own fails or it met an error (see log.txt)";
      code = kRunFailed;
    }
    const Archive after(arguments.out);
    const Json* result = after.result(experiment.name, arguments.quick);
    fmt::print("{:>8}  {}{}{}\n", format_seconds(child.seconds), result != nullptr ? counts(*result) : "no results",
               trouble.empty() ? "" : "; ", trouble);
    std::fflush(stdout);
  }
  print_summary(arguments.out, arguments.name);
  return code;
}

}  // namespace pliant::app
