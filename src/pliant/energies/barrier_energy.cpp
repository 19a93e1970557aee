#include "pliant/energies/barrier_energy.hpp"

#include <cmath>

#include "pliant/contact/barrier.hpp"

namespace pliant {

namespace {

/// Blocks (a, b) with a <= b of a 12x12 matrix, as Energy::hessians wants them.
void store_blocks(const Mat12& H, double* blocks) {
  for (Eigen::Index b = 0; b < 4; ++b)
    for (Eigen::Index a = 0; a <= b; ++a, blocks += 9) Eigen::Map<Mat3>{blocks} = H.block<3, 3>(3 * a, 3 * b);
}

/// The second derivative of b by the distance, d2 its square.
double normal_curvature(const Barrier& b, double d2) { return 4 * b.second * d2 + 2 * b.first; }

Barrier barrier_of(const ContactPair& pair, const PlacedPair& placed) {
  return barrier(placed.closest.d2, pair.reach * pair.reach);
}

/// Edges that are parallel to within the threshold carry the mollifier.
bool is_mollified(const ContactPair& pair, const Corners& x) {
  return pair.threshold > 0 && edge_cross_norm(x) < pair.threshold;
}

/// The Hessian of m(c) b(d2).
Mat12 mollified_hessian(const ContactPair& pair, const PlacedPair& placed, const Barrier& b) {
  const CrossNorm c = edge_cross_norm_derivatives(placed.x);
  const Mollifier m = mollifier(c.value, pair.threshold);
  const Vec12 g = distance_gradient(placed.closest);
  const Mat12 mixed = c.gradient * g.transpose();
  return b.value * (m.second * c.gradient * c.gradient.transpose() + m.first * c.hessian) +
         m.first * b.first * (mixed + mixed.transpose()) +
         m.value * function_hessian(placed.closest, placed.x, b.first, b.second, false);
}

}  // namespace

BarrierEnergy::BarrierEnergy(std::shared_ptr<const ContactModel> model) : model_(std::move(model)), stencils_{4, {}} {}

void BarrierEnergy::set_pairs(std::vector<ContactPair> pairs) {
  pairs_ = std::move(pairs);
  stencils_.nodes.resize(4 * pairs_.size());
  for (std::size_t s = 0; s < pairs_.size(); ++s)
    for (std::size_t k = 0; k < 4; ++k) {
      const Index i = pairs_[s].corners[k];
      stencils_.nodes[4 * s + k] = i < model_->nodes ? i : -1;
    }
  ++revision_;
}

/// What turns b, in m^4, into J.
double BarrierEnergy::scale(const ContactPair& pair) const {
  return kappa_ * pair.area / (pair.reach * pair.reach * pair.reach);
}

double BarrierEnergy::factor(const ContactPair& pair, const PlacedPair& placed) const {
  return scale(pair) * (pair.threshold > 0 ? mollifier(edge_cross_norm(placed.x), pair.threshold).value : 1);
}

std::optional<BarrierEnergy::Twist> BarrierEnergy::twist(const ContactPair& pair, const PlacedPair& placed) const {
  if (!is_mollified(pair, placed.x)) return std::nullopt;
  const CrossNorm c = edge_cross_norm_derivatives(placed.x);
  const Mollifier m = mollifier(c.value, pair.threshold);
  const Barrier b = barrier_of(pair, placed);
  const double k = scale(pair), length = c.gradient.norm();
  const double stiffness = b.value * (std::abs(m.second) * length * length + m.first * c.hessian.norm()) +
                           2 * m.first * std::abs(b.first) * length * distance_gradient(placed.closest).norm();
  return Twist{k * m.first * b.value * c.gradient, k * stiffness};
}

double BarrierEnergy::normal_force(const ContactPair& pair, const PlacedPair& placed) const {
  return -factor(pair, placed) * barrier_of(pair, placed).first * 2 * std::sqrt(placed.closest.d2);
}

void BarrierEnergy::append_springs(const VecX& x, std::vector<ContactSpring>& springs) const {
  for (std::size_t s = 0; s < pairs_.size(); ++s) {
    const PlacedPair placed = place(pairs_[s], model_->nodes, x, obstacles_);
    const double d2 = placed.closest.d2,
                 k = factor(pairs_[s], placed) * normal_curvature(barrier_of(pairs_[s], placed), d2);
    if (!(k > 0) || !std::isfinite(k)) continue;
    ContactSpring& spring = springs.emplace_back();
    std::copy_n(stencils_[static_cast<Index>(s)], 4, spring.nodes.begin());
    std::copy_n(placed.closest.weight.begin(), 4, spring.weight.begin());
    spring.stiffness = k / d2 * placed.closest.r * placed.closest.r.transpose();
    spring.largest = k;
  }
}

void BarrierEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  for (Index s = range.begin; s < range.end; ++s) {
    const ContactPair& pair = pairs_[static_cast<std::size_t>(s)];
    const PlacedPair placed = place(pair, model_->nodes, pose.x, obstacles_);
    const Barrier b = barrier_of(pair, placed);
    const double k = scale(pair);
    const bool mollified = is_mollified(pair, placed.x);
    Mollifier m;
    CrossNorm c;
    if (mollified) {
      c = edge_cross_norm_derivatives(placed.x);
      m = mollifier(c.value, pair.threshold);
    }
    *values++ = b.value == 0 ? 0 : k * m.value * b.value;
    if (!gradients) continue;
    Eigen::Map<Vec12> g(gradients);
    g = k * m.value * b.first * distance_gradient(placed.closest);
    if (mollified) g += k * m.first * b.value * c.gradient;
    gradients += 12;
  }
}

