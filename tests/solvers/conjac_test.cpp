#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pliant/base/error.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/conjac/conjac_stepper.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

/// A table-top bar, clamped at one end, under gravity; its layers and fibres as asked.
struct Bar {
  bool layers = false, fibres = false;
  std::array<Index, 3> cells = {8, 3, 3};
  MassKind mass = MassKind::lumped;
  RayleighDamping damping = {};
  double poisson = 0.4;
};
constexpr double kLength = 0.1;

std::shared_ptr<const Model> bar(const Bar& options) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_mass(options.mass);
  BodyOptions body;
  body.mesh = testing::box_mesh({kLength, 0.03, 0.03}, options.cells);
  body.material = testing::material("stable-neo-hookean", 3e4, options.poisson);
  body.damping = options.damping;
  if (options.layers)
    for (const Tet& tet : body.mesh->tets()) {
      double x = 0;
      for (Index v : tet) x += body.mesh->vertices()[static_cast<std::size_t>(v)].x() / 4;
      body.lame.push_back(lame_from_young(static_cast<int>(x / 0.025) % 2 ? 3e5 : 3e4, options.poisson));
    }
  if (options.fibres) body.fibres = {{find_fibre_law("anisotropic-stvk"), {{3e4, 1, 0}}, {Vec3(1, 1, 0.3)}, -1}};
  builder.add_body(body);
  builder.add_pin({"clamp", body.mesh->sets().at("x-min")});
  return builder.build();
}

State run_steps(const std::shared_ptr<const Model>& model, const std::string& solver, const ParameterMap& parameters,
                double h, int steps) {
  const auto stepper = make_stepper(model, solver, parameters);
  State state = model->rest_state();
  for (int s = 0; s < steps; ++s) {
    const StepReport report = stepper->step(state, h);
    EXPECT_TRUE(report.succeeded()) << solver << ", step " << s << ": " << report.detail;
    if (!report.succeeded()) break;
  }
  return state;
}

State at_rest(const std::shared_ptr<const Model>& model) {
  return run_steps(model, "pod-newton",
                   {{"integrator", "quasistatic"}, {"criterion", "residual"}, {"tolerance", 1e-12}}, 1, 1);
}

double kinetic(const Model& model, const State& state) {
  VecX p;
  model.mass().multiply(state.v, p);
  return 0.5 * state.v.dot(p);
}

TEST(Conjac, RestsWhereTheFullQuasistaticSolutionIs) {
  for (const Bar& options : {Bar{}, Bar{.layers = true}, Bar{.fibres = true}}) {
    const auto model = bar(options);
    const State reference = at_rest(model);
    for (std::int64_t nodes : {0, 1, 8}) {
      // Much damping gets there soon; where it gets does not depend on it.
      const State state =
          run_steps(model, "conjac", {{"dynamic_nodes", nodes}, {"beta", 4.0}, {"gamma", 0.8}}, 0.05, 120);
      EXPECT_LT((state.x - reference.x).cwiseAbs().maxCoeff(), 1e-8 * kLength)
          << nodes << " dynamic nodes, layers " << options.layers << ", fibres " << options.fibres;
      EXPECT_GT((state.x - model->rest()).cwiseAbs().maxCoeff(), 1e-2 * kLength);
    }
  }
}

TEST(Conjac, ErrorFallsByOneMinusGammaEachStepWithoutDynamicNodes) {
  const auto model = bar({});
  const State reference = at_rest(model);
  for (double gamma : {0.2, 1.0 / 3, 0.7}) {
    const auto stepper = make_stepper(model, "conjac", {{"dynamic", "none"}, {"gamma", gamma}});
    State state = reference;
    for (Index i = 0; i < model->nodes(); ++i) node(state.x, i).z() += 1e-5 * node(model->rest(), i).x();
    double error = (state.x - reference.x).norm();
    for (int s = 0; s < 8; ++s) {
      ASSERT_TRUE(stepper->step(state, 5e-3).succeeded());
      const double next = (state.x - reference.x).norm();
      EXPECT_NEAR(next / error, 1 - gamma, 2e-3) << "gamma " << gamma << ", step " << s;
      error = next;
    }
  }
}

