#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "commands.hpp"
#include "experiments/experiment.hpp"
#include "experiments/plot.hpp"
#include "interrupt.hpp"
#include "pliant/base/atomic_file.hpp"
#include "pliant/base/error.hpp"
#include "progress.hpp"

namespace pliant::app {

namespace {

using experiments::Context;
using experiments::Experiment;
using experiments::Json;
using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string name;
  bool quick = false;
  std::vector<std::string> options;
  std::string out = "out/reproduce";
  int threads = 0;
};

void list_experiments() {
  fmt::print("Experiments of the papers; run one with: pliant reproduce NAME [--quick] [--option key=value]\n");
  for (const Experiment& experiment : experiments::catalogue()) {
    fmt::print("\n{}\n  {}\n", experiment.name, experiment.summary);
    for (const experiments::Option& option : experiment.options)
      fmt::print("  {:<12} {} (default \"{}\", quick \"{}\")\n", option.key, option.summary, option.fallback,
                 option.quick_fallback);
  }
}

std::map<std::string, std::string> parse_options(const std::vector<std::string>& words) {
  std::map<std::string, std::string> options;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw InputError(fmt::format("--option {}: write it as key=value", word));
    options[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return options;
}

/// One line on the error stream: share done, time left, what runs; rewritten in place on a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(Progress::Style style) : style_(style), begin_(Clock::now()), shown_(begin_) {}

  void show(double done, const std::string& what) {
    const auto now = Clock::now();
    const double wait = style_ == Progress::Style::terminal ? 0.2 : 30;
    if (style_ == Progress::Style::silent || seconds(shown_, now) < wait) return;
    shown_ = now;
    const double elapsed = seconds(begin_, now);
    const std::string left = done > 0.01 ? format_seconds(elapsed * (1 - done) / done) + " left" : "estimating";
    fmt::print(stderr, "{}{:5.1f}%  {}  {}{}", style_ == Progress::Style::terminal ? "\r\033[K" : "", 100 * done, left,
               what, style_ == Progress::Style::terminal ? "" : "\n");
    std::fflush(stderr);
  }
  void clear() const {
    if (style_ == Progress::Style::terminal) fmt::print(stderr, "\r\033[K");
  }

 private:
  static double seconds(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }

  Progress::Style style_;
  Clock::time_point begin_, shown_;
};

/// Returns whether every claim holds.
bool run_experiment(const Experiment& experiment, const Arguments& arguments) {
  std::string folder_name = experiment.name;
  std::replace(folder_name.begin(), folder_name.end(), '/', '-');
  const std::filesystem::path folder = std::filesystem::path(arguments.out) / folder_name;
  const auto options = experiments::complete_options(experiment, arguments.quick, parse_options(arguments.options));
  std::filesystem::create_directories(folder);

  fmt::print("{}: {}\n", experiment.name, experiment.summary);
  for (const auto& [key, value] : options) fmt::print("  {} = {}\n", key, value);
  std::fflush(stdout);

  ProgressLine progress(Progress::style_of_stderr());
  std::optional<Context> context;
  Context::Listener listener;
  listener.on_progress = [&](double done, const std::string& what) { progress.show(done, what); };
  listener.on_row = [&](const Json& row) {
    progress.clear();
    fmt::print("{}", experiments::table_line(row));
    std::fflush(stdout);
    write_atomically(folder / "results.json", experiments::results(experiment, *context).dump(2) + "\n");
  };
  listener.stop = interrupt_requested;
  context.emplace(arguments.quick, options, listener);
  experiment.run(*context);
  progress.clear();

  bool all_hold = true;
  std::string text = "\n" + experiments::table(context->rows()) + "\n";
  for (const experiments::Claim& claim : context->claims()) {
    all_hold = all_hold && claim.holds;
    text += fmt::format("{} {}\n      published: {}\n      measured:  {}\n", claim.holds ? "holds" : "FAILS",
                        claim.text, claim.published.dump(), claim.measured.dump());
  }
  fmt::print("{}", text);
  write_atomically(folder / "results.json", experiments::results(experiment, *context).dump(2) + "\n");
  for (const auto& [name, content] : context->files()) write_atomically(folder / name, content);
  write_atomically(folder / "table.txt", experiment.name + "\n" + text);
  std::set<std::string> drawn;
  for (const Json& curve : context->curves()) {
    const auto name = curve.at("name").get<std::string>();
    if (drawn.insert(name).second)
      write_atomically(folder / (name + ".svg"),
                       experiments::svg(experiment.name, name, context->rows(), context->curves()));
  }
  fmt::print("\nresults: {}\n", (folder / "results.json").string());
  for (const std::string& name : drawn) fmt::print("drawn:   {}\n", (folder / (name + ".svg")).string());
  return all_hold;
}

}  // namespace

void add_reproduce(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("reproduce", "Run a paper's experiment, measured beside published");
  command->add_option("NAME", arguments->name, "PAPER/EXPERIMENT, or PAPER for all of it; without it, a list");
  command->add_flag("--quick", arguments->quick, "A small version that ends within a minute or two");
  command->add_option("--option", arguments->options, "key=value, as listed for the experiment");
  command->add_option("--out", arguments->out, "Folder for results.json, table.txt and drawings of the curves")
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "Threads to use (default: all cores)")
      ->check(CLI::PositiveNumber);
  command->callback([arguments, &exit_code] {
    exit_code = kSuccess;
    if (arguments->name.empty()) return list_experiments();
    std::optional<tbb::global_control> limit;
    if (arguments->threads > 0) limit.emplace(tbb::global_control::max_allowed_parallelism, arguments->threads);
    std::vector<const Experiment*> chosen;
    for (const Experiment& experiment : experiments::catalogue())
      if (experiment.name.starts_with(arguments->name + "/")) chosen.push_back(&experiment);
    if (chosen.empty()) chosen.push_back(&experiments::find(arguments->name));
    catch_interrupts();
    for (const Experiment* experiment : chosen) {
      if (!run_experiment(*experiment, *arguments)) exit_code = kRunFailed;
      if (interrupt_requested()) {
        exit_code = kInterrupted;
        return;
      }
    }
  });
}

}  // namespace pliant::app
