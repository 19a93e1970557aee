// How negative eigenvalues are dealt with: iterations and time of Newton's variants, with eigenvalues clamped and with
// their sign turned, over Poisson's ratios, volume changes, large steps, a twist and contact. Stable Neo-Hookean blocks
// of 12 x 4 x 4 cells, 1/30 s a step unless told, step length below 1e-3 m/s.
//
//   benchmark_filtering [--quick]
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "pliant/simulation/simulation.hpp"

namespace {

using namespace pliant;

struct NewtonKind {
  const char* name;
  const char* keys;
};
constexpr NewtonKind kKinds[] = {
    {"projected, clamped", "name = \"projected-newton\"\nprojection = \"analytic\""},
    {"projected, absolute", "name = \"projected-newton\"\nprojection = \"absolute\""},
    {"on demand, clamped", "name = \"pod-newton\"\nprojection = \"analytic\""},
    {"on demand, absolute", "name = \"pod-newton\"\nprojection = \"absolute\""},
    {"kinetic", "name = \"kinetic-newton\""},
};

struct Case {
  std::string name;
  double poisson;
  double dt;
  std::string text;        ///< of the scene, beyond body and solver
  bool is_static = false;  ///< one step, which does all of it
};

std::string move_end(const std::string& what) {
  return "[[pin]]\nname = \"held\"\nwhere = \"x-min\"\n[[script]]\nname = \"moved\"\nwhere = \"x-max\"\n" + what +
         "times = [0, 0.2]\nimposition = \"direct\"\n";
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (double nu : {0.3, 0.45, 0.49, 0.499})
    all.push_back({fmt::format("stretched by 100%, nu = {}", nu), nu, 1.0 / 30, move_end("translate = [1, 0, 0]\n")});
  for (double nu : {0.3, 0.45, 0.49, 0.499})
    all.push_back({fmt::format("pressed by 50%, nu = {}", nu), nu, 1.0 / 30, move_end("translate = [-0.5, 0, 0]\n")});
  for (double nu : {0.3, 0.49})
    all.push_back({fmt::format("twisted by a turn, nu = {}", nu), nu, 1.0 / 30,
                   move_end("rotate = {axis = [1, 0, 0], centre = [0, 0.165, 0.165], revolutions = 1}\n")});
  for (double nu : {0.3, 0.49})
    all.push_back({fmt::format("hung, steps of 0.2 s, nu = {}", nu), nu, 0.2, "[[pin]]\nwhere = \"x-min\"\n"});
  for (double nu : {0.3, 0.49})
    all.push_back({fmt::format("dropped, nu = {}", nu), nu, 1.0 / 60,
                   "[[collider]]\nplane = {point = [0, -0.02, 0], normal = [0, 1, 0]}\n"});
  for (double nu : {0.3, 0.45, 0.49, 0.499})
    all.push_back({fmt::format("static, stretched by 100% at once, nu = {}", nu), nu, 0.2,
                   move_end("translate = [1, 0, 0]\n"), true});
  for (double nu : {0.3, 0.45, 0.49, 0.499})
    all.push_back({fmt::format("static, pressed by 30% at once, nu = {}", nu), nu, 0.2,
                   move_end("translate = [-0.3, 0, 0]\n"), true});
  return all;
}

struct Result {
  double iterations = 0, milliseconds = 0;  ///< a step
  int failed = 0;
};

Result run(const Case& scene, const NewtonKind& kind, int steps) {
  Simulation simulation(parse_scene(
      fmt::format(
          "[simulation]\ndt = {}\nframes = {}\n{}[[body]]\nbox = {{size = [1, 0.33, 0.33], cells = [12, 4, 4]}}\n"
          "material = \"stable-neo-hookean\"\nyoung = 1e5\npoisson = {}\n{}[solver]\n{}\ncriterion = "
          "\"step-length\"\ntolerance = 1e-3\n",
          scene.dt, steps, scene.is_static ? "integrator = \"quasistatic\"\n" : "", scene.poisson, scene.text,
          kind.keys),
      "filtering"));
  Result result;
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < steps; ++k) {
    const StepReport report = simulation.step();
    result.iterations += report.iterations;
    if (!report.succeeded()) {
      ++result.failed;
      break;
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.iterations /= steps;
  result.milliseconds = 1e3 * seconds / steps;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string(argv[1]) == "--quick";
  std::printf("| iterations a step (ms) |");
  for (const NewtonKind& kind : kKinds) std::printf(" %s |", kind.name);
  std::printf("\n| --- |");
  for (std::size_t k = 0; k < std::size(kKinds); ++k) std::printf(" --- |");
  std::printf("\n");
  for (const Case& scene : cases()) {
    std::printf("| %s |", scene.name.c_str());
    for (const NewtonKind& kind : kKinds) {
      if (scene.is_static && std::string(kind.name) == "kinetic") {
        std::printf(" |");
        continue;
      }
      const Result result = run(scene, kind, scene.is_static ? 1 : quick ? 3 : 12);
      if (result.failed)
        std::printf(" fails |");
      else
        std::printf(" %.1f (%.0f) |", result.iterations, result.milliseconds);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}
