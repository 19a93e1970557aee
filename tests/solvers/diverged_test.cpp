// Never a silent explosion: a step that ran away says so. The runs that explode are those that users met, made small;
// they are judged by the size of the body and by its elastic energy, both computed here. Lively but good runs are not
// called diverged. With PLIANT_TEST_PRINT set, each step is printed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cstdlib>
#include <functional>
#include <random>

#include "pliant/solvers/catalogue.hpp"
#include "support/backward_euler.hpp"
#include "support/models.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace diverged {
namespace {

/// A run: a model, a solver, a number of steps.
struct Case {
  std::string name;
  std::string solver;
  std::function<std::shared_ptr<const Model>()> build;
  double h = 1.0 / 60;  ///< s
  int steps = 60;
  ParameterMap parameters = {};
  std::function<void(const Model&, State&, int s)> steer = [](const Model&, State&, int) {};
};

/// What became of a run.
struct Fate {
  int exploded = -1;   ///< first step since which a body is three times its size or has no finite energy
  int lost_steps = 0;  ///< all of such steps
  int diverged = -1;   ///< first step that was called diverged
  int successes = 0;   ///< of such steps, those called a success after `diverged` or beyond the patience
  bool is_finite = true;
  double extent = 1;    ///< largest, over the body's size
  std::string last;     ///< outcome and detail of the last step
  std::string verdict;  ///< and of the step that was called diverged
};

constexpr int kPatience = 30;  ///< steps

double diagonal(const VecX& x, Range nodes) {
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (Index i = nodes.begin; i < nodes.end; ++i) {
    low = low.cwiseMin(node(x, i));
    high = high.cwiseMax(node(x, i));
  }
  return (high - low).norm();
}

Fate follow(const Case& run) {
  const bool prints = std::getenv("PLIANT_TEST_PRINT") != nullptr;
  const auto model = run.build();
  const auto stepper = make_stepper(model, run.solver, run.parameters);
  const testing::BackwardEuler judge(model);
  State state = model->rest_state();
  Fate fate;
  for (int s = 0; s < run.steps; ++s) {
    run.steer(*model, state, s);
    const StepReport report = stepper->step(state, run.h);
    fate.last = fmt::format("{}: {}", to_string(report.outcome), report.detail);
    fate.is_finite = fate.is_finite && state.x.allFinite() && state.v.allFinite();
    double extent = 0;
    for (const Body& body : model->bodies())
      extent = std::max(extent, diagonal(state.x, body.nodes) / diagonal(model->rest(), body.nodes));
    const double energy = judge.elastic_energy(state.x);
    fate.extent = std::max(fate.extent, extent);
    const bool is_lost = !(extent < 3) || !std::isfinite(energy);
    fate.lost_steps += is_lost;
    if (fate.diverged < 0) fate.exploded = !is_lost ? -1 : fate.exploded < 0 ? s : fate.exploded;
    if (fate.diverged < 0 && to_string(report.outcome) == "diverged") {
      fate.diverged = s;
      fate.verdict = report.detail;
    }
    if (prints)
      fmt::print(
          "{:32} step {:3} {:14} extent {:9.3g} energy {:9.3g} J (potential {:9.3g}) fastest {:9.3g} m/s, {} "
          "inverted\n",
          run.name, s, to_string(report.outcome), extent, energy, report.energy, state.v.cwiseAbs().maxCoeff(),
          judge.inverted(state.x));
    if (!fate.is_finite) break;
    if (fate.diverged < 0 && fate.exploded < 0) continue;
    const int limit = fate.diverged >= 0 ? fate.diverged : fate.exploded + kPatience;
    if (s > limit) fate.successes += is_lost && report.succeeded();
    if (s > limit + 5) break;
  }
  return fate;
}

BodyOptions body(const std::string& law, const Vec3& size, std::array<Index, 3> cells, double young, double poisson) {
  BodyOptions options;
  options.mesh = testing::box_mesh(size, cells);
  options.material = testing::material(law, young, poisson);
  return options;
}

Collider floor_at(double height) { return {"floor", PlaneShape{Vec3(0, height, 0), Vec3::UnitY()}, {}, 1e5, 0}; }

std::shared_ptr<const Model> dropped(BodyOptions options, double speed, double height = -0.01) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  options.velocity = {0, -speed, 0};
  builder.add_body(options);
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider(floor_at(height));
  return builder.build();
}

std::shared_ptr<const Model> hung(const BodyOptions& options, const std::string& set = "x-min") {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(options);
  builder.add_pin({"hook", options.mesh->sets().at(set)});
  return builder.build();
}

