#include "experiments/warp_canceling/scenes.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "experiments/random.hpp"
#include "pliant/mesh/generators.hpp"

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

std::shared_ptr<const Model> dropped_box(Index cells, BoxKind kind) {
  MeshData data = box({.cells = {cells, cells, cells}});
  if (kind == BoxKind::graded) {
    const double growth = std::pow(100.0, 1.0 / (cells - 1)), whole = (std::pow(growth, cells) - 1);
    for (Vec3& p : data.vertices) p.x() = (std::pow(growth, p.x() * cells) - 1) / whole;
  }
  put_askew(data, {0.3, 0, 1}, 0.3, 0.3);
  BodyOptions body = body_of(std::move(data), 5e6);
  if (kind == BoxKind::random_stiffness) {
    Random random(11);
    for (std::size_t e = 0; e < body.mesh->tets().size(); ++e)
      body.lame.push_back(lame_from_young(std::pow(10, 5 + 4 * random.unit()), 0.4));
  }
  ModelBuilder builder;
  add_floor(builder);
  builder.add_body(body);
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

std::shared_ptr<const Model> draped_sheet(Index cells, double thickness) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"ball", SphereShape{{0.5, 0, 0.5}, 0.25}, {}, 1e5, 0.3});
  BodyOptions body =
      body_of(sheet({.origin = {0, 0.26, 0}, .thickness = thickness, .normal = Axis::y, .cells = {cells, cells}}), 1e6);
  body.damping = {4, 0};  // air; it comes to rest within a second
  builder.add_body(body);
  return builder.build();
}

TrampolineScene trampoline(Index cells) {
  constexpr double kThickness = 1e-3, kRadius = 0.12, kYoung = 5e4, kBallYoung = 1e7;
  TrampolineScene scene;
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions held = body_of(sheet({.thickness = kThickness, .normal = Axis::y, .cells = {cells, cells}}), kYoung);
  held.damping = {0.2, 0.001};
  builder.add_body(held);
  builder.add_pin({"edge", held.mesh->sets().at("edge")});
  BodyOptions hanging = body_of(sheet({.origin = {0.82, 0.16, 0},
                                       .size = {scene.hanging_height, 1},
                                       .thickness = kThickness,
                                       .normal = Axis::x,
                                       .cells = {cells / 2, cells}}),
                                kYoung);
  hanging.damping = held.damping;
  const Body& second = builder.body(builder.add_body(hanging));
  std::vector<Index> top;
  for (Index i : second.mesh->sets().at("y-max")) top.push_back(second.nodes.begin + i);
  for (Index i : second.mesh->sets().at("y-min")) scene.lower_edge.push_back(second.nodes.begin + i);
  builder.add_pin({"top", top});
  BodyOptions ball = body_of(sphere({.centre = {0.3, 0.36, 0.5}, .radius = kRadius, .cells = 6}), kBallYoung);
  ball.density = 60;
  ball.velocity = {1.3, -1.9, 0};
  builder.add_body(ball);
  scene.model = builder.build();
  return scene;
}