TEST(Conjac, SettlesFasterWithMoreCorrectionsOfTheSameFactor) {
  const auto model = bar({});
  const State reference = at_rest(model);
  const auto error = [&](std::int64_t corrections) {
    const State state =
        run_steps(model, "conjac", {{"dynamic", "none"}, {"gamma", 0.5}, {"corrections", corrections}}, 5e-3, 12);
    return (state.x - reference.x).norm();
  };
  EXPECT_LT(error(3), 1e-2 * error(1));
  const State searched = run_steps(model, "conjac", {{"dynamic", "none"}, {"gamma_search", true}}, 5e-3, 12);
  EXPECT_LT((searched.x - reference.x).cwiseAbs().maxCoeff(), 1e-10 * kLength);
}

TEST(Conjac, BeginsInBalanceWithAnInitialSolve) {
  const auto model = bar({});
  const State reference = at_rest(model);
  const State state = run_steps(model, "conjac", {{"dynamic", "none"}, {"initial_solve", true}}, 5e-3, 1);
  EXPECT_LT((state.x - reference.x).cwiseAbs().maxCoeff(), 1e-8 * kLength);
}

TEST(Conjac, EqualsLinearlyImplicitWhenAllNodesAreDynamic) {
  const Bar variants[] = {{.cells = {4, 2, 2}},
                          {.cells = {4, 2, 2}, .mass = MassKind::consistent},
                          {.fibres = true, .cells = {4, 2, 2}, .damping = {0.5, 1e-3}}};
  for (const Bar& options : variants)
    for (double beta : {0.5, 1.0}) {
      const auto model = bar(options);
      const State a = run_steps(model, "linearly-implicit", {{"beta", beta}}, 2e-3, 10);
      const State b = run_steps(model, "conjac", {{"beta", beta}, {"dynamic", "all"}}, 2e-3, 10);
      EXPECT_LT((a.x - b.x).cwiseAbs().maxCoeff(), 1e-10 * kLength);
      EXPECT_LT((a.v - b.v).cwiseAbs().maxCoeff(), 1e-10);
      EXPECT_GT(a.v.cwiseAbs().maxCoeff(), 0.01);
    }
}

std::shared_ptr<const Model> pulled_bar(Imposition imposition, double release, double poisson = 0.4,
                                        const RayleighDamping& damping = {}) {
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  BodyOptions body;
  body.mesh = testing::box_mesh({kLength, 0.03, 0.03}, {6, 2, 2});
  body.material = testing::material("stable-neo-hookean", 3e4, poisson);
  body.damping = damping;
  builder.add_body(body);
  builder.add_pin({"clamp", body.mesh->sets().at("x-min"), {true, true, false}});
  Script pull{"pull", body.mesh->sets().at("x-max"), {}, imposition};
  pull.motion.translation.keys = {{0, Vec3::Zero()}, {0.1, Vec3(0.02, 0.03, 0)}};
  pull.release = release;
  builder.add_script(pull);
  builder.add_pin({"rail", {body.mesh->sets().at("x-min")[0]}});
  return builder.build();
}

TEST(Conjac, FollowsMovingBoundariesAsLinearlyImplicitDoes) {
  for (Imposition imposition : {Imposition::direct, Imposition::penalty})
    for (const RayleighDamping& damping : {RayleighDamping{}, RayleighDamping{1, 1e-3}}) {
      const auto model = pulled_bar(imposition, 1, 0.4, damping);
      const State a = run_steps(model, "linearly-implicit", {}, 5e-3, 15);
      const State b = run_steps(model, "conjac", {{"beta", 1.0}, {"dynamic", "all"}}, 5e-3, 15);
      EXPECT_LT((a.x - b.x).cwiseAbs().maxCoeff(), 1e-10 * kLength);
      const Vec3 moved(0.02 * 0.75, 0.03 * 0.75, 0);
      for (Index i : model->scripts()[0].nodes)
        EXPECT_LT((node(b.x, i) - node(model->rest(), i) - moved).norm(), 1e-12);
      // With few dynamic nodes, what is scripted moves the same.
      const State c = run_steps(model, "conjac", {{"dynamic_nodes", std::int64_t{1}}}, 5e-3, 15);
      for (Index i : model->scripts()[0].nodes)
        EXPECT_LT((node(c.x, i) - node(model->rest(), i) - moved).norm(), 1e-12);
    }
}

