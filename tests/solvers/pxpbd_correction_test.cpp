// Where sweeps do not keep up, Newton's method ends a step: position-based solvers with their defaults beside
// pod-newton, on stiffness numbers in the hundreds, strong compression, bones, impacts. Sizes and inverted elements are
// computed here.
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <Eigen/Geometry>
#include <cmath>

#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/pxpbd/pxpbd_stepper.hpp"
#include "support/models.hpp"

namespace pliant {
namespace pxpbd_correction {
namespace {

constexpr double kFrame = 1.0 / 60;

BodyOptions body_of(const std::string& law, const Vec3& size, std::array<Index, 3> cells, double young,
                    double poisson) {
  BodyOptions options;
  options.mesh = testing::box_mesh(size, cells);
  const bool is_muscle = law == "muscle";
  options.material = testing::material(is_muscle ? "neo-hookean" : law, young, poisson);
  if (is_muscle) options.fibres = {{find_fibre_law("muscle"), {{young, 1.4, 0}}, {Vec3::UnitX()}, -1}};
  return options;
}

/// Held at one end, across gravity.
std::shared_ptr<const Model> hung(const BodyOptions& options) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(options);
  builder.add_pin({"hook", options.mesh->sets().at("x-min")});
  return builder.build();
}

/// A bar of 20 cm in cells of 2 cm: a stiffness number of 615.
std::shared_ptr<const Model> hanging_flesh(const std::string& law) {
  return hung(body_of(law, {0.2, 0.04, 0.04}, {10, 2, 2}, 1e5, 0.45));
}

std::shared_ptr<const Model> dropped(BodyOptions options, double height, double speed) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  options.velocity = {0, -speed, 0};
  builder.add_body(options);
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"floor", PlaneShape{Vec3(0, -height, 0), Vec3::UnitY()}, {}, 1e5, 0.3});
  return builder.build();
}

/// A cube of 1 m that falls by 1 m.
std::shared_ptr<const Model> dropped_cube(const std::string& law) {
  return dropped(body_of(law, {1, 1, 1}, {6, 6, 6}, 1e5, 0.4), 1, 0);
}

/// scenes/twisted-beam.toml, coarser.
std::shared_ptr<const Model> twisted_beam(const std::string& law) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions beam = body_of(law, {4, 1, 1}, {12, 3, 3}, 1e6, 0.45);
  builder.add_body(beam);
  builder.add_pin({"wall", beam.mesh->sets().at("x-min")});
  Script grip{"grip", beam.mesh->sets().at("x-max"), {}};
  grip.motion.axis = Vec3::UnitX();
  grip.motion.centre = {4, 0.5, 0.5};
  grip.motion.angle.keys = {{0, 0.0}, {2, 3 * M_PI}};
  builder.add_script(grip);
  return builder.build();
}

/// Pressed to 60% of its length within half a second.
std::shared_ptr<const Model> squeezed_bar(const std::string& law) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions bar = body_of(law, {0.4, 0.2, 0.2}, {8, 4, 4}, 1e5, 0.4);
  builder.add_body(bar);
  builder.add_pin({"wall", bar.mesh->sets().at("x-min")});
  Script press{"press", bar.mesh->sets().at("x-max"), {}, Imposition::direct};
  press.motion.translation.keys = {{0, Vec3::Zero()}, {0.5, Vec3(-0.16, 0, 0)}};
  builder.add_script(press);
  return builder.build();
}

/// An arm of 2e4 Pa with a bone of 1e9 Pa along its axis.
std::shared_ptr<const Model> arm_with_bone(const std::string& law) {
  const Vec3 size(0.4, 0.1, 0.1);
  BodyOptions arm = body_of(law, size, {16, 4, 4}, 2e4, 0.45);
  for (const Tet& t : arm.mesh->tets()) {
    Vec3 centre = Vec3::Zero();
    for (Index i : t) centre += 0.25 * arm.mesh->vertices()[static_cast<std::size_t>(i)];
    const bool is_bone = std::abs(centre.y() - 0.05) < 0.025 && std::abs(centre.z() - 0.05) < 0.025;
    arm.lame.push_back(is_bone ? lame_from_young(1e9, 0.3) : arm.material.lame);
  }
  return hung(arm);
}

double extent(const VecX& x) {
  Vec3 low = x.head<3>(), high = low;
  for (Eigen::Index i = 0; i < x.size(); i += 3) {
    low = low.cwiseMin(x.segment<3>(i));
    high = high.cwiseMax(x.segment<3>(i));
  }
  return (high - low).norm();
}

int inverted(const Model& model, const VecX& x) {
  int count = 0;
  for (const Tet& t : model.bodies()[0].mesh->tets()) {
    const Vec3 o = node(x, t[0]), a = node(x, t[1]) - o, b = node(x, t[2]) - o, c = node(x, t[3]) - o;
    count += !(a.cross(b).dot(c) > 0);
  }
  return count;
}

