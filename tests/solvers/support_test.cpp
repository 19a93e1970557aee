#include <gtest/gtest.h>

#include <map>
#include <set>

#include "pliant/base/error.hpp"
#include "pliant/energies/spring_energy.hpp"
#include "pliant/materials/fibre.hpp"
#include "pliant/mesh/spring_network.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

using Names = std::set<std::string>;

const Names kCorotationalFamily = {"corotational", "corotational-cg", "stiffness-warping", "warp-canceling"};
const Names kPositionFamily = {"xpbd", "b-pxpbd", "fp-pxpbd", "grid-b-pxpbd"};
const Names kConstraintSolvers = {"xpbd", "b-pxpbd", "grid-b-pxpbd"};

Names operator+(Names a, const Names& b) {
  a.insert(b.begin(), b.end());
  return a;
}
Names all_but(const Names& some) {
  Names rest;
  for (const SolverEntry& solver : solver_catalogue())
    if (!some.contains(solver.name)) rest.insert(solver.name);
  return rest;
}

/// A small beam of a law that every solver takes, clamped at one end.
struct Beam {
  ModelBuilder builder;
  BodyOptions body;
  std::shared_ptr<const Energy> energy;

  Beam() {
    builder.set_gravity({0, -9.81, 0});
    body.name = "beam";
    body.mesh = testing::box_mesh({2, 1, 1}, {2, 1, 1});
    body.material = testing::material("fixed-corotated", 4e5, 0.3);
  }
  std::shared_ptr<const Model> build() {
    const std::size_t b = builder.add_body(body);
    builder.add_pin({"clamp", builder.body(b).elements->nodes_of(body.mesh->sets().at("x-min"))});
    if (energy) builder.add_energy(energy);
    return builder.build();
  }
};

struct Feature {
  std::string name;
  Names refused_by;
  std::string words;  ///< what every refusal says
  std::shared_ptr<const Model> model;
  SceneDemands demands = {};
};

std::shared_ptr<const Model> with(const std::function<void(Beam&)>& change) {
  Beam beam;
  change(beam);
  return beam.build();
}

std::shared_ptr<const Model> linked_beam() {
  Beam beam;
  const std::size_t b = beam.builder.add_body(beam.body);
  const Index link = beam.builder.add_link(
      {"hand", -1, JointKind::free, {}, Vec3::UnitZ(), BoxShape{Vec3(2.2, 0.5, 0.5), Vec3(0.2, 0.2, 0.2)}, 500});
  beam.builder.add_pin({"clamp", beam.builder.body(b).elements->nodes_of(beam.body.mesh->sets().at("x-min"))});
  beam.builder.attach(link, beam.builder.body(b).elements->nodes_of(beam.body.mesh->sets().at("x-max")));
  return beam.builder.build();
}

std::shared_ptr<const Model> hanging_cloth() {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.name = "sheet";
  body.network = std::make_shared<SpringNetwork>(cloth({.cells = {3, 3}}));
  body.density = 0.5;
  builder.add_body(body);
  builder.add_pin({"edge", body.network->sets.at("x-min")});
  return builder.build();
}

