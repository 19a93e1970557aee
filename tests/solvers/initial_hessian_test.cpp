#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <map>

#include "pliant/base/error.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/quasi_newton/laplacian.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

TEST(InitialHessian, EveryKindLandsOnPodNewtonsStateWithManyIterations) {
  const auto model = testing::clamped_beam({5, 2, 2}, 1, "neo-hookean", MassKind::lumped);
  const auto reference = make_stepper(model, "pod-newton", {{"criterion", "residual"}, {"tolerance", 1e-7}});
  State expected = model->rest_state();
  for (int s = 0; s < 4; ++s) ASSERT_TRUE(reference->step(expected, 1.0 / 30).advanced());
  const std::vector<ParameterMap> kinds = {
      {{"hessian", "laplacian"}},
      {{"hessian", "laplacian"}, {"smallest_stretch", 0.9}, {"largest_stretch", 1.1}},
      {{"hessian", "laplacian"}, {"line_search", "wolfe"}},
      {{"hessian", "laplacian"}, {"linear", "pcg"}, {"preconditioner", "jacobi"}},
      {{"hessian", "laplacian"},
       {"linear", "pcg"},
       {"preconditioner", "laplacian"},
       {"linear_iterations", std::int64_t{5}}},
      {{"hessian", "laplacian"}, {"linear", "multigrid"}},
      {{"hessian", "scaled-identity"}},
      {{"hessian", "rest-pose"}},
      {{"hessian", "warped-rest-pose"}},
      {{"hessian", "frame-start"}},
      {{"hessian", "frame-start"}, {"linear", "pcg"}, {"preconditioner", "rest-pose"}},
      {{"hessian", "frame-start"}, {"linear", "pcg"}, {"preconditioner", "laplacian"}},
      {{"hessian", "frame-start"}, {"linear", "pcg"}, {"preconditioner", "jacobi"}}};
  for (ParameterMap parameters : kinds) {
    std::string label;
    for (const auto& [key, value] : parameters)
      if (const auto* text = std::get_if<std::string>(&value)) label += key + " " + *text + " ";
    parameters["iterations"] = std::int64_t{4000};
    parameters["criterion"] = std::string("residual");
    parameters["tolerance"] = 1e-4;
    const auto stepper = make_stepper(model, "quasi-newton", parameters);
    State state = model->rest_state();
    for (int s = 0; s < 4; ++s) {
      const StepReport report = stepper->step(state, 1.0 / 30);
      ASSERT_TRUE(report.converged()) << label << report.detail << " " << report.residuals.force;
      if (std::get<std::string>(parameters["hessian"]) == "frame-start" && !parameters.contains("linear")) {
        EXPECT_EQ(report.factorisations, 1);
      }
      EXPECT_EQ(report.linear_iterations > 0, parameters.contains("linear")) << label;
    }
    EXPECT_LT((state.x - expected.x).cwiseAbs().maxCoeff(), 1e-6) << label;
  }
}

TEST(InitialHessian, MultigridComesAsFarInTenIterationsAsTheFactor) {
  const auto model = testing::clamped_beam({16, 8, 8}, 1, "stable-neo-hookean", MassKind::lumped);
  const auto force_after = [&](const std::string& linear) {
    const auto stepper = make_stepper(model, "quasi-newton", {{"linear", linear}});
    State state = model->rest_state();
    StepReport report;
    for (int s = 0; s < 5; ++s) report = stepper->step(state, 1.0 / 30);
    EXPECT_EQ(report.linear_iterations > 0, linear == "multigrid");
    return std::pair(report.energy, report.residuals.force);
  };
  const auto [factor_energy, factor_force] = force_after("direct");
  const auto [energy, force] = force_after("multigrid");
  EXPECT_NEAR(energy, factor_energy, 1e-3 * std::abs(factor_energy));
  EXPECT_LT(force, 1.5 * factor_force);
}

TEST(InitialHessian, RefusesCombinationsThatDoNotExist) {
  const auto model = testing::clamped_beam({2, 1, 1}, 1, "neo-hookean", MassKind::lumped);
  const auto message = [&](const ParameterMap& parameters) -> std::string {
    try {
      make_stepper(model, "quasi-newton", parameters);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message({{"hessian", "rest-pose"}, {"linear", "pcg"}}).find("frame-start"), std::string::npos);
  EXPECT_NE(message({{"linear", "pcg"}, {"preconditioner", "rest-pose"}}).find("jacobi"), std::string::npos);
}

TEST(InitialHessian, TheLaplacianDoesNotCareHowTheBodyIsTurnedAndTheRestPoseDoes) {
  // quasi-newton, fig. 9: a stretched cube, and the same turned by 90 degrees.
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 1, 1}, {4, 4, 4});
  body.material = testing::material("neo-hookean", 5e4, 0.33);
  builder.add_body(body);
  const auto model = builder.build();
  const Mat3 turn(Eigen::AngleAxisd(std::acos(0.0), Vec3::UnitZ()));
  std::map<std::string, std::vector<double>> energies;
  for (const char* hessian : {"laplacian", "rest-pose"})
    for (const Mat3& R : {Mat3(Mat3::Identity()), turn}) {
      const auto stepper = make_stepper(model, "quasi-newton",
                                        {{"hessian", hessian}, {"iterations", std::int64_t{6}}, {"factor", "double"}});
      State state = model->rest_state();
      for (Index i = 0; i < model->nodes(); ++i)
        node(state.x, i) = R * Vec3(1.2, 1, 1).cwiseProduct(node(model->rest(), i));
      energies[hessian].push_back(stepper->step(state, 1.0 / 30).energy);
    }
  EXPECT_NEAR(energies["laplacian"][0], energies["laplacian"][1], 1e-5 * energies["laplacian"][0]);
  EXPECT_LT(energies["rest-pose"][0], energies["rest-pose"][1]);
}

