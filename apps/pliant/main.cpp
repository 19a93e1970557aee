#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <new>
#include <span>
#include <system_error>
#include <utility>

#include "commands.hpp"
#include "lack_of_memory.hpp"
#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/io/build_info.hpp"
#include "pliant/math/parallel.hpp"
#include "streams.hpp"

namespace {

using namespace pliant::app;

/// A word in the place of a command that is none, or no word at all, for `pliant` and for `pliant mesh` alike: CLI11
/// says no more than that "a subcommand is required".
void check_command(const CLI::App& app, std::span<char* const> words, const std::string& before) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  if (commands.empty()) return;
  const std::string all = fmt::format("{}", fmt::join(commands, ", "));
  if (words.empty())
    throw pliant::InputError(fmt::format("{0} needs a command, one of {1}; {0} --help describes them", before, all));
  const std::string word = words.front();
  if (word.starts_with('-')) {
    for (const char* known : {"-h", "--help", "--version"})
      if (word == known) return;
    throw pliant::InputError(
        fmt::format("there is no option '{}' before a command; {} --help lists both", word, before));
  }
  const auto found = std::find(commands.begin(), commands.end(), word);
  if (found != commands.end()) return check_command(*app.get_subcommand(word), words.subspan(1), before + " " + word);
  const std::string near = pliant::nearest(word, commands);
  throw pliant::InputError(
      fmt::format("there is no command '{}'; {}", word,
                  near.empty() ? fmt::format("choose one of {}", all) : fmt::format("did you mean '{}'?", near)));
}

/// Says what is wrong with the words after a command, where CLI11 says no more than that something "was not expected",
/// "is required" or "missing".
[[noreturn]] void refuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  std::string what = error.what();
  if (const auto at = what.rfind(" is required"); at != std::string::npos) what = "it needs " + what.substr(0, at);
  if (const auto at = what.find(": 1 required "); at != std::string::npos)
    what = fmt::format("{} needs a value", what.substr(0, at));
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& long_name : option->get_lnames()) known.push_back("--" + long_name);
  for (const std::string& word : app.remaining(true)) {
    const std::string option = word.substr(0, word.find('='));
    const std::string near = option.starts_with('-') ? pliant::nearest(option, known) : "";
    if (!near.empty())
      throw pliant::InputError(fmt::format("{} has no option '{}'; did you mean '{}'?", name, option, near));
    what = option.starts_with('-') ? fmt::format("it has no option '{}'", option)
                                   : fmt::format("'{}' is one word too many", word);
    break;
  }
  throw pliant::InputError(fmt::format("{0}: {1}; {0} --help lists what it takes", name, what));
}

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 1 the run failed, 2 bad input, 3 finished with a result that is in doubt, 130 interrupted";

/// At the end of each command's help.
void add_examples(CLI::App& app) {
  for (const auto& [name, example] : std::initializer_list<std::pair<const char*, const char*>>{
           {"new", "new figure --mesh figure.msh --drop"},
           {"run", "run scenes/twisted-beam.toml --set body.beam.young=1e5 --out out/softer"},
           {"view", "view out/first --beside out/softer"},
           {"check", "check scenes/twisted-beam.toml --solver xpbd"},
           {"solvers", "solvers quasi-newton"},
           {"materials", "materials --json"},
           {"mesh", "mesh info figure.obj"},
           {"compare", "compare scenes/jelly.toml --solvers pod-newton,quasi-newton,xpbd --frames 20 --budget 5"},
           {"sweep", "sweep scenes/jelly.toml --over body.0.young=4e3,8e3,1.6e4"},
           {"export", "export out/twisted-beam --format usda --colour stretch --every 2"},
           {"picture", "picture out/twisted-beam --film beam.gif --from 3 2 5 --at 1 0 0"},
           {"reproduce", "reproduce conjac/bunny --quick"},
           {"docs", "docs scene"},
           {"completion", "completion bash > ~/.local/share/bash-completion/completions/pliant"}})
    app.get_subcommand(name)->footer(fmt::format("For example: pliant {}\n{}", example, kExitCodes));
}

int run(int argc, char** argv) {
  CLI::App app("Simulates deformable solids: one scene, every solver.", "pliant");
  app.set_version_flag("--version", fmt::format("pliant {} ({})", pliant::version(), pliant::commit()));
  app.require_subcommand(1);
  app.footer(fmt::format("Begin with: pliant run scenes/twisted-beam.toml\n{}", kExitCodes));
  int exit_code = kSuccess;
  add_new(app, exit_code);
  add_run(app, exit_code);
  add_view(app, exit_code);
  add_check(app, exit_code);
  add_solvers(app, exit_code);
  add_materials(app, exit_code);
  add_mesh(app, exit_code);
  add_compare(app, exit_code);
  add_sweep(app, exit_code);
  add_export(app, exit_code);
  add_picture(app, exit_code);
  add_reproduce(app, exit_code);
  add_docs(app, exit_code);
  add_completion(app, exit_code);
  add_examples(app);
  check_command(app, std::span(argv, static_cast<std::size_t>(argc)).subspan(1), "pliant");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) refuse(app, error);
    app.exit(error);  // help and version
    return kSuccess;
  }
  return exit_code;
}

int lacks_a_thread(const std::exception& error) {
  spdlog::error("the system has no further thread for this: {}; try --threads 1, or more memory", error.what());
  return kRunFailed;
}

}  // namespace

int main(int argc, char** argv) try {
  try {
    open_closed_streams();
    make_lack_of_memory_an_outcome();
    pliant::find_cores();
    // Messages to people go to the error stream, so that lists and tables can be piped.
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    const char* plain = std::getenv("NO_COLOR");  // no-color.org: set and not empty
    const auto colours = plain && *plain ? spdlog::color_mode::never : spdlog::color_mode::automatic;
    spdlog::set_default_logger(spdlog::stderr_color_mt("pliant", colours));
    spdlog::set_pattern("%^%l%$: %v");
    const int code = run(argc, argv);
    if (flush_output()) return code;
    spdlog::error("not all of what was to be printed could be written; is the disk full?");
    return code == kSuccess ? kRunFailed : code;
  } catch (const pliant::InputError& error) {
    spdlog::error("{}", error.what());
    return kBadInput;
  } catch (const std::system_error& error) {
    if (pliant::app::is_lack_of_a_thread(error)) return lacks_a_thread(error);
    spdlog::error("{}\nfree some space or choose another folder with --out; what was written before is intact",
                  error.what());
    return kRunFailed;
  } catch (const std::bad_alloc&) {
    // Without a byte more.
    std::fputs("error: out of memory; use a coarser mesh or a lower order\n", stderr);
    return kRunFailed;
  } catch (const std::exception& error) {
    if (pliant::app::is_lack_of_a_thread(error)) return lacks_a_thread(error);
    spdlog::error("{}", error.what());
    return kRunFailed;
  }
} catch (...) {
  std::fputs("error: out of memory, and no more can be said\n", stderr);
  return kRunFailed;
}
