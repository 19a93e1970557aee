// What a person at the viewer gets: a server and a native client over loopback, which drags the end of a block while it
// runs. For each body and solver: steps simulated and frames delivered a second, and how long it takes from a mouse
// message to a frame in which the vertex under the mouse has moved.
//
//   benchmark_viewer [seconds per row, 5 by default]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "pliant/view/server.hpp"
#include "view/client.hpp"

namespace {

using namespace pliant::view;
using pliant::view::testing::Client;
using pliant::view::testing::DecodedFrame;
using Clock = std::chrono::steady_clock;
using std::chrono::duration;
using std::chrono::milliseconds;

struct Body {
  const char* name;
  std::array<double, 3> size;  ///< m
  std::array<int, 3> cells;
};

struct Row {
  std::uint32_t vertices = 0;
  double simulated = 0, delivered = 0, megabytes = 0;  ///< a second
  double step_ms = 0;
  std::vector<double> latency_ms;
};

std::string scene_of(const Body& body, const std::string& solver) {
  return fmt::format(
      "version = 1\n[simulation]\nfps = 60\nframes = 60\ngravity = [0, 0, 0]\n[[body]]\nname = \"block\"\n"
      "box = {{size = [{}, {}, {}], cells = [{}, {}, {}]}}\nmaterial = \"fixed-corotated\"\nyoung = 1e5\npoisson = "
      "0.3\n"
      "damping = {{mass = 2}}\n[[pin]]\nwhere = \"x-min\"\n[solver]\nname = \"{}\"\n",
      body.size[0], body.size[1], body.size[2], body.cells[0], body.cells[1], body.cells[2], solver);
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

Row measure(const Body& body, const std::string& solver, double seconds) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "pliant_benchmark_viewer";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "block.toml") << scene_of(body, solver);
  Session session({folder / "block.toml", {}, {}});
  Server server({}, session);
  if (const std::string trouble = session.open_given(); !trouble.empty()) throw std::runtime_error(trouble);
  session.start(server);
  std::thread thread([&] { server.run(); });

  Row row;
  {
    Client client(server.port());
    const auto first = client.next_frame();
    const std::array<double, 3> eye = {body.size[0] * 0.98, 10, body.size[2] * 0.52};
    client.send({{"type", "grab"}, {"hand", 0}, {"ray", {{"eye", eye}, {"direction", {0, -1, 0}}}}});
    const auto grabbed = client.wait_for("grabbed", milliseconds(60'000));
    if (!first || !grabbed) throw std::runtime_error("nothing could be grabbed");
    const auto start = (*grabbed)["point"].get<std::array<double, 3>>();

    // The mouse moves along a circle; a new message follows when the effect of the last has been seen, but no sooner
    // than after 1/60 s, as a mouse would.
    std::uint32_t stamp = 0, frames = 0;
    std::size_t bytes = 0;
    bool is_waiting = false;
    Clock::time_point sent;
    double point_before = 0, point_now = 0;
    const Clock::time_point warm = Clock::now() + milliseconds(1000),
                            end = warm + milliseconds(static_cast<int>(1e3 * seconds));
    double simulated = 0, step_ms = 0;
    int samples = 0;
    // Rows that take longer than their time for a single step go on until three of them have been seen.
    while (Clock::now() < end || (row.latency_ms.size() < 3 && Clock::now() < end + std::chrono::seconds(60))) {
      const bool counts = Clock::now() > warm;
      if (!is_waiting && Clock::now() - sent > milliseconds(16)) {
        const double angle = 0.05 * ++stamp;
        const double reach = 0.1 * body.size[0];
        client.send(
            {{"type", "move"},
             {"hand", 0},
             {"target", {start[0], start[1] + reach * std::sin(angle), start[2] + reach * (1 - std::cos(angle))}},
             {"stamp", stamp}});
        sent = Clock::now();
        is_waiting = true;
        point_before = point_now;
      }
      const auto received = client.receive(milliseconds(2));
      if (!received) continue;
      if (received->is_text) {
        const auto json = nlohmann::json::parse(received->bytes);
        if (json["type"] != "telemetry") continue;
        for (const auto& held : json["grabs"])
          point_now = held["point"][1].get<double>() + 1e3 * held["point"][2].get<double>();
        if (counts) {
          simulated += json["simulated_per_second"].get<double>();
          step_ms += json["step_ms"].get<double>();
          ++samples;
        }
        continue;
      }
      client.acknowledge(*received);
      if (received->bytes[0] != 3) continue;
      const DecodedFrame frame(received->bytes);
      row.vertices = frame.vertices;
      if (counts) {
        ++frames;
        bytes += received->bytes.size();
      }
      if (is_waiting && frame.stamp == stamp && point_now != point_before) {
        if (counts) row.latency_ms.push_back(1e3 * duration<double>(Clock::now() - sent).count());
        is_waiting = false;
      }
    }
    const double elapsed = duration<double>(Clock::now() - warm).count();
    row.delivered = frames / elapsed;
    row.megabytes = static_cast<double>(bytes) / elapsed / 1e6;
    row.simulated = samples > 0 ? simulated / samples : 0;
    row.step_ms = samples > 0 ? step_ms / samples : 0;
  }
  server.stop();
  thread.join();
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::stod(argv[1]) : 5;
  const std::vector<Body> bodies = {{"block", {1, 1, 1}, {9, 9, 9}},
                                    {"block", {1, 1, 1}, {16, 16, 16}},
                                    {"block", {1, 1, 1}, {30, 30, 30}},
                                    {"plate", {2, 0.02, 1}, {170, 1, 85}}};
  fmt::print(
      "| body | vertices | at the surface | solver | step, ms | simulated, 1/s | delivered, 1/s | MB/s | latency, ms: "
      "median | "
      "95% |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Body& body : bodies)
    for (const char* solver : {"quasi-newton", "fp-pxpbd", "warp-canceling", "pod-newton"}) {
      const Row row = measure(body, solver, seconds);
      fmt::print("| {} | {} | {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.0f} | {:.0f} |\n", body.name,
                 (body.cells[0] + 1) * (body.cells[1] + 1) * (body.cells[2] + 1), row.vertices, solver, row.step_ms,
                 row.simulated, row.delivered, row.megabytes, percentile(row.latency_ms, 0.5),
                 percentile(row.latency_ms, 0.95));
      std::fflush(stdout);
    }
}
