#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/convergence.hpp"
#include "experiments/quasi_newton/descent.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"

namespace pliant::experiments {

namespace {

/// Newton with the exact Hessian and the smallest multiple of the identity, of a ladder of factors of two, with which
/// it has a factor (Martin et al. 2011).
class ShiftedNewton {
 public:
  explicit ShiftedNewton(const FrameScene& scene) : potential_(scene.model, {}), H_(potential_.make_matrix()) {
    cholesky_.analyze(H_.shared_pattern(), 3);
  }

  bool is_indefinite_at_start(const State& begin) {
    potential_.begin_step(begin, kFrame);
    potential_.hessian(potential_.problem().predicted_start(), Projection::none, 1, H_);
    return cholesky_.factor(H_) == FactorStatus::not_positive_definite;
  }

  /// Energies before each iteration and at the end.
  std::vector<double> energies(const State& begin, int iterations) {
    potential_.begin_step(begin, kFrame);
    Iterate current, trial;
    current.x = potential_.problem().predicted_start();
    current.energy = potential_.gradient(current.x, current.gradient);
    std::vector<double> values{current.energy};
    for (int k = 0; k < iterations; ++k) {
      potential_.hessian(current.x, Projection::none, 1, H_);
      double shift = 0, largest = 0;
      for (Index i = 0; i < H_.pattern().rows(); ++i)
        largest = std::max(largest, std::abs(*H_.block(H_.pattern().diagonal(i))));
      while (cholesky_.factor(H_) != FactorStatus::ok) {
        const double next = shift == 0 ? std::ldexp(largest, -30) : 2 * shift;
        for (Index i = 0; i < H_.pattern().rows(); ++i)
          Eigen::Map<Mat3>(H_.block(H_.pattern().diagonal(i))).diagonal().array() += next - shift;
        shift = next;
      }
      VecX dx = -current.gradient;
      cholesky_.solve(dx);
      const double slope = current.gradient.dot(dx);
      const LineSearchOptions search{LineSearchKind::robust, 0.3, 1e-10, 0.1};
      if (line_search(potential_, current, {dx, slope, 1}, search, trial).accepted) std::swap(current, trial);
      values.push_back(current.energy);
    }
    return values;
  }

 private:
  IncrementalPotential potential_;
  BlockMatrix H_;
  SparseCholesky cholesky_;
};

/// Costs nothing and counts who asks for its Hessian: whoever assembles one.
class HessianProbe final : public Energy {
 public:
  HessianProbe() {
    stencils_.size = 1;
    stencils_.nodes = {0};
  }
  std::string_view name() const override { return "probe"; }
  const Stencils& stencils() const override { return stencils_; }
  void evaluate(const Pose&, Range range, double* values, double* gradients) const override {
    for (Index s = 0; s < range.end - range.begin; ++s) {
      values[s] = 0;
      if (gradients) std::fill_n(gradients + 3 * s, 3, 0.0);
    }
  }
  void hessians(const Pose&, Range range, Projection, double* blocks) const override {
    ++calls;
    std::fill_n(blocks, 9 * (range.end - range.begin), 0.0);
  }
  mutable std::atomic<int> calls = 0;

 private:
  Stencils stencils_;
};

}  // namespace

void decide_definiteness(Context& context) {
  Decision decision("quasi-newton/section-5/definiteness-fix");
  const int wanted = context.quick() ? 10 : 20;
  const std::vector<std::string> meshes =
      context.quick() ? std::vector<std::string>{"longbar"} : std::vector<std::string>{"longbar2", "hippo"};
  for (const std::string& name : meshes) {
    const auto mesh = std::make_shared<TetMesh>(*find_mesh(context, name));
    const Table1Row& row = table1_row("twisting-bar");
    const FrameScene scene = name == "hippo"
                                 ? table1_frame_scene(table1_row("hippo"), mesh->data(), table1_row("hippo").factor)
                                 : twisting_bar(mesh, {row.mu * row.factor, row.lambda * row.factor});
    const Trajectory run = converged_run(scene, 60);
    ShiftedNewton shifted(scene);
    const auto projected = newton_iterations(scene, 5), exact = exact_newton(scene);
    std::vector<double> errors[4];  // projection and shift after 1, then after 5
    int indefinite = 0;
    for (const State& begin : run.begins) {
      if (indefinite == wanted || context.stopped()) break;
      if (!shifted.is_indefinite_at_start(begin)) continue;
      ++indefinite;
      State a = begin, b = begin;
      const StepReport five = projected->step(a, kFrame), best = exact->step(b, kFrame);
      const std::vector<double> energies = shifted.energies(begin, 5);
      const double first = energies[0], least = std::min({best.energy, five.energy, energies.back()});
      const double one = five.history.size() > 1 ? five.history[1].energy : five.energy;
      errors[0].push_back(relative_error(one, first, least));
      errors[1].push_back(relative_error(energies[1], first, least));
      errors[2].push_back(relative_error(five.energy, first, least));
      errors[3].push_back(relative_error(energies[5], first, least));
    }
    decision.needs(indefinite >= wanted,
                   fmt::format("{}: {} frames with an indefinite Hessian ({} found)", name, wanted, indefinite));
    for (int k : {0, 1}) {
      const auto at = static_cast<std::size_t>(2 * k);
      decision.below(fmt::format("{}: median error with projection after {} iterations", name, k == 0 ? 1 : 5),
                     median(errors[at]), median(errors[at + 1]));
    }
    if (decision.verdict() == Verdict::fails)
      decision.because(
          fmt::format("{}: after 1 iteration {:.1e} with projection and {:.1e} with the identity, after 5 "
                      "{:.1e} and {:.1e}",
                      name, median(errors[0]), median(errors[1]), median(errors[2]), median(errors[3])));
  }
  context.decide(decision);
}

void decide_no_hessian(Context& context) {
  Decision decision("quasi-newton/section-5/no-hessian");
  const auto mesh = std::make_shared<TetMesh>(*find_mesh(context, context.quick() ? "longbar" : "longbar2"));
  const Table1Row& row = table1_row("twisting-bar");
  const auto probe = std::make_shared<HessianProbe>();
  FrameScene scene = twisting_bar(mesh, {row.mu * row.factor, row.lambda * row.factor});
  ModelBuilder builder;  // the same with the probe
  builder.add_body(ten_kilograms(mesh, "neo-hookean", {row.mu * row.factor, row.lambda * row.factor}));
  for (const Pin& pin : scene.model->pins()) builder.add_pin(pin);
  for (const Script& script : scene.model->scripts()) builder.add_script(script);
  builder.add_energy(probe);
  scene.model = builder.build();
  const auto ours = make_stepper(scene.model, "quasi-newton", {{"line_search", "armijo"}, {"linear", "direct"}});
  State state = scene.start;
  double farthest = 0;
  int deformed = 0, done = 0;
  for (; done < 60; ++done) {
    begin_frame(scene, state);
    if (!ours->step(state, kFrame).advanced() || !state.x.allFinite()) break;
    farthest = std::max(farthest, (state.x - scene.model->rest()).cwiseAbs().maxCoeff() / scene.size);
    deformed += largest_strain(*scene.model, state.x) > 0.1;
  }
  decision.needs(deformed >= 30, "half of the frames are deformed")
      .equal("frames done", done, 60)
      .equal("element Hessians asked for", probe->calls, 0)
      .at_most("farthest vertex in sizes of the body", farthest, 2);
  if (decision.verdict() == Verdict::fails)
    decision.because(fmt::format("the engine's rescue made a Hessian {} times", probe->calls.load()));
  context.decide(decision);
}

}  // namespace pliant::experiments
