#include "experiments/warp_canceling/scenes.hpp"

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/read_mesh.hpp"

namespace pliant::experiments {

namespace {

BodyOptions body_of(MeshData data, double young) {
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("linear-corotated"), lame_from_young(young, 0.4)};
  body.density = 1000;
  return body;
}

/// Turns the mesh about its centre, so that it lands on a corner, and lifts it to `height` above y = 0.
void put_askew(MeshData& data, const Vec3& axis, double angle, double height) {
  Vec3 low = data.vertices[0], high = low;
  for (const Vec3& p : data.vertices) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const Mat3 R = Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
  const Vec3 centre = 0.5 * (low + high);
  double lowest = 1e300;
  for (Vec3& p : data.vertices) {
    p = R * (p - centre);
    lowest = std::min(lowest, p.y());
  }
  for (Vec3& p : data.vertices) p.y() += height - lowest;
}

void add_floor(ModelBuilder& builder, double friction = 0) {
  builder.set_gravity({0, -9.81, 0});
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"floor", PlaneShape{}, {}, 1e5, friction});
}

/// Keeps the tets whose centroids satisfy the predicate; vertices without any are dropped when the mesh is checked.
template <class Predicate>
void keep_tets(MeshData& data, Predicate&& keep) {
  std::erase_if(data.tets, [&](const Tet& t) {
    Vec3 centre = Vec3::Zero();
    for (Index i : t) centre += 0.25 * data.vertices[static_cast<std::size_t>(i)];
    return !keep(centre);
  });
}

MeshData bar(Index across) { return box({.size = {1.5, 0.5, 0.5}, .cells = {3 * across, across, across}}); }

}  // namespace

std::shared_ptr<const Model> swinging_bar(Index across, double young) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = body_of(bar(across), young);
  builder.add_body(body);
  builder.add_pin({"clamp", body.mesh->sets().at("x-min")});
  return builder.build();
}

std::shared_ptr<const Model> dropped_bar(Index across, double young) {
  ModelBuilder builder;
  add_floor(builder);
  MeshData data = bar(across);
  put_askew(data, {0, 0, 1}, 0.3, 0.3);
  builder.add_body(body_of(std::move(data), young));
  return builder.build();
}

std::shared_ptr<const Model> free_bar(Index across, double young) {
  ModelBuilder builder;
  builder.add_body(body_of(bar(across), young));
  return builder.build();
}

std::shared_ptr<const Model> sculpture(Index across, double young) {
  constexpr double kSide = 0.92, kStrut = 0.108;
  ModelBuilder builder;
  add_floor(builder);
  MeshData data = lattice({.size = Vec3::Constant(kSide), .cells = {2, 2, 2}, .strut = kStrut, .across = across});
  put_askew(data, {1, 0.3, 0.7}, 0.6, 0.03);
  BodyOptions body = body_of(std::move(data), young);
  body.velocity = {0, -2.4, 0};
  builder.add_body(body);
  return builder.build();
}

std::shared_ptr<const Model> three_torus(Index cells, double young) {
  // Rings of radius 0.22 and thickness 0.18, whose middle lines touch.
  constexpr double kRing = 0.22, kTube = 0.09;
  const Vec3 size(4 * kRing + 2 * (kRing + kTube), 2 * kTube, 2 * (kRing + kTube));
  const double cell = size.y() / cells;
  MeshData data = box({.size = size,
                       .cells = {static_cast<Index>(std::lround(size.x() / cell)), cells,
                                 static_cast<Index>(std::lround(size.z() / cell))}});
  keep_tets(data, [&](const Vec3& p) {
    for (int ring = 0; ring < 3; ++ring) {
      const double x = p.x() - (kRing + kTube + 2 * kRing * ring), z = p.z() - (kRing + kTube);
      if (std::hypot(std::hypot(x, z) - kRing, p.y() - kTube) < kTube) return true;
    }
    return false;
  });
  put_askew(data, {0.2, 0.1, 1}, 0.25, 0.42);
  ModelBuilder builder;
  add_floor(builder, 0.2);
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"cylinder", CylinderShape{{0.1, 0.2, 0}, Vec3::UnitZ(), 0.2, 1}, {}, 1e5, 0.2});
  BodyOptions body = body_of(std::move(data), young);
  body.damping = {0, 0.001};
  builder.add_body(body);
  return builder.build();
}