Mat12 BarrierEnergy::hessian(const ContactPair& pair, const VecX& x, bool project) const {
  const PlacedPair placed = place(pair, model_->nodes, x, obstacles_);
  const Barrier b = barrier_of(pair, placed);
  Mat12 H;
  if (pair.plane >= 0) {  // the distance is linear in the point
    const Vec3& n = obstacles_.planes[static_cast<std::size_t>(pair.plane)].normal;
    H.setZero();
    H.topLeftCorner<3, 3>() = normal_curvature(b, placed.closest.d2) * n * n.transpose();
  } else if (is_mollified(pair, placed.x)) {
    H = mollified_hessian(pair, placed, b);
    if (project) project_edge_hessian(H);
  } else {
    H = function_hessian(placed.closest, placed.x, b.first, b.second, project);
  }
  H *= scale(pair);
  return H;
}

void BarrierEnergy::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  for (Index s = range.begin; s < range.end; ++s, blocks += 9 * local_blocks(4))
    store_blocks(hessian(pairs_[static_cast<std::size_t>(s)], pose.x, projection != Projection::none), blocks);
}

void BarrierEnergy::add_coupling(const Pose& pose, Projection projection, const ObstacleState& there, VecX& g) const {
  for (const ContactPair& pair : pairs_) {
    Vec12 way = Vec12::Zero();
    if (pair.plane >= 0) {
      const auto p = static_cast<std::size_t>(pair.plane);
      const PlaneShape &now = obstacles_.planes[p], &then = there.planes[p];
      const Vec3 point = node(pose.x, pair.corners[0]);
      way.head<3>() = (then.normal.dot(point - then.point) - now.normal.dot(point - now.point)) * now.normal;
    } else {
      for (std::size_t k = 0; k < 4; ++k)
        if (const Index i = pair.corners[k] - model_->nodes; i >= 0)
          way.segment<3>(3 * static_cast<Eigen::Index>(k)) = node(there.positions, i) - node(obstacles_.positions, i);
    }
    if (way.isZero(0)) continue;
    const Vec12 change = hessian(pair, pose.x, projection != Projection::none) * way;
    for (std::size_t k = 0; k < 4; ++k)
      if (const Index i = pair.corners[k]; i >= 0 && i < model_->nodes)
        node(g, i) += change.segment<3>(3 * static_cast<Eigen::Index>(k));
  }
}

}  // namespace pliant
