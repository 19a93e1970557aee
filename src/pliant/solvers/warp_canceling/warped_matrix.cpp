#include "pliant/solvers/warp_canceling/warped_matrix.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kAssemblyGrain = 16;
constexpr Index kBlockGrain = 1024;

template <class OfElement>
void for_elements(const Model& model, OfElement&& body) {
  Index e = 0;
  for (const Body& b : model.bodies())
    for (Index k = 0; k < b.elements->element_count(); ++k) body(e++, b.elastic->stencils()[k]);
}

}  // namespace

SupernodePartition partition_of(const SparseCholesky& factor, const Model& model) {
  SupernodePartition partition;
  partition.of_node.resize(at(model.nodes()));
  for (const SparseCholesky::SupernodeCost& s : factor.supernode_costs()) {
    for (Index k = 0; k < s.nodes; ++k) partition.of_node[at(factor.order()[at(s.first + k)])] = partition.count();
    partition.some_node.push_back(factor.order()[at(s.first)]);
    partition.parent.push_back(s.parent);
  }
  for_elements(model, [&](Index, const Index* nodes) {
    Index lowest = partition.of_node[at(nodes[0])];
    for (int a = 1; a < 4; ++a) lowest = std::min(lowest, partition.of_node[at(nodes[a])]);
    partition.of_element.push_back(lowest);
  });
  return partition;
}

SupernodePartition whole_partition(const Model& model) {
  SupernodePartition partition{{-1}, std::vector<Index>(at(model.nodes()), 0), {}, {0}};
  for_elements(model, [&](Index, const Index*) { partition.of_element.push_back(0); });
  return partition;
}

WarpedMatrix::WarpedMatrix(const Model& model, const CorotatedElements& elements, const SupernodePartition& partition)
    : model_(model), elements_(elements), A_(model.pattern(), 3) {
  const BlockPattern& pattern = *model.pattern();
  slots_.assign(at(partition.count()), {elements.slots(), 0});
  for (Index e = 0; e < elements.elements(); ++e) {
    Range& range = slots_[at(partition.of_element[at(e)])];
    const Index slot = elements.slot_of_element()[at(e)];
    range = {std::min(range.begin, slot), std::max(range.end, slot + 1)};
  }
  for (Range& range : slots_)
    if (range.end == 0) range = {0, 0};

  block_row_.resize(at(pattern.blocks()));
  std::vector<Index> owner(at(pattern.blocks()));
  owned_start_.assign(at(partition.count()) + 1, 0);
  for (Index i = 0; i < pattern.rows(); ++i)
    for (auto k = pattern.row_start()[at(i)]; k < pattern.row_start()[at(i) + 1]; ++k) {
      block_row_[at(k)] = i;
      owner[at(k)] = std::min(partition.of_node[at(i)], partition.of_node[at(pattern.columns()[at(k)])]);
      ++owned_start_[at(owner[at(k)]) + 1];
    }
  for (std::size_t s = 1; s < owned_start_.size(); ++s) owned_start_[s] += owned_start_[s - 1];
  owned_.resize(at(pattern.blocks()));
  std::vector<std::int64_t> next(owned_start_.begin(), owned_start_.end() - 1);
  for (std::int64_t k = 0; k < pattern.blocks(); ++k) owned_[at(next[at(owner[at(k)])]++)] = k;

  // Which element blocks each block of the matrix is the sum of, in the order of the slots.
  source_start_.assign(at(pattern.blocks()) + 1, 0);
  std::vector<std::int64_t> target(10 * at(elements.slots()), -1);
  std::vector<std::uint8_t> transposed(target.size());
  for (Index slot : elements.slot_of_element()) {
    const Index* nodes = elements.nodes(slot);
    std::size_t k = 10 * at(slot);
    for (int b = 0; b < 4; ++b)
      for (int a = 0; a <= b; ++a, ++k) {
        transposed[k] = nodes[a] > nodes[b];
        target[k] = pattern.find(std::min(nodes[a], nodes[b]), std::max(nodes[a], nodes[b]));
        ++source_start_[at(target[k]) + 1];
      }
  }
  for (std::size_t k = 1; k < source_start_.size(); ++k) source_start_[k] += source_start_[k - 1];
  source_.resize(at(source_start_.back()));
  next.assign(source_start_.begin(), source_start_.end() - 1);
  for (std::size_t k = 0; k < target.size(); ++k)
    if (target[k] >= 0) source_[at(next[at(target[k])]++)] = static_cast<std::uint32_t>(2 * k + transposed[k]);

  supernode_ = partition.of_node;
  if (model.colliders()) present_ = in_matrix_ = std::vector<Touch>(at(model.nodes()));
  Q_.resize(at(elements.batches()));
  blocks_.resize(90 * at(elements.slots()));
}

