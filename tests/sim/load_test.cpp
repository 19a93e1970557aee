#include "pliant/sim/load.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "energies/derivative_battery.hpp"
#include "pliant/base/error.hpp"
#include "pliant/sim/surface_faces.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

constexpr double kPi = std::numbers::pi;

std::shared_ptr<const Model> body_of(MeshData data, int order, std::vector<LoadOptions> loads = {}) {
  ModelBuilder builder;
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = testing::material("neo-hookean", 1e5, 0.3);
  body.order = order;
  builder.add_body(body);
  for (LoadOptions& load : loads) builder.add_load(std::move(load));
  return builder.build();
}

LoadOptions load_of(LoadKind kind, std::vector<Index> vertices, const Vec3& vector = Vec3::Zero(),
                    double pressure = 0) {
  LoadOptions load;
  load.kind = kind;
  load.vertices = std::move(vertices);
  load.vector = vector;
  load.pressure = pressure;
  load.follows = false;
  return load;
}

/// Bent, sheared and rough.
VecX deformed(const Model& model) {
  VecX x = model.rest();
  for (Index i = 0; i < model.nodes(); ++i) {
    const Vec3 X = node(model.rest(), i);
    node(x, i) += Vec3(0.2 * X.y() * X.y(), 0.1 * X.x(), -0.15 * X.x() * X.z());
  }
  return x + 0.01 * testing::random_direction(x.size(), 5);
}

TEST(PressureEnergy, PassesTheDerivativeBatteryOnClosedSurfacesOfEveryOrder) {
  for (int order : {1, 2, 3}) {
    const auto model = body_of(box({.cells = {2, 1, 1}}), order);
    const FaceSet faces = surface_faces(model->bodies()[0]);
    EXPECT_TRUE(faces.is_closed());
    PressureEnergy energy(faces);
    energy.set(300, {0.2, 0.1, -0.3});
    const VecX x = deformed(*model);
    testing::expect_gradient_is_derivative(energy, x, 1e-3);
    testing::expect_hessian_is_derivative(energy, x, 1e-3);
    testing::expect_rigid_invariance(energy, x);
    for (Projection projection : {Projection::none, Projection::analytic}) {
      testing::expect_symmetric_hessian(energy, x, projection);
      testing::expect_same_bits_for_any_split(energy, x, projection);
    }
    for (double entry : testing::local_hessians(energy, x, testing::all_stencils(energy), Projection::analytic))
      EXPECT_EQ(entry, 0);
  }
}

TEST(PressureEnergy, IsPressureTimesTheEnclosedVolume) {
  for (int order : {1, 2, 3}) {
    const auto model = body_of(box({.size = {1, 2, 3}, .cells = {2, 2, 2}}), order);
    const FaceSet faces = surface_faces(model->bodies()[0]);
    PressureEnergy energy(faces);
    energy.set(10, {7, 8, 9});
    EXPECT_NEAR(testing::total_value(energy, model->rest()), 60, 1e-10);
    // An affine map scales it by its determinant, and a quadratic one is a volume that orders 2 and 3 represent:
    // x + y^2/2 e_x moves slices along themselves.
    VecX x = model->rest();
    for (Index i = 0; i < model->nodes(); ++i) node(x, i).x() += 0.5 * std::pow(node(x, i).y(), 2);
    if (order > 1) {
      EXPECT_NEAR(testing::total_value(energy, x), 60, 1e-9);
    }
    energy.set_start(x);
    EXPECT_NEAR(testing::total_value(energy, x), 0, 1e-12);
    EXPECT_NEAR(testing::total_value(energy, 2 * x), 10 * 7 * faces.volume(x, Vec3::Zero()), 1e-8);
  }
}

TEST(FaceSet, OfARimmedPatchHasTheForceOfItsPressureInTwoParts) {
  for (int order : {1, 2, 3}) {
    const auto model = body_of(box({.cells = {3, 2, 2}}), order);
    const Body& body = model->bodies()[0];
    const FaceSet top = surface_faces(body, body.sets().at("y-max"));
    EXPECT_FALSE(top.is_closed());
    const VecX x = deformed(*model);
    VecX areas = VecX::Zero(x.size()), gradient = areas;
    top.add_areas(x, 1, areas);
    top.add_volume_gradient(x, top.mean(x), 1, gradient);
    // They differ on the rim alone, which is the nodes of the four sides.
    VecX difference = areas - gradient;
    double inside = 0, rim = 0;
    for (Index i : top.nodes()) {
      const Vec3 X = node(model->rest(), i);
      const bool is_rim = X.x() == 0 || X.x() == 1 || X.z() == 0 || X.z() == 1;
      (is_rim ? rim : inside) = std::max(is_rim ? rim : inside, node(difference, i).norm());
    }
    EXPECT_LT(inside, 1e-15);
    EXPECT_GT(rim, 1e-3);
    // All forces together: the area vector, here by Stokes' theorem from the rim, in closed form for the rest shape.
    VecX flat = VecX::Zero(x.size());
    top.add_areas(model->rest(), 1, flat);
    Vec3 sum = Vec3::Zero();
    for (Index i = 0; i < model->nodes(); ++i) sum += node(flat, i);
    EXPECT_LT((sum - Vec3(0, 1, 0)).norm(), 1e-14);
  }
}

