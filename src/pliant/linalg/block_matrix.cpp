// The pattern is built by rows from the inverse of the stencil lists (node -> stencils that hold it): a row gathers its
// neighbours, sorts them and drops repeats, so rows are independent of each other and run in parallel, and the memory
// in flight is one chunk's candidates rather than all pairs of all stencils.
//
// Only the upper triangle is stored. The product gathers: row i sums its own blocks and, through `lower_`, the
// transposes of the blocks above the diagonal in column i. Every entry of y then has one writer and one order of
// summation, whatever the number of threads; scattering into both rows would read each block once but needs a copy of y
// per thread.
#include "pliant/linalg/block_matrix.hpp"

#include <cassert>

#include "pliant/math/parallel.hpp"

namespace pliant {
namespace {

constexpr Index row_grain = 512;

/// For every node the stencils that hold it: positions of the stencils' first nodes in one concatenated numbering.
struct Incidence {
  struct Stencil {
    const Index* nodes;
    int size;
  };
  std::vector<std::int64_t> start;
  std::vector<Stencil> stencils;
};

Incidence invert(Index rows, std::span<const BlockPattern::Cliques> cliques) {
  Incidence incidence;
  incidence.start.assign(at(rows) + 1, 0);
  for (const auto& list : cliques) {
    assert(list.size > 0 && list.nodes.size() % at(list.size) == 0);
    for (Index node : list.nodes) {
      assert(node >= -1 && node < rows);
      if (node >= 0) ++incidence.start[at(node) + 1];
    }
  }
  for (Index i = 0; i < rows; ++i) incidence.start[at(i) + 1] += incidence.start[at(i)];
  incidence.stencils.resize(at(incidence.start.back()));
  std::vector<std::int64_t> next(incidence.start.begin(), incidence.start.end() - 1);
  for (const auto& list : cliques) {
    for (std::size_t first = 0; first < list.nodes.size(); first += at(list.size)) {
      const Index* nodes = list.nodes.data() + first;
      for (int a = 0; a < list.size; ++a)
        if (nodes[a] >= 0) incidence.stencils[at(next[at(nodes[a])]++)] = {nodes, list.size};
    }
  }
  return incidence;
}

}  // namespace

BlockPattern::BlockPattern(Index rows, std::span<const Cliques> cliques) : rows_(rows) {
  const Incidence incidence = invert(rows, cliques);
  row_start_.assign(at(rows) + 1, 0);
  std::vector<std::vector<Index>> chunk_columns(at((rows + row_grain - 1) / row_grain));
  for_chunks(rows, row_grain, [&](Index begin, Index end) {
    std::vector<Index>& found = chunk_columns[at(begin / row_grain)];
    for (Index i = begin; i < end; ++i) {
      const auto row_begin = static_cast<std::ptrdiff_t>(found.size());
      found.push_back(i);
      for (std::int64_t s = incidence.start[at(i)]; s < incidence.start[at(i) + 1]; ++s) {
        const auto [nodes, size] = incidence.stencils[at(s)];
        for (int a = 0; a < size; ++a) {
          if (nodes[a] > i) found.push_back(nodes[a]);
        }
      }
      std::sort(found.begin() + row_begin, found.end());
      found.erase(std::unique(found.begin() + row_begin, found.end()), found.end());
      row_start_[at(i) + 1] = static_cast<std::int64_t>(found.size()) - row_begin;
    }
  });
  for (Index i = 0; i < rows; ++i) row_start_[at(i) + 1] += row_start_[at(i)];
  columns_.reserve(at(row_start_.back()));
  for (const auto& found : chunk_columns) columns_.insert(columns_.end(), found.begin(), found.end());

  lower_start_.assign(at(rows) + 1, 0);
  for (Index i = 0; i < rows; ++i) {
    for (std::int64_t k = row_start_[at(i)] + 1; k < row_start_[at(i) + 1]; ++k)
      ++lower_start_[at(columns_[at(k)]) + 1];
  }
  for (Index i = 0; i < rows; ++i) lower_start_[at(i) + 1] += lower_start_[at(i)];
  lower_.resize(at(lower_start_.back()));
  std::vector<std::int64_t> next(lower_start_.begin(), lower_start_.end() - 1);
  for (Index i = 0; i < rows; ++i) {
    for (std::int64_t k = row_start_[at(i)] + 1; k < row_start_[at(i) + 1]; ++k)
      lower_[at(next[at(columns_[at(k)])]++)] = {k, i};
  }
}

std::int64_t BlockPattern::find(Index row, Index column) const {
  assert(row >= 0 && row <= column && column < rows_);
  const auto begin = columns_.begin() + row_start_[at(row)];
  const auto end = columns_.begin() + row_start_[at(row) + 1];
  const auto found = std::lower_bound(begin, end, column);
  return found != end && *found == column ? found - columns_.begin() : -1;
}

std::span<const BlockPattern::Transposed> BlockPattern::lower_row(Index row) const {
  const std::int64_t begin = lower_start_[at(row)];
  return {lower_.data() + begin, at(lower_start_[at(row) + 1] - begin)};
}

BlockMatrix::BlockMatrix(std::shared_ptr<const BlockPattern> pattern, int block_size)
    : pattern_(std::move(pattern)),
      block_size_(block_size),
      values_(at(pattern_->blocks()) * at(block_size * block_size)) {
  assert(block_size == 1 || block_size == 3);
}

void BlockMatrix::set_zero() { std::fill(values_.begin(), values_.end(), 0.0); }

void BlockMatrix::multiply(const VecX& x, VecX& y) const {
  const BlockPattern& pattern = *pattern_;
  const Index rows = pattern.rows();
  assert(&x != &y);
  assert(x.size() == Eigen::Index(block_size_) * rows || x.size() == 3 * Eigen::Index(rows));
  y.resize(x.size());
  const auto row_start = pattern.row_start();
  const auto columns = pattern.columns();
  // One loop for all shapes: `forward` and `transposed` apply a block to the entries of one node.
  const auto gather = [&](auto zero, auto forward, auto transposed) {
    using Entry = decltype(zero);
    const auto entry = [&](Index i) {
      return Eigen::Map<const Entry>(x.data() + Entry::SizeAtCompileTime * Eigen::Index(i));
    };
    for_chunks(rows, row_grain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        Entry sum = zero;
        for (const auto& [k, j] : pattern.lower_row(i)) sum += transposed(block(k), entry(j));
        for (std::int64_t k = row_start[at(i)]; k < row_start[at(i) + 1]; ++k)
          sum += forward(block(k), entry(columns[at(k)]));
        Eigen::Map<Entry>(y.data() + Entry::SizeAtCompileTime * Eigen::Index(i)) = sum;
      }
    });
  };
  if (block_size_ == 3) {
    gather(
        Vec3(Vec3::Zero()), [](const double* a, const auto& v) -> Vec3 { return Eigen::Map<const Mat3>(a) * v; },
        [](const double* a, const auto& v) -> Vec3 { return Eigen::Map<const Mat3>(a).transpose() * v; });
    return;
  }
  const auto scale = [](const double* a, const auto& v) { return *a * v; };
  if (x.size() == rows) {
    gather(Eigen::Matrix<double, 1, 1>(0.0), scale, scale);
  } else {
    gather(Vec3(Vec3::Zero()), scale, scale);
  }
}

void BlockMatrix::eliminate(std::span<const std::uint8_t> fixed) {
  const BlockPattern& pattern = *pattern_;
  const int b = block_size_;
  assert(fixed.size() == at(pattern.rows()) * at(b));
  const auto holds_fixed = [&](Index node) {  // most do not
    const std::uint8_t* first = fixed.data() + Eigen::Index(node) * b;
    return b == 3 ? (first[0] | first[1] | first[2]) != 0 : *first != 0;
  };
  for_chunks(pattern.rows(), row_grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const bool row_holds = holds_fixed(i);
      for (std::int64_t k = pattern.row_start()[at(i)]; k < pattern.row_start()[at(i) + 1]; ++k) {
        const Index j = pattern.columns()[at(k)];
        if (!row_holds && !holds_fixed(j)) continue;
        for (int c = 0; c < b; ++c) {
          for (int r = 0; r < b; ++r) {
            if (fixed[at(i * b + r)] || fixed[at(j * b + c)]) block(k)[r + c * b] = i == j && r == c ? 1.0 : 0.0;
          }
        }
      }
    }
  });
}

}  // namespace pliant
