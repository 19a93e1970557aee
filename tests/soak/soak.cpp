// Many steps of small scenes under every solver: `pliant_soak [STEPS] [--seconds N] [SOLVER...]`, by default 1000000
// steps of one solver of each family, or as many as fit into the seconds, shared by all scenes. Memory must stay where
// it is, a body that nothing acts on must keep its momentum, and one that lies on the ground must neither sink nor
// wander. Exits with 1 where anything does not.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
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

enum class Soaked { well, badly, not_at_all };

/// One scene.
Soaked soak(const std::string& solver, bool is_free, long steps, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  const auto share_of_time = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / seconds;
  };
  std::optional<Simulation> simulation;
  try {
    simulation.emplace(parse_scene(scene_text(solver, is_free), "soak"));
  } catch (const InputError& error) {
    fmt::print("{:20} {:8} not taken: {}\n", solver, is_free ? "free" : "resting", error.what());
    return Soaked::not_at_all;
  }
  const Vec3 pushed = momentum(*simulation);
  bool has_looked = false;
  double memory = 0, drift = 0, wandering = 0;
  Vec3 place = Vec3::Zero();
  std::string failed;
  long k = 0;
  for (bool is_last = false; !is_last && failed.empty();) {
    ++k;
    const StepReport report = simulation->step();
    if (!report.succeeded())
      failed = fmt::format("step {} ended as {}: {}", k, to_string(report.outcome), report.detail);
    const double share = std::max(static_cast<double>(k) / static_cast<double>(steps), share_of_time());
    is_last = share >= 1;
    if (!has_looked && share >= kShareBeforeLook) {
      memory = resident_bytes();
      place = centre(*simulation);
      has_looked = true;
      continue;
    }
    if (k % 1000 != 0 && !is_last) continue;
    if (is_free) drift = std::max(drift, (momentum(*simulation) - pushed).norm() / pushed.norm());
    if (!is_free && has_looked) wandering = std::max(wandering, (centre(*simulation) - place).norm());
  }
  const double growth = resident_bytes() - memory;
  if (failed.empty() && k >= 10'000 && growth > kMostGrowth) failed = "memory grows";
  if (failed.empty() && drift > kMostDrift) failed = "momentum drifts";
  if (failed.empty() && wandering > kMostWandering) failed = "it wanders";
  fmt::print("{:20} {:8} {} steps, memory {:+.1f} MB, momentum {:.1e}, wandering {:.1e} m{}{}\n", solver,
             is_free ? "free" : "resting", k, growth / 1e6, drift, wandering,
             failed.empty() ? "" : "  FAILED: ", failed);
  std::fflush(stdout);
  return failed.empty() ? Soaked::well : Soaked::badly;
}

}  // namespace
}  // namespace pliant

int main(int argc, char** argv) {
  long steps = 1'000'000;
  double seconds = std::numeric_limits<double>::infinity();
  std::vector<std::string> solvers;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--seconds" && k + 1 < argc)
      seconds = std::atof(argv[++k]);
    else if (std::isdigit(static_cast<unsigned char>(word[0])))
      steps = std::atol(word.c_str());
    else
      solvers.push_back(word);
  }
  if (solvers.empty()) solvers = {"pod-newton", "quasi-newton", "warp-canceling", "conjac", "fp-pxpbd"};
  const double share = seconds / (2 * static_cast<double>(solvers.size()));
  bool is_fine = true;
  for (const std::string& solver : solvers) {
    const auto free = pliant::soak(solver, true, steps, share), resting = pliant::soak(solver, false, steps, share);
    // Contact is not for every solver; but what ran nowhere has shown nothing.
    is_fine = is_fine && free == pliant::Soaked::well && resting != pliant::Soaked::badly;
  }
  return is_fine ? 0 : 1;
}
