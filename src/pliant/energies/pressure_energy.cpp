#include "pliant/energies/pressure_energy.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cassert>
#include <map>

namespace pliant {

namespace {

Mat3 cross_matrix(const Vec3& w) {
  Mat3 W;
  W << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0;
  return W;
}

/// Every edge of the corners, once in each direction.
bool has_no_rim(const Stencils& faces, int order) {
  const std::array<int, 3> corners = {ReferenceFace::number(order, 0, 0), ReferenceFace::number(order, order, 0),
                                      ReferenceFace::number(order, 0, order)};
  std::map<std::pair<Index, Index>, int> balance;
  for (Index f = 0; f < faces.count(); ++f)
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = faces[f][corners[k]], b = faces[f][corners[(k + 1) % 3]];
      balance[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
    }
  return std::all_of(balance.begin(), balance.end(), [](const auto& edge) { return edge.second == 0; });
}

/// An orthonormal frame of two tangents: the normal, and the direction halfway between them turned into it, which
/// treats both alike.
Mat3 tangent_frame(const Vec3& a, const Vec3& b) {
  const Vec3 n = a.cross(b).normalized(), middle = (a.normalized() + b.normalized()).normalized();
  Mat3 frame;
  frame << n, middle, n.cross(middle);
  return frame;
}

/// The derivatives of det X by the columns of X.
Mat3 cofactors(const Mat3& X) {
  Mat3 C;
  C << X.col(1).cross(X.col(2)), X.col(2).cross(X.col(0)), X.col(0).cross(X.col(1));
  return C;
}

}  // namespace

FaceSet::FaceSet(int order, std::vector<Index> nodes)
    : reference_(&ReferenceFace::of_order(order)), stencils_{reference_->nodes(), std::move(nodes)} {
  assert(stencils_.nodes.size() % at(stencils_.size) == 0);
  nodes_ = stencils_.nodes;
  std::sort(nodes_.begin(), nodes_.end());
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
  is_closed_ = has_no_rim(stencils_, order);
}

Vec3 FaceSet::mean(const VecX& x) const {
  Vec3 sum = Vec3::Zero();
  for (Index i : nodes_) sum += node(x, i);
  return sum / static_cast<double>(nodes_.size());
}

Mat3 FaceSet::frame(const VecX& x, Index face, int point, const Vec3& origin) const {
  const Index* nodes = stencils_[face];
  const auto& N = reference_->shape(point);
  Mat3 sum = Mat3::Zero();
  for (int a = 0; a < stencils_.size; ++a) sum += (node(x, nodes[a]) - origin) * N.col(a).transpose();
  return sum;
}

double FaceSet::volume(const VecX& x, const Vec3& origin) const {
  double sum = 0;
  for (Index f = 0; f < stencils_.count(); ++f)
    for (int q = 0; q < reference_->points(); ++q)
      sum += reference_->weight(q) / 3 * frame(x, f, q, origin).determinant();
  return sum;
}

void FaceSet::add_areas(const VecX& x, double scale, VecX& f) const {
  const Vec3 origin = mean(x);
  for (Index s = 0; s < stencils_.count(); ++s)
    for (int q = 0; q < reference_->points(); ++q) {
      const Mat3 X = frame(x, s, q, origin);
      const Vec3 area = scale * reference_->weight(q) * X.col(1).cross(X.col(2));
      for (int a = 0; a < stencils_.size; ++a) node(f, stencils_[s][a]) += reference_->shape(q)(0, a) * area;
    }
}

void FaceSet::add_volume_gradient(const VecX& x, const Vec3& origin, double scale, VecX& f) const {
  for (Index s = 0; s < stencils_.count(); ++s)
    for (int q = 0; q < reference_->points(); ++q) {
      const Mat3 C = scale * reference_->weight(q) / 3 * cofactors(frame(x, s, q, origin));
      for (int a = 0; a < stencils_.size; ++a) node(f, stencils_[s][a]) += C * reference_->shape(q).col(a);
    }
}

void FaceSet::add_traction(const VecX& x, const Vec3& traction, VecX& f) const {
  const Vec3 origin = mean(x);
  for (Index s = 0; s < stencils_.count(); ++s)
    for (int q = 0; q < reference_->points(); ++q) {
      const Mat3 X = frame(x, s, q, origin);
      const double area = reference_->weight(q) * X.col(1).cross(X.col(2)).norm();
      for (int a = 0; a < stencils_.size; ++a) node(f, stencils_[s][a]) += reference_->shape(q)(0, a) * area * traction;
    }
}

void FaceSet::add_turning_traction(const VecX& rest, const VecX& x, const Vec3& traction, VecX& f) const {
  const Vec3 origin = mean(x);
  for (Index s = 0; s < stencils_.count(); ++s)
    for (int q = 0; q < reference_->points(); ++q) {
      const Mat3 X = frame(x, s, q, origin), R = frame(rest, s, q, origin);
      const double area = reference_->weight(q) * X.col(1).cross(X.col(2)).norm();
      const Vec3 turned = tangent_frame(X.col(1), X.col(2)) * tangent_frame(R.col(1), R.col(2)).transpose() * traction;
      for (int a = 0; a < stencils_.size; ++a) node(f, stencils_[s][a]) += reference_->shape(q)(0, a) * area * turned;
    }
}

void PressureEnergy::set(double pressure, const Vec3& origin) {
  pressure_ = pressure;
  origin_ = origin;
  start_.clear();
}

void PressureEnergy::set_start(const VecX& x) {
  const ReferenceFace& reference = faces_.reference();
  start_.assign(at(stencils().count()), 0.0);
  for (Index f = 0; f < stencils().count(); ++f)
    for (int q = 0; q < reference.points(); ++q)
      start_[at(f)] += reference.weight(q) / 3 * faces_.frame(x, f, q, origin_).determinant();
}

/// With X = (x, x_u, x_v) at a point, V has the density det X / 3.
void PressureEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  const ReferenceFace& reference = faces_.reference();
  const int size = stencils().size;
  for (Index f = range.begin; f < range.end; ++f) {
    double volume = start_.empty() ? 0 : -start_[at(f)];
    if (gradients) Eigen::Map<VecX>(gradients, 3 * size).setZero();
    for (int q = 0; q < reference.points(); ++q) {
      const Mat3 X = faces_.frame(pose.x, f, q, origin_);
      volume += reference.weight(q) / 3 * X.determinant();
      if (!gradients) continue;
      const Mat3 C = pressure_ * reference.weight(q) / 3 * cofactors(X);
      for (int a = 0; a < size; ++a) Eigen::Map<Vec3>(gradients + 3 * a) += C * reference.shape(q).col(a);
    }
    *values++ = pressure_ * volume;
    if (gradients) gradients += 3 * size;
  }
}

/// The derivative of cofactors(X) N_i along N_j: a cross product with a vector that is antisymmetric in i and j.
void PressureEnergy::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  const ReferenceFace& reference = faces_.reference();
  const int size = stencils().size, count = 9 * local_blocks(size);
  std::fill(blocks, blocks + std::ptrdiff_t(count) * range.size(), 0.0);
  if (projection != Projection::none) return;
  for (Index f = range.begin; f < range.end; ++f, blocks += count)
    for (int q = 0; q < reference.points(); ++q) {
      const Mat3 X = pressure_ * reference.weight(q) / 3 * faces_.frame(pose.x, f, q, origin_);
      const auto& N = reference.shape(q);
      for (int b = 0; b < size; ++b)
        for (int a = 0; a < b; ++a) {
          const Vec3 i = N.col(a), j = N.col(b);
          Eigen::Map<Mat3>(blocks + 9 * (b * (b + 1) / 2 + a)) += cross_matrix(-(X * i.cross(j)));
        }
    }
}

}  // namespace pliant
