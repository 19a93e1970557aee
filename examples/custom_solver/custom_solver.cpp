// A solver of your own, from outside the library: symplectic Euler, v = v^n - h M^-1 grad Phi(x^n), x = x^n + h v. What
// a step is (checks, the equation, residuals, the judgement of steps that ran away) comes with Stepper; `advance` is
// all there is to write.
#include <pliant/pliant.hpp>

#include <cmath>
#include <cstdio>

namespace {

using pliant::Vec3;

class SymplecticEuler final : public pliant::Stepper {
 public:
  explicit SymplecticEuler(std::shared_ptr<const pliant::Model> model)
      : Stepper(std::move(model), pliant::ProblemOptions{}) {}
  std::string_view name() const override { return "symplectic-euler"; }

 protected:
  void advance(pliant::Solution& solution, pliant::StepReport& report) override {
    const pliant::StepProblem& problem = this->problem();
    potential().gradient(problem.x_n, gradient_, {.inertia = false});  // zero where positions are prescribed
    solution.v = problem.v_n;
    for (pliant::Index i = 0; i < model()->nodes(); ++i)
      pliant::node(solution.v, i) -= problem.h / model()->mass().lumped()[i] * pliant::node(gradient_, i);
    solution.x = problem.x_n + problem.h * solution.v;
    problem.impose_boundary(solution.x);
    report.iterations = 1;
    report.end(pliant::Outcome::budget_spent, "");
  }
  std::string remedy() const override { return "take steps shorter than sound takes through an element"; }

 private:
  pliant::VecX gradient_;
};

Vec3 momentum(const pliant::Model& model, const pliant::State& state) {
  Vec3 sum = Vec3::Zero();
  for (pliant::Index i = 0; i < model.nodes(); ++i) sum += model.mass().lumped()[i] * pliant::node(state.v, i);
  return sum;
}

}  // namespace

int main() try {
  pliant::ModelBuilder builder;
  pliant::BodyOptions block;
  block.mesh = std::make_shared<pliant::TetMesh>(pliant::box({.size = {1, 1, 1}, .cells = {4, 4, 4}}));
  block.material = {pliant::find_law("neo-hookean"), pliant::lame_from_young(1e5, 0.3)};
  block.velocity = {1, 0, 0};
  block.angular_velocity = {0, 0, 2};
  builder.add_body(block);
  const std::shared_ptr<const pliant::Model> model = builder.build();

  SymplecticEuler solver(model);
  pliant::State state = model->rest_state();
  const Vec3 before = momentum(*model, state);
  for (int step = 0; step < 1000; ++step) {
    const pliant::StepReport report = solver.step(state, 1e-3);
    if (!report.succeeded()) {
      std::fprintf(stderr, "step %d: %s\n", step, report.detail.c_str());
      return 1;
    }
  }
  const double change = (momentum(*model, state) - before).norm() / before.norm();
  std::printf("after %.1f s: momentum changed by %.1e of itself\n", state.time, change);

  // Steps that are too long run away; that is found, and the state stays as it was.
  pliant::StepReport report;
  while ((report = solver.step(state, 0.1)).succeeded()) {
  }
  std::printf("with steps of 0.1 s: %s\n", report.detail.c_str());
  return change < 1e-10 && report.outcome == pliant::Outcome::diverged ? 0 : 1;
} catch (const pliant::InputError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
