// Soft bodies in a game: 60 frames a second, a hand that takes hold of things, contact with the floor and with each
// other, and a budget of milliseconds for each frame that is kept.
//
//   game_loop [SECONDS]               in real time, a line a second
//   game_loop --benchmark [SECONDS]   as fast as it goes; exit code 1 if frames take too long
#include <pliant/pliant.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using pliant::Vec3;

constexpr double kFrame = 1.0 / 60;    // s
constexpr double kBudget = 10e-3;      // s, for the iterations of a step; the rest of the frame is for all else
constexpr double kMeanLimit = 16e-3;   // s, what --benchmark asks of frames on average
constexpr double kWorstLimit = 25e-3;  // s, and of every one

/// A cube on the floor and a ball above it, 5 thousand vertices.
pliant::Scene make_scene() {
  pliant::Scene scene;
  scene.dt = kFrame;

  pliant::SceneBody cube;
  cube.name = "cube";
  cube.mesh.generator =
      pliant::BoxOptions{.origin = {-0.3, 0.002, -0.3}, .size = {0.6, 0.6, 0.6}, .cells = {13, 13, 13}};
  cube.material = "stable-neo-hookean";
  cube.lame = pliant::lame_from_young(5e4, 0.4);
  cube.density = 500;
  scene.bodies.push_back(cube);

  pliant::SceneBody ball = cube;
  ball.name = "ball";
  ball.mesh.generator = pliant::SphereOptions{.centre = {0.05, 1.0, 0}, .radius = 0.3, .cells = 16};
  ball.lame = pliant::lame_from_young(1e5, 0.4);
  scene.bodies.push_back(ball);

  pliant::SceneCollider floor;
  floor.collider.name = "floor";
  floor.collider.shape = pliant::PlaneShape{Vec3::Zero(), Vec3::UnitY()};
  scene.colliders.push_back(floor);
  scene.contact = pliant::SceneContact{{.dhat = 2e-3, .friction = 0.4, .self = false}, {}};

  scene.solver.name = "quasi-newton";
  scene.solver.parameters["iterations"] = std::int64_t{10};
  scene.solver.parameters["time_limit"] = kBudget;
  return scene;
}

/// The player: every two seconds takes hold of the top of the ball, lifts it to one side, and lets go.
void play(pliant::Simulation& simulation, double time) {
  pliant::State& state = *simulation.state();
  const int round = static_cast<int>(time / 2);
  const double t = time - 2 * round;
  if (t < 0.5 || t > 1.4) return state.grabs.clear();
  if (state.grabs.empty()) {
    const pliant::Range nodes = simulation.model()->bodies()[1].nodes;
    Vec3 centre = Vec3::Zero();
    for (pliant::Index i = nodes.begin; i < nodes.end; ++i) centre += pliant::node(state.x, i) / nodes.size();
    if (const auto grab =
            pliant::grab_along_ray(*simulation.model(), state.x, centre + Vec3(0, 3, 0), -Vec3::UnitY(), 30))
      state.grabs.push_back(*grab);
  }
  const double side = round % 2 ? -0.3 : 0.3;
  for (pliant::Grab& grab : state.grabs) grab.target = Vec3(side, 1.5, 0.1 * side);
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Of frames, in s. The first one prepares the matrix, while a level loads, and is shown apart.
struct Times {
  std::vector<double> frames;

  double mean() const {
    double sum = 0;
    for (double s : frames) sum += s;
    return sum / static_cast<double>(frames.size());
  }
  double worst() const { return *std::max_element(frames.begin() + 1, frames.end()); }
  void print(const char* what) const {
    std::vector<double> sorted(frames.begin() + 1, frames.end());
    std::sort(sorted.begin(), sorted.end());
    std::printf("%s: mean %.1f ms, median %.1f, 99%% below %.1f, worst %.1f (first: %.0f)\n", what, 1e3 * mean(),
                1e3 * sorted[sorted.size() / 2], 1e3 * sorted[sorted.size() * 99 / 100], 1e3 * worst(),
                1e3 * frames.front());
  }
};

}  // namespace

int main(int argc, char** argv) try {
  const bool is_benchmark = argc > 1 && std::string_view(argv[1]) == "--benchmark";
  const int seconds_at = is_benchmark ? 2 : 1;
  const double duration = argc > seconds_at ? std::max(1.0, std::atof(argv[seconds_at])) : 60;
  pliant::Simulation simulation(make_scene());
  std::printf("%d vertices, a frame every %.1f ms, of which %.0f for the solver\n", simulation.model()->nodes(),
              1e3 * kFrame, 1e3 * kBudget);

  Times wall, processor;  // processor: of all threads together, which other programs cannot disturb
  double smallest_gap = 1;
  int iterations = 0;
  auto next = Clock::now();
  for (int frame = 0; frame * kFrame < duration; ++frame) {
    const auto begin = Clock::now();
    const double processor_begin = processor_seconds();
    play(simulation, frame * kFrame);
    const pliant::StepReport report = simulation.step();
    if (!simulation.took(report)) {
      std::fprintf(stderr, "frame %d: %s\n", frame, report.detail.c_str());
      return 1;
    }
    wall.frames.push_back(seconds_since(begin));
    processor.frames.push_back(processor_seconds() - processor_begin);
    smallest_gap = std::min(smallest_gap, report.minimum_gap);
    iterations += report.iterations;
    if (frame % 60 == 59 && !is_benchmark)
      std::printf("%2d s: %.1f ms, %d iterations, %d contacts, gap %.2f mm\n", (frame + 1) / 60,
                  1e3 * wall.frames.back(), report.iterations, report.contacts, 1e3 * report.minimum_gap);
    next += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kFrame));
    if (!is_benchmark) std::this_thread::sleep_until(next);
  }
  std::printf("%zu frames, %.1f iterations a frame, smallest gap %.3f mm\n", wall.frames.size(),
              iterations / static_cast<double>(wall.frames.size()), 1e3 * smallest_gap);
  wall.print("wall clock");
  processor.print("processor");
  return is_benchmark && (wall.mean() > kMeanLimit || wall.worst() > kWorstLimit) ? 1 : 0;
} catch (const pliant::InputError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