TEST(LinearlyImplicit, FallsFreelyAndKeepsMomentum) {
  const auto falling = testing::free_block("stable-neo-hookean", {1, 2, 3}, Vec3::Zero(), {0, -9.81, 0});
  for (const char* solver : {"linearly-implicit", "conjac"}) {
    const double h = 0.01;
    const State state = run_steps(falling, solver, {}, h, 20);
    // Symplectic Euler: v = v0 + g t, x = x0 + v0 t + g t (t + h) / 2.
    for (Index i = 0; i < falling->nodes(); ++i) {
      EXPECT_LT((node(state.v, i) - Vec3(1, 2 - 9.81 * 0.2, 3)).norm(), 1e-7) << solver;
      EXPECT_LT((node(state.x, i) - node(falling->rest(), i) - Vec3(0.2, 0.4 - 9.81 * 0.2 * 0.21 / 2, 0.6)).norm(),
                1e-7)
          << solver;
    }
  }
  const auto spinning = testing::free_block("stable-neo-hookean", {1, 2, 3}, {0, 0, 2}, Vec3::Zero());
  for (const char* solver : {"linearly-implicit", "conjac"}) {
    const State state = run_steps(spinning, solver, {}, 0.01, 50);
    VecX before, after;
    spinning->mass().multiply(spinning->rest_state().v, before);
    spinning->mass().multiply(state.v, after);
    Vec3 change = Vec3::Zero();
    for (Index i = 0; i < spinning->nodes(); ++i) change += node(after, i) - node(before, i);
    EXPECT_LT(change.norm(), 1e-9 * before.norm()) << solver;
  }
}

TEST(Conjac, LosesLessEnergyThanLinearlyImplicitOfTheSameStep) {
  const auto model = bar({.poisson = 0.3});
  const double h = 5e-3;
  const auto liveliness = [&](const std::string& solver, const ParameterMap& parameters) {
    const auto stepper = make_stepper(model, solver, parameters);
    State state = model->rest_state();
    double most = 0;
    for (int s = 0; s < 400; ++s) {
      EXPECT_TRUE(stepper->step(state, h).succeeded());
      if (s >= 300) most = std::max(most, kinetic(*model, state));  // in the second half of the third second
    }
    return most;
  };
  const double implicit = liveliness("linearly-implicit", {});
  const double conjac = liveliness("conjac", {{"dynamic_nodes", std::int64_t{4}}, {"gamma_search", true}});
  EXPECT_GT(conjac, 2 * implicit);
}

TEST(Conjac, ProjectsOnlyWhereTheStiffnessIsIndefinite) {
  // A bar pushed together buckles: K is indefinite there, and exact at rest.
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  BodyOptions body;
  body.mesh = testing::box_mesh({kLength, 0.02, 0.02}, {10, 2, 2});
  body.material = testing::material("stable-neo-hookean", 3e4, 0.4);
  builder.add_body(body);
  builder.add_pin({"clamp", body.mesh->sets().at("x-min")});
  builder.add_pin({"end", body.mesh->sets().at("x-max")});
  const auto model = builder.build();
  State pushed = model->rest_state();
  for (Index i = 0; i < model->nodes(); ++i) node(pushed.x, i).x() *= 0.6;
  const auto stepper = make_stepper(model, "conjac", {{"dynamic_nodes", std::int64_t{2}}});
  State state = model->rest_state();
  StepReport report = stepper->step(state, 5e-3);
  EXPECT_EQ(report.projected_iterations, 0);
  EXPECT_EQ(report.factorisations, 1);
  // The ends are put back at once, the rest keeps its compression: indefinite.
  state = pushed;
  report = stepper->step(state, 5e-3);
  EXPECT_EQ(report.projected_iterations, 1) << report.detail;
  EXPECT_EQ(report.failed_factorisations, 1);
  EXPECT_TRUE(report.succeeded());
  // By LDL^T it can be stepped too, at one's own risk.
  state = pushed;
  report =
      make_stepper(model, "conjac", {{"dynamic_nodes", std::int64_t{2}}, {"stiffness", "exact"}})->step(state, 5e-3);
  EXPECT_TRUE(report.succeeded()) << report.detail;
  EXPECT_EQ(report.projected_iterations, 0);
  // And it comes to rest.
  state = pushed;
  for (int s = 0; s < 300; ++s) ASSERT_TRUE(stepper->step(state, 5e-3).succeeded());
  EXPECT_LT((state.x - model->rest()).cwiseAbs().maxCoeff(), 1e-3 * kLength);
}

