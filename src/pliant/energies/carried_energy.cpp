#include "pliant/energies/carried_energy.hpp"

#include <algorithm>
#include <cassert>

namespace pliant {

namespace {

constexpr int kCorners = 4;
constexpr int kNodes = static_cast<int>(kContactNodes);

Eigen::Map<Mat3> block(double* blocks, int a, int b) { return Eigen::Map<Mat3>{blocks + 9 * (b * (b + 1) / 2 + a)}; }

}  // namespace

std::span<const CarriedEnergy::Share> CarriedEnergy::shares(Index stencil) const {
  const std::size_t begin = first_[static_cast<std::size_t>(stencil)],
                    end = first_[static_cast<std::size_t>(stencil) + 1];
  return {shares_.data() + begin, end - begin};
}

void CarriedEnergy::update(const VecX& positions) {
  positions_ = &positions;
  if (revision_ == of_.revision()) return;
  revision_ = of_.revision();
  const Stencils& from = of_.stencils();
  stencils_.nodes.assign(kContactNodes * static_cast<std::size_t>(from.count()), -1);
  shares_.clear();
  first_.assign(1, 0);
  for (Index s = 0; s < from.count(); ++s) {
    Index* nodes = stencils_.nodes.data() + kContactNodes * static_cast<std::size_t>(s);
    int used = 0;
    for (int c = 0; c < kCorners; ++c) {
      if (from[s][c] < 0) continue;
      model_.for_unknowns_of(from[s][c], [&](Index i, double weight) {
        const auto slot = static_cast<int>(std::find(nodes, nodes + used, i) - nodes);
        assert(slot < kNodes);
        if (slot == used) nodes[used++] = i;
        shares_.push_back({c, slot, weight});
      });
    }
    first_.push_back(shares_.size());
  }
}

void CarriedEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  const Pose at(*positions_, pose.activation, pose.time);
  if (!gradients) return of_.evaluate(at, range, values, nullptr);
  double local[3 * kCorners];
  for (Index s = range.begin; s < range.end; ++s, gradients += 3 * kNodes) {
    of_.evaluate(at, {s, s + 1}, values++, local);
    std::fill_n(gradients, 3 * kNodes, 0.0);
    for (const Share& share : shares(s))
      Eigen::Map<Vec3>{gradients + 3 * share.slot} += share.weight * Eigen::Map<const Vec3>{local + 3 * share.corner};
  }
}

void CarriedEnergy::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  const Pose at(*positions_, pose.activation, pose.time);
  double local[9 * local_blocks(kCorners)];
  for (Index s = range.begin; s < range.end; ++s, blocks += 9 * local_blocks(kNodes)) {
    of_.hessians(at, {s, s + 1}, projection, local);
    std::fill_n(blocks, 9 * local_blocks(kNodes), 0.0);
    for (const Share& left : shares(s))
      for (const Share& right : shares(s)) {
        if (left.slot > right.slot) continue;
        const double weight = left.weight * right.weight;
        if (left.corner <= right.corner)
          block(blocks, left.slot, right.slot) += weight * block(local, left.corner, right.corner);
        else
          block(blocks, left.slot, right.slot) += weight * block(local, right.corner, left.corner).transpose();
      }
  }
}

}  // namespace pliant