/// scenes/twisted-beam.toml, coarser.
std::shared_ptr<const Model> twisted_beam(std::array<Index, 3> cells) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions beam = body("neo-hookean", {4, 1, 1}, cells, 1e6, 0.45);
  builder.add_body(beam);
  builder.add_pin({"wall", beam.mesh->sets().at("x-min")});
  Script grip{"grip", beam.mesh->sets().at("x-max"), {}};
  grip.motion.axis = Vec3::UnitX();
  grip.motion.centre = {4, 0.5, 0.5};
  grip.motion.angle.keys = {{0, 0.0}, {2, 3 * M_PI}};
  grip.release = 2.5;
  builder.add_script(grip);
  return builder.build();
}

/// A cube that lands turned by some angle, so that its corner meets the floor first, at the speed of a fall of 1 m.
std::shared_ptr<const Model> dropped_on_its_corner(const std::string& law, Index cells, double young, double poisson) {
  BodyOptions options = body(law, {1, 1, 1}, {cells, cells, cells}, young, poisson);
  MeshData data = options.mesh->data();
  const Mat3 R = Eigen::AngleAxisd(0.5, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  double lowest = 1;
  for (Vec3& p : data.vertices) {
    p = R * p;
    lowest = std::min(lowest, p.y());
  }
  options.mesh = std::make_shared<TetMesh>(std::move(data));
  return dropped(options, 4.43, lowest - 0.01);
}

std::shared_ptr<const Model> dropped_ball(Index cells, double young, double speed) {
  BodyOptions options = body("neo-hookean", {1, 1, 1}, {1, 1, 1}, young, 0.4);
  options.mesh = std::make_shared<TetMesh>(sphere({.radius = 0.5, .cells = cells}));
  return dropped(options, speed, -0.51);
}

/// A block that slides down a slope with friction.
std::shared_ptr<const Model> on_a_slope() {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(body("neo-hookean", {1, 0.6, 1}, {12, 8, 12}, 1e5, 0.4));
  const Vec3 normal = Vec3(0.5, 1, 0).normalized();
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"slope", PlaneShape{-0.01 * normal, normal}, {}, 1e5, 0.5});
  return builder.build();
}

/// What the solvers are put to; the law is one that the solver steps well.
std::vector<Case> lively_runs(const std::string& solver) {
  const std::string law = testing::law_for(solver);
  const double frame = 1.0 / 60;
  const auto pulled = [](const Model& model, State& state, int s) {
    state.grabs.clear();
    if (s >= 20) return;
    const Triangle t = model.bodies()[0].mesh->surface().back();
    Grab grab{{t[0], t[1], t[2]}, {0.3, 0.3, 0.4}, Vec3::Zero(), 3e4};
    grab.target = grab.point(model.rest()) + Vec3(0.7, 0.7, 0);
    state.grabs = {grab};
  };
  return {
      {"jelly dropped from a metre", solver,
       [=] {
         return dropped(body(law, {0.5, 0.5, 0.5}, {4, 4, 4}, 2e4, 0.4), 4.43);
       },
       frame, 90},
      {"hard impact", solver,
       [=] {
         return dropped(body(law, {0.5, 0.5, 0.5}, {4, 4, 4}, 2e6, 0.3), 15);
       },
       frame, 60},
      {"fast spin", solver,
       [=] {
         ModelBuilder builder;
         BodyOptions options = body(law, {1, 0.3, 0.3}, {6, 2, 2}, 1e6, 0.3);
         options.angular_velocity = {0, 5, 25};
         builder.add_body(options);
         return builder.build();
       },
       frame, 90},
      {"shaken bar", solver,
       [=] {
         ModelBuilder builder;
         builder.set_gravity({0, -9.81, 0});
         const BodyOptions options = body(law, {1, 0.3, 0.3}, {6, 2, 2}, 3e5, 0.35);
         builder.add_body(options);
         Script hand{"hand", options.mesh->sets().at("x-min"), {}, Imposition::direct};
         for (int k = 0; k < 12; ++k)
           hand.motion.translation.keys.push_back({0.1 * k, Vec3(0, k % 2 == 0 ? 0.2 : -0.2, 0.02 * k)});
         hand.start = 0;
         hand.motion.translation.keys.front().value = Vec3::Zero();
         builder.add_script(hand);
         return builder.build();
       },
       frame, 90},
      {"strong grab and release",
       solver,
       [=] {
         return hung(body(law, {1, 0.3, 0.3}, {6, 2, 2}, 1e5, 0.35));
       },
       frame,
       90,
       {},
       pulled},
  };
}