std::shared_ptr<const Model> dropped_figure(MeshData mesh, double young) {
  const TetMesh checked(mesh);  // without vertices that nothing uses
  Vec3 low = Vec3::Constant(1e300), high = -low;
  for (const Vec3& p : checked.vertices()) low = low.cwiseMin(p), high = high.cwiseMax(p);
  for (Vec3& p : mesh.vertices) p = (p - low) / (high - low).maxCoeff();
  put_askew(mesh, {0, 0, 1}, 0.0, 0.3);
  ModelBuilder builder;
  add_floor(builder);
  builder.add_body(body_of(std::move(mesh), young));
  return builder.build();
}

std::shared_ptr<const Model> shaken_bar(double young) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  const BodyOptions body = body_of(box({.size = {2, 0.25, 0.25}, .cells = {24, 3, 3}}), young);
  builder.add_body(body);
  Script shake{"shake", {}, {}, Imposition::direct};
  for (std::size_t i = 0; i < body.mesh->vertices().size(); ++i)
    if (std::abs(body.mesh->vertices()[i].x() - 1) < 1e-9) shake.nodes.push_back(static_cast<Index>(i));
  constexpr double kFrequency = 5, kSampling = 1.0 / 240;
  for (int k = 0; k * kSampling <= 10; ++k)
    shake.motion.translation.keys.push_back(
        {k * kSampling, Vec3(0, 0.4 * std::sin(2 * std::numbers::pi * kFrequency * k * kSampling), 0)});
  builder.add_script(shake);
  return builder.build();
}

namespace {

/// What the piston has gone down by, over its whole way.
constexpr double kPistonTimes[] = {0, 1.0, 1.2, 2.0}, kPistonPlaces[] = {0, 1, 1, 0};

}  // namespace

double PistonScene::piston_bottom(double time) const {
  double down = 0;
  for (int k = 1; k < 4; ++k)
    if (time >= kPistonTimes[k - 1] && time < kPistonTimes[k])
      down = kPistonPlaces[k - 1] + (kPistonPlaces[k] - kPistonPlaces[k - 1]) * (time - kPistonTimes[k - 1]) /
                                        (kPistonTimes[k] - kPistonTimes[k - 1]);
  return start - travel * down;
}

PistonScene body_under_piston(MeshData mesh, double young) {
  const TetMesh checked(mesh);
  Vec3 low = Vec3::Constant(1e300), high = -low;
  for (const Vec3& p : checked.vertices()) low = low.cwiseMin(p), high = high.cwiseMax(p);
  const double scale = 0.3 / (high - low).maxCoeff();
  for (Vec3& p : mesh.vertices) p = scale * (p - low);
  const Vec3 size = scale * (high - low);
  PistonScene scene;
  constexpr double kHalfLength = 0.3, kLeastGap = 0.05;
  scene.centre = {size.x() / 2, 0, size.z() / 2};
  scene.radius = 0.25 * std::max(size.x(), size.z());
  scene.start = size.y() + 0.02;
  scene.travel = scene.start - kLeastGap * size.y();
  scene.least_gap = kLeastGap;
  ModelBuilder builder;
  add_floor(builder);
  Collider piston{
      "piston",
      CylinderShape{scene.centre + Vec3(0, scene.start + kHalfLength, 0), Vec3::UnitY(), scene.radius, kHalfLength},
      {},
      1e5,
      0};
  for (int k = 0; k < 4; ++k)
    piston.motion.translation.keys.push_back({kPistonTimes[k], Vec3(0, -scene.travel * kPistonPlaces[k], 0)});
  builder.add_collider(piston);
  BodyOptions body = body_of(std::move(mesh), young);
  body.damping = {1, 0.005};
  builder.add_body(body);
  scene.model = builder.build();
  return scene;
}

std::shared_ptr<const Model> draped_sheet(Index cells) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"ball", SphereShape{{0.5, 0, 0.5}, 0.25}, {}, 1e5, 0.3});
  BodyOptions body =
      body_of(sheet({.origin = {0, 0.26, 0}, .thickness = 1e-4, .normal = Axis::y, .cells = {cells, cells}}), 1e6);
  body.damping = {4, 0};  // air; it comes to rest within a second
  builder.add_body(body);
  return builder.build();
}

std::shared_ptr<const Model> trampoline(Index cells) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  Collider ball{"ball", SphereShape{{0.5, 0.2, 0.5}, 0.15}, {}, 1e5, 0.1};
  ball.motion.translation.keys = {
      {0, Vec3::Zero()}, {0.4, Vec3(0, -0.3, 0)}, {0.6, Vec3(0.1, -0.3, 0)}, {0.9, Vec3(0, 0.3, 0)}};
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider(ball);
  BodyOptions body = body_of(sheet({.thickness = 1e-3, .normal = Axis::y, .cells = {cells, cells}}), 1e6);
  body.damping = {0.5, 0.001};
  builder.add_body(body);
  builder.add_pin({"edge", body.mesh->sets().at("edge")});
  return builder.build();
}

