// One case, step by step, with the defaults of a solver but for its tolerance: a beam 2:1:1 of stable Neo-Hookean
// rubber that is clamped at one end and falls under gravity, or three boxes that fall on each other. Where the time
// goes, and what to hold beside another engine's figures for the same case.
//
//   benchmark_beam CELLS YOUNG THREADS STEPS [SOLVER [KEY=VALUE...]]        CELLS: along the beam's width; 10, 16, 24
//   benchmark_beam stack CELLS YOUNG THREADS STEPS [SOLVER [KEY=VALUE...]]  CELLS: of each edge

#include <oneapi/tbb/global_control.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"
#include "thread_time.hpp"

namespace {

using namespace pliant;

constexpr double kStep = 0.01;

double wall_time() {
  return 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double process_time() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

/// A line of what the system says about this process, kB.
double memory(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != name) continue;
    double value = 0;
    status >> value;
    return value;
  }
  return 0;
}

BodyOptions rubber(const Vec3& origin, const Vec3& size, const std::array<Index, 3>& cells, double young) {
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box({.origin = origin, .size = size, .cells = cells}));
  body.material = testing::material("stable-neo-hookean", young, 0.4);
  return body;
}

std::shared_ptr<const Model> beam(Index n, double young) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = rubber(Vec3::Zero(), {2, 1, 1}, {2 * n, n, n}, young);
  builder.add_body(body);
  builder.add_pin({"clamp", builder.body(0).elements->nodes_of(body.mesh->sets().at("x-min"))});
  return builder.build();
}

std::shared_ptr<const Model> stack(Index n, double young) {
  constexpr double kSide = 0.1, kGap = 2e-3;
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  for (int b = 0; b < 3; ++b)
    builder.add_body(rubber({0, kGap + b * (kSide + kGap), 0}, Vec3::Constant(kSide), {n, n, n}, young));
  builder.add_collider(testing::floor_plane());
  ContactOptions contact;
  contact.dhat = 1e-3;
  builder.set_contact(contact);
  return builder.build();
}

}  // namespace

int main(int count, char** arguments) {
  const bool is_stack = count > 1 && std::string(arguments[1]) == "stack";
  if (is_stack) {
    --count;
    ++arguments;
  }
  if (count < 5) return std::puts("benchmark_beam [stack] CELLS YOUNG THREADS STEPS [SOLVER [KEY=VALUE...]]"), 1;
  const auto cells = static_cast<Index>(std::atoi(arguments[1]));
  const double young = std::atof(arguments[2]);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(std::atoi(arguments[3])));
  const int steps = std::atoi(arguments[4]);
  ParameterMap parameters;
  for (int k = 6; k < count; ++k) {
    const std::string pair = arguments[k];
    const auto at = pair.find('=');
    const std::string value = at == std::string::npos ? "" : pair.substr(at + 1);
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (!value.empty() && *end == 0)
      parameters[pair.substr(0, at)] = number;
    else
      parameters[pair.substr(0, at)] = value;
  }
  const auto model = is_stack ? stack(cells, young) : beam(cells, young);
  const auto stepper = make_stepper(model, count > 5 ? arguments[5] : "pod-newton", parameters);
  State state = model->rest_state();
  for (int k = 0; k < steps; ++k) {
    const double wall = wall_time(), process = process_time(), thread = thread_time();
    const StepReport report = stepper->step(state, kStep);
    std::printf("step %d wall %.2f process %.2f thread %.2f", k, wall_time() - wall, process_time() - process,
                thread_time() - thread);
    const auto& s = report.seconds;
    const Vec3 at = node(state.x, model->nodes() - 1);
    std::printf(
        " newton %d cg %d factors %d assembly %.2f factor %.2f solve %.2f search %.2f contact %.2f at %.9f %.9f %.9f",
        report.iterations, report.linear_iterations, report.factorisations, 1e3 * s.assembly, 1e3 * s.factorisation,
        1e3 * s.solve, 1e3 * s.line_search, 1e3 * s.contact, at.x(), at.y(), at.z());
    for (const Figure& figure : report.figures) std::printf(" %s %g", std::string(figure.name).c_str(), figure.value);
    std::printf("\n");
    std::fflush(stdout);
    if (!report.succeeded()) return std::puts(report.detail.c_str()), 1;
  }
  std::printf("%d vertices, %.1f kB a vertex at the end, at most %.1f\n", model->nodes(),
              memory("VmRSS:") / model->nodes(), memory("VmHWM:") / model->nodes());
}
