// conjac, "Twist" (fig. 3): one end of a bar is pushed in, pulled out, bent and twisted while the other is held. How
// the motion depends on the number of dynamic nodes: 1, 2, 4 on the axis, 8, 16, 32 at the corners of slices, as in the
// paper.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/conjac/bars.hpp"
#include "experiments/conjac/conjac.hpp"
#include "experiments/conjac/trial.hpp"

namespace pliant::experiments {

namespace {

constexpr double kLength = 0.1, kTwistWidth = 0.03;

std::shared_ptr<const Model> twist_bar(const std::array<Index, 3>& cells) {
  BarOptions options;
  options.cells = cells;
  options.gravity = Vec3::Zero();
  options.add = [](ModelBuilder& builder) {
    const Body& body = builder.body(0);
    Script script{"end", body.mesh->sets().at("x-max"), {}, Imposition::direct};
    script.motion.translation.keys = {{0, Vec3::Zero()},
                                      {0.2, Vec3(-0.02, 0, 0)},
                                      {0.5, Vec3(0.03, 0, 0)},
                                      {0.8, Vec3(-0.01, 0.04, 0)},
                                      {1.1, Vec3(0, 0, 0)}};
    script.motion.axis = Vec3::UnitX();
    script.motion.centre = Vec3(kLength, kTwistWidth / 2, kTwistWidth / 2);
    script.motion.angle.keys = {{1.1, 0}, {1.5, std::numbers::pi / 2}};
    builder.add_script(script);
  };
  return conjac_bar(options);
}

Index nearest_node(const Model& model, const Vec3& p) {
  Index best = 0;
  for (Index i = 1; i < model.nodes(); ++i)
    if ((node(model.rest(), i) - p).squaredNorm() < (node(model.rest(), best) - p).squaredNorm()) best = i;
  return best;
}

/// On the axis up to four, else four at the corners of n/4 slices.
std::string paper_nodes(const Model& model, int count) {
  const int slices = count <= 4 ? count : count / 4;
  std::string text;
  for (int s = 1; s <= slices; ++s) {
    const double x = kLength * s / (slices + 1);
    for (int corner = 0; corner < (count <= 4 ? 1 : 4); ++corner) {
      const Vec3 p = count <= 4 ? Vec3(x, kTwistWidth / 2, kTwistWidth / 2)
                                : Vec3(x, corner % 2 ? kTwistWidth : 0, corner / 2 ? kTwistWidth : 0);
      text += fmt::format("{}{}", text.empty() ? "" : ",", nearest_node(model, p));
    }
  }
  return text;
}

void run_twist(Context& context) {
  const std::vector<int> cells = context.integers("cells");
  const auto model = twist_bar({cells.at(0), cells.at(1), cells.at(2)});
  const double h = context.number("h"), duration = context.number("duration");
  const auto steps = static_cast<int>(std::lround(duration / h));
  EnergyMeter meter(model);

  // The full motion, by Newton's method with a tenth of the step.
  const auto reference_stepper = make_stepper(model, "pod-newton", {{"tolerance", 0.1}});
  std::vector<VecX> reference;
  {
    State state = model->rest_state();
    const int fine = static_cast<int>(context.number("refine"));
    for (int s = 0; s < steps; ++s) {
      context.progress(0.5 * s / steps, "reference");
      for (int k = 0; k < fine; ++k) reference_stepper->step(state, h / fine);
      reference.push_back(state.x);
      if (context.stopped()) return;
    }
  }
  bool all = true;
  std::map<int, double> worst;
  const std::vector<int> counts = context.integers("dynamic");
  for (std::size_t c = 0; c < counts.size(); ++c)
    for (const char* placement : {"paper", "automatic"}) {
      const int count = counts[c];
      context.progress(0.5 + 0.5 * static_cast<double>(c) / static_cast<double>(counts.size()),
                       fmt::format("{} dynamic nodes, {}", count, placement));
      ParameterMap parameters = {{"beta", context.number("beta")}};
      if (std::string_view(placement) == "paper")
        parameters["dynamic"] = paper_nodes(*model, count);
      else
        parameters["dynamic_nodes"] = std::int64_t{count};
      const auto stepper = make_stepper(model, "conjac", as_published("conjac", parameters));
      State state = model->rest_state();
      double error = 0, sum = 0, kinetic = 0, seconds = 0;
      int taken = 0, projected = 0;
      for (; taken < steps; ++taken) {
        const StepReport report = stepper->step(state, h);
        if (!report.succeeded() || context.stopped()) break;
        seconds += report.seconds.total;
        projected += report.projected_iterations;
        const double distance = (state.x - reference[static_cast<std::size_t>(taken)]).cwiseAbs().maxCoeff() / kLength;
        error = std::max(error, distance);
        sum += distance;
        kinetic = std::max(kinetic, meter.kinetic(state));
      }
      if (context.stopped()) return;
      const bool finished = taken == steps && error < 1;
      context.row({{"dynamic", count},
                   {"placement", placement},
                   {"nodes", model->nodes()},
                   {"outcome", finished ? "stable" : "unstable"},
                   {"worst_distance_over_length", error},
                   {"mean_distance_over_length", taken > 0 ? sum / taken : 0},
                   {"most_kinetic_mJ", 1e3 * kinetic},
                   {"projected_steps", projected},
                   {"ms", taken > 0 ? 1e3 * seconds / taken : 0}});
      if (count <= 4 || std::string_view(placement) == "automatic") all = all && finished;
      if (std::string_view(placement) == "automatic") worst[count] = taken > 0 ? sum / taken : 1;
    }
  context.check({"1, 2 and 4 nodes on the axis, and any number placed automatically, stay stable", "stable", all, all});
  if (worst.contains(1))
    context.check({"one dynamic node is within a tenth of the length of the full motion, on average", "convincing",
                   worst[1], worst[1] < 0.1});
}

}  // namespace

Experiment conjac_twist() {
  return {"conjac/twist",
          "A bar compressed, stretched, bent and twisted with 1 to 32 dynamic nodes, beside the full motion (fig. 3)",
          {{"cells", "20,6,6", "10,4,4", "of the bar; 20,6,6 are the paper's 1029 vertices"},
           {"dynamic", "1,2,4,8,16,32", "1,2,4,8,16,32", "numbers of dynamic nodes"},
           {"h", "0.005", "0.005", "time step, s"},
           {"refine", "5", "2", "steps of the reference in each"},
           {"beta", "0.5", "0.5", ""},
           {"duration", "1.6", "1.6", "s"}},
          run_twist};
}

}  // namespace pliant::experiments