void WarpedMatrix::set_boundary(const StepProblem& problem) {
  const BoundaryState& boundary = problem.boundary;
  const double h = h_ = problem.h;
  fixed_ = boundary.fixed;
  scale_.clear();
  diagonal_.resize(at(model_.nodes()));
  for (const Body& body : model_.bodies()) {
    scale_.push_back(h * body.damping.stiffness + h * h);
    for (Index i = body.nodes.begin; i < body.nodes.end; ++i)
      diagonal_[at(i)] = (1 + h * body.damping.mass) * model_.mass().lumped()[i];
  }
  const VecX mass = model_.mass().consistent_diagonal();
  for (std::size_t k = 0; k < boundary.penalised.size(); ++k)
    diagonal_[at(boundary.penalised[k])] += h * h * boundary.sigma[k] * mass[boundary.penalised[k]];
}

void WarpedMatrix::set_touching(std::span<const ColliderTouch> touching, std::span<const Mat3> node_rotations,
                                double tolerance, std::vector<std::uint8_t>& changed) {
  changed.assign(present_.size(), 0);
  for (Touch& touch : present_) touch.touches = false;
  for (const ColliderTouch& touch : touching) {
    const auto i = at(touch.node);
    Mat3 block = h_ * h_ * touch.stiffness;
    if (!node_rotations.empty()) block = node_rotations[i].transpose() * block * node_rotations[i];
    present_[i] = {true, block};
    changed[i] = !in_matrix_[i].touches || (block - in_matrix_[i].block).norm() > tolerance * block.norm();
  }
  for (std::size_t i = 0; i < present_.size(); ++i) changed[i] |= in_matrix_[i].touches && !present_[i].touches;
}

void WarpedMatrix::refresh(std::span<const std::uint8_t> marked, std::span<const std::uint8_t> dirty,
                           std::span<const Mat3> node_rotations) {
  // Slots of the marked supernodes, cut at the borders of batches: neighbours in the tree mostly are neighbours here.
  struct Piece {
    Index batch;
    int first, last;
  };
  std::vector<Piece> pieces;
  for (std::size_t s = 0; s < marked.size(); ++s) {
    if (!marked[s]) continue;
    for (Index begin = slots_[s].begin; begin < slots_[s].end;) {
      const Index batch = begin / kBatch, end = std::min(slots_[s].end, (batch + 1) * kBatch);
      const int first = static_cast<int>(begin - batch * kBatch), last = static_cast<int>(end - batch * kBatch);
      if (!pieces.empty() && pieces.back().batch == batch && pieces.back().last == first)
        pieces.back().last = last;
      else
        pieces.push_back({batch, first, last});
      begin = end;
    }
  }
  // Two pieces of one batch that do not touch are written by one task, for they share vectors of Q.
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.batch < b.batch; });
  std::vector<Index> starts;
  for (std::size_t k = 0; k < pieces.size(); ++k)
    if (k == 0 || pieces[k].batch != pieces[k - 1].batch) starts.push_back(static_cast<Index>(k));
  starts.push_back(static_cast<Index>(pieces.size()));
  for_chunks(static_cast<Index>(starts.size()) - 1, kAssemblyGrain, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      const Index batch = pieces[at(starts[at(k)])].batch;
      NodeRotationBatch N;
      elements_.gather(node_rotations, batch, N);
      for (Index j = starts[at(k)]; j < starts[at(k) + 1]; ++j) {
        const Piece& piece = pieces[at(j)];
        warp_blocks(elements_.rotations(batch), N, elements_.geometry(batch), elements_.lame(batch),
                    scale_[at(elements_.body(batch))], piece.first, piece.last, Q_[at(batch)],
                    blocks_.data() + 90 * (at(batch) * kBatch + at(piece.first)));
      }
    }
  });
  for (std::size_t i = 0; i < present_.size(); ++i)
    if (dirty[at(supernode_[i])]) in_matrix_[i] = present_[i];
  assemble(dirty);
}

