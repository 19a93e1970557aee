#include "pliant/distributed/shared_rows.hpp"

#include <algorithm>
#include <numeric>

#include "pliant/base/stopwatch.hpp"

namespace pliant {

namespace {

std::vector<int> begins_of(const std::vector<int>& counts) {
  std::vector<int> begins(counts.size(), 0);
  std::partial_sum(counts.begin(), counts.end() - 1, begins.begin() + 1);
  return begins;
}

/// What each process has for each other, one after the other, by the rank it comes from.
std::vector<Index> exchange(const std::vector<Index>& sent, const std::vector<int>& out, std::vector<int>& in,
                            MPI_Comm comm) {
  MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
  const std::vector<int> out_begin = begins_of(out), in_begin = begins_of(in);
  std::vector<Index> got(at(in_begin.back() + in.back()));
  MPI_Alltoallv(sent.data(), out.data(), out_begin.data(), MPI_INT32_T, got.data(), in.data(), in_begin.data(),
                MPI_INT32_T, comm);
  return got;
}

}  // namespace

SharedRows::SharedRows(ProcessSharing& sharing, const BlockPattern& pattern)
    : sharing_(sharing), first_(sharing.first_row()), end_(first_ + sharing.owned_count()) {
  const Team& team = sharing.team();
  const auto processes = at(team.size());
  std::vector<int> firsts(processes);
  MPI_Allgather(&first_, 1, MPI_INT, firsts.data(), 1, MPI_INT, team.comm());
  const auto owner_of = [&](Index i) {
    return std::upper_bound(firsts.begin(), firsts.end(), sharing.rows()[at(i)]) - firsts.begin() - 1;
  };
  for (Index i = 0; i < pattern.rows(); ++i)
    if (!is_own(sharing.rows()[at(i)])) sent_nodes_.push_back(i);
  std::stable_sort(sent_nodes_.begin(), sent_nodes_.end(), [&](Index a, Index b) { return owner_of(a) < owner_of(b); });
  out_.assign(processes, 0);
  in_.assign(processes, 0);
  std::vector<int> row_counts(processes, 0), got_counts(processes, 0);
  std::vector<Index> rows, sizes, all_columns, columns;
  for (Index i : sent_nodes_) {
    columns_of(pattern, i, columns);
    rows.push_back(sharing.rows()[at(i)]);
    sizes.push_back(static_cast<Index>(columns.size()));
    all_columns.insert(all_columns.end(), columns.begin(), columns.end());
    ++row_counts[at(owner_of(i))];
    out_[at(owner_of(i))] += static_cast<int>(columns.size());
  }
  got_rows_ = exchange(rows, row_counts, got_counts, team.comm());
  got_sizes_ = exchange(sizes, row_counts, got_counts, team.comm());
  got_columns_ = exchange(all_columns, out_, in_, team.comm());
  out_begin_ = begins_of(out_);
  in_begin_ = begins_of(in_);

  std::vector<std::vector<Index>> more(at(end_ - first_));  // columns of others' shares
  for (std::size_t k = 0, begin = 0; k < got_rows_.size(); begin += at(got_sizes_[k++])) {
    const auto from = got_columns_.begin() + static_cast<std::ptrdiff_t>(begin);
    std::vector<Index>& row = more[at(got_rows_[k] - first_)];
    row.insert(row.end(), from, from + got_sizes_[k]);
  }
  own_blocks_.assign(more.size(), 0);
  other_blocks_.assign(more.size(), 0);
  for (Index i = 0; i < pattern.rows(); ++i) {
    const Index row = sharing.rows()[at(i)];
    if (!is_own(row)) continue;
    columns_of(pattern, i, columns);
    columns.insert(columns.end(), more[at(row - first_)].begin(), more[at(row - first_)].end());
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (Index c : columns) ++(is_own(c) ? own_blocks_ : other_blocks_)[at(row - first_)];
  }
}

void SharedRows::columns_of(const BlockPattern& pattern, Index i, std::vector<Index>& columns) const {
  columns.clear();
  for (const BlockPattern::Transposed& left : pattern.lower_row(i)) columns.push_back(sharing_.rows()[at(left.column)]);
  for (std::int64_t k = pattern.diagonal(i); k < pattern.row_start()[at(i) + 1]; ++k)
    columns.push_back(sharing_.rows()[at(pattern.columns()[at(k)])]);
}

/// Both triangles.
void SharedRows::row_of(const BlockMatrix& share, Index i, std::vector<double>& values) const {
  const BlockPattern& pattern = share.pattern();
  const auto lower = pattern.lower_row(i);
  const std::size_t count = lower.size() + at(pattern.row_start()[at(i) + 1] - pattern.diagonal(i));
  values.resize(9 * count);
  std::size_t column = 0;
  const auto add = [&](const double* block, std::size_t down, std::size_t across) {
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 3; ++c) values[r * 3 * count + 3 * column + c] = block[down * r + across * c];
    ++column;
  };
  for (const BlockPattern::Transposed& left : lower) add(share.block(left.k), 3, 1);
  for (std::int64_t k = pattern.diagonal(i); k < pattern.row_start()[at(i) + 1]; ++k) add(share.block(k), 1, 3);
}

void SharedRows::for_rows(const BlockMatrix& share, const Add& add) {
  std::vector<double> values, sent, got(9 * got_columns_.size());
  std::vector<Index> columns;
  for (Index i : sent_nodes_) {
    row_of(share, i, values);
    sent.insert(sent.end(), values.begin(), values.end());
  }
  {
    Team& team = sharing_.team();
    const Stopwatch watch(team.traffic().seconds);
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(9, MPI_DOUBLE, &block);
    MPI_Type_commit(&block);
    MPI_Alltoallv(sent.data(), out_.data(), out_begin_.data(), block, got.data(), in_.data(), in_begin_.data(), block,
                  team.comm());
    MPI_Type_free(&block);
    for (int blocks : out_) {
      team.traffic().messages += blocks > 0;
      team.traffic().bytes += 72 * std::int64_t{blocks};
    }
  }
  for (Index i = 0; i < share.pattern().rows(); ++i) {
    if (!is_own(sharing_.rows()[at(i)])) continue;
    row_of(share, i, values);
    columns_of(share.pattern(), i, columns);
    add(sharing_.rows()[at(i)], columns, values.data());
  }
  for (std::size_t k = 0, begin = 0; k < got_rows_.size(); begin += at(got_sizes_[k++]))
    add(got_rows_[k], {got_columns_.data() + begin, at(got_sizes_[k])}, got.data() + 9 * begin);
}

}  // namespace pliant