bool has_safeguard(const std::string& solver) {
  return complete_parameters(find_solver(solver), {}).contains("safeguard");
}

/// Of these, what solvers do not hold without their safeguard.
bool is_beyond(const std::string& solver, const std::string& run) {
  static const std::vector<std::pair<std::string, std::string>> known = {
      {"stiffness-warping", "strong grab and release"},
      {"linearly-implicit", "strong grab and release"},
      {"conjac", "hard impact"}};
  return std::find(known.begin(), known.end(), std::pair(solver, run)) != known.end();
}

const std::vector<Case>& exploding_runs() {
  const double frame = 1.0 / 60;
  // Colliders that push by forces of the step's start; in the matrix they hold.
  const ParameterMap as_forces = {{"colliders", std::string("explicit")}};
  static const std::vector<Case> all = {
      {"fp-pxpbd twisted beam", "fp-pxpbd",
       [] {
         return twisted_beam({12, 3, 3});
       },
       frame, 150},
      {"fp-pxpbd dropped cube", "fp-pxpbd",
       [] {
         return dropped(body("neo-hookean", {1, 1, 1}, {12, 12, 12}, 1e5, 0.4), 4.43);
       },
       frame, 60},
      {"fp-pxpbd hanging flesh of neo-hookean", "fp-pxpbd",
       [] {
         return hung(body("neo-hookean", {0.2, 0.04, 0.04}, {10, 2, 2}, 1e5, 0.45));
       },
       frame, 120},
      {"fp-pxpbd hanging flesh of mooney-rivlin", "fp-pxpbd",
       [] {
         return hung(body("mooney-rivlin", {0.2, 0.04, 0.04}, {10, 2, 2}, 1e5, 0.45));
       },
       frame, 120},
      {"fp-pxpbd nearly incompressible", "fp-pxpbd",
       [] {
         return dropped(body("neo-hookean", {1, 1, 1}, {4, 4, 4}, 1e5, 0.4999), 4.43);
       },
       frame, 120},
      {"fp-pxpbd at 300 metres per second", "fp-pxpbd",
       [] {
         return dropped(body("neo-hookean", {1, 1, 1}, {4, 4, 4}, 1e5, 0.4), 300);
       },
       frame, 120},
      {"conjac dropped ball of 1e4 pascals", "conjac", [] { return dropped_ball(6, 1e4, 0.8); }, 5e-3, 120},
      {"conjac at one pascal", "conjac",
       [] {
         return dropped(body("neo-hookean", {1, 1, 1}, {4, 4, 4}, 1, 0.4), 4.43);
       },
       frame, 120},
      {"corotational with stable-neo-hookean", "corotational",
       [] { return dropped_on_its_corner("stable-neo-hookean", 4, 2e4, 0.45); }, frame, 120, as_forces},
      {"corotational with fixed-corotated", "corotational",
       [] { return dropped_on_its_corner("fixed-corotated", 4, 2e4, 0.45); }, frame, 120, as_forces},
      {"corotational with neo-hookean", "corotational",
       [] { return dropped_on_its_corner("neo-hookean", 4, 2e4, 0.45); }, frame, 120, as_forces},
      {"corotational-cg with stable-neo-hookean", "corotational-cg",
       [] { return dropped_on_its_corner("stable-neo-hookean", 4, 2e4, 0.45); }, frame, 120, as_forces},
      {"warp-canceling with stable-neo-hookean", "warp-canceling",
       [] { return dropped_on_its_corner("stable-neo-hookean", 4, 2e4, 0.45); }, frame, 120, as_forces},
      {"warp-canceling with fixed-corotated", "warp-canceling",
       [] { return dropped_on_its_corner("fixed-corotated", 4, 2e4, 0.45); }, frame, 120, as_forces},
      {"stiffness-warping with stable-neo-hookean", "stiffness-warping",
       [] { return dropped_on_its_corner("stable-neo-hookean", 4, 2e4, 0.45); }, frame, 120, as_forces},
      {"stiffness-warping with fixed-corotated", "stiffness-warping",
       [] { return dropped_on_its_corner("fixed-corotated", 4, 2e4, 0.45); }, frame, 120, as_forces},
      {"stiffness-warping with its own law", "stiffness-warping",
       [] { return dropped_on_its_corner("linear-corotated", 8, 1e4, 0.4); }, frame, 150, as_forces},
      {"linearly-implicit on a slope", "linearly-implicit", [] { return on_a_slope(); }, frame, 90},
  };
  static const std::vector<Case> with_lively = [] {
    std::vector<Case> cases = all;
    // The papers' methods as they are: with the safeguard these runs hold (GuardedRun).
    for (Case& run : cases)
      if (has_safeguard(run.solver)) run.parameters["safeguard"] = "none";
    for (Case& run : cases)
      if (run.solver == "fp-pxpbd") run.parameters["correction"] = "none";
    for (const std::string& solver : testing::solver_names())
      for (Case& run : lively_runs(solver))
        if (is_beyond(solver, run.name)) {
          run.name = solver + " " + run.name;
          run.parameters["safeguard"] = "none";
          cases.push_back(run);
        }
    return cases;
  }();
  return with_lively;
}

