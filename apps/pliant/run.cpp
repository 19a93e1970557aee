#include "pliant/io/run.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "commands.hpp"
#include "interrupt.hpp"
#include "pliant/base/error.hpp"
#include "processes.hpp"
#include "progress.hpp"
#include "remedies.hpp"
#include "streams.hpp"
#include "threads.hpp"

namespace pliant::app {

namespace {

struct RunArguments {
  SceneArguments scene;
  std::string out, petsc;
  std::int64_t frames = 0;
  int threads = 0;
  bool resume = false;
  bool force = false;
  bool quiet = false;
  bool verbose = false;
};

const char* plural(std::int64_t count) { return count == 1 ? "" : "s"; }

/// What a step did, in a line for people.
void print_step(const State& state, const StepReport& report) {
  const StageSeconds& s = report.seconds;
  tell(stdout,
       "step {}  t = {:.4f} s  {}  {} iteration{}, {} factorisation{}, {} evaluation{}  residual {:.3g} m/s^2, {:.3g} "
       "N  "
       "{:.2f} ms "
       "(assembly {:.2f}, factorisation {:.2f}, solve {:.2f}, line search {:.2f}, contact {:.2f})\n",
       state.step, state.time, to_string(report.outcome), report.iterations, plural(report.iterations),
       report.factorisations, plural(report.factorisations), report.line_search_evaluations,
       plural(report.line_search_evaluations), report.residuals.acceleration, report.residuals.force, 1e3 * s.total,
       1e3 * s.assembly, 1e3 * s.factorisation, 1e3 * s.solve, 1e3 * s.line_search, 1e3 * s.contact);
}

class Watcher final : public RunObserver {
 public:
  Watcher(const Scene& scene, Progress::Style style, bool verbose)
      : scene_(scene), style_(style), progress_(verbose ? Progress::Style::silent : style), verbose_(verbose) {}

  void on_start(const Model& model, const State& state, std::int64_t steps) override {
    if (style_ != Progress::Style::silent) {
      tell(stdout, "{}", introduction_.empty() ? describe(scene_, model) : introduction_);
      if (steps != scene_.steps) tell(stdout, "  this run ends at step {}\n", steps);
      if (state.step > 0) tell(stdout, "  resumed at step {}, t = {:.4g} s\n", state.step, state.time);
      std::fflush(stdout);
    }
    progress_.begin(steps, state.step);
  }
  void on_step(const State& state, const StepReport& report) override {
    progress_.update(state, report);
    if (verbose_) print_step(state, report);
    if (!report.succeeded() && scene_.solver.on_failure == OnFailure::proceed && report.advanced()) {
      progress_.pause();
      spdlog::warn("step {} ({}): {}", state.step, to_string(report.outcome), report.detail);
    }
  }
  void on_drawing() override {
    progress_.end();
    if (style_ == Progress::Style::terminal) tell(stderr, "drawing pictures ...\n");
  }
  void on_notice(const std::string& text) override {
    progress_.pause();
    spdlog::warn("{}", text);
  }
  bool wants_stop() override { return interrupt_requested(); }
  void end() { progress_.end(); }
  /// What is said of the run in place of its model, of which there is only a part.
  void introduce(std::string text) { introduction_ = std::move(text); }
  Progress& progress() { return progress_; }

