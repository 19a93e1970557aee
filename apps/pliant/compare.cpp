#include "pliant/compare/compare.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "commands.hpp"
#include "interrupt.hpp"
#include "pliant/base/atomic_file.hpp"
#include "pliant/base/error.hpp"
#include "pliant/base/stopwatch.hpp"
#include "threads.hpp"

namespace pliant::app {

namespace {

struct CompareArguments {
  SceneArguments scene;
  std::string solvers = "all";
  std::string over;
  CompareOptions options;
  std::int64_t frames = 0;
  int threads = 0;
  bool no_curves = false;
  bool no_pictures = false;
  std::string out;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;  // commas inside brackets belong to a value: [0, 1, 0]
  for (char c : text + ",") {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c != ',' || depth > 0) {
      part += c;
      continue;
    }
    const auto begin = part.find_first_not_of(' '), end = part.find_last_not_of(' ');
    if (begin != std::string::npos) parts.push_back(part.substr(begin, end - begin + 1));
    part.clear();
  }
  return parts;
}

bool tell_progress(const std::string& what, int number, int of) {
  if (interrupt_requested()) return false;
  if (isatty(STDERR_FILENO))
    fmt::print(stderr, "\r{}/{}  {}\x1b[K", number, of, what);
  else
    fmt::print(stderr, "{}/{}  {}\n", number, of, what);
  return true;
}

int finish(const SceneComparison& comparison, const CompareArguments& arguments) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K");
  fmt::print("{}", to_text(comparison));
  const std::filesystem::path out =
      arguments.out.empty()
          ? std::filesystem::path("out") / (comparison.scene + (comparison.swept.empty() ? "-compare" : "-sweep"))
          : std::filesystem::path(arguments.out);
  std::filesystem::create_directories(out);
  write_atomically(out / "compare.json", to_json_text(comparison));
  write_atomically(out / "compare.html", to_html(comparison));
  fmt::print("  curves and pictures  {0}/compare.html\n  every number         {0}/compare.json\n", out.string());
  if (interrupt_requested()) return kInterrupted;
  return kSuccess;
}

CompareOptions options_of(const CompareArguments& arguments, std::int64_t every) {
  CompareOptions options = arguments.options;
  options.curves = !arguments.no_curves;
  if (arguments.no_pictures) options.moments = 0;
  options.steps = arguments.frames * every;
  return options;
}

/// The number of steps of a frame, which --frames counts.
std::int64_t steps_a_frame(const SceneArguments& scene) {
  return load_scene(scene.scene, {scene.set, scene.solver}).output.every;
}

void add_common(CLI::App& command, CompareArguments& arguments) {
  command.add_option("--frames", arguments.frames, "Number of frames to simulate, in place of the scene's duration")
      ->check(above_zero())
      ->type_name("N");
  command
      .add_option("--reference", arguments.options.reference,
                  "The solver that is run until it has converged, and that distances are taken to")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_flag("--no-pictures", arguments.no_pictures, "Leave out the pictures");
  add_threads(command, arguments.threads, "Number of threads; by default all cores. Only times depend on it");
  command.add_option("--out", arguments.out, "Folder for compare.html and compare.json")->type_name("DIR");
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app.add_subcommand("compare", "Run a scene under several solvers, against a converged reference");
  add_scene_arguments(*command, arguments->scene);
  command->remove_option(command->get_option("--solver"));
  command
      ->add_option("--solvers", arguments->solvers,
                   "Names with commas, or all; those that cannot run the scene are listed with the reason")
      ->type_name("NAMES")
      ->capture_default_str();
  command
      ->add_option("--budget", arguments->options.budget,
                   "Milliseconds a step: also shows the least error that each reaches within them")
      ->check(above_zero())
      ->type_name("MS");
  command->add_flag("--no-curves", arguments->no_curves, "Run each solver once, without sweeping its effort");
  add_common(*command, *arguments);
  command->callback([arguments, &exit_code] {
    catch_interrupts();
    const ThreadLimit limit(arguments->threads);
    if (arguments->threads == 1) set_stage_clock(StageClock::processor);
    if (arguments->no_curves && arguments->options.budget > 0)
      throw InputError("--budget chooses from the curves; leave out --no-curves");
    CompareOptions options = options_of(*arguments, steps_a_frame(arguments->scene));
    if (arguments->solvers != "all") options.solvers = split(arguments->solvers);
    exit_code =
        finish(compare_solvers(arguments->scene.scene, {arguments->scene.set, ""}, options, tell_progress), *arguments);
  });
}

void add_sweep(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app.add_subcommand("sweep", "Run a scene with several values of one of its keys");
  add_scene_arguments(*command, arguments->scene);
  command->add_option("--over", arguments->over, "For example body.0.young=1e5,1e6,1e7 or solver.iterations=5,10,20")
      ->required()
      ->type_name("KEY=A,B,C");
  add_common(*command, *arguments);
  command->callback([arguments, &exit_code] {
    catch_interrupts();
    const ThreadLimit limit(arguments->threads);
    if (arguments->threads == 1) set_stage_clock(StageClock::processor);
    const auto equals = arguments->over.find('=');
    const std::vector<std::string> values =
        equals == std::string::npos ? std::vector<std::string>() : split(arguments->over.substr(equals + 1));
    if (values.empty()) throw InputError("--over needs a key and its values: --over body.0.young=1e5,1e6,1e7");
    const CompareOptions options = options_of(*arguments, steps_a_frame(arguments->scene));
    exit_code = finish(sweep_key(arguments->scene.scene, {arguments->scene.set, arguments->scene.solver},
                                 arguments->over.substr(0, equals), values, options, tell_progress),
                       *arguments);
  });
}

}  // namespace pliant::app