struct Beside {
  double off = 0;     ///< largest distance to Newton's positions over the largest of its motion
  double larger = 0;  ///< largest extent over Newton's largest
  int inverted = 0, inverted_under_newton = 0;  ///< at the end
  int steps = 0;                                ///< that advanced
  int corrections = 0;
};

Beside beside_newton(const std::shared_ptr<const Model>& model, const std::string& solver, int steps,
                     const ParameterMap& parameters = {}) {
  const auto exact = make_stepper(model, "pod-newton"), ours = make_stepper(model, solver, parameters);
  State a = model->rest_state(), b = a;
  Beside result;
  double off = 0, motion = 0, size = 0, exact_size = 0;
  for (int s = 0; s < steps; ++s) {
    EXPECT_TRUE(exact->step(a, kFrame).advanced());
    const StepReport report = ours->step(b, kFrame);
    result.steps += report.advanced();
    for (const Figure& figure : report.figures)
      if (figure.name == "corrections") result.corrections += static_cast<int>(figure.value);
    off = std::max(off, (a.x - b.x).cwiseAbs().maxCoeff());
    motion = std::max(motion, (a.x - model->rest()).cwiseAbs().maxCoeff());
    size = std::max(size, extent(b.x));
    exact_size = std::max(exact_size, extent(a.x));
  }
  result.off = off / motion;
  result.larger = size / exact_size;
  result.inverted = inverted(*model, b.x);
  result.inverted_under_newton = inverted(*model, a.x);
  return result;
}

struct Case {
  std::string name;
  std::shared_ptr<const Model> (*build)(const std::string& law);
};
const Case kCases[] = {{"hang", hanging_flesh},
                       {"drop", dropped_cube},
                       {"twist", twisted_beam},
                       {"squeeze", squeezed_bar},
                       {"bone", arm_with_bone}};

class EveryLaw : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Pxpbd, EveryLaw,
                         ::testing::Values("neo-hookean", "mooney-rivlin", "spline-a", "linear-corotated", "muscle",
                                           "fixed-corotated", "stable-neo-hookean"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryLaw, HangsFallsTwistsAndIsSqueezedAsUnderNewtonForASecond) {
  for (const Case& run : kCases) {
    const Beside result = beside_newton(run.build(GetParam()), "fp-pxpbd", 60);
    EXPECT_EQ(result.steps, 60) << run.name;
    EXPECT_LT(result.off, 0.1) << run.name;
    EXPECT_LT(result.larger, 1.1) << run.name;
    if (result.inverted_under_newton == 0) {
      EXPECT_EQ(result.inverted, 0) << run.name;
    }
  }
}

TEST(PxpbdCorrection, KeepsBlendedSweepsNearNewtonToo) {
  for (const char* law : {"fixed-corotated", "macklin-mueller"})
    for (const Case& run : kCases) {
      const Beside result = beside_newton(run.build(law), "b-pxpbd", 60);
      EXPECT_LT(result.off, 0.1) << law << " " << run.name;
      EXPECT_EQ(result.inverted, 0) << law << " " << run.name;
    }
}

TEST(PxpbdCorrection, HoldsNearlyIncompressibleBodiesAndImpactsAt300MetresPerSecond) {
  for (const auto& [poisson, speed] : {std::pair{0.4999, 4.43}, {0.4, 300.0}}) {
    const auto model = dropped(body_of("neo-hookean", {1, 1, 1}, {4, 4, 4}, 1e5, poisson), 0.01, speed);
    const Beside result = beside_newton(model, "fp-pxpbd", 60);
    EXPECT_EQ(result.steps, 60);
    EXPECT_LT(result.off, 0.1);
    EXPECT_LT(result.larger, 1.1);
    EXPECT_EQ(result.inverted, 0);
  }
}

TEST(PxpbdCorrection, IsLeftOutWhereSweepsKeepUpOrOnRequest) {
  // Stiffness number 0.2; two sweeps more than enough.
  const auto soft = hung(body_of("neo-hookean", {1, 0.25, 0.25}, {4, 1, 1}, 2e3, 0.3));
  const auto stepper = make_stepper(soft, "fp-pxpbd");
  State state = soft->rest_state();
  for (int s = 0; s < 10; ++s) EXPECT_EQ(stepper->step(state, 0.01).linear_iterations, 0);
  EXPECT_LT(dynamic_cast<PxpbdStepper&>(*stepper).largest_kappa(0.01), 0.3);
  EXPECT_EQ(beside_newton(hanging_flesh("fixed-corotated"), "fp-pxpbd", 5, {{"correction", "none"}}).corrections, 0);
  EXPECT_GT(beside_newton(hanging_flesh("fixed-corotated"), "fp-pxpbd", 5).corrections, 0);
}

