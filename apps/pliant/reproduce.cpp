#include "reproduce.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "experiments/archive.hpp"
#include "experiments/recorded.hpp"
#include "experiments/report.hpp"
#include "experiments/summary.hpp"
#include "interrupt.hpp"
#include "pliant/base/atomic_file.hpp"
#include "pliant/base/error.hpp"
#include "pliant/base/stopwatch.hpp"

namespace pliant::app {

namespace {

using experiments::Experiment;

void list_experiments() {
  fmt::print("Experiments of the papers; run one with: pliant reproduce NAME [--quick] [--option key=value]\n");
  for (const Experiment& experiment : experiments::catalogue()) {
    fmt::print("\n{}\n  {}\n", experiment.name, experiment.summary);
    for (const experiments::Option& option : experiment.options)
      fmt::print("  {:<12} {} (default \"{}\", quick \"{}\")\n", option.key, option.summary, option.fallback,
                 option.quick_fallback);
    if (const auto own = experiments::claims_of(experiment.name); !own.empty())
      fmt::print("  decides {} claims\n", own.size());
  }
}

void write_report(const ReproduceArguments& arguments) {
  const std::filesystem::path folder = arguments.report;
  std::filesystem::create_directories(folder);
  const experiments::Archive archive(arguments.out, experiments::recorded_results());
  write_atomically(folder / "index.html", experiments::report(archive));
  write_atomically(folder / "summary.md", experiments::summary(archive));
  fmt::print("report: {}\nsummary: {}\n", (folder / "index.html").string(), (folder / "summary.md").string());
}

void record_results(const ReproduceArguments& arguments) {
  const int written = experiments::record(experiments::Archive(arguments.out), arguments.record);
  if (written == 0)
    throw InputError(
        fmt::format("--record: there are no results to record in {}; name their folder with --out", arguments.out));
  fmt::print("recorded: {} runs, in {}\n", written, arguments.record);
}

int reproduce(const ReproduceArguments& arguments) {
  catch_interrupts();
  if (arguments.all) return run_all_experiments(arguments);
  std::optional<tbb::global_control> limit;
  if (arguments.threads > 0) limit.emplace(tbb::global_control::max_allowed_parallelism, arguments.threads);
  // On one thread stages can be timed by what they take of it, whatever else the machine does.
  if (arguments.threads == 1) set_stage_clock(StageClock::processor);
  std::vector<const Experiment*> chosen;
  for (const Experiment& experiment : experiments::catalogue())
    if (experiment.name.starts_with(arguments.name + "/")) chosen.push_back(&experiment);
  if (chosen.empty()) chosen.push_back(&experiments::find(arguments.name));
  int code = kSuccess;
  for (const Experiment* experiment : chosen) {
    code = std::max(code, run_experiment(*experiment, arguments));
    if (interrupt_requested()) return kInterrupted;
  }
  return code;
}

}  // namespace

std::map<std::string, std::string> parse_options(const std::vector<std::string>& words) {
  std::map<std::string, std::string> options;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw InputError(fmt::format("--option {}: write it as key=value", word));
    options[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return options;
}

void list_claims(const std::string& paper, const std::string& folder) {
  const experiments::Archive archive(folder, experiments::recorded_results());
  std::map<std::string, int> counts;
  int total = 0, own = 0, recorded = 0;
  for (const experiments::Claim& claim : experiments::claims()) {
    if (!paper.empty() && claim.paper != paper && claim.experiment != paper) continue;
    const experiments::Outcome outcome = archive.outcome(claim);
    const bool is_recorded = outcome.result != nullptr && !archive.is_own(*outcome.result);
    fmt::print("{:<62} {:<32} {:<6} {}{}\n", claim.id, claim.experiment, outcome.size.empty() ? "-" : outcome.size,
               outcome.verdict, is_recorded ? " (recorded)" : "");
    recorded += is_recorded;
    own += outcome.result != nullptr && !is_recorded;
    ++counts[outcome.verdict];
    ++total;
  }
  if (total == 0)
    throw InputError(fmt::format(
        "--claims {}: no claim is of such a paper or experiment; 'pliant reproduce --claims' lists all", paper));
  fmt::print("{} claims:", total);
  for (const auto& [verdict, count] : counts) fmt::print(" {} {};", count, verdict);
  fmt::print(" {} by runs in {}, {} by those recorded with the program\n", own, folder, recorded);
}

void add_reproduce(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ReproduceArguments>();
  CLI::App* command = app.add_subcommand("reproduce", "Run a paper's experiment and decide its claims");
  command->add_option("NAME", arguments->name, "PAPER/EXPERIMENT, or PAPER for all of it; without it, a list");
  command->add_flag("--quick", arguments->quick, "A small version that ends within a minute or two");
  command->add_option("--option", arguments->options, "key=value, as listed for the experiment");
  command->add_option("--only", arguments->only,
                      "Leave out what none of these claims needs, where the experiment can; --record adds them up");
  command->add_option("--out", arguments->out, "Folder for results: quick/NAME and full/NAME are made in it")
      ->capture_default_str();
  command
      ->add_option("--threads", arguments->threads,
                   "Threads to use (default: all cores); with 1, stages of steps are timed by processor time")
      ->check(above_zero());
  command->add_flag("--all", arguments->all, "Run every experiment (of a paper, if named) whose results are not there");
  command->add_flag("--force", arguments->force, "With --all: run also those whose results are there");
  command
      ->add_option("--limit", arguments->limit,
                   "With --all: seconds an experiment may take (default: 900 with --quick, else none)")
      ->check(above_zero());
  command
      ->add_option(
          "--jobs", arguments->jobs,
          "With --all: experiments at a time, one thread each (default: with --quick one for each core, else 1)")
      ->check(above_zero());
  CLI::Option* list = command->add_option("--claims", arguments->claims_of,
                                          "List the claims (of a paper or an experiment) with their last verdicts");
  list->expected(0, 1);
  CLI::Option* report =
      command->add_option("--report", arguments->report,
                          "Make a page of all results in --out, REPORT/index.html, and its summary in Markdown");
  CLI::Option* record = command->add_option(
      "--record", arguments->record,
      "Copy the results in --out to a folder, in short: experiments/results of the sources comes with the program");
  command->callback([arguments, list, report, record, &exit_code] {
    exit_code = kSuccess;
    if (list->count() > 0) return list_claims(arguments->claims_of, arguments->out);
    if (!arguments->name.empty() || arguments->all) exit_code = reproduce(*arguments);
    if (record->count() > 0) record_results(*arguments);
    if (report->count() > 0) write_report(*arguments);
    if (arguments->name.empty() && !arguments->all && record->count() + report->count() == 0) list_experiments();
  });
}

}  // namespace pliant::app
