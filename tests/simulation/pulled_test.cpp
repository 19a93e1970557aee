// Conjugate gradients solve the same system as the factorisation, also while scripts pull by stiff springs: what these
// ask for must not drown the rest in the residual.
#include <gtest/gtest.h>

#include "pliant/simulation/simulation.hpp"

namespace pliant {
namespace pulled {
namespace {

const char* const kBar = R"(
[simulation]
fps = 60
frames = 20
gravity = [0, 0, 0]
[[body]]
box = {size = [1, 0.25, 0.25], cells = [8, 2, 2]}
material = "neo-hookean"
young = 3e3
poisson = 0.4
density = 1000
[[pin]]
where = "x-min"
[[script]]
where = "x-max"
imposition = "penalty"
keyframes = [{time = 0, translate = [0, 0, 0]}, {time = 0.3, translate = [0.4, 0, 0]}]
)";

VecX end_of(const std::string& solver) {
  Simulation simulation(parse_scene(kBar, "bar", ".", {{}, solver}));
  for (int step = 0; step < 20; ++step) {
    const StepReport report = simulation.step();
    EXPECT_TRUE(report.succeeded()) << report.detail;
  }
  return simulation.state()->x;
}

TEST(PulledBar, ConjugateGradientsAgreeWithTheFactorisation) {
  EXPECT_LT((end_of("corotational-cg") - end_of("corotational")).cwiseAbs().maxCoeff(), 1e-4);
}

}  // namespace
}  // namespace pulled
}  // namespace pliant
