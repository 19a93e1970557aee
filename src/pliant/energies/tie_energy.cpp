#include "pliant/energies/tie_energy.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace pliant {

namespace {

/// Nodes that both ends have in common are one node with both weights.
std::vector<Tie> merged(std::vector<Tie> ties) {
  for (Tie& tie : ties) {
    std::vector<Index> nodes;
    std::vector<double> weights;
    for (std::size_t a = 0; a < tie.nodes.size(); ++a) {
      const auto found = std::find(nodes.begin(), nodes.end(), tie.nodes[a]);
      if (found == nodes.end()) {
        nodes.push_back(tie.nodes[a]);
        weights.push_back(tie.weights[a]);
      } else {
        weights[static_cast<std::size_t>(found - nodes.begin())] += tie.weights[a];
      }
    }
    tie.nodes = std::move(nodes);
    tie.weights = std::move(weights);
  }
  return ties;
}

Stencils tie_stencils(const std::vector<Tie>& ties) {
  std::size_t size = 1;
  for (const Tie& tie : ties) size = std::max(size, tie.nodes.size());
  Stencils stencils{static_cast<int>(size), {}};
  for (const Tie& tie : ties) {
    stencils.nodes.insert(stencils.nodes.end(), tie.nodes.begin(), tie.nodes.end());
    stencils.nodes.resize(stencils.nodes.size() + size - tie.nodes.size(), tie.nodes.front());
  }
  return stencils;
}

/// A gradient by d, spread over the nodes.
void spread_over_nodes(const Tie& tie, const Vec3& pull, int size, double* gradients) {
  std::fill_n(gradients, 3 * size, 0.0);
  for (std::size_t a = 0; a < tie.nodes.size(); ++a) Eigen::Map<Vec3>{gradients + 3 * a} = tie.weights[a] * pull;
}

/// A second derivative by d: the Hessian is w w^T with it in the place of every number, so that its eigenvalues are
/// those of B times |w|^2.
void spread_over_nodes(const Tie& tie, const Mat3& B, int size, double* blocks) {
  std::fill_n(blocks, 9 * local_blocks(size), 0.0);
  for (std::size_t b = 0; b < tie.nodes.size(); ++b)
    for (std::size_t a = 0; a <= b; ++a)
      Eigen::Map<Mat3>{blocks + 9 * (b * (b + 1) / 2 + a)} = tie.weights[a] * tie.weights[b] * B;
}

}  // namespace

Vec3 Tie::difference(const VecX& x) const {
  Vec3 d = -offset;
  for (std::size_t a = 0; a < nodes.size(); ++a) d += weights[a] * node(x, nodes[a]);
  return d;
}

bool Tie::is_to_world() const { return std::abs(std::accumulate(weights.begin(), weights.end(), 0.0)) > 0.5; }

TieEnergy::TieEnergy(std::vector<Tie> ties) : ties_(merged(std::move(ties))), stencils_(tie_stencils(ties_)) {}

void TieEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  for (Index s = range.begin; s < range.end; ++s) {
    const Tie& tie = ties_[at(s)];
    const Vec3 d = tie.difference(pose.x);
    const double length = d.norm(), stretch = length - tie.rest_length;
    *values++ = 0.5 * tie.stiffness * stretch * stretch;
    if (!gradients) continue;
    // Two ends in one place have no direction to push in: an unstable equilibrium.
    const Vec3 pull = tie.rest_length == 0 ? Vec3(tie.stiffness * d)
                      : length > 0         ? Vec3(tie.stiffness * stretch / length * d)
                                           : Vec3(Vec3::Zero());
    spread_over_nodes(tie, pull, stencils_.size, gradients);
    gradients += 3 * stencils_.size;
  }
}

/// k (n n^T + (1 - r/l) (1 - n n^T)): the second part is negative under compression, and left out by a projection.
Mat3 TieEnergy::stiffness(const Tie& tie, const Vec3& d, Projection projection) {
  if (tie.rest_length == 0) return tie.stiffness * Mat3::Identity();
  const double length = std::max({d.norm(), 1e-9 * tie.rest_length, std::numeric_limits<double>::min()});
  double across = 1 - tie.rest_length / length;
  if (projection != Projection::none) across = std::max(across, 0.0);
  const Vec3 n = d / length;
  return tie.stiffness * (across * Mat3::Identity() + (1 - across) * n * n.transpose());
}

void TieEnergy::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  for (Index s = range.begin; s < range.end; ++s, blocks += 9 * local_blocks(stencils_.size)) {
    const Tie& tie = ties_[at(s)];
    spread_over_nodes(tie, stiffness(tie, tie.difference(pose.x), projection), stencils_.size, blocks);
  }
}

TieDamping::TieDamping(const TieEnergy& of)
    : of_(of), resistance_(of.ties().size(), Mat3::Zero()), start_(of.ties().size(), Vec3::Zero()) {}

void TieDamping::begin_step(const VecX& x_n, double h) {
  for (std::size_t s = 0; s < start_.size(); ++s) {
    const Tie& tie = of_.ties()[s];
    start_[s] = tie.difference(x_n);
    const Vec3 n = start_[s].norm() > 0 ? Vec3(start_[s].normalized()) : Vec3(Vec3::Zero());
    resistance_[s] =
        tie.rest_length == 0 ? Mat3(tie.damping / h * Mat3::Identity()) : Mat3(tie.damping / h * n * n.transpose());
  }
}

void TieDamping::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  for (Index s = range.begin; s < range.end; ++s) {
    const Tie& tie = of_.ties()[at(s)];
    const Vec3 moved = tie.difference(pose.x) - start_[at(s)], pull = resistance_[at(s)] * moved;
    *values++ = 0.5 * moved.dot(pull);
    if (!gradients) continue;
    spread_over_nodes(tie, pull, stencils().size, gradients);
    gradients += 3 * stencils().size;
  }
}

void TieDamping::hessians(const Pose&, Range range, Projection, double* blocks) const {
  for (Index s = range.begin; s < range.end; ++s, blocks += 9 * local_blocks(stencils().size))
    spread_over_nodes(of_.ties()[at(s)], resistance_[at(s)], stencils().size, blocks);
}

}  // namespace pliant
