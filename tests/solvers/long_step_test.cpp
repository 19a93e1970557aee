#include <gtest/gtest.h>

#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

/// A column that stands on its lower end, too slender for its weight: it buckles, to the side where a breath of wind
/// pushes it.
std::shared_ptr<const Model> column() {
  ModelBuilder builder;
  builder.set_gravity({-0.15, 1e-7, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({10, 1, 1}, {20, 2, 2}, BoxSplit::six);
  body.material = testing::material("neo-hookean", 1e5, 0.3);
  builder.add_body(body);
  builder.add_pin({"foot", builder.body(0).elements->nodes_of(body.mesh->sets().at("x-min"))});
  return builder.build();
}

struct Buckled {
  int iterations;
  double sideways;  ///< the largest displacement across the column, m
  VecX x;
};

/// One long step from the straight column, which is near a saddle.
Buckled buckle(const char* long_steps, const char* solver) {
  const auto model = column();
  State state = model->rest_state();
  const auto stepper = make_stepper(
      model, solver,
      {{"long_steps", long_steps}, {"start", "last-positions"}, {"criterion", "step-length"}, {"tolerance", 1e-9}});
  const StepReport report = stepper->step(state, 20.0);
  EXPECT_TRUE(report.converged()) << report.detail;
  double sideways = 0;
  for (Index i = 0; i < model->nodes(); ++i)
    sideways = std::max(sideways, std::abs(node(state.x, i).y() - node(model->rest(), i).y()));
  return {report.iterations, sideways, state.x};
}

TEST(LongSteps, LeaveASaddleInFewerIterationsForTheSameState) {
  for (const char* solver : {"projected-newton", "pod-newton"}) {
    const Buckled doubled = buckle("where-concave", solver), whole = buckle("never", solver);
    EXPECT_GT(doubled.sideways, 0.5) << solver;
    EXPECT_LT((doubled.x - whole.x).cwiseAbs().maxCoeff(), 1e-5) << solver;
    EXPECT_LT(doubled.iterations, whole.iterations) << solver;
    if (std::string(solver) == "pod-newton") {
      EXPECT_LT(doubled.iterations, 0.8 * whole.iterations);
    }
  }
}

}  // namespace
}  // namespace pliant