/// Sums the blocks that go to the panels of marked supernodes, cut at prescribed unknowns.
void WarpedMatrix::assemble(std::span<const std::uint8_t> marked) {
  todo_.clear();
  for (std::size_t s = 0; s < marked.size(); ++s)
    if (marked[s]) todo_.insert(todo_.end(), owned_.begin() + owned_start_[s], owned_.begin() + owned_start_[s + 1]);
  const BlockPattern& pattern = A_.pattern();
  for_chunks(static_cast<Index>(todo_.size()), kBlockGrain, [&](Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      const std::int64_t k = todo_[at(t)];
      double sum[9] = {};
      for (auto s = source_start_[at(k)]; s < source_start_[at(k) + 1]; ++s) {
        const std::uint32_t word = source_[at(s)];
        const double* in = blocks_.data() + 9 * static_cast<std::size_t>(word >> 1);
        if (word & 1) {
          for (int c = 0; c < 3; ++c)
            for (int r = 0; r < 3; ++r) sum[3 * c + r] += in[3 * r + c];
        } else {
          for (int e = 0; e < 9; ++e) sum[e] += in[e];
        }
      }
      const Index row = block_row_[at(k)], column = pattern.columns()[at(k)];
      if (row == column)
        for (int c = 0; c < 3; ++c) sum[4 * c] += diagonal_[at(row)];
      if (row == column && !in_matrix_.empty() && in_matrix_[at(row)].touches)
        for (int e = 0; e < 9; ++e) sum[e] += in_matrix_[at(row)].block.data()[e];
      const std::uint8_t *fixed_rows = fixed_.data() + 3 * at(row), *fixed_columns = fixed_.data() + 3 * at(column);
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r)
          if (fixed_rows[r] || fixed_columns[c]) sum[3 * c + r] = row == column && r == c ? diagonal_[at(row)] : 0;
      std::memcpy(A_.block(k), sum, sizeof sum);
    }
  });
}

std::vector<double> WarpedMatrix::memory() const {
  const double* first = &Q_.front().row[0][0];
  std::vector<double> memory(first, first + rotation_numbers());
  for (std::size_t i = 0; i < in_matrix_.size(); ++i) {
    if (!in_matrix_[i].touches) continue;
    memory.push_back(static_cast<double>(i));
    memory.insert(memory.end(), in_matrix_[i].block.data(), in_matrix_[i].block.data() + 9);
  }
  return memory;
}

bool WarpedMatrix::is_memory(std::span<const double> memory) const {
  const std::size_t rotations = rotation_numbers();
  if (memory.size() < rotations || (memory.size() - rotations) % 10 != 0) return false;
  if (!std::all_of(memory.begin(), memory.end(), [](double m) { return std::isfinite(m); })) return false;
  for (std::size_t k = rotations; k < memory.size(); k += 10)
    if (!(memory[k] >= 0 && memory[k] < static_cast<double>(in_matrix_.size()))) return false;
  return true;
}

void WarpedMatrix::restore(std::span<const double> memory) {
  assert(is_memory(memory));
  std::memcpy(Q_.data(), memory.data(), rotation_numbers() * sizeof(double));
  for (Touch& touch : in_matrix_) touch.touches = false;
  for (std::size_t k = rotation_numbers(); k < memory.size(); k += 10)
    in_matrix_[static_cast<std::size_t>(memory[k])] = {true, Mat3::Map(memory.data() + k + 1)};
  // Q_a = N_a^T R with R the identity and N_a = Q_a^T, to the last bit.
  Batch9 one = {};
  for (int i = 0; i < 3; ++i) std::fill_n(one[4 * i], kBatch, 1.0);
  for_chunks(elements_.batches(), kAssemblyGrain, [&](Index begin, Index end) {
    for (Index batch = begin; batch < end; ++batch) {
      NodeRotationBatch N;
      for (int a = 0; a < 4; ++a)
        for (int j = 0; j < 3; ++j)
          for (int i = 0; i < 3; ++i) std::copy_n(Q_[at(batch)][9 * a + 3 * i + j], kBatch, N[9 * a + 3 * j + i]);
      warp_blocks(one, N, elements_.geometry(batch), elements_.lame(batch), scale_[at(elements_.body(batch))], 0,
                  kBatch, Q_[at(batch)], blocks_.data() + 90 * at(batch) * kBatch);
    }
  });
  assemble(std::vector<std::uint8_t>(slots_.size(), 1));
}

}  // namespace pliant
