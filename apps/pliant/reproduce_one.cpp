#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "commands.hpp"
#include "experiments/archive.hpp"
#include "experiments/measure.hpp"
#include "experiments/plot.hpp"
#include "interrupt.hpp"
#include "pliant/base/atomic_file.hpp"
#include "pliant/base/error.hpp"
#include "progress.hpp"
#include "reproduce.hpp"

namespace pliant::app {

namespace {

using experiments::Context;
using experiments::Experiment;
using experiments::Json;
using Clock = std::chrono::steady_clock;

/// One line on the error stream: share done, time left, what runs; rewritten in place on a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(Progress::Style style) : style_(style), begin_(Clock::now()), shown_(begin_) {}

  void show(double done, const std::string& what) {
    const auto now = Clock::now();
    const double wait = style_ == Progress::Style::terminal ? 0.2 : 30;
    if (style_ == Progress::Style::silent || seconds_between(shown_, now) < wait) return;
    shown_ = now;
    const double elapsed = seconds_between(begin_, now);
    const std::string left = done > 0.01 ? format_seconds(elapsed * (1 - done) / done) + " left" : "estimating";
    fmt::print(stderr, "{}{:5.1f}%  {}  {}{}", style_ == Progress::Style::terminal ? "\r\033[K" : "", 100 * done, left,
               what, style_ == Progress::Style::terminal ? "" : "\n");
    std::fflush(stderr);
  }
  void clear() const {
    if (style_ == Progress::Style::terminal) fmt::print(stderr, "\r\033[K");
  }

 private:
  Progress::Style style_;
  Clock::time_point begin_, shown_;
};

/// Verdicts and checks as a person reads them.
std::string verdicts(const Json& results) {
  std::string text;
  for (const Json& claim : results.at("claims")) {
    const std::string id = claim.at("id"), why = claim.at("why");
    const experiments::Claim& known = experiments::claim(id);
    text += fmt::format("{:<9} {}\n          {}\n", claim.at("verdict").get<std::string>(), id, known.statement);
    if (!known.published.is_null()) text += fmt::format("          published: {}\n", known.published.dump());
    if (!claim.at("measured").empty()) text += fmt::format("          measured:  {}\n", claim.at("measured").dump());
    if (!why.empty()) text += fmt::format("          why:       {}\n", why);
  }
  for (const Json& check : results.at("checks"))
    text += fmt::format("{:<9} check: {}\n          expected: {}\n          measured: {}\n",
                        check.at("holds").get<bool>() ? "passes" : "FAILS", check.at("text").get<std::string>(),
                        check.at("expected").dump(), check.at("measured").dump());
  return text;
}

void write_drawings(const Experiment& experiment, const Context& context, const std::filesystem::path& folder) {
  for (const auto& [name, content] : context.files()) write_atomically(folder / name, content);
  std::set<std::string> drawn;
  for (const Json& curve : context.curves()) {
    const auto name = curve.at("name").get<std::string>();
    if (drawn.insert(name).second)
      write_atomically(folder / (name + ".svg"),
                       experiments::svg(experiment.name, name, context.rows(), context.curves()));
  }
}

}  // namespace

int run_experiment(const Experiment& experiment, const ReproduceArguments& arguments) {
  const std::filesystem::path folder = experiments::result_folder(arguments.out, experiment.name, arguments.quick);
  const auto options = experiments::complete_options(experiment, arguments.quick, parse_options(arguments.options));
  std::filesystem::create_directories(folder);

  fmt::print("{}: {}\n", experiment.name, experiment.summary);
  for (const auto& [key, value] : options) fmt::print("  {} = {}\n", key, value);
  std::fflush(stdout);

  const auto begin = Clock::now();
  const experiments::ProcessorTime processor(experiments::ProcessorTime::Of::program);
  ProgressLine progress(Progress::style_of_stderr());
  std::optional<Context> context;
  const auto write = [&](const std::string& unfinished) {
    const Json results = experiments::results(experiment, *context,
                                              {seconds_between(begin, Clock::now()), unfinished, processor.seconds()});
    write_atomically(folder / "results.json", results.dump(2) + "\n");
    return results;
  };
  Context::Listener listener;
  listener.on_progress = [&](double done, const std::string& what) { progress.show(done, what); };
  listener.on_row = [&](const Json& row) {
    progress.clear();
    fmt::print("{}", experiments::table_line(row));
    std::fflush(stdout);
    write("the run has not reached its end");
  };
  listener.on_decision = [&](const experiments::Decision& decision) {
    progress.clear();
    fmt::print("{:<9} {}\n", experiments::to_string(decision.verdict()), decision.id());
    std::fflush(stdout);
    write("the run has not reached its end");
  };
  listener.stop = interrupt_requested;
  listener.results = arguments.out;
  for (const std::string& id : arguments.only)
    if (experiments::claim(id).experiment != experiment.name)
      throw InputError(fmt::format("--only {}: that claim is decided by '{}'", id, experiments::claim(id).experiment));
  listener.only = {arguments.only.begin(), arguments.only.end()};
  context.emplace(experiment.name, arguments.quick, options, listener);
  try {
    experiment.run(*context);
  } catch (const std::exception& error) {
    write(fmt::format("the run ended with an error: {}", error.what()));
    throw;
  }
  progress.clear();

  const bool stopped = interrupt_requested();
  const Json results = write(stopped                   ? "the run was stopped before its end"
                             : !arguments.only.empty() ? "only some claims were asked for"
                                                       : "");
  const std::string text = "\n" + experiments::table(context->rows()) + "\n" + verdicts(results);
  fmt::print("{}", text);
  write_atomically(folder / "table.txt", experiment.name + "\n" + text);
  write_drawings(experiment, *context, folder);
  fmt::print("\nresults: {}\n", (folder / "results.json").string());
  if (stopped) return kInterrupted;
  const auto& checks = context->checks();
  return std::all_of(checks.begin(), checks.end(), [](const auto& check) { return check.holds; }) ? kSuccess
                                                                                                  : kRunFailed;
}

}  // namespace pliant::app