class ExplodingRun : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Issue, ExplodingRun, ::testing::Range<std::size_t>(0, exploding_runs().size()),
                         [](const auto& instance) {
                           return testing::identifier(exploding_runs()[instance.param].name);
                         });

TEST_P(ExplodingRun, IsCalledDivergedWithinAFewStepsAndNeverASuccessAfterwards) {
  const Case& run = exploding_runs()[GetParam()];
  const Fate fate = follow(run);
  EXPECT_TRUE(fate.is_finite);
  // A solver that has learnt to hold is to be held to it: its run belongs among the lively ones then.
  ASSERT_TRUE(fate.exploded >= 0 || fate.diverged >= 0)
      << "holds: largest extent " << fate.extent << ", " << fate.lost_steps << " steps beyond; " << fate.last;
  EXPECT_GE(fate.diverged, 0) << "explodes in step " << fate.exploded << " to " << fate.extent << " sizes; last "
                              << fate.last;
  if (fate.exploded >= 0) {
    EXPECT_LE(fate.diverged, fate.exploded + kPatience);
  }
  EXPECT_EQ(fate.successes, 0);
}

// The remedy that diverged steps name without a safeguard or a correction, and the default: safeguard = "newton",
// correction = "automatic".

const std::vector<Case>& guarded_runs() {
  static const std::vector<Case> all = [] {
    std::vector<Case> cases;
    for (Case run : exploding_runs())
      if (run.parameters.erase("safeguard") + run.parameters.erase("correction") > 0) cases.push_back(std::move(run));
    return cases;
  }();
  return all;
}

class GuardedRun : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Issue, GuardedRun, ::testing::Range<std::size_t>(0, guarded_runs().size()),
                         [](const auto& instance) { return testing::identifier(guarded_runs()[instance.param].name); });

TEST_P(GuardedRun, HoldsWithTheDefaultsWhereThePlainMethodExplodes) {
  const Case& run = guarded_runs()[GetParam()];
  const Fate fate = follow(run);
  EXPECT_LT(fate.diverged, 0) << fate.last;
  EXPECT_TRUE(fate.is_finite);
  if (fate.lost_steps == 0) return;
  // A body that hits a wall at 300 m/s becomes wide under Newton's method too.
  Case newton = run;
  newton.solver = "pod-newton";
  newton.parameters.clear();
  EXPECT_LT(fate.extent, 1.2 * follow(newton).extent);
}

TEST(GuardedRun, IsWhatTheRemedyOfThePlainMethodSays) {
  int diverged = 0;
  for (const Case& run : exploding_runs()) {
    const bool is_swept = run.parameters.contains("correction");
    if (!is_swept && !run.parameters.contains("safeguard")) continue;
    const Fate fate = follow(run);
    ASSERT_GE(fate.diverged, 0) << run.name;
    ++diverged;
    const char* said = is_swept ? "remedy: set correction = \"automatic\"" : "remedy: set safeguard = \"newton\"";
    EXPECT_NE(fate.verdict.find(said), std::string::npos) << run.name << ": " << fate.verdict;
  }
  EXPECT_GT(diverged, 5);
}

