#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "commands.hpp"
#include "interrupt.hpp"
#include "pliant/base/error.hpp"
#include "pliant/view/server.hpp"
#include "threads.hpp"

namespace pliant::app {

namespace {

struct ViewArguments {
  SceneArguments scene;
  std::string host = "127.0.0.1";
  std::uint16_t port = 8470;
  std::string scenes, page, beside;
  int threads = 0;
  bool no_browser = false;
};

/// Hands the address to whatever the desktop opens pages with. Without a display there is nothing to open it on.
void open_browser(const std::string& address) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  // Forked twice, so that nobody waits for the browser; the address is ours and has no character a shell would mind.
  const pid_t child = fork();
  if (child != 0) return;
  if (fork() == 0) {
    setsid();
    if (!std::freopen("/dev/null", "w", stdout) || !std::freopen("/dev/null", "w", stderr)) _exit(1);
    execlp("xdg-open", "xdg-open", address.c_str(), static_cast<char*>(nullptr));
  }
  _exit(0);
}

/// The port that was asked for by nobody may be taken: then any other will do.
std::unique_ptr<view::Server> listen(const ViewArguments& arguments, bool is_port_given, view::Session& session) {
  view::ServerOptions options{arguments.host, arguments.port, arguments.page};
  try {
    return std::make_unique<view::Server>(options, session);
  } catch (const InputError&) {
    if (is_port_given) throw;
  }
  options.port = 0;
  return std::make_unique<view::Server>(options, session);
}

int view_scene(const ViewArguments& arguments, bool is_port_given) {
  const ThreadLimit limit(arguments.threads);
  if (!std::filesystem::exists(arguments.scene.scene))
    throw InputError(fmt::format("there is no scene or result '{}'", arguments.scene.scene));
  if (view::Film::is_result(arguments.scene.scene) && (!arguments.scene.set.empty() || !arguments.scene.solver.empty()))
    throw InputError("--set and --solver change scenes; a finished run is played as it is");

  std::optional<std::filesystem::path> beside;
  if (!arguments.beside.empty()) {
    if (!view::Film::is_result(arguments.scene.scene) || !view::Film::is_result(arguments.beside))
      throw InputError("--beside shows a finished run beside another: give the folders of two");
    beside = arguments.beside;
  }
  view::Session session(
      {arguments.scene.scene, {arguments.scene.set, arguments.scene.solver}, arguments.scenes, beside});
  const std::unique_ptr<view::Server> server = listen(arguments, is_port_given, session);
  // A scene that is wrong is shown as such: it can be mended while the page is open.
  if (const std::string trouble = session.open_given(); !trouble.empty()) spdlog::error("{}", trouble);
  session.start(*server);
  fmt::print("viewing {} at {}\n  stop with Ctrl-C\n", arguments.scene.scene, server->address());
  if (arguments.host != "127.0.0.1" && arguments.host != "localhost" && arguments.host != "::1")
    spdlog::warn("anyone who can reach {} can see and control this; there is no password", arguments.host);
  std::fflush(stdout);
  if (!arguments.no_browser) open_browser(server->address());

  catch_interrupts("\n");
  std::jthread watch([&](const std::stop_token& token) {
    while (!token.stop_requested() && !interrupt_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    server->stop();
  });
  server->run();
  session.stop();
  return kSuccess;
}

}  // namespace

void add_view(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ViewArguments>();
  CLI::App* command =
      app.add_subcommand("view", "Run a scene in the browser and interact with it, or play back a result");
  add_scene_arguments(*command, arguments->scene, "The scene file (TOML), or the folder of a finished run");
  CLI::Option* port =
      command->add_option("--port", arguments->port, "Port to listen on; by default 8470, or any that is free")
          ->check(CLI::Validator(
              [](const std::string& text) {
                int number = 0;
                const bool is_fine = CLI::detail::lexical_cast(text, number) && number >= 0 && number <= 65535;
                return is_fine ? std::string() : fmt::format("must be from 0 to 65535, but is {}", text);
              },
              ""))
          ->type_name("N");
  command
      ->add_option("--host", arguments->host, "Address to listen on; any other than 127.0.0.1 lets other machines in")
      ->type_name("ADDRESS");
  command->add_option("--beside", arguments->beside, "Another finished run of the same bodies, shown beside it")
      ->type_name("RUN");
  command->add_option("--scenes", arguments->scenes, "Folder of the scene picker; by default that of the scene")
      ->type_name("DIR");
  command->add_option("--page", arguments->page, "Serve the page from this folder, for work on the page itself")
      ->type_name("DIR");
  add_threads(*command, arguments->threads);
  command->add_flag("--no-browser", arguments->no_browser, "Print the address without opening a browser");
  command->callback([arguments, port, &exit_code] { exit_code = view_scene(*arguments, port->count() > 0); });
}

}  // namespace pliant::app
