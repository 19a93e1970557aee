#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <new>
#include <system_error>

#include "commands.hpp"
#include "lack_of_memory.hpp"
#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/io/build_info.hpp"

namespace {

using namespace pliant::app;

/// A word in the place of a command that is none: CLI11 says no more than that one is missing.
void check_command(const CLI::App& app, const std::string& word) {
  if (word.empty() || word.front() == '-') return;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  if (std::find(commands.begin(), commands.end(), word) != commands.end()) return;
  const std::string near = pliant::nearest(word, commands);
  throw pliant::InputError(fmt::format("there is no command '{}'; {}", word,
                                       near.empty() ? fmt::format("choose one of {}", fmt::join(commands, ", "))
                                                    : fmt::format("did you mean '{}'?", near)));
}

int run(int argc, char** argv) {
  CLI::App app("Simulates deformable solids: one scene, every solver.", "pliant");
  app.set_version_flag("--version", fmt::format("pliant {} ({})", pliant::version(), pliant::commit()));
  app.require_subcommand(1);
  app.footer(
      "Begin with: pliant run scenes/twisted-beam.toml\nExit codes: 0 done, 1 the run failed, 2 bad input, "
      "3 finished with a result that is in doubt, 130 interrupted");
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
  check_command(app, argc > 1 ? argv[1] : "");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kBadInput;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) try {
  try {
    make_lack_of_memory_an_outcome();
    // Messages to people go to the error stream, so that lists and tables can be piped.
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    const char* plain = std::getenv("NO_COLOR");  // no-color.org: set and not empty
    const auto colours = plain && *plain ? spdlog::color_mode::never : spdlog::color_mode::automatic;
    spdlog::set_default_logger(spdlog::stderr_color_mt("pliant", colours));
    spdlog::set_pattern("%^%l%$: %v");
    return run(argc, argv);
  } catch (const pliant::InputError& error) {
    spdlog::error("{}", error.what());
    return kBadInput;
  } catch (const std::system_error& error) {
    spdlog::error("{}\nfree some space or choose another folder with --out; what was written before is intact",
                  error.what());
    return kRunFailed;
  } catch (const std::bad_alloc&) {
    // Without a byte more.
    std::fputs("error: out of memory; use a coarser mesh or a lower order\n", stderr);
    return kRunFailed;
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    return kRunFailed;
  }
} catch (...) {
  std::fputs("error: out of memory, and no more can be said\n", stderr);
  return kRunFailed;
}