std::vector<Feature> features() {
  const Names explicit_families = kCorotationalFamily + kPositionFamily;
  const Names not_minimising = kCorotationalFamily + Names{"linearly-implicit", "conjac"};
  const auto plain = with([](Beam&) {});
  const auto touching = with([](Beam& b) { b.builder.set_contact({}); });
  const auto floor = [](double friction) {
    return with([&](Beam& b) {
      b.builder.set_collider_law(ColliderLaw::penalty);
      b.builder.add_collider({"floor", PlaneShape{Vec3(0, -0.01, 0), Vec3::UnitY()}, {}, 1e5, friction});
    });
  };
  return {
      {"nothing", {}, "", plain},
      {"contact", {}, "", touching},
      {"quasistatic contact",
       all_but({"pod-newton", "newton", "projected-newton"}),
       "",
       touching,
       {Integrator::quasistatic}},
      {"midpoint contact", all_but({}), "", touching, {Integrator::implicit_midpoint}},
      {"collider", {}, "", floor(0)},
      {"friction", {}, "", floor(0.4)},
      {"link", all_but({"conjac"}), "rigid links", linked_beam()},
      {"cloth", explicit_families, "body 'sheet' is made of springs", hanging_cloth()},
      {"fibres", kCorotationalFamily + kConstraintSolvers, "body 'beam' has fibres", with([](Beam& b) {
         b.body.fibres = {{find_fibre_law("reinforcement"), {{1e4}}, {Vec3::UnitX()}}};
       })},
      {"order 2", explicit_families, "body 'beam' has elements of order 2", with([](Beam& b) { b.body.order = 2; })},
      {"order 3", explicit_families, "body 'beam' has elements of order 3", with([](Beam& b) { b.body.order = 3; })},
      {"consistent mass", explicit_families, "mass = \"lumped\"",
       with([](Beam& b) { b.builder.set_mass(MassKind::consistent); })},
      {"midpoint", not_minimising + kPositionFamily, "\"implicit-midpoint\"", plain, {Integrator::implicit_midpoint}},
      {"quasistatic",
       not_minimising + Names{"kinetic-newton", "grid-b-pxpbd"},
       "\"quasistatic\"",
       plain,
       {Integrator::quasistatic}},
      {"mass damping", {}, "", with([](Beam& b) { b.body.damping.mass = 1; })},
      {"stiffness damping", kConstraintSolvers, "body 'beam' has damping.stiffness",
       with([](Beam& b) { b.body.damping.stiffness = 0.01; })},
      {"a cut", {}, "", plain, {Integrator::implicit_euler, {0}}},
      {"a cut of what touches itself", all_but({}), "", touching, {Integrator::implicit_euler, {0}}},
      {"a cut of what touches others",
       {},
       "contact between surfaces",
       with([](Beam& b) { b.builder.set_contact({.self = false}); }),
       {Integrator::implicit_euler, {0}}},
      {"an energy from code", explicit_families, "the energy 'springs'", with([](Beam& b) {
         b.energy = std::make_shared<SpringEnergy>(std::vector<Index>{0, 5}, std::vector<double>{10.0},
                                                   std::vector<double>{0.5});
       })},
      {"neo-hookean", kConstraintSolvers, "body 'beam' is made of neo-hookean",
       with([](Beam& b) { b.body.material = testing::material("neo-hookean", 4e5, 0.3); })},
  };
}

/// The solver's parameters with which the demands are met, where it has such.
ParameterMap parameters_for(const SolverEntry& solver, const SceneDemands& demands) {
  const Setting* integrator = solver.parameters.find("integrator");
  const std::string name(to_string(demands.integrator));
  if (!integrator ||
      std::find(integrator->choices.begin(), integrator->choices.end(), name) == integrator->choices.end())
    return {};
  return {{"integrator", name}};
}