namespace {

/// The cells of a grid with lines at any places for which `keep` says so, six tetrahedra each (Kuhn); `of_cell` is told
/// for each tetrahedron which cell it is of.
template <class Keep, class OfCell>
MeshData cells_of_grid(const std::array<std::vector<double>, 3>& lines, Keep&& keep, OfCell&& of_cell) {
  MeshData data;
  std::map<std::array<Index, 3>, Index> vertices;
  const auto vertex = [&](const std::array<Index, 3>& place) {
    const auto [found, added] = vertices.try_emplace(place, static_cast<Index>(data.vertices.size()));
    if (added) data.vertices.emplace_back(lines[0][at(place[0])], lines[1][at(place[1])], lines[2][at(place[2])]);
    return found->second;
  };
  constexpr std::array<std::array<std::size_t, 3>, 6> kOrders = {
      {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};  // three even, three odd
  std::array<Index, 3> c;
  for (c[2] = 0; at(c[2]) + 1 < lines[2].size(); ++c[2])
    for (c[1] = 0; at(c[1]) + 1 < lines[1].size(); ++c[1])
      for (c[0] = 0; at(c[0]) + 1 < lines[0].size(); ++c[0]) {
        const Vec3 centre(0.5 * (lines[0][at(c[0])] + lines[0][at(c[0]) + 1]),
                          0.5 * (lines[1][at(c[1])] + lines[1][at(c[1]) + 1]),
                          0.5 * (lines[2][at(c[2])] + lines[2][at(c[2]) + 1]));
        if (!keep(centre)) continue;
        for (std::size_t o = 0; o < kOrders.size(); ++o) {
          Tet tet;
          std::array<Index, 3> corner = c;
          tet[0] = vertex(corner);
          for (std::size_t a = 0; a < 3; ++a) {
            ++corner[kOrders[o][a]];
            tet[a + 1] = vertex(corner);
          }
          if (o >= 3) std::swap(tet[1], tet[2]);
          data.tets.push_back(tet);
          of_cell(centre);
        }
      }
  return data;
}

}  // namespace

SpiderScene spider(Index fine, double ratio) {
  // Millimetres: legs of 4 x 4 in two cells, out by 160 and down by 160 from a trunk of 50; a thread of 240.
  constexpr double kMm = 1e-3, kCell = 2, kHalf = 25, kLegAt = 14, kReach = 160, kTrunk = 46, kThread = 240,
                   kJoint = 40;
  constexpr double kSoft = 1e6;
  const double slice = 40.0 / fine;
  std::vector<double> half = {0, kCell};
  if (fine > 1) half.push_back(7);
  for (double at_leg : {-kCell, 0.0, kCell}) half.push_back(kLegAt + at_leg);
  if (fine > 1) half.push_back(20);
  for (double out = 0; out <= kReach + 1e-9; out += slice) half.push_back(kHalf + out);
  const double knee = half.back();
  for (double over : {kCell, 2 * kCell}) half.push_back(knee + over);
  std::vector<double> across, up;
  for (auto line = half.rbegin(); line != half.rend(); ++line)
    if (*line > 0) across.push_back(-*line);
  across.insert(across.end(), half.begin(), half.end());
  for (double down = kReach; down > 1e-9; down -= slice) up.push_back(-kCell - down);
  for (double line : {-kCell, 0.0, kCell}) up.push_back(line);
  const int layers = fine > 1 ? 6 : 1;
  for (int k = 1; k <= layers; ++k) up.push_back(kCell + (kTrunk - kCell) * k / layers);
  const double top = kTrunk + kThread;
  for (double above = slice; above <= kThread + 1e-9; above += slice) up.push_back(kTrunk + above);
  for (auto* lines : {&across, &up})
    for (double& line : *lines) line *= kMm;

  const auto is_trunk = [&](const Vec3& p) {
    return std::max(std::abs(p.x()), std::abs(p.z())) < kHalf * kMm && p.y() > -kCell * kMm && p.y() < kTrunk * kMm;
  };
  const auto is_thread = [&](const Vec3& p) {
    return std::max(std::abs(p.x()), std::abs(p.z())) < kCell * kMm && p.y() > kTrunk * kMm;
  };
  const auto is_leg = [&](const Vec3& p) {
    const auto along = [&](double out, double side) {
      return std::abs(std::abs(side) - kLegAt * kMm) < kCell * kMm && out > kHalf * kMm &&
             ((std::abs(p.y()) < kCell * kMm) || (out > knee * kMm && p.y() < 0));
    };
    return along(std::abs(p.x()), p.z()) || along(std::abs(p.z()), p.x());
  };
  const auto is_joint = [&](const Vec3& p) {
    const double out = std::max(std::abs(p.x()), std::abs(p.z())) / kMm;
    return is_leg(p) && p.y() > -kCell * kMm && (out < kHalf + kJoint || (out > knee - kJoint && out < knee));
  };
  SpiderScene scene;
  std::vector<Lame> lame;
  MeshData data = cells_of_grid(
      {across, up, across}, [&](const Vec3& p) { return is_trunk(p) || is_thread(p) || is_leg(p); },
      [&](const Vec3& p) {
        lame.push_back(lame_from_young(is_joint(p) || is_thread(p) ? kSoft : ratio * kSoft, 0.4));
        if (!is_trunk(p)) scene.slender.push_back(static_cast<Index>(lame.size()) - 1);
      });
  const auto nearest = [&](const Vec3& p) {
    const auto found = std::min_element(data.vertices.begin(), data.vertices.end(), [&](const Vec3& a, const Vec3& b) {
      return (a - kMm * p).squaredNorm() < (b - kMm * p).squaredNorm();
    });
    return static_cast<Index>(found - data.vertices.begin());
  };
  for (double side : {-kLegAt, kLegAt})
    for (double sign : {-1.0, 1.0})
      for (bool along_x : {true, false}) {
        const auto place = [&](double out, double y) {
          return nearest(along_x ? Vec3(sign * out, y, side) : Vec3(side, y, sign * out));
        };
        const Index root = place(kHalf + kJoint, 0), end = place(knee - kJoint, 0);
        scene.joints.push_back({place(kLegAt, 0), place(kHalf, 0), root, end});
        scene.joints.push_back({root, end, place(knee + kCell, -kCell), place(knee + kCell, -kCell - kReach)});
      }
  std::vector<Index> hand_nodes;
  for (std::size_t i = 0; i < data.vertices.size(); ++i) {
    const Vec3& p = data.vertices[i];
    if (p.y() > top * kMm - 1e-9) hand_nodes.push_back(static_cast<Index>(i));
    if (std::max(std::abs(p.x()), std::abs(p.z())) < (kHalf + 1e-6) * kMm && p.y() < (kTrunk + 1e-6) * kMm &&
        p.y() > -(kCell + 1e-6) * kMm)
      scene.trunk.push_back(static_cast<Index>(i));
  }
  scene.size = 2 * (knee + 2 * kCell) * kMm;
  BodyOptions body = body_of(std::move(data), kSoft);
  body.lame = std::move(lame);
  body.damping = {0, 0.001};
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(body);
  Script hand{"hand", hand_nodes, {}, Imposition::direct};
  for (int k = 0; k <= 600; ++k)
    hand.motion.translation.keys.push_back(
        {k / 60.0, Vec3(0.12 * (1 - std::cos(2 * std::numbers::pi * k / 60.0)), 0, 0)});
  builder.add_script(hand);
  scene.model = builder.build();
  return scene;
}

BowlScene bowl_of_bodies(Index bodies, const MeshData& mesh) {
  BowlScene scene;
  scene.radius = 0.72 * std::cbrt(bodies / 25.0);
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_collider_law(ColliderLaw::penalty);
  builder.add_collider({"bowl", BowlShape{Vec3::Zero(), Vec3::UnitY(), scene.radius}, {}, 1e5, 0.3});
  const TetMesh checked(mesh);  // without vertices that nothing uses
  Vec3 low = Vec3::Constant(1e300), high = -low;
  for (const Vec3& p : checked.vertices()) low = low.cwiseMin(p), high = high.cwiseMax(p);
  const double ring = scene.radius - 0.75 * scene.size, scale = scene.size / (high - low).maxCoeff();
  const auto layer = std::max<Index>(3, static_cast<Index>(2 * std::numbers::pi * ring / (1.4 * scene.size)));
  for (Index k = 0; k < bodies; ++k) {
    MeshData data = mesh;
    // Layer by layer, each turned against the one below, and each body about itself.
    const double angle = 2 * std::numbers::pi * k / layer + 0.5 * (k / layer);
    const Vec3 place(ring * std::cos(angle), 1.1 * scene.size * (k / layer), ring * std::sin(angle));
    const Mat3 R = Eigen::AngleAxisd(1.3 * k, Vec3(1, 0.5, 0.3).normalized()).toRotationMatrix();
    for (Vec3& p : data.vertices) p = R * (scale * (p - 0.5 * (low + high))) + place;
    BodyOptions body = body_of(std::move(data), 3e6);
    body.name = "body " + std::to_string(k + 1);
    body.damping = {0.2, 0.002};
    builder.add_body(body);
  }
  scene.model = builder.build();
  return scene;
}

}  // namespace pliant::experiments