TEST(DynamicNodes, LieInsideAndApartAndAreReproducible) {
  const auto model = bar({.cells = {16, 4, 4}});
  const std::vector<Index> nodes = dynamic_nodes(*model, {.count = 4});
  ASSERT_EQ(nodes.size(), 4u);
  double nearest = 1;
  for (Index i : nodes) {
    const Vec3 p = node(model->rest(), i);
    EXPECT_NEAR(p.y(), 0.015, 1e-9);  // on the axis
    EXPECT_NEAR(p.z(), 0.015, 1e-9);
    for (Index j : nodes)
      if (i != j) nearest = std::min(nearest, (p - node(model->rest(), j)).norm());
  }
  EXPECT_GT(nearest, kLength / 6);
  EXPECT_EQ(nodes, dynamic_nodes(*model, {.count = 4}));
  EXPECT_EQ(dynamic_nodes(*model, {.count = 4, .seed = 7}), dynamic_nodes(*model, {.count = 4, .seed = 7}));
  int others = 0;
  for (std::int64_t seed = 1; seed <= 8; ++seed) others += nodes != dynamic_nodes(*model, {.count = 4, .seed = seed});
  EXPECT_GE(others, 3);
}

TEST(DynamicNodes, MayBePinnedAlongSomeAxesAsInPlaneStrain) {
  BoxOptions options;
  options.size = {0.12, 0.03, 0.01};
  options.cells = {12, 3, 1};
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box(options));
  body.material = {find_law("stable-neo-hookean"), lame_from_young(3e4, 0.4)};
  ModelBuilder builder;
  builder.add_body(body);
  std::vector<Index> all(body.mesh->vertices().size());
  std::iota(all.begin(), all.end(), Index{0});
  builder.add_pin({"plane", all, {false, false, true}});
  builder.add_pin({"end", body.mesh->sets().at("x-min")});
  const auto model = builder.build();
  const std::vector<Index> nodes = dynamic_nodes(*model, {.count = 2});
  ASSERT_EQ(nodes.size(), 2u);
  for (Index i : nodes) EXPECT_GT(node(model->rest(), i).x(), 0.01);  // what is held altogether is not among them
}

TEST(DynamicNodes, AreTakenByNameAndNumber) {
  const auto model = bar({});
  EXPECT_EQ(dynamic_nodes(*model, {.named = "x-max"}), model->bodies()[0].sets().at("x-max"));
  EXPECT_EQ(dynamic_nodes(*model, {.named = "12, 7 ,12"}), (std::vector<Index>{7, 12}));
  EXPECT_TRUE(dynamic_nodes(*model, {.named = "none"}).empty());
  EXPECT_EQ(dynamic_nodes(*model, {.named = "all"}).size(), static_cast<std::size_t>(model->nodes()));
  EXPECT_THROW(dynamic_nodes(*model, {.named = "99999"}), InputError);
  try {
    dynamic_nodes(*model, {.named = "x-mox"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'x-max'"), std::string::npos) << error.what();
  }
}

TEST(DynamicNodes, AreAddedWhereNothingHoldsAPiece) {
  const auto model = testing::free_block("stable-neo-hookean", Vec3::Zero(), Vec3::Zero(), {0, -9.81, 0});
  const std::vector<std::uint8_t> none(static_cast<std::size_t>(model->rest().size()), 0);
  // The middle of the block is a line: three nodes on it still let it turn, a fourth does not.
  EXPECT_EQ(supporting_nodes(*model, none, {}).size(), 4u);
  const std::vector<Index> corners = {0, 4, 10};
  EXPECT_TRUE(supporting_nodes(*model, none, corners).empty());
  const auto clamped = bar({});
  std::vector<std::uint8_t> held(static_cast<std::size_t>(clamped->rest().size()), 0);
  for (Index i : clamped->pins()[0].nodes)
    for (std::size_t c = 0; c < 3; ++c) held[3 * static_cast<std::size_t>(i) + c] = 1;
  EXPECT_TRUE(supporting_nodes(*clamped, held, {}).empty());
  // A bar that is let go of falls, though nobody asked for dynamic nodes.
  const State state = run_steps(model, "conjac", {{"dynamic", "none"}}, 0.01, 10);
  for (Index i = 0; i < model->nodes(); ++i) EXPECT_NEAR(node(state.v, i).y(), -0.981, 1e-7);
}

TEST(Conjac, ReportsAStateThatIsNotFinite) {
  const auto model = bar({});
  for (const char* solver : {"linearly-implicit", "conjac"}) {
    State state = model->rest_state();
    state.v[5] = std::nan("");
    EXPECT_EQ(make_stepper(model, solver)->step(state, 0.01).outcome, Outcome::not_finite);
  }
  EXPECT_THROW(make_stepper(bar({.cells = {20, 10, 10}}), "conjac", {{"dynamic", "all"}}), InputError);
}

}  // namespace
}  // namespace pliant
