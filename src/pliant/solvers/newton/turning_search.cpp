#include "pliant/solvers/newton/turning_search.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "pliant/math/decompositions.hpp"

namespace pliant {

namespace {

constexpr double kLeastTurn = 1e-3;  ///< rad; what stretches less is left to the line
constexpr double kMostTurn = 0.5;    ///< rad in one step
constexpr int kHalvings = 6;

}  // namespace

void TurningSearch::improve(const Iterate& current, const Ray& ray, const LineSearchOptions& options,
                            ObstacleDrive& obstacles, LineSearchResult& found, Iterate& trial) {
  if (options.kind == LineSearchKind::none || (found.accepted && found.alpha >= ray.largest)) return;
  const double turn = fit(current.x, ray.dx);
  if (!(turn > kLeastTurn)) return;
  double alpha = std::min(1.0, kMostTurn / turn);
  for (int k = 0; k < kHalvings && alpha > found.alpha; ++k, alpha /= 2)
    for (const Axis axis : {Axis::at_rest, Axis::of_mass}) {
      move(current.x, ray.dx, alpha, axis, tried_.x);
      along_ = tried_.x - current.x;
      const double share = obstacles.largest_step(current.x, along_);
      if (share < 1) tried_.x = current.x + share * along_;
      tried_.energy = function_.gradient(tried_.x, tried_.gradient);
      ++found.evaluations;
      if (!(tried_.energy - current.energy <= options.decrease * share * alpha * ray.slope)) continue;
      if (found.accepted && !(tried_.energy < trial.energy)) continue;
      found.accepted = true;
      found.alpha = share * alpha;
      std::swap(trial, tried_);
      return;
    }
}

/// The momentum and the angular momentum of dx, body by body. Returns the largest angle.
double TurningSearch::fit(const VecX& x, const VecX& dx) {
  const Model& model = function_.model();
  const VecX& mass = model.mass().lumped();
  turns_.clear();
  double largest = 0;
  for (const Body& body : model.bodies()) {
    double total = 0;
    Vec3 centre = Vec3::Zero(), shift = Vec3::Zero(), spin = Vec3::Zero();
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      total += mass[i];
      centre += mass[i] * node(x, i);
      shift += mass[i] * node(dx, i);
    }
    if (!(total > 0)) continue;
    centre /= total;
    shift /= total;
    Mat3 inertia = Mat3::Zero();
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
      const Vec3 p = node(x, i) - centre;
      spin += mass[i] * p.cross(Vec3(node(dx, i)) - shift);
      inertia += mass[i] * (p.squaredNorm() * Mat3::Identity() - p * p.transpose());
    }
    const Vec3 omega = solve_symmetric(inertia, spin);
    if (!omega.allFinite()) continue;
    turns_.push_back({body.nodes, centre, shift, omega});
    largest = std::max(largest, omega.norm());
  }
  return largest;
}

/// x + alpha dx but for the turns: a node at p from the axis, for which dx = shift + omega x p + r, goes to
/// R(alpha omega) (p + alpha r) from where the axis is then.
void TurningSearch::move(const VecX& x, const VecX& dx, double alpha, Axis axis, VecX& to) const {
  to = x + alpha * dx;
  for (const Turn& turn : turns_) {
    const double angle = turn.omega.norm();
    if (!(angle > kLeastTurn)) continue;
    const Vec3 direction = turn.omega / angle;
    const Mat3 R = Eigen::AngleAxisd(alpha * angle, direction).toRotationMatrix();
    Vec3 centre = turn.centre, shift = turn.shift;
    if (axis == Axis::at_rest) {  // shift + omega x (centre - c) is along omega there
      centre += turn.omega.cross(turn.shift) / (angle * angle);
      shift = direction.dot(turn.shift) * direction;
    }
    for (Index i = turn.nodes.begin; i < turn.nodes.end; ++i) {
      const Vec3 p = Vec3(node(x, i)) - centre;
      const Vec3 rest = Vec3(node(dx, i)) - shift - turn.omega.cross(p);
      node(to, i) = centre + alpha * shift + R * (p + alpha * rest);
    }
  }
  for (Index i : function_.problem().fixed) to[i] = x[i] + alpha * dx[i];
}

}  // namespace pliant