TEST(GuardedRun, TakesTheCommonContactWhereTheRemedySaysSo) {
  const auto build = [](const std::string& law) { return dropped_on_its_corner(law, 4, 2e4, 0.45); };
  int diverged = 0;
  for (const std::string law : {"stable-neo-hookean", "fixed-corotated", "neo-hookean"})
    for (const std::string solver : {"corotational", "stiffness-warping"}) {
      Case run{"own contact", solver, [&] { return build(law); }, 1.0 / 60, 120};
      run.parameters = {{"colliders", std::string("explicit")}, {"contact", std::string("self")}};
      const Fate fate = follow(run);
      EXPECT_LT(fate.exploded, fate.diverged + kPatience);
      if (fate.diverged < 0) continue;
      ++diverged;
      EXPECT_NE(fate.verdict.find("remedy: take [contact]"), std::string::npos) << fate.verdict;
      run.parameters.clear();
      run.build = [&] {
        const auto model = build(law);
        ModelBuilder builder;
        builder.set_gravity(model->gravity());
        BodyOptions options = body(law, {1, 1, 1}, {1, 1, 1}, 2e4, 0.45);
        options.mesh = model->bodies()[0].mesh;
        options.velocity = {0, -4.43, 0};
        builder.add_body(options);
        double lowest = 1;
        for (const Vec3& p : options.mesh->vertices()) lowest = std::min(lowest, p.y());
        builder.add_collider(floor_at(lowest - 0.01));
        builder.set_contact({});
        return builder.build();
      };
      const Fate with_contact = follow(run);
      EXPECT_LT(with_contact.diverged, 0) << with_contact.last;
      EXPECT_EQ(with_contact.lost_steps, 0);
    }
  EXPECT_GT(diverged, 2);
}

TEST(GuardedRun, EndsOverTheVerticesWhereTheGridCannotFollow) {
  ModelBuilder builder;
  BodyOptions options = body("fixed-corotated", {0.2, 0.2, 0.2}, {2, 2, 2}, 1e5, 0.3);
  options.velocity = {0, 5000, 0};
  builder.add_body(options);
  const auto model = builder.build();
  State state = model->rest_state();
  const StepReport swept =
      make_stepper(model, "grid-b-pxpbd", {{"correction", std::string("none")}})->step(state, 1.0 / 60);
  EXPECT_EQ(swept.outcome, Outcome::diverged);
  EXPECT_NE(swept.detail.find("remedy: set correction = \"contact\""), std::string::npos) << swept.detail;
  EXPECT_EQ(state.x, model->rest());
  ASSERT_TRUE(make_stepper(model, "grid-b-pxpbd")->step(state, 1.0 / 60).succeeded());
  for (Index i = 0; i < model->nodes(); ++i)
    EXPECT_NEAR(node(state.x, i).y() - node(model->rest(), i).y(), 5000.0 / 60,
                1e-4);  // correction_tolerance is 3.5e-5 m
}

// Lively but good.

class LivelyRun : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, LivelyRun,
                         ::testing::Combine(::testing::ValuesIn(testing::solver_names()),
                                            ::testing::Range<std::size_t>(0, 5)),
                         [](const auto& instance) {
                           const std::string& solver = std::get<0>(instance.param);
                           return testing::identifier(solver + " " +
                                                      lively_runs(solver)[std::get<1>(instance.param)].name);
                         });

TEST_P(LivelyRun, IsNotCalledDiverged) {
  const auto& [solver, number] = GetParam();
  const Case run = lively_runs(solver)[number];
  const Fate fate = follow(run);
  EXPECT_LT(fate.diverged, 0) << fate.last;
  EXPECT_EQ(fate.lost_steps, 0) << "to " << fate.extent << " sizes";
  EXPECT_TRUE(fate.is_finite);
}

TEST(LivelyRun, ConjacHoldsADroppedBall) {
  Case run{"dropped ball of 3e4 pascals", "conjac", [] { return dropped_ball(8, 3e4, 2); }, 5e-3, 120};
  run.parameters["safeguard"] = "none";
  const Fate fate = follow(run);
  EXPECT_LT(fate.diverged, 0) << fate.last;
  EXPECT_EQ(fate.lost_steps, 0) << "to " << fate.extent << " sizes";
}

TEST(LivelyRun, RecoversFromRandomPositionsWithoutBeingCalledDiverged) {
  for (const char* solver : {"pod-newton", "projected-newton", "quasi-newton"})
    for (const char* law : {"stable-neo-hookean", "fixed-corotated"}) {
      SCOPED_TRACE(fmt::format("{}, {}", solver, law));
      Case run{"random start", solver, [=] {
                 ModelBuilder builder;
                 builder.add_body(body(law, {1, 1, 1}, {3, 3, 3}, 1e5, 0.3));
                 return builder.build();
               }};
      run.steps = 120;
      run.steer = [](const Model& model, State& state, int s) {
        if (s > 0) return;
        std::mt19937 random(5);
        for (Eigen::Index i = 0; i < model.rest().size(); ++i) state.x[i] = double(random()) / 4294967296.0;
      };
      const Fate fate = follow(run);
      EXPECT_LT(fate.diverged, 0) << fate.last;
      EXPECT_EQ(fate.lost_steps, 0) << "to " << fate.extent << " sizes";
      EXPECT_TRUE(fate.is_finite);
    }
}

}  // namespace
}  // namespace diverged
}  // namespace pliant