TEST(PxpbdCorrection, RescuesXpbdFromInvertedElementsAndOtherwiseLeavesItAlone) {
  const Beside alone = beside_newton(squeezed_bar("fixed-corotated"), "xpbd", 60, {{"correction", "none"}});
  const Beside rescued = beside_newton(squeezed_bar("fixed-corotated"), "xpbd", 60);
  EXPECT_GT(alone.inverted, 0);
  EXPECT_EQ(rescued.inverted, 0);
  EXPECT_EQ(beside_newton(dropped_cube("fixed-corotated"), "xpbd", 30).corrections, 0);
}

TEST(PxpbdCorrection, GivesTheSameBitsOnOneAndTwoThreads) {
  const auto model = twisted_beam("neo-hookean");
  std::vector<State> ends;
  for (std::size_t threads : {1, 2}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const auto stepper = make_stepper(model, "fp-pxpbd");
    ends.push_back(model->rest_state());
    for (int s = 0; s < 20; ++s) ASSERT_TRUE(stepper->step(ends.back(), kFrame).advanced());
  }
  EXPECT_EQ(ends[0].x, ends[1].x);
  EXPECT_EQ(ends[0].v, ends[1].v);
}

/// A heavy block on a soft one, with contact: how far the soft one is pressed down after a second.
TEST(PxpbdCorrection, AHeavyBlockSinksIntoASoftOneAsFarAsUnderNewton) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const auto lifted = [](const BodyOptions& options, double height) {
    BodyOptions moved = options;
    MeshData data = options.mesh->data();
    for (Vec3& p : data.vertices) p.y() += height;
    moved.mesh = std::make_shared<TetMesh>(std::move(data));
    return moved;
  };
  BodyOptions soft = lifted(body_of("fixed-corotated", {0.4, 0.1, 0.4}, {6, 2, 6}, 3e4, 0.3), 0.001);
  BodyOptions heavy = lifted(body_of("fixed-corotated", {0.3, 0.1, 0.3}, {4, 2, 4}, 1e6, 0.3), 0.102);
  soft.name = "soft";
  heavy.name = "heavy";
  heavy.density = 7000;
  builder.add_body(soft);
  builder.add_body(heavy);
  builder.set_contact({});
  builder.add_collider({"floor", PlaneShape{}, {}, 1e5, 0.3});
  const auto model = builder.build();
  const auto sunk = [&](const char* solver) {
    const auto stepper = make_stepper(model, solver);
    State state = model->rest_state();
    for (int s = 0; s < 60; ++s) EXPECT_TRUE(stepper->step(state, kFrame).advanced()) << solver;
    double sum = 0;
    const Range upper = model->bodies()[1].nodes;
    for (Index i = upper.begin; i < upper.end; ++i) sum += node(model->rest(), i).y() - node(state.x, i).y();
    return sum / upper.size();
  };
  const double exact = sunk("pod-newton");
  EXPECT_GT(exact, 1e-3);
  for (const char* solver : {"fp-pxpbd", "b-pxpbd"}) EXPECT_NEAR(sunk(solver) / exact, 1, 0.1) << solver;
}

/// What sweeps do by themselves: the 9x9 path with its majorised curvature.
TEST_P(EveryLaw, ConvergesBySweepsAloneStretchedAndCompressed) {
  for (const auto& [edge, sweeps, bound] : {std::tuple{0.2867, 200, 1e-9}, {0.1139, 500, 1e-4}})
    for (double stretch : {1.5, 0.6}) {
      ModelBuilder builder;
      BodyOptions options = body_of(GetParam(), {8 * edge, 4 * edge, 4 * edge}, {8, 4, 4}, 1e4, 0.3);
      options.density = 10;
      builder.add_body(options);
      const auto model = builder.build();
      State state = model->rest_state();
      for (Index i = 0; i < model->nodes(); ++i) {
        const Vec3 X = node(model->rest(), i);
        node(state.x, i)[0] *= stretch;
        node(state.v, i) = Vec3(1 + X[1], -0.5 * X[0], 0.3 * X[0] * X[0]);
      }
      const auto stepper =
          make_stepper(model, "fp-pxpbd",
                       {{"iterations", static_cast<std::int64_t>(sweeps)}, {"history", true}, {"correction", "none"}});
      const StepReport report = stepper->step(state, 0.01);
      const double first = report.history.front().force;
      EXPECT_LT(report.residuals.force, bound * first) << edge << " " << stretch;
      for (const IterationRecord& record : report.history) {
        EXPECT_LT(record.force, 4 * first) << edge << " " << stretch;
        EXPECT_LT(record.primal, 1e-11 * first);
      }
    }
}

}  // namespace
}  // namespace pxpbd_correction
}  // namespace pliant
