#pragma once

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <string>
#include <vector>

namespace pliant::app {

/// What a person's shell sees. `kDoubtful`: a run reached its end, and what came out is not to be relied on.
enum ExitCode { kSuccess = 0, kRunFailed = 1, kBadInput = 2, kDoubtful = 3, kInterrupted = 130 };

// Each adds a subcommand; when it is given, it runs and leaves the exit code. What goes wrong is thrown: InputError for
// bad input, std::system_error for results that cannot be written.
void add_run(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_solvers(CLI::App& app, int& exit_code);
void add_materials(CLI::App& app, int& exit_code);
void add_docs(CLI::App& app, int& exit_code);
void add_view(CLI::App& app, int& exit_code);
void add_mesh(CLI::App& app, int& exit_code);
void add_reproduce(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_sweep(CLI::App& app, int& exit_code);
void add_picture(CLI::App& app, int& exit_code);
void add_new(CLI::App& app, int& exit_code);
/// After all others, which it lists; `docs` gets the manual page.
void add_completion(CLI::App& app, int& exit_code);

/// SCENE, --set and --solver, which `run`, `check` and `view` share.
struct SceneArguments {
  std::string scene;
  std::vector<std::string> set;
  std::string solver;
};
/// For numbers of threads and frames.
CLI::Validator at_least_one();
/// For lengths of time, sizes and the like.
CLI::Validator above_zero();
/// For names: `--out "$folder"` where nothing was put into `folder` is a mistake, not a wish for the default.
CLI::Validator not_empty();
void add_scene_arguments(CLI::App& command, SceneArguments& arguments,
                         const std::string& scene_help = "The scene file (TOML)");

}  // namespace pliant::app
