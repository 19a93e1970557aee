#include "pliant/simulation/carry_over.hpp"

#include <Eigen/Geometry>
#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/scene/dynamic_selection.hpp"
#include "pliant/solvers/conjac/conjac_catalogue.hpp"

namespace pliant {

namespace {

/// Whether a body moves as one: a rigid one, or a link, whose nodes are others.
bool is_stiff(const Body& body) { return body.rigid || body.is_link(); }

/// How a body moves as a whole: its centre of mass, its turn from rest, and their velocities.
struct RigidMotion {
  Vec3 rest = Vec3::Zero(), centre = Vec3::Zero(), velocity = Vec3::Zero(), spin = Vec3::Zero();
  Mat3 turn = Mat3::Identity();
};

RigidMotion motion_of(const Model& model, const Body& body, const State& state) {
  const VecX& mass = model.mass().lumped();
  RigidMotion motion;
  double total = 0;
  for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
    total += mass[i];
    motion.rest += mass[i] * node(model.rest(), i);
    motion.centre += mass[i] * node(state.x, i);
    motion.velocity += mass[i] * node(state.v, i);
  }
  motion.rest /= total, motion.centre /= total, motion.velocity /= total;
  Mat3 covariance = Mat3::Zero(), inertia = Mat3::Zero();
  Vec3 angular = Vec3::Zero();
  for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
    const Vec3 arm = node(state.x, i) - motion.centre;
    covariance += mass[i] * arm * (node(model.rest(), i) - motion.rest).transpose();
    inertia += mass[i] * (arm.squaredNorm() * Mat3::Identity() - arm * arm.transpose());
    angular += mass[i] * arm.cross(Vec3(node(state.v, i)));
  }
  motion.turn = nearest_rotation(covariance);
  motion.spin = inertia.inverse() * angular;
  return motion;
}

}  // namespace

State carry_over(const Model& from, const State& state, const Model& to) {
  State result = to.rest_state();
  result.time = state.time;
  result.step = state.step;
  for (const Body& body : to.bodies()) {
    const auto old = std::find_if(from.bodies().begin(), from.bodies().end(), [&](const Body& b) {
      return b.name == body.name && (b.nodes.size() == body.nodes.size() || (is_stiff(b) && is_stiff(body)));
    });
    if (old == from.bodies().end()) continue;
    if (is_stiff(body) && (body.is_link() != old->is_link() || body.nodes.size() != old->nodes.size())) {
      const RigidMotion motion = motion_of(from, *old, state);
      for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
        const Vec3 arm = motion.turn * (node(to.rest(), i) - motion.rest);
        node(result.x, i) = motion.centre + arm;
        node(result.v, i) = motion.velocity + motion.spin.cross(arm);
      }
      continue;
    }
    const Eigen::Index count = 3 * Eigen::Index(body.nodes.size());
    const Eigen::Index source = 3 * Eigen::Index(old->nodes.begin), target = 3 * Eigen::Index(body.nodes.begin);
    result.x.segment(target, count) = state.x.segment(source, count);
    result.v.segment(target, count) = state.v.segment(source, count);
  }
  for (std::size_t m = 0; m < to.muscles().size(); ++m)
    for (std::size_t k = 0; k < from.muscles().size() && k < state.activation.size(); ++k)
      if (from.muscles()[k].name == to.muscles()[m].name) result.activation[m] = state.activation[k];
  return result;
}

std::vector<Index> node_origins(const Model& before, const Model& after, std::size_t cut_body) {
  std::vector<Index> origin(static_cast<std::size_t>(after.nodes()), -1);
  for (std::size_t b = 0; b < after.bodies().size(); ++b) {
    const Body &from = before.bodies()[b], &to = after.bodies()[b];
    if (b != cut_body) {
      for (Index i = 0; i < to.nodes.size(); ++i)
        origin[static_cast<std::size_t>(to.nodes.begin + i)] = from.nodes.begin + i;
      continue;
    }
    // The elements are the same in the same order, and so are the places of their nodes in them, whatever the order of
    // the elements.
    for (std::size_t k = 0; k < to.elements->elements().size(); ++k)
      origin[static_cast<std::size_t>(to.nodes.begin + to.elements->elements()[k])] =
          from.nodes.begin + from.elements->elements()[k];
  }
  return origin;
}

State carry_over_cut(const Model& before, const State& state, const Model& after, std::span<const Index> origin) {
  State result = state;
  const auto count = static_cast<Index>(origin.size());
  result.x.resize(3 * Eigen::Index(count));
  result.v.resize(3 * Eigen::Index(count));
  for (Index i = 0; i < count; ++i) {
    node(result.x, i) = node(state.x, origin[static_cast<std::size_t>(i)]);
    node(result.v, i) = node(state.v, origin[static_cast<std::size_t>(i)]);
  }
  result.grabs.clear();
  for (const Grab& grab : state.grabs)
    if (const auto carried = carry_over_cut(before, grab, after)) result.grabs.push_back(*carried);
  return result;
}

std::optional<Grab> carry_over_cut(const Model& before, Grab grab, const Model& after) {
  // The vertices of a body keep their numbers in it; copies come behind them.
  for (Index& i : grab.nodes)
    for (std::size_t b = 0; b < before.bodies().size(); ++b)
      if (const Range range = before.bodies()[b].nodes; i >= range.begin && i < range.end) {
        i += after.bodies()[b].nodes.begin - range.begin;
        break;
      }
  try {
    check_grabs(after, std::span(&grab, 1));
  } catch (const InputError&) {
    return std::nullopt;
  }
  return grab;
}

ParameterMap carry_over_cut(const Model& before, ParameterMap parameters, std::span<const Index> origin) {
  if (const auto dynamic = parameters.find("dynamic"); dynamic != parameters.end())
    dynamic->second = resolve_dynamic_nodes(std::get<std::string>(dynamic->second), before);
  carry_dynamic_nodes(before, origin, parameters);
  return parameters;
}

}  // namespace pliant
