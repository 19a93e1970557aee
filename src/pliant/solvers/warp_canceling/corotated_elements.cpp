#include "pliant/solvers/warp_canceling/corotated_elements.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kElementGrain = 16;
constexpr Index kCornerGrain = 2048;

}  // namespace

CorotatedElements::CorotatedElements(const Model& model, std::span<const Index> group) {
  slot_of_element_.resize(group.size());
  Index first_element = 0;
  for (std::size_t b = 0; b < model.bodies().size(); ++b) {
    const Body& body = model.bodies()[b];
    laws_.push_back(body.law->info().name == "linear-corotated" ? nullptr : body.law.get());
    const FeMesh& mesh = *body.elements;
    const Index count = mesh.element_count();
    std::vector<Index> order(at(count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index c) { return group[at(first_element + a)] < group[at(first_element + c)]; });
    const Index first_slot = slots();
    const Index padded = (count + kBatch - 1) / kBatch * kBatch;
    for (Index k = 0; k < padded; ++k) {
      const Index e = order[at(std::min(k, count - 1))];
      if (k < count) slot_of_element_[at(first_element + e)] = first_slot + k;
      is_padding_.push_back(k >= count);
      const Index* stencil = body.elastic->stencils()[e];
      nodes_.insert(nodes_.end(), stencil, stencil + 4);
      const auto batch = at((first_slot + k) / kBatch);
      const int lane = k % kBatch;
      if (lane == 0) {
        geometry_.emplace_back();
        lame_.emplace_back();
        linear_lame_.emplace_back();
        body_.push_back(static_cast<Index>(b));
      }
      for (int c = 0; c < 9; ++c) geometry_[batch][c][lane] = mesh.inverse_edges()[at(e)].data()[c];
      geometry_[batch][9][lane] = mesh.volumes()[at(e)];
      const Lame& given = body.lame.size() == 1 ? body.lame[0] : body.lame[at(e)];
      const Lame linear = body.law->linearised(given);
      lame_[batch][0][lane] = given.mu;
      lame_[batch][1][lane] = given.lambda;
      linear_lame_[batch][0][lane] = linear.mu;
      linear_lame_[batch][1][lane] = linear.lambda;
    }
    first_element += count;
  }
  offsets_.resize(nodes_.size());
  for (Index s = 0; s < slots(); ++s)
    for (int a = 0; a < 4; ++a)
      offsets_[at(4) * at(s / kBatch * kBatch) + at(a * kBatch + s % kBatch)] = 3 * nodes(s)[a];
  R_.resize(at(batches()));
  P_.resize(at(batches()));
  forces_.resize(3 * nodes_.size());

  corner_start_.assign(at(model.nodes()) + 1, 0);
  for (Index s = 0; s < slots(); ++s)
    for (int a = 0; a < 4 && !is_padding_[at(s)]; ++a) ++corner_start_[at(nodes(s)[a]) + 1];
  for (std::size_t i = 1; i < corner_start_.size(); ++i) corner_start_[i] += corner_start_[i - 1];
  corners_.resize(at(corner_start_.back()));
  std::vector<std::int64_t> next(corner_start_.begin(), corner_start_.end() - 1);
  for (Index s = 0; s < slots(); ++s)
    for (int a = 0; a < 4 && !is_padding_[at(s)]; ++a) corners_[at(next[at(nodes(s)[a])]++)] = 4 * s + a;
}

double CorotatedElements::deform(const VecX& x) {
  return sum_chunks(batches(), kElementGrain, [&](Index begin, Index end) {
    double sum = 0;
    for (Index batch = begin; batch < end; ++batch) {
      const auto b = at(batch);
      NodeBatch nodes;
      Batch9 F;
      Batch6 S;
      Batch<1> psi;
      gather_nodes(x.data(), offsets_.data() + 4 * kBatch * b, 4, nodes);
      deformation_gradient(nodes, nullptr, 4, geometry_[b], F);
      polar(F, R_[b], S);
      if (const Law* law = laws_[at(body_[b])])
        law->stress(F, lame_[b], psi, P_[b]);
      else
        corotated_stress(R_[b], S, lame_[b], psi, P_[b]);
      for (int p = 0; p < kBatch; ++p)
        if (!is_padding_[b * kBatch + at(p)]) sum += geometry_[b][9][p] * psi[0][p];
    }
    return sum;
  });
}

void CorotatedElements::add_impulse(const VecX& v, double h, std::span<const double> scale, VecX& out) {
  for_chunks(batches(), kElementGrain, [&](Index begin, Index end) {
    for (Index batch = begin; batch < end; ++batch) {
      const auto b = at(batch);
      NodeBatch nodes, forces;
      Batch9 impulse;
      gather_nodes(v.data(), offsets_.data() + 4 * kBatch * b, 4, nodes);
      corotated_impulse(R_[b], P_[b], nodes, geometry_[b], linear_lame_[b], h, scale[at(body_[b])], impulse);
      add_forces(impulse, 1, nullptr, 4, geometry_[b], forces);
      write_forces(forces, 4, 0, kBatch, forces_.data() + 12 * kBatch * b);
    }
  });
  for_chunks(static_cast<Index>(corner_start_.size()) - 1, kCornerGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      double fx = 0, fy = 0, fz = 0;
      for (auto k = corner_start_[at(i)]; k < corner_start_[at(i) + 1]; ++k) {
        const double* f = forces_.data() + 3 * at(corners_[at(k)]);
        fx += f[0], fy += f[1], fz += f[2];
      }
      node(out, i) += Vec3(fx, fy, fz);
    }
  });
}

void CorotatedElements::gather(const VecX& u, Index batch, NodeVectorBatch& out) const {
  const Index* offset = offsets_.data() + 4 * kBatch * at(batch);
  for (int a = 0; a < 4; ++a)
    for (int p = 0; p < kBatch; ++p) {
      const double* from = u.data() + offset[a * kBatch + p];
      for (int i = 0; i < 3; ++i) out[3 * a + i][p] = from[i];
    }
}

void CorotatedElements::gather(std::span<const Mat3> rotations, Index batch, NodeRotationBatch& out) const {
  const Index* offset = offsets_.data() + 4 * kBatch * at(batch);
  for (int a = 0; a < 4; ++a)
    for (int p = 0; p < kBatch; ++p) {
      const double* from = rotations[at(offset[a * kBatch + p] / 3)].data();
      for (int c = 0; c < 9; ++c) out[9 * a + c][p] = from[c];
    }
}

}  // namespace pliant
