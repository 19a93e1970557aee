#include "pliant/solvers/warp_canceling/explicit_contact.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kGrain = 512;
/// c of k <= c/h^2: an explicit oscillator is stable below 4, and overshoots its rest above 1.
constexpr double kStability = 0.5;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Speed of pressure waves, from the mean of lambda + 2 mu over the elements.
double wave_speed(const Body& body) {
  double modulus = 0;
  for (const Lame& given : body.lame) {
    const Lame lame = body.law->linearised(given);
    modulus += (lame.lambda + 2 * lame.mu) / static_cast<double>(body.lame.size());
  }
  return std::sqrt(modulus / body.density);
}

}  // namespace

ExplicitContact::ExplicitContact(std::shared_ptr<const Model> model) : model_(std::move(model)) {
  if (empty()) return;
  std::vector<double> area(at(model_->nodes()), 0.0);
  std::vector<Index> body_of(at(model_->nodes()));
  for (std::size_t b = 0; b < model_->bodies().size(); ++b) {
    const Body& body = model_->bodies()[b];
    wave_speed_.push_back(wave_speed(body));
    mass_.push_back(body.mass());
    Vec3 low = body.vertices()[0], high = low;
    for (const Vec3& p : body.vertices()) {
      low = low.cwiseMin(p);
      high = high.cwiseMax(p);
    }
    extent_.push_back((high - low).minCoeff());
    for (const Triangle& t : body.surface()) {
      const auto p = body.vertices();
      const double third = (p[at(t[1])] - p[at(t[0])]).cross(p[at(t[2])] - p[at(t[0])]).norm() / 6;
      for (Index i : t) area[at(body.nodes.begin + i)] += third;
    }
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) body_of[at(i)] = static_cast<Index>(b);
  }
  for (Index i : model_->colliders()->stencils().nodes) {
    areas_.push_back(area[at(i)]);
    bodies_.push_back(body_of[at(i)]);
  }
}

void ExplicitContact::add_forces(const State& state, double h, VecX& force) {
  touching_ = 0;
  if (empty()) return;
  const ColliderPenalty& penalty = *model_->colliders();
  const std::vector<Collider>& colliders = penalty.colliders();
  std::vector<RigidPose> now, before;
  for (const Collider& collider : colliders) {
    now.push_back(collider.motion.pose(state.time));
    before.push_back(collider.motion.pose(state.time - h));
  }
  const std::vector<Index>& nodes = penalty.stencils().nodes;
  const auto count = static_cast<Index>(nodes.size());
  found_.resize(at((count + kGrain - 1) / kGrain));
  for_chunks(count, kGrain, [&](Index begin, Index end) {
    std::vector<Contact>& found = found_[at(begin / kGrain)];
    found.clear();
    for (Index k = begin; k < end; ++k) {
      const Vec3 p = node(state.x, nodes[at(k)]);
      for (std::size_t c = 0; c < colliders.size(); ++c) {
        const Distance d = distance(colliders[c], now[c], p);
        if (d.value < 0) found.push_back({k, c, -d.value, d.normal, (p - before[c].from_rest(now[c].to_rest(p))) / h});
      }
    }
  });
  std::vector<double> together(mass_.size(), 0.0);
  const auto weight = [&](const Contact& contact) {
    const auto b = at(bodies_[at(contact.node)]);
    return std::max(penalty.masses()[at(contact.node)],
                    model_->bodies()[b].density * areas_[at(contact.node)] * std::min(h * wave_speed_[b], extent_[b]));
  };
  for (const auto& found : found_)
    for (const Contact& contact : found) together[at(bodies_[at(contact.node)])] += weight(contact);
  for (const auto& found : found_)
    for (const Contact& contact : found) {
      const auto b = at(bodies_[at(contact.node)]);
      const Collider& collider = colliders[contact.collider];
      const double w = weight(contact) * std::min(1.0, mass_[b] / together[b]);
      const double pressure = std::min(collider.stiffness, kStability / (h * h)) * w * contact.depth;
      const Index i = nodes[at(contact.node)];
      node(force, i) += pressure * contact.normal;
      ++touching_;
      if (collider.friction == 0) continue;
      const Vec3 slip = node(state.v, i) - contact.surface_velocity;
      const Vec3 tangent = slip - slip.dot(contact.normal) * contact.normal;
      const double speed = tangent.norm();
      // No more than what stops the node's own mass within the step.
      if (speed > 0)
        node(force, i) -=
            std::min(collider.friction * pressure, penalty.masses()[at(contact.node)] * speed / h) / speed * tangent;
    }
}

}  // namespace pliant