TEST(Laplacian, TakesGrabsInWithoutAFactorisation) {
  const auto model = testing::clamped_beam({4, 2, 2}, 1, "arap", MassKind::lumped);
  const double h = 1.0 / 30;
  LaplacianMatrix matrix(model, {.precision = LaplacianMatrix::Precision::double_precision});
  const auto triangles = model->bodies()[0].surface();
  std::vector<Grab> grabs;
  for (std::size_t k : {3u, 17u, 40u, 41u}) {
    const Triangle& t = triangles[k];
    grabs.push_back({{t[0], t[1], t[2]}, {0.2, 0.3, 0.5}, Vec3::Zero(), 1e4 * static_cast<double>(k)});
  }
  StepProblem problem;
  problem.begin(*model, model->rest_state(), h, {});
  const BoundaryState& boundary = problem.boundary;
  int factorisations = 0;
  EXPECT_TRUE(matrix.prepare(problem, factorisations));
  EXPECT_FALSE(matrix.prepare(problem, factorisations));
  State held = model->rest_state();
  held.grabs = grabs;
  problem.begin(*model, held, h, {});
  EXPECT_TRUE(matrix.prepare(problem, factorisations));
  EXPECT_EQ(factorisations, 1);  // grabs come and go without
  VecX g = VecX::Random(3 * model->nodes()), d;
  for (std::size_t i = 0; i < boundary.fixed.size(); ++i)
    if (boundary.fixed[i]) g[static_cast<Eigen::Index>(i)] = 0;
  matrix.solve(g, d);
  // (A + W K W^T) d = g over the free nodes.
  const BlockMatrix& A = matrix.assemble(problem);
  for (int c = 0; c < 3; ++c) {
    const auto coordinate = Eigen::seqN(c, model->nodes(), 3);
    const VecX d_c = d(coordinate);
    VecX product;
    A.multiply(d_c, product);
    for (const Grab& grab : grabs)
      for (std::size_t a = 0; a < 3; ++a)
        if (!boundary.fixed[static_cast<std::size_t>(3 * grab.nodes[a])])
          product[grab.nodes[a]] += grab.stiffness * grab.weights[a] * grab.point(d)[c];
    EXPECT_LT((product - VecX(g(coordinate))).norm(), 1e-9 * g.norm());
  }
}

}  // namespace
/// A bar held by a penalty that lets go, and by a hand that comes and goes: whatever a matrix was made for before, the
/// next step is that of a stepper that has just begun.
TEST(InitialHessian, IsMadeAnewWhenWhatItDependsOnChanges) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 0.25, 0.25}, {8, 2, 2});
  body.material = testing::material("stable-neo-hookean", 1e5, 0.4);
  body.damping = {0.1, 1e-3};
  builder.add_body(body);
  builder.add_pin({"clamp", builder.body(0).elements->nodes_of(body.mesh->sets().at("x-min"))});
  Script hold{"hold", builder.body(0).elements->nodes_of(body.mesh->sets().at("x-max")), {}};
  hold.release = 0.09;
  builder.add_script(hold);
  const auto model = builder.build();
  const Triangle& t = model->bodies()[0].surface()[5];
  const Grab grab{{t[0], t[1], t[2]}, {0.2, 0.3, 0.5}, {0.5, 0.5, 0.5}, 1e4};
  for (const ParameterMap& parameters : std::vector<ParameterMap>{{},
                                                                  {{"linear", std::string("pcg")}},
                                                                  {{"hessian", std::string("rest-pose")}},
                                                                  {{"hessian", std::string("warped-rest-pose")}},
                                                                  {{"hessian", std::string("scaled-identity")}},
                                                                  {{"hessian", std::string("frame-start")}},
                                                                  {{"hessian", std::string("frame-start")},
                                                                   {"linear", std::string("pcg")},
                                                                   {"preconditioner", std::string("rest-pose")}}}) {
    for (const char* solver : {"quasi-newton", "chebyshev"}) {
      const auto stepper = make_stepper(model, solver, parameters);
      State state = model->rest_state();
      for (int s = 0; s < 20; ++s) {
        state.grabs = s >= 12 && s < 16 ? std::vector<Grab>{grab} : std::vector<Grab>{};
        State fresh = state;
        make_stepper(model, solver, parameters)->step(fresh, 1.0 / 60);
        ASSERT_TRUE(stepper->step(state, 1.0 / 60).succeeded());
        ASSERT_EQ(state.x, fresh.x) << solver << ", step " << s;
      }
    }
  }
}

}  // namespace pliant
