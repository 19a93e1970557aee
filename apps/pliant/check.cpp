#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <memory>

#include "commands.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/simulation/nested_bodies.hpp"
#include "pliant/simulation/probe.hpp"
#include "threads.hpp"

namespace pliant::app {

void add_scene_arguments(CLI::App& command, SceneArguments& arguments, const std::string& scene_help) {
  command.add_option("SCENE", arguments.scene, scene_help)->required();
  command
      .add_option("--set", arguments.set, "Change a value of the scene, for example body.0.young=1e6; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command.add_option("--solver", arguments.solver, "Use another solver; `pliant solvers` lists them")
      ->check(not_empty())
      ->type_name("NAME");
}

void add_threads(CLI::App& command, int& threads, const std::string& help) {
  command.add_option("--threads", threads, help)->check(at_least_one())->type_name("N");
}

CLI::Validator at_least_one() {
  return {[](const std::string& text) {
            std::int64_t number = 0;
            const bool is_fine = CLI::detail::lexical_cast(text, number) && number >= 1;
            return is_fine ? std::string() : fmt::format("must be a whole number of at least 1, but is {}", text);
          },
          ""};
}

CLI::Validator above_zero() {
  return {[](const std::string& text) {
            double number = 0;
            const bool is_fine = CLI::detail::lexical_cast(text, number) && number > 0 && std::isfinite(number);
            return is_fine ? std::string() : fmt::format("must be a number above 0, but is {}", text);
          },
          ""};
}

CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? std::string("is empty") : std::string(); }, ""};
}

void add_check(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<SceneArguments>();
  CLI::App* command = app.add_subcommand("check", "Check a scene and say what would run");
  add_scene_arguments(*command, *arguments);
  command->callback([arguments, &exit_code] {
    const Scene scene = load_scene(arguments->scene, {arguments->set, arguments->solver});
    const std::shared_ptr<const Model> model = build_model(scene);
    ProbeSet{scene, model};      // throws for a probe of nothing
    make_stepper(scene, model);  // some settings clash only here
    check_nested(*model);
    for (const std::string& notice : scene.notices) spdlog::warn("{}", notice);
    fmt::print("{}{}", describe(scene, *model), describe_solvers(scene, *model));
    exit_code = kSuccess;
    if (!model->contact()) return;
    ContactStep contact(model->contact());
    contact.place_at(0);
    if (const std::string overlaps = contact.describe_intersections(model->rest()); !overlaps.empty()) {
      spdlog::error("{}", overlaps);
      exit_code = kRunFailed;
    }
  });
}

void add_docs(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("docs", "Print a page of the reference (Markdown)");
  command->require_subcommand(1);
  command->add_subcommand("scene", "All keys of a scene file")->callback([&exit_code] {
    fmt::print("{}", scene_documentation());
    exit_code = kSuccess;
  });
  command->add_subcommand("solvers", "What each solver can do, and its parameters")->callback([&exit_code] {
    fmt::print("{}", solver_documentation());
    exit_code = kSuccess;
  });
}

}  // namespace pliant::app