std::string refusal(const SolverEntry& solver, const Feature& feature) {
  try {
    const auto stepper =
        make_stepper(feature.model, solver.name, parameters_for(solver, feature.demands), feature.demands);
    State state = feature.model->rest_state();
    const StepReport report = stepper->step(state, 0.01);
    EXPECT_TRUE(report.succeeded()) << solver.name << " with " << feature.name << ": " << report.detail;
    EXPECT_TRUE(state.x.allFinite());
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Support, EverySolverTakesOrRefusesEveryFeature) {
  for (const Feature& feature : features())
    for (const SolverEntry& solver : solver_catalogue()) {
      const std::string why = refusal(solver, feature);
      EXPECT_EQ(!why.empty(), feature.refused_by.contains(solver.name))
          << solver.name << " with " << feature.name << ": " << why;
      if (why.empty()) continue;
      EXPECT_NE(why.find("the solver '" + solver.name + "' cannot"), std::string::npos) << why;
      EXPECT_NE(why.find(feature.words), std::string::npos) << why;
      EXPECT_NE(why.find("Solvers that can: " + list_fitting(*feature.model, feature.demands)), std::string::npos)
          << why;
    }
}

TEST(Support, TheListOfThoseThatFitIsWhatTheyDo) {
  for (const Feature& feature : features())
    for (const SolverFit& fit : solver_fits(*feature.model, feature.demands)) {
      EXPECT_EQ(fit.fits(), !feature.refused_by.contains(fit.solver->name))
          << fit.solver->name << " with " << feature.name;
      EXPECT_EQ(fit.fits(), fit.reason().empty());
    }
}

TEST(Support, AnIntegratorThatContactDoesNotGoWithIsRefusedWithThoseThatDo) {
  const auto model = with([](Beam& b) { b.builder.set_contact({}); });
  try {
    make_stepper(model, "pod-newton", {{"integrator", "implicit-midpoint"}});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("[contact]) with integrator = \"implicit-midpoint\": take "
                        "\"implicit-euler\""),
              std::string::npos)
        << error.what();
  }
}

TEST(Support, AParameterMayMakeASolverFit) {
  const auto model = with([](Beam& b) { b.body.material = testing::material("neo-hookean", 4e5, 0.3); });
  EXPECT_NO_THROW(make_stepper(model, "xpbd", {{"constraints", "sqrt-energy"}}));
  EXPECT_NO_THROW(make_stepper(model, "grid-b-pxpbd", {{"method", "fp-pxpbd"}}));
  EXPECT_THROW(make_stepper(model, "grid-b-pxpbd", {{"method", "xpbd"}}), InputError);
  const std::map<std::string, std::string> ways = {
      {"xpbd", "constraints = \"sqrt-energy\""}, {"grid-b-pxpbd", "method = \"fp-pxpbd\""}, {"b-pxpbd", ""}};
  for (const SolverFit& fit : solver_fits(*model)) {
    const auto way = ways.find(fit.solver->name);
    EXPECT_EQ(fit.unless, way == ways.end() ? "" : way->second) << fit.solver->name;
  }
}

TEST(Support, SeveralReasonsAreAllNamed) {
  const auto model = with([](Beam& b) {
    b.body.order = 2;
    b.builder.set_mass(MassKind::consistent);
    b.builder.set_contact({});
  });
  EXPECT_EQ(refusals(find_solver("corotational"), *model, complete_parameters(find_solver("corotational"), {})).size(),
            2u);
  EXPECT_EQ(refusals(find_solver("pod-newton"), *model, complete_parameters(find_solver("pod-newton"), {})).size(), 0u);
}

TEST(Support, BodiesThatAreRefusedForTheSameReasonAreToldOnce) {
  ModelBuilder builder;
  for (const char* name : {"first", "second", "third"}) {
    BodyOptions body = testing::box_body(name, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 1e5);
    body.order = 2;
    builder.add_body(body);
  }
  const auto model = builder.build();
  const SolverEntry& solver = find_solver("corotational");
  const std::vector<std::string> reasons = refusals(solver, *model, complete_parameters(solver, {}));
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons[0], "body 'first' (as 2 more) has elements of order 2, and it takes order 1 only; set order = 1");
}

TEST(Support, EverySettingHasADefaultThatItsOwnCheckAccepts) {
  for (const SolverEntry& solver : solver_catalogue())
    for (const Setting& parameter : solver.parameters.keys) {
      EXPECT_NO_THROW(complete_parameters(solver, {{parameter.name, default_value(parameter)}}))
          << solver.name << " " << parameter.name;
      EXPECT_FALSE(parameter.summary.empty());
      EXPECT_NE(parameter.summary.substr(0, 3), "of ") << solver.name << " " << parameter.name;
    }
}

}  // namespace
}  // namespace pliant
