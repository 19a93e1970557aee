#include "fuzz/inputs.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "pliant/base/bytes.hpp"
#include "pliant/base/error.hpp"
#include "pliant/io/checkpoint.hpp"
#include "pliant/scene/overrides.hpp"
#include "pliant/scene/selection.hpp"
#include "pliant/view/session.hpp"

namespace pliant::test {

namespace {

constexpr std::string_view kCheckpoint = "PLIANT-CHECKPOINT-6\n", kState = "PLIANT-VIEW-2\n";

constexpr std::string_view kScene = R"(version = 1
name = "fuzz"
[simulation]
fps = 60
frames = 10
[[body]]
name = "a"
box = {size = [1, 1, 1], cells = [1, 1, 1]}
material = "fixed-corotated"
young = 1e4
poisson = 0.3
[[pin]]
where = "x-min"
[[collider]]
name = "floor"
plane = {point = [0, -2, 0], normal = [0, 1, 0]}
[solver]
name = "quasi-newton"
)";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; lines.size() < 50 && std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A folder of this process, made once.
const std::filesystem::path& scratch() {
  static const std::filesystem::path folder = [] {
    auto made = std::filesystem::temp_directory_path() / ("pliant_fuzz_" + std::to_string(getpid()));
    std::filesystem::create_directories(made / "frames");
    std::ofstream(made / "fuzz.toml") << kScene;
    std::ofstream(made / "result.pvd") << "<VTKFile type=\"Collection\"><Collection>\n<DataSet timestep=\"0\" "
                                          "file=\"frames/frame.vtu\"/>\n</Collection></VTKFile>\n";
    return made;
  }();
  return folder;
}

/// Hears everything and says nothing.
struct Deaf final : view::Carrier {
  void on_news() override {}
  void send_text(view::ClientId, std::string) override {}
  void send_binary(view::ClientId, std::string) override {}
  void send_text_to_all(std::string) override {}
  void welcome(view::ClientId) override {}
};

}  // namespace

void read_scene_text(std::string_view text) { parse_scene(text, "fuzz", scratch()); }

void read_changes(std::string_view text) { parse_scene(kScene, "fuzz", scratch(), {lines_of(text), ""}); }

void read_selection(std::string_view text) { parse_selection(std::string(text)); }

void read_sealed_checkpoint(std::string_view content) {
  Simulation simulation(parse_scene(kScene, "fuzz", scratch()));  // no input is to depend on those before it
  Checkpoint checkpoint = checkpoint_from_bytes(seal(kCheckpoint, content));
  checkpoint.snapshot.fingerprint = simulation.fingerprint();
  simulation.restore(checkpoint.snapshot);
  simulation.step();
}

void read_sealed_state(std::string_view content) {
  view::LiveScene live(parse_scene(kScene, "fuzz", scratch()), "fuzz.toml");
  live.restore(seal(kState, content));
  live.advance();
}

std::string whole_checkpoint() {
  Simulation simulation(parse_scene(kScene, "fuzz", scratch()));
  for (int k = 0; k < 3; ++k) simulation.step();
  write_checkpoint(scratch() / "whole.pliant", {simulation.snapshot(), 0, {0, 0.1}});
  std::ifstream in(scratch() / "whole.pliant", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  return bytes.substr(kCheckpoint.size(), bytes.size() - kCheckpoint.size() - sizeof(std::uint64_t));
}

std::string whole_state() {
  view::LiveScene live(parse_scene(kScene, "fuzz", scratch()), "fuzz.toml");
  live.set_compare(true, "xpbd", std::nullopt);
  live.advance();
  const std::string bytes = live.save();
  return bytes.substr(kState.size(), bytes.size() - kState.size() - sizeof(std::uint64_t));
}

void read_messages(std::string_view text) {
  view::Session session({scratch() / "fuzz.toml", {}, {}});
  session.open_given();
  Deaf deaf;
  session.start(deaf);
  session.post(1, {view::ask::Arrive{}, "arrive", {}});
  for (const std::string& line : lines_of(text)) {
    try {
      session.post(1, view::parse_text(line));
    } catch (const view::BadRequest&) {
    }
  }
  for (int k = 0; session.waiting_bytes() > 0 && k < 1000; ++k) usleep(1000);
  session.stop();
}

void read_film(std::string_view frame) {
  std::ofstream(scratch() / "frames/frame.vtu", std::ios::binary) << frame;
  view::Film film(scratch());
  film.draw(0, view::Colour::stress);
  film.describe();
  film.telemetry();
}

}  // namespace pliant::test
