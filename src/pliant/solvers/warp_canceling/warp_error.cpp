#include "pliant/solvers/warp_canceling/warp_error.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kErrorGrain = 16;

/// The diagonal of the box around a body at rest.
double extent(const Body& body) {
  Vec3 low = body.vertices()[0], high = low;
  for (const Vec3& p : body.vertices()) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  return (high - low).norm();
}

}  // namespace

WarpError::WarpError(const Model& model, const CorotatedElements& elements, const SupernodePartition& partition,
                     WarpMeasure measure)
    : elements_(elements),
      weight_(at(elements.batches()), Batch<1>{}),
      errors_(at(elements.slots())),
      badness_(at(partition.count())) {
  std::vector<double> unit;
  for (const Body& body : model.bodies()) unit.push_back(1 / (body.density * extent(body)));
  for (Index slot : elements.slot_of_element()) {
    const auto batch = at(slot / kBatch);
    const int lane = slot % kBatch;
    const double volume = elements.geometry(slot / kBatch)[9][lane];
    weight_[batch][0][lane] =
        measure == WarpMeasure::impulse ? volume : std::cbrt(volume) * unit[at(elements.body(slot / kBatch))];
  }
}

void WarpError::measure(const WarpedMatrix& matrix, std::span<const Mat3> node_rotations, const VecX& u) {
  for_chunks(elements_.batches(), kErrorGrain, [&](Index begin, Index end) {
    for (Index batch = begin; batch < end; ++batch) {
      NodeRotationBatch N;
      NodeVectorBatch ub;
      Batch<1> error;
      elements_.gather(node_rotations, batch, N);
      elements_.gather(u, batch, ub);
      warp_error(elements_.rotations(batch), N, matrix.rotations(batch), ub, elements_.geometry(batch),
                 elements_.lame(batch), weight_[at(batch)], error);
      const double scale = matrix.scale()[at(elements_.body(batch))];
      for (int p = 0; p < kBatch; ++p) errors_[at(batch) * kBatch + at(p)] = scale * error[0][p];
    }
  });
  for_chunks(static_cast<Index>(badness_.size()), 64, [&](Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      const Range range = matrix.slots(s);
      double worst = 0;
      for (Index slot = range.begin; slot < range.end; ++slot) worst = std::max(worst, errors_[at(slot)]);
      badness_[at(s)] = worst;
    }
  });
}

double WarpError::largest() const { return badness_.empty() ? 0 : *std::max_element(badness_.begin(), badness_.end()); }

}  // namespace pliant