TEST(Loads, SumUpToWhatTheySay) {
  for (int order : {1, 2, 3}) {
    const auto total = [&](LoadOptions load) {
      const auto model = body_of(box({.size = {2, 1, 3}, .cells = {2, 1, 3}}), order, {std::move(load)});
      VecX f;
      model->external_force(0, f);
      Vec3 sum = Vec3::Zero();
      for (Index i = 0; i < model->nodes(); ++i) sum += node(f, i);
      return sum;
    };
    const auto mesh = box({.size = {2, 1, 3}, .cells = {2, 1, 3}});
    const std::vector<Index> top = mesh.sets.at("y-max");
    std::vector<Index> all;
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) all.push_back(static_cast<Index>(v));
    EXPECT_LT((total(load_of(LoadKind::force, top, {1, 2, 3})) - Vec3(1, 2, 3)).norm(), 1e-12);
    EXPECT_LT((total(load_of(LoadKind::traction, top, {1, 2, 3})) - 6 * Vec3(1, 2, 3)).norm(), 1e-12);
    EXPECT_LT((total(load_of(LoadKind::pressure, top, {0, 0, 0}, 5)) - Vec3(0, -30, 0)).norm(), 1e-12);
    EXPECT_LT((total(load_of(LoadKind::body_force, all, {0, 0, 7})) - Vec3(0, 0, 42)).norm(), 1e-12);
  }
}

TEST(Loads, FollowTheirKeyframesInTime) {
  LoadOptions load = load_of(LoadKind::force, {0, 1}, {2, 0, 0});
  load.factor.keyframes.keys = {{1, 0}, {3, 4}};
  const auto model = body_of(box({}), 1, {load});
  for (const auto& [time, expected] : {std::pair(0.0, 0.0), {1.5, 2.0}, {2.0, 4.0}, {5.0, 8.0}}) {
    VecX f;
    model->external_force(time, f);
    EXPECT_NEAR(f.sum(), expected, 1e-14);
  }
}

TEST(Loads, OnNothingAndGasWithoutAWallAreRefused) {
  const auto refusal = [](LoadOptions load, MeshData data) {
    try {
      body_of(std::move(data), 1, {std::move(load)});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_NE(refusal(load_of(LoadKind::pressure, {0}), box({})).find("no face of the surface"), std::string::npos);
  EXPECT_NE(refusal(load_of(LoadKind::body_force, {0}), box({})).find("no element of body"), std::string::npos);
  EXPECT_NE(refusal(load_of(LoadKind::gas, {0, 1, 2, 3}), box({})).find("have a rim"), std::string::npos);
  std::vector<Index> all;
  for (Index v = 0; v < 8; ++v) all.push_back(v);
  EXPECT_NE(refusal(load_of(LoadKind::gas, all), box({})).find("not a cavity"), std::string::npos);
}

TEST(Gas, HasThePressureAndTheEnergyOfItsLaw) {
  SurfaceLoad load;
  load.rest_volume = 2;
  for (double exponent : {1.0, 1.4}) {
    load.gas = {3e5, 1e5, exponent};
    EXPECT_NEAR(gas_state(load, 1, 2).pressure, 2e5, 1e-9);
    EXPECT_NEAR(gas_state(load, 1, 2).energy, 0, 1e-9);
    const double V = 3.1, e = 1e-5;
    const GasState state = gas_state(load, 0.8, V), more = gas_state(load, 0.8, V + e),
                   less = gas_state(load, 0.8, V - e);
    EXPECT_NEAR(state.pressure + 1e5, 0.8 * 3e5 * std::pow(2 / V, exponent), 1e-8);
    EXPECT_NEAR((more.energy - less.energy) / (2 * e), -state.pressure, 1e-4);
    EXPECT_NEAR((more.pressure - less.pressure) / (2 * e), -state.stiffness, 1e-4);
    EXPECT_TRUE(std::isinf(gas_state(load, 1, 0).energy));
  }
}

TEST(HollowSphere, HasTheVolumeOfItsWallAndOfItsCavity) {
  double error = 1;
  for (Index cells : {8, 16}) {
    const auto model = body_of(sphere({.radius = 0.5, .cells = cells, .inner_radius = 0.4, .layers = 2}), 1);
    const Body& body = model->bodies()[0];
    const FaceSet inner = surface_faces(body, body.sets().at("inner")),
                  outer = surface_faces(body, body.sets().at("outer"));
    EXPECT_TRUE(inner.is_closed() && outer.is_closed());
    const double cavity = -inner.volume(model->rest(), Vec3::Zero()), exact = 4 * kPi / 3 * 0.064;
    EXPECT_NEAR(outer.volume(model->rest(), Vec3::Zero()) - cavity, body.mesh->total_volume(), 1e-14);
    EXPECT_LT(std::abs(cavity - exact) / exact, 0.3 * error);  // with the square of the cells, which are inscribed
    error = std::abs(cavity - exact) / exact;
  }
  EXPECT_THROW(sphere({.radius = 0.5, .inner_radius = 0.6}), InputError);
}

}  // namespace
}  // namespace pliant
