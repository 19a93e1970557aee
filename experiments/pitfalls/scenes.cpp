#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "experiments/pitfalls/trial.hpp"

namespace pliant::experiments {

std::shared_ptr<const Model> swinging_beam_model(int cells, int order, const std::string& law) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_mass(MassKind::consistent);
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(
      box({.size = {2, 1, 1}, .cells = {2 * cells, cells, cells}, .split = BoxSplit::twelve}));
  body.material = {find_law(law), lame_from_young(4e5, 0.4)};
  body.order = order;
  const std::size_t b = builder.add_body(body);
  builder.add_pin({"clamp", builder.body(b).elements->nodes_of(body.mesh->sets().at("x-min"))});
  return builder.build();
}

std::shared_ptr<const Model> twisting_beam_model(const TwistOptions& options) {
  constexpr double kBeamLength = 2;
  ModelBuilder builder;
  builder.set_mass(MassKind::consistent);
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box({.origin = {0, -0.5, -0.5},
                                             .size = {kBeamLength, 1, 1},
                                             .cells = {2 * options.cells, options.cells, options.cells},
                                             .split = BoxSplit::twelve}));
  body.material = {find_law("neo-hookean"), lame_from_young(1e7, 0.49)};
  builder.add_body(body);
  std::map<double, std::vector<Index>> by_sigma;  // of one end
  VecX mass;
  if (options.per_node > 0) mass = twisting_beam_model({.cells = options.cells})->mass().consistent_diagonal();
  for (const double side : {-1.0, 1.0}) {
    by_sigma.clear();
    for (Index i : body.mesh->sets().at(side < 0 ? "x-min" : "x-max"))
      by_sigma[options.per_node > 0 ? options.per_node / mass[i] : options.sigma].push_back(i);
    for (const auto& [sigma, nodes] : by_sigma) {
      Script end{side < 0 ? "left end" : "right end", nodes, {}, options.imposition, sigma};
      end.motion.axis = Vec3::UnitX();
      end.motion.angle.keys = {{0, 0}, {options.seconds, side * 1.25 * std::numbers::pi}};
      end.motion.translation.keys = {{0, Vec3::Zero()}, {options.seconds, Vec3(side * kBeamLength / 2, 0, 0)}};
      builder.add_script(end);
    }
  }
  return builder.build();
}

double mean_penalty(const Model& model) {
  const VecX mass = model.mass().consistent_diagonal();
  double sum = 0;
  std::size_t nodes = 0;
  for (const Script& script : model.scripts()) {
    for (Index i : script.nodes) sum += script.sigma * mass[i];
    nodes += script.nodes.size();
  }
  return sum / static_cast<double>(nodes);
}

double largest_violation(const Model& model, const State& state) {
  double most = 0;
  for (const Script& script : model.scripts())
    for (std::size_t k = 0; k < script.nodes.size(); ++k) {
      const Index i = script.nodes[k];
      const Vec3 target = script.motion.position(k, node(model.rest(), i), state.time);
      most = std::max(most, (Vec3(node(state.x, i)) - target).norm());
    }
  return most;
}

/// A unit cube whose bottom stays. The top comes down to 2% of its height and is drawn sideways by half a
/// wave, the four sides follow. The paper does not print its motion; this one was fixed before the solvers were
/// compared.
std::shared_ptr<const Model> compressing_box_model(int cells, double duration) {
  constexpr double kFlat = 0.02, kSideways = 0.5;
  ModelBuilder builder;
  builder.set_mass(MassKind::consistent);
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box({.cells = {cells, cells, cells}, .split = BoxSplit::twelve}));
  body.material = {find_law("neo-hookean"), lame_from_young(1e5, 0.4)};
  builder.add_body(body);
  const auto vertices = body.mesh->vertices();
  Script sides{"sides", body.mesh->sets().at("boundary"), {}, Imposition::penalty, 1e10};
  for (Index i : sides.nodes) {
    const Vec3& X = vertices[static_cast<std::size_t>(i)];
    const double sideways = kSideways * std::sin(std::numbers::pi * X.x()) * std::sin(std::numbers::pi * X.y());
    sides.motion.field.push_back(X.z() * Vec3(sideways, 0, kFlat - 1));
  }
  sides.motion.field_scale.keys = {{0, 0}, {duration, 1}};
  builder.add_script(sides);
  return builder.build();
}

std::shared_ptr<const Model> spinning_block_model() {
  ModelBuilder builder;
  builder.set_mass(MassKind::consistent);
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box({.size = {2, 1, 1}, .cells = {10, 5, 5}, .split = BoxSplit::twelve}));
  body.material = {find_law("neo-hookean"), lame_from_young(220e9, 0.3)};
  body.density = 8000;
  body.angular_velocity = {0, 0, 10};
  builder.add_body(body);
  return builder.build();
}

std::shared_ptr<const Model> impact_model(bool stiff, int cells) {
  constexpr double kCube = 0.4, kSlab = 1, kThickness = 0.1, kGap = 0.05;
  const Index along = static_cast<Index>(std::lround(2.5 * cells)), through = std::max(1, cells / 4);
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_mass(MassKind::consistent);
  const auto add = [&](const char* name, const BoxOptions& shape, const Vec3& velocity) {
    BodyOptions body;
    body.name = name;
    body.mesh = std::make_shared<TetMesh>(box(shape));
    body.material = {find_law("neo-hookean"), stiff ? lame_from_young(220e9, 0.3) : lame_from_young(1e6, 0.4)};
    body.density = stiff ? 8000 : 1000;
    body.velocity = velocity;
    builder.add_body(body);
  };
  add("slab",
      {.origin = {-kSlab / 2, -kThickness, -kSlab / 2},
       .size = {kSlab, kThickness, kSlab},
       .cells = {along, through, along},
       .split = BoxSplit::twelve},
      Vec3::Zero());
  // A little beside the middle, so that no two vertices lie above each other.
  add("cube",
      {.origin = {0.01 - kCube / 2, kGap, 0.017 - kCube / 2},
       .size = Vec3::Constant(kCube),
       .cells = {cells, cells, cells},
       .split = BoxSplit::twelve},
      {0, -10, 0});
  Pin sides{"sides", {}};
  const auto vertices = builder.body(0).vertices();
  for (Index i = 0; i < static_cast<Index>(vertices.size()); ++i) {
    const Vec3& X = vertices[static_cast<std::size_t>(i)];
    if (std::max(std::abs(X.x()), std::abs(X.z())) > kSlab / 2 - 1e-9) sides.nodes.push_back(i);
  }
  builder.add_pin(sides);
  builder.set_contact({.dhat = 1e-3, .friction = 0.1, .eps_v = 1e-3});
  return builder.build();
}

Vec3 mean_velocity_of(const Model& model, std::size_t body, const VecX& v) {
  Vec3 momentum = Vec3::Zero();
  double mass = 0;
  const Range nodes = model.bodies()[body].nodes;
  for (Index i = nodes.begin; i < nodes.end; ++i) {
    momentum += model.mass().lumped()[i] * node(v, i);
    mass += model.mass().lumped()[i];
  }
  return momentum / mass;
}

}  // namespace pliant::experiments
