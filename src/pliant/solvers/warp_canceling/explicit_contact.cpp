#include "pliant/solvers/warp_canceling/explicit_contact.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kContactGrain = 512;
/// c of k <= c/h^2: an explicit oscillator is stable below 4, and overshoots its rest above 1.
constexpr double kStability = 0.5;

/// Speed of pressure waves, from the mean of lambda + 2 mu over the elements.
double wave_speed(const Body& body) {
  double modulus = 0;
  for (const Lame& given : body.lame) {
    const Lame lame = body.law->linearised(given);
    modulus += (lame.lambda + 2 * lame.mu) / static_cast<double>(body.lame.size());
  }
  return std::sqrt(modulus / body.density);
}

/// Against the slip along the surface: Coulomb's limit, but no more than what stops `mass_rate` (kg/s) within the step.
Vec3 friction_force(const Vec3& slip, const Vec3& normal, double limit, double mass_rate) {
  const Vec3 tangent = slip - slip.dot(normal) * normal;
  const double speed = tangent.norm();
  return speed > 0 && limit > 0 ? Vec3(std::min(limit / speed, mass_rate) * tangent) : Vec3(Vec3::Zero());
}

}  // namespace

ExplicitContact::ExplicitContact(std::shared_ptr<const Model> model, const ColliderPenalty* colliders,
                                 const BodyContactOptions& options)
    : model_(std::move(model)), colliders_(colliders), surfaces_(model_, options) {
  if (empty()) return;
  area_.assign(at(model_->nodes()), 0.0);
  body_.resize(at(model_->nodes()));
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
      for (Index i : t) area_[at(body.nodes.begin + i)] += third;
    }
    std::fill(body_.begin() + body.nodes.begin, body_.begin() + body.nodes.end, static_cast<Index>(b));
  }
}

double ExplicitContact::weight(Index node, double h) const {
  const auto b = at(body_[at(node)]);
  return std::max(model_->mass().lumped()[node],
                  model_->bodies()[b].density * area_[at(node)] * std::min(h * wave_speed_[b], extent_[b]));
}

void ExplicitContact::find_colliders(const StepProblem& problem) {
  const double h = problem.h;
  found_.clear();
  if (!colliders_) return;
  const std::vector<Collider>& colliders = colliders_->colliders();
  const std::vector<Index>& nodes = colliders_->stencils().nodes;
  std::vector<RigidPose> now, before;
  for (const Collider& collider : colliders) {
    now.push_back(collider.motion.pose(problem.start));
    before.push_back(collider.motion.pose(problem.start - h));
  }
  const auto count = static_cast<Index>(nodes.size());
  found_.resize(at((count + kContactGrain - 1) / kContactGrain));
  for_chunks(count, kContactGrain, [&](Index begin, Index end) {
    std::vector<ColliderContact>& found = found_[at(begin / kContactGrain)];
    for (Index k = begin; k < end; ++k) {
      const Vec3 p = node(problem.x_n, nodes[at(k)]);
      for (std::size_t c = 0; c < colliders.size(); ++c) {
        const Distance d = distance(colliders[c], now[c], p);
        if (d.value < 0)
          found.push_back({nodes[at(k)], c, -d.value, d.normal, (p - before[c].from_rest(now[c].to_rest(p))) / h});
      }
    }
  });
}

void ExplicitContact::push(const StepProblem& problem, const ColliderContact& contact, double share,
                           VecX& force) const {
  const double h = problem.h;
  const Collider& collider = colliders_->colliders()[contact.collider];
  const Index i = contact.node;
  const double pressure = std::min(collider.stiffness, kStability / (h * h)) * share * weight(i, h) * contact.depth;
  node(force, i) += pressure * contact.normal;
  const Vec3 slip = node(problem.v_n, i) - contact.surface_velocity;
  node(force, i) -= friction_force(slip, contact.normal, collider.friction * pressure, model_->mass().lumped()[i] / h);
}

void ExplicitContact::push(const StepProblem& problem, const BodyContact& contact, double share, VecX& force) const {
  const double h = problem.h;
  const BodyContactOptions& options = surfaces_.options();
  const Index i = contact.point;
  double triangle = 0, mass = 0;
  Vec3 slip = node(problem.v_n, i);
  for (std::size_t a = 0; a < 3; ++a) {
    const double w = contact.weights[static_cast<Eigen::Index>(a)];
    triangle += w * weight(contact.triangle[a], h);
    mass += w * model_->mass().lumped()[contact.triangle[a]];
    slip -= w * node(problem.v_n, contact.triangle[a]);
  }
  const double own = weight(i, h), series = own * triangle / (own + triangle);
  const double pressure = std::min(options.stiffness, kStability / (h * h)) * share * series * contact.depth;
  const Vec3 f = pressure * contact.normal - friction_force(slip, contact.normal, options.friction * pressure,
                                                            std::min(mass, model_->mass().lumped()[i]) / (2 * h));
  node(force, i) += f;
  for (std::size_t a = 0; a < 3; ++a)
    node(force, contact.triangle[a]) -= contact.weights[static_cast<Eigen::Index>(a)] * f;
}

void ExplicitContact::add_forces(const StepProblem& problem, VecX& force) {
  const double h = problem.h;
  touching_ = 0;
  if (empty()) return;
  find_colliders(problem);
  const std::vector<BodyContact>& pairs =
      surfaces_.find(problem.x_n, surfaces_.none() ? 0 : 2 * h * problem.v_n.cwiseAbs().maxCoeff());
  std::vector<double> together(mass_.size(), 0.0);
  for (const auto& found : found_)
    for (const ColliderContact& contact : found) together[at(body_[at(contact.node)])] += weight(contact.node, h);
  for (const BodyContact& contact : pairs) {
    together[at(body_[at(contact.point)])] += weight(contact.point, h);
    together[at(body_[at(contact.triangle[0])])] += weight(contact.triangle[0], h);
  }
  const auto share = [&](Index i) { return std::min(1.0, mass_[at(body_[at(i)])] / together[at(body_[at(i)])]); };
  for (const auto& found : found_)
    for (const ColliderContact& contact : found) {
      push(problem, contact, share(contact.node), force);
      ++touching_;
    }
  for (const BodyContact& contact : pairs) {
    push(problem, contact, std::min(share(contact.point), share(contact.triangle[0])), force);
    ++touching_;
  }
}

}  // namespace pliant
