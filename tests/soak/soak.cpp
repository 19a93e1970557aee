// Many steps of small scenes under every solver: `pliant_soak [STEPS] [SOLVER...]`, by default 1000000 steps of one
// solver of each family. Memory must stay where it is, a body that nothing acts on must keep its momentum, and one that
// lies on the ground must neither sink nor wander. Exits with 1 where anything does not.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "pliant/base/error.hpp"
#include "pliant/simulation/simulation.hpp"

namespace pliant {
namespace {

constexpr double kMostGrowth = 4e6;       ///< bytes, from a tenth of the steps to their end
constexpr double kMostDrift = 1e-6;       ///< of the momentum, as a share of it
constexpr double kMostWandering = 2e-3;   ///< m, of what lies on the ground
constexpr double kShareBeforeLook = 0.1;  ///< of the steps, in which caches fill and bodies settle

double resident_bytes() {
  std::ifstream in("/proc/self/statm");
  double pages = 0, resident = 0;
  in >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

std::string scene_text(const std::string& solver, bool is_free) {
  return fmt::format(
      "[simulation]\nfps = 100\nframes = 1\ngravity = [0, {}, 0]\n[[body]]\nbox = {{size = [0.2, 0.1, 0.1], cells = "
      "[2, "
      "1, 1]}}\ntranslate = [0, 0.0006, 0]\nmaterial = \"fixed-corotated\"\nyoung = 1e5\npoisson = 0.3\ndamping = "
      "{{mass = {}}}\n{}[solver]\nname = \"{}\"\n",
      is_free ? "0.0" : "-9.81", is_free ? 0 : 2,
      is_free
          ? "velocity = [0.01, 0, 0]\nangular_velocity = [0, 0, 1]\n"
          : "[[collider]]\nplane = {point = [0, 0, 0], normal = [0, 1, 0]}\nfriction = 0.5\n[contact]\ndhat = 1e-3\n",
      solver);
}

Vec3 momentum(const Simulation& simulation) {
  Vec3 sum = Vec3::Zero();
  for (Index i = 0; i < simulation.model()->nodes(); ++i)
    sum += simulation.model()->mass().lumped()[i] * node(simulation.state()->v, i);
  return sum;
}

Vec3 centre(const Simulation& simulation) {
  Vec3 sum = Vec3::Zero();
  for (Index i = 0; i < simulation.model()->nodes(); ++i) sum += node(simulation.state()->x, i);
  return sum / simulation.model()->nodes();
}

/// One scene; true when all is as it should be. Nothing, where the solver does not take it.
bool soak(const std::string& solver, bool is_free, long steps) {
  std::optional<Simulation> simulation;
  try {
    simulation.emplace(parse_scene(scene_text(solver, is_free), "soak"));
  } catch (const InputError&) {
    return true;
  }
  const Vec3 pushed = momentum(*simulation);
  const long look = std::max(1L, static_cast<long>(kShareBeforeLook * static_cast<double>(steps)));
  double memory = 0, drift = 0, wandering = 0;
  Vec3 place = Vec3::Zero();
  std::string failed;
  for (long k = 1; k <= steps && failed.empty(); ++k) {
    const StepReport report = simulation->step();
    if (!report.succeeded())
      failed = fmt::format("step {} ended as {}: {}", k, to_string(report.outcome), report.detail);
    if (k == look) {
      memory = resident_bytes();
      place = centre(*simulation);
    }
    if (k % 1000 != 0 && k != steps) continue;
    if (is_free) drift = std::max(drift, (momentum(*simulation) - pushed).norm() / pushed.norm());
    if (!is_free && k > look) wandering = std::max(wandering, (centre(*simulation) - place).norm());
  }
  const double growth = resident_bytes() - memory;
  if (failed.empty() && steps >= 10'000 && growth > kMostGrowth) failed = "memory grows";
  if (failed.empty() && drift > kMostDrift) failed = "momentum drifts";
  if (failed.empty() && wandering > kMostWandering) failed = "it wanders";
  fmt::print("{:20} {:8} {} steps, memory {:+.1f} MB, momentum {:.1e}, wandering {:.1e} m{}{}\n", solver,
             is_free ? "free" : "resting", steps, growth / 1e6, drift, wandering,
             failed.empty() ? "" : "  FAILED: ", failed);
  std::fflush(stdout);
  return failed.empty();
}

}  // namespace
}  // namespace pliant

int main(int argc, char** argv) {
  const long steps = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  std::vector<std::string> solvers(argv + std::min(argc, 2), argv + argc);
  if (solvers.empty()) solvers = {"pod-newton", "quasi-newton", "warp-canceling", "conjac", "fp-pxpbd"};
  bool is_fine = true;
  for (const std::string& solver : solvers)
    for (const bool is_free : {true, false}) is_fine = pliant::soak(solver, is_free, steps) && is_fine;
  return is_fine ? 0 : 1;
}