 private:
  const Scene& scene_;
  std::string introduction_;
  Progress::Style style_;
  Progress progress_;
  bool verbose_;
};

/// Looks after a run while its steps are under way: tells of long ones, and ends one that an interrupted person or
/// system has waited for long enough. Its thread needs no memory to do so: where a line of progress cannot be had, it
/// is left out. Where the system has no thread for it, the run goes on without: it is then interrupted between steps
/// alone.
class Attendant {
 public:
  Attendant(StepControl& control, Progress& progress) : control_(control), progress_(progress) {
    try {
      thread_ = std::jthread([this](const std::stop_token& token) { attend(token); });
    } catch (const std::system_error&) {
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kPatience = std::chrono::seconds(2);  // that a step has to end by itself

  void attend(const std::stop_token& token) noexcept {
    auto asked = Clock::time_point::max();
    std::unique_lock lock(mutex_);
    while (!never_.wait_for(lock, token, std::chrono::milliseconds(50), [&] { return token.stop_requested(); })) {
      try {
        progress_.wait(control_.iterations());
      } catch (const std::exception&) {  // it comes again
      }
      if (interrupt_requested()) asked = std::min(asked, Clock::now());
      if (asked != Clock::time_point::max() && Clock::now() - asked > kPatience) control_.request_stop();
    }
  }

  StepControl& control_;
  Progress& progress_;
  std::mutex mutex_;
  std::condition_variable_any never_;  // but for the end; allocates when it is made
  std::jthread thread_;
};

/// A word of a command line, as a shell takes it.
std::string quoted(const std::string& word) {
  const bool is_plain = !word.empty() && word.find_first_not_of(
                                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-+=./:,@%") == std::string::npos;
  if (is_plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// The command that runs this scene into this folder.
std::string command_of(const SceneArguments& arguments, const std::string& folder) {
  std::string text = fmt::format("pliant run {}", quoted(arguments.scene));
  if (!arguments.solver.empty()) text += fmt::format(" --solver {}", quoted(arguments.solver));
  for (const std::string& assignment : arguments.set) text += fmt::format(" --set {}", quoted(assignment));
  return text + fmt::format(" --out {}", quoted(folder));
}

/// How the steps ended, unless all of them converged.
void print_outcomes(const Scene& scene, const RunTotals& totals) {
  std::string text;
  for (const auto& [outcome, count] : totals.outcomes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome);
  const std::int64_t spent =
      totals.outcomes.contains("budget-spent") ? totals.outcomes.at("budget-spent") : std::int64_t{0};
  if (totals.newton_steps > 0)
    tell(stdout, "  by Newton     {} of {} steps, where {} alone did not do\n", totals.newton_steps, totals.steps,
         scene.solver.name);
  if (totals.outcomes.size() == 1 && totals.outcomes.contains("converged")) return;
  tell(stdout, "  steps         {}\n", text);
  const auto integrator = scene.solver.parameters.find("integrator");
  if (spent > 0 && integrator != scene.solver.parameters.end() &&
      integrator->second == ParameterValue(std::string("quasistatic")))
    spdlog::warn(
        "a static step that ends with its iterations (budget-spent) is not in balance: give it more of them, "
        "or --solver {}, which converges",
        SceneSolver().name);
}

void print_end(const Scene& scene, const RunArguments& arguments, const std::string& folder, const RunResult& result) {
  const RunTotals& totals = result.totals;
  const std::string again = command_of(arguments.scene, folder);
  if (result.end == RunEnd::failed) {
    spdlog::error("step {} (t = {:.4g} s) failed, {}: {}", result.state.step + 1, result.state.time + scene.dt,
                  to_string(result.last_report.outcome), result.last_report.detail);
    tell(stderr, "everything up to step {} is written. You could try, from the start with --force:\n{}",
         result.state.step, remedies(scene, result.last_report));
  }
  if (result.end == RunEnd::interrupted && !result.saved_step)
    tell(stderr, "interrupted in step {} of {}, before the first checkpoint; start over with:\n  {} --force\n",
         result.state.step + 1, result.steps, again);
  else if (result.end == RunEnd::interrupted)
    tell(stderr, "interrupted {} step {} of {}; continue after step {} with:\n  {} --resume\n",
         result.last_report.outcome == Outcome::interrupted ? "in" : "before", result.state.step + 1, result.steps,
         *result.saved_step, again);
  if (arguments.quiet) return;
  const double steps = totals.steps > 0 ? static_cast<double>(totals.steps) : 1;
  tell(stdout, "{}: {} step{}, {:.4g} s simulated in {} ({:.3g} x real time), {:.2f} iterations a step\n",
       to_string(result.end), result.state.step, result.state.step == 1 ? "" : "s", result.state.time,
       format_seconds(totals.seconds.total), totals.seconds.total > 0 ? result.state.time / totals.seconds.total : 0.0,
       static_cast<double>(totals.iterations) / steps);
  print_outcomes(scene, totals);
  tell(stdout, "  look at it    paraview {}/result.pvd\n", folder);
  if (scene.output.pictures && std::filesystem::exists(std::filesystem::path(folder) / "picture.png"))
    tell(stdout, "  pictures      {0}/picture.png{1}\n", folder,
         std::filesystem::exists(std::filesystem::path(folder) / "film.png") ? ", " + folder + "/film.png" : "");
  else
    tell(stdout, "  pictures      pliant picture {}\n", folder);
  tell(stdout, "  every step    {0}/steps.jsonl, {0}/summary.json\n", folder);
}

/// Runs a simulation that is there, on this process alone or on one of several.
int run(Simulation& simulation, Processes* processes, const RunArguments& arguments) {
  const Scene& scene = simulation.scene();
  const bool is_first = !processes || processes->is_first();
  RunOptions options;
  options.folder = arguments.out.empty() ? "out/" + scene.name : arguments.out;
  options.start = arguments.resume ? RunStart::resume : arguments.force ? RunStart::replace : RunStart::fresh;
  if (arguments.frames > 0) options.last_step = arguments.frames * scene.output.every;
  const bool is_silent = arguments.quiet || !is_first;
  Watcher watcher(scene, is_silent ? Progress::Style::silent : Progress::style_of_stderr(),
                  arguments.verbose && is_first);
  if (processes) {
    options.processes = [&] { return processes->figures(); };
    if (!is_silent) watcher.introduce(processes->describe());
  }
  for (const Body& body : simulation.model()->bodies())
    if (body.network)
      for (const std::string& note : body.network->notes) spdlog::warn("body '{}': {}", body.name, note);
  StepControl control;
  if (is_first) options.control = &control;
  if (is_first) catch_interrupts();  // before this, there is nothing to save
  const RunResult result = [&] {
    const Attendant attendant(control, watcher.progress());
    return pliant::run(simulation, options, watcher);
  }();
  watcher.end();
  if (!is_first) return kSuccess;  // the first says how it went
  print_end(scene, arguments, options.folder.string(), result);
  if (!result.failed_exports.empty()) {
    spdlog::error(
        "the run is whole, but [output] asks for {}, which could not be written; pliant export {} writes it later",
        fmt::join(result.failed_exports, " and "), options.folder.string());
    if (result.end == RunEnd::finished) return kRunFailed;
  }
  switch (result.end) {
    case RunEnd::finished:
      return result.doubts.empty() ? kSuccess : kDoubtful;
    case RunEnd::failed:
      return kRunFailed;
    case RunEnd::interrupted:
      return kInterrupted;
  }
  return kRunFailed;
}

/// Several processes: what goes wrong with all of them the first says, and what goes wrong with one ends them all.
int run_together(Processes& processes, const std::function<Scene()>& load, const RunArguments& arguments) {
  try {
    return run(processes.simulate(load), &processes, arguments);
  } catch (const Elsewhere&) {
    return kSuccess;
  } catch (const InputError&) {
    if (processes.is_first()) throw;
    return kSuccess;
  } catch (const std::exception& error) {
    processes.abort(error.what());
  }
  return kRunFailed;
}

int run(const RunArguments& arguments) {
  output_may_be_lost();
  const std::unique_ptr<Processes> processes = Processes::join(arguments.petsc);
  const ThreadLimit limit(arguments.threads > 0 ? arguments.threads : processes ? processes->threads() : 0);

  const auto load = [&] {
    Scene scene = load_scene(arguments.scene.scene, {arguments.scene.set, arguments.scene.solver});
    if (!processes || processes->is_first())
      for (const std::string& notice : scene.notices) spdlog::warn("{}", notice);
    if (arguments.frames > kMostSteps / scene.output.every)
      throw InputError(fmt::format("--frames {} makes more than {} steps", arguments.frames, kMostSteps));
    return scene;
  };
  if (processes) return run_together(*processes, load, arguments);
  Simulation simulation(load());
  return run(simulation, nullptr, arguments);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "Run a scene");
  add_scene_arguments(*command, arguments->scene);
  command->add_option("--out", arguments->out, "Folder for the results; by default out/<name of the scene>")
      ->check(not_empty())
      ->type_name("DIR");
  command->add_option("--frames", arguments->frames, "Number of frames to simulate, in place of the scene's duration")
      ->check(at_least_one())
      ->type_name("N");
  add_threads(*command, arguments->threads,
              "Number of threads; by default all cores, divided among processes. Results do not depend on it");
  command->add_option("--petsc", arguments->petsc, "Under mpirun: options of PETSc, such as \"-ksp_view\"")
      ->type_name("OPTIONS");
  CLI::Option* resume = command->add_flag("--resume", arguments->resume, "Continue the run in the folder, bit for bit");
  command->add_flag("--force", arguments->force, "Replace the results in the folder")->excludes(resume);
  CLI::Option* quiet = command->add_flag("--quiet", arguments->quiet, "Print errors only");
  command->add_flag("--verbose", arguments->verbose, "Print a line for every step")->excludes(quiet);
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace pliant::app