std::shared_ptr<const Model> spider(Index across) {
  // On a grid of centimetre cells, each cut `across` times: a body of 9 x 5 x 9, legs of one cell that go out, up and
  // down, and a thread of one cell.
  constexpr Index kHalf = 20, kHeight = 44;
  const double cell = 0.01;
  MeshData data = box({.origin = {-(kHalf + 0.5) * cell, 0, -(kHalf + 0.5) * cell},
                       .size = {(2 * kHalf + 1) * cell, kHeight * cell, (2 * kHalf + 1) * cell},
                       .cells = {(2 * kHalf + 1) * across, kHeight * across, (2 * kHalf + 1) * across}});
  const auto coarse = [&](const Vec3& p) {
    return std::array<Index, 3>{static_cast<Index>(std::floor(p.x() / cell + 0.5)),
                                static_cast<Index>(std::floor(p.y() / cell)),
                                static_cast<Index>(std::floor(p.z() / cell + 0.5))};
  };
  const auto is_body = [](Index x, Index y, Index z) {
    return std::abs(x) <= 4 && std::abs(z) <= 4 && y >= 10 && y < 15;
  };
  const auto is_thread = [](Index x, Index y, Index z) { return x == 0 && z == 0 && y >= 15; };
  const auto leg = [&](Index x, Index y, Index z) {
    const auto along = [&](Index out, Index side) {
      return std::abs(side) == 3 && ((y == 12 && out > 4 && out <= 16) || (out == 16 && y < 12));
    };
    return along(std::abs(x), z) || along(std::abs(z), x);
  };
  keep_tets(data, [&](const Vec3& p) {
    const auto [x, y, z] = coarse(p);
    return is_body(x, y, z) || is_thread(x, y, z) || leg(x, y, z);
  });
  BodyOptions body = body_of(std::move(data), 3e7);
  for (const Tet& t : body.mesh->tets()) {
    Vec3 centre = Vec3::Zero();
    for (Index i : t) centre += 0.25 * body.mesh->vertices()[static_cast<std::size_t>(i)];
    const auto [x, y, z] = coarse(centre);
    const Index out = std::max(std::abs(x), std::abs(z));
    const bool joint = !is_body(x, y, z) && !is_thread(x, y, z) && (out == 5 || out == 6 || (out == 16 && y >= 10));
    body.lame.push_back(lame_from_young(joint || is_thread(x, y, z) ? 1e5 : 3e7, 0.4));
  }
  body.damping = {0, 0.001};
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(body);
  Script hand{"hand", body.mesh->sets().at("y-max"), {}, Imposition::direct};
  for (int k = 0; k <= 600; ++k)
    hand.motion.translation.keys.push_back(
        {k / 60.0, Vec3(0, 0.05 * std::sin(2 * std::numbers::pi * 1.5 * k / 60.0), 0)});
  builder.add_script(hand);
  return builder.build();
}

std::shared_ptr<const Model> bowl_of_bodies(Index bodies, Index cells, const std::string& mesh_file) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"bowl", BowlShape{Vec3::Zero(), Vec3::UnitY(), 0.6}, {}, 1e5, 0.3});
  for (Index k = 0; k < bodies; ++k) {
    MeshData data =
        !mesh_file.empty() ? read_mesh_data(mesh_file)
        : k % 3 == 0       ? sphere({.radius = 0.12, .cells = cells})
        : k % 3 == 1
            ? cylinder({.radius = 0.09, .length = 0.25, .axis = Axis::x, .cells = cells})
            : torus({.radius = 0.1, .ring_radius = 0.05, .axis = Axis::y, .cells = std::max<Index>(4, cells / 2)});
    Vec3 low = data.vertices[0], high = low;
    for (const Vec3& p : data.vertices) {
      low = low.cwiseMin(p);
      high = high.cwiseMax(p);
    }
    const double scale = mesh_file.empty() ? 1 : 0.3 / (high - low).maxCoeff();
    // Three to a layer, each layer turned against the one below.
    const double angle = 2.1 * k + 0.5 * (k / 3);
    const Vec3 place(0.25 * std::cos(angle), 0.35 * (k / 3) - 0.1, 0.25 * std::sin(angle));
    for (Vec3& p : data.vertices) p = scale * (p - 0.5 * (low + high)) + place;
    BodyOptions body = body_of(std::move(data), 3e6);
    body.name = "body " + std::to_string(k + 1);
    body.damping = {0.2, 0.002};
    builder.add_body(body);
  }
  return builder.build();
}

}  // namespace pliant::experiments
