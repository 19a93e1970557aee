#include "pliant/solvers/warp_canceling/node_rotations.hpp"

#include <Eigen/Geometry>
#include <algorithm>

#include "pliant/math/parallel.hpp"
#include "pliant/math/svd3.hpp"

namespace pliant {

bool is_thin(const Body& body) {
  constexpr double kFlat = 0.25;
  double area = 0, edges = 0;
  const auto p = body.mesh->vertices();
  for (const Triangle& t : body.mesh->surface())
    area += 0.5 * (p[at(t[1])] - p[at(t[0])]).cross(p[at(t[2])] - p[at(t[0])]).norm();
  for (const Tet& t : body.mesh->tets())
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < a; ++b) edges += (p[at(t[a])] - p[at(t[b])]).norm();
  return 2 * body.mesh->total_volume() / area < kFlat * edges / (6.0 * static_cast<double>(body.mesh->tets().size()));
}

NodeRotationField::NodeRotationField(const Model& model, NodeRotationKind kind)
    : rest_(model.rest()), rotations_(at(model.nodes()), Mat3::Identity()) {
  turns_.assign(at(model.nodes()), 0);
  std::vector<Range> reach(at(model.nodes()), {0, model.nodes()});
  for (const Body& body : model.bodies()) {
    // The nodes of a rigid body have one rotation, however flat they lie, and whatever is tied to them.
    if (body.rigid) std::fill(reach.begin() + body.nodes.begin, reach.begin() + body.nodes.end, body.nodes);
    // Neighbours on a line or in a plane do not tell how they turned about it.
    if (!body.is_solid()) continue;
    const bool is_flat = !body.rigid && is_thin(body);
    if (kind == NodeRotationKind::identity || (kind == NodeRotationKind::automatic && is_flat)) continue;
    std::fill(turns_.begin() + body.nodes.begin, turns_.begin() + body.nodes.end, std::uint8_t{1});
    none_ = false;
  }
  const BlockPattern& pattern = *model.pattern();
  start_.push_back(0);
  for (Index i = 0; i < model.nodes(); ++i) {
    const auto add = [&](Index j) {
      if (j >= reach[at(i)].begin && j < reach[at(i)].end) ring_.push_back(j);
    };
    for (const auto& lower : pattern.lower_row(i)) add(lower.column);
    for (auto k = pattern.row_start()[at(i)] + 1; k < pattern.row_start()[at(i) + 1]; ++k)
      add(pattern.columns()[at(k)]);
    start_.push_back(static_cast<std::int64_t>(ring_.size()));
  }
}

void NodeRotationField::compute(const VecX& x, std::span<const std::uint8_t> held) {
  if (none_) return;
  for_chunks(static_cast<Index>(rotations_.size()), 64 * kBatch, [&](Index begin, Index end) {
    for (Index first = begin; first < end; first += kBatch) {
      const int count = static_cast<int>(std::min<Index>(kBatch, end - first));
      Batch9 C = {}, R;
      Batch6 S;
      for (int p = 0; p < count; ++p) {
        const Index i = first + p;
        Mat3 covariance = Mat3::Zero();
        Vec3 sum = Vec3::Zero(), rest_sum = Vec3::Zero();
        for (auto k = start_[at(i)]; k < start_[at(i) + 1]; ++k) {
          const Vec3 now = node(x, ring_[at(k)]) - node(x, i), before = node(rest_, ring_[at(k)]) - node(rest_, i);
          covariance.noalias() += now * before.transpose();
          sum += now;
          rest_sum += before;
        }
        covariance -= sum * rest_sum.transpose() / static_cast<double>(start_[at(i) + 1] - start_[at(i)] + 1);
        for (int c = 0; c < 9; ++c) C[c][p] = covariance.data()[c];
      }
      polar(C, R, S);
      for (int p = 0; p < count; ++p) {
        const auto i = at(first + p);
        if (!turns_[i] || held[i])
          rotations_[i].setIdentity();
        else
          for (int c = 0; c < 9; ++c) rotations_[i].data()[c] = R[c][p];
      }
    }
  });
}

}  // namespace pliant
