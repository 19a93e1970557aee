#include "pliant/distributed/whole_factor.hpp"

#include <algorithm>
#include <numeric>

#include "pliant/base/stopwatch.hpp"

namespace pliant {

namespace {

/// What all processes have, one after the other, with how many of them each has and where these begin.
void gather_everywhere(Team& team, const void* own, int count, std::vector<int>& counts, std::vector<int>& begins,
                       void* all, MPI_Datatype type) {
  const Stopwatch watch(team.traffic().seconds);
  MPI_Allgatherv(own, count, type, all, counts.data(), begins.data(), type, team.comm());
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  team.traffic().messages += team.size() - 1;
  team.traffic().bytes += std::int64_t{count} * bytes * (team.size() - 1);
}

void count_everywhere(Team& team, int count, std::vector<int>& counts, std::vector<int>& begins) {
  counts.assign(at(team.size()), 0);
  begins.assign(at(team.size()), 0);
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, team.comm());
  std::partial_sum(counts.begin(), counts.end() - 1, begins.begin() + 1);
}

}  // namespace

void WholeFactor::follow_pattern(const BlockPattern& pattern) {
  Team& team = sharing_.team();
  std::vector<Index> own;  // the two nodes of each block, by their rows over all processes
  for (Index i = 0; i < pattern.rows(); ++i)
    for (std::int64_t k = pattern.diagonal(i); k < pattern.row_start()[at(i) + 1]; ++k) {
      own.push_back(sharing_.rows()[at(i)]);
      own.push_back(sharing_.rows()[at(pattern.columns()[at(k)])]);
    }
  count_everywhere(team, static_cast<int>(own.size()), counts_, begins_);
  std::vector<Index> all(at(begins_.back() + counts_.back()));
  gather_everywhere(team, own.data(), static_cast<int>(own.size()), counts_, begins_, all.data(), MPI_INT32_T);
  const BlockPattern::Cliques pairs[] = {{all, 2}};
  pattern_ = std::make_shared<const BlockPattern>(sharing_.all_nodes(), pairs);
  places_.clear();
  for (std::size_t p = 0; p < all.size(); p += 2) {
    const std::int64_t k = pattern_->find(std::min(all[p], all[p + 1]), std::max(all[p], all[p + 1]));
    places_.push_back(all[p] <= all[p + 1] ? k : -k - 1);
  }
  for (int& count : counts_) count = count / 2 * 9;  // numbers in these blocks
  for (int& begin : begins_) begin = begin / 2 * 9;
  blocks_.resize(9 * places_.size());
  A_ = BlockMatrix(pattern_, 3);
  cholesky_.analyze(pattern_, 3);
  count_everywhere(team, 3 * sharing_.owned_count(), own_counts_, own_begins_);
}

FactorStatus WholeFactor::factor(const BlockMatrix& share, Factorisation kind) {
  gather_everywhere(sharing_.team(), share.values().data(), static_cast<int>(share.values().size()), counts_, begins_,
                    blocks_.data(), MPI_DOUBLE);
  std::fill(A_.values().begin(), A_.values().end(), 0.0);
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const double* from = blocks_.data() + 9 * p;
    const bool is_transposed = places_[p] < 0;
    double* to = A_.block(is_transposed ? -places_[p] - 1 : places_[p]);
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t r = 0; r < 3; ++r) to[3 * c + r] += is_transposed ? from[3 * r + c] : from[3 * c + r];
  }
  return cholesky_.factor(A_, kind);
}

void WholeFactor::solve(const VecX& g, VecX& dx) {
  const int own = 3 * sharing_.owned_count();
  right_.resize(at(own));
  const Index first = sharing_.first_row();
  for (std::size_t i = 0; i < sharing_.owned().size(); ++i)
    if (sharing_.owned()[i])
      Eigen::Map<Vec3>(right_.data() + 3 * (sharing_.rows()[i] - first)) = -node(g, static_cast<Index>(i));
  VecX all(3 * Eigen::Index(sharing_.all_nodes()));
  gather_everywhere(sharing_.team(), right_.data(), own, own_counts_, own_begins_, all.data(), MPI_DOUBLE);
  cholesky_.solve(all);
  dx.resize(g.size());
  for (std::size_t i = 0; i < sharing_.rows().size(); ++i)
    node(dx, static_cast<Index>(i)) = node(all, sharing_.rows()[i]);
}

}  // namespace pliant
