#include "pliant/sim/contact/contact_pattern.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "pliant/math/parallel.hpp"

namespace pliant {

ContactPattern::ContactPattern(std::shared_ptr<const BlockPattern> base) : base_(std::move(base)), pattern_(base_) {}

const std::shared_ptr<const BlockPattern>& ContactPattern::cover(std::span<const Energy* const> energies) {
  needed_.clear();
  for (const Energy* energy : energies) {
    const Stencils& stencils = energy->stencils();
    for (Index s = 0; s < stencils.count(); ++s)
      for (int b = 1; b < stencils.size; ++b)
        for (int a = 0; a < b; ++a) need(stencils[s][a], stencils[s][b]);
  }
  sort_needed();
  if (needs_reset_) {
    needs_reset_ = false;
    if (needed_ != added_) {
      added_ = needed_;
      build();
    }
    return pattern_;
  }
  add_needed(std::numeric_limits<std::size_t>::max());
  return pattern_;
}

const std::shared_ptr<const BlockPattern>& ContactPattern::cover(
    std::span<const std::array<Index, kContactNodes>> couplings) {
  constexpr std::size_t kMostOfNeeded = 3;
  needed_.clear();
  for (const std::array<Index, kContactNodes>& nodes : couplings)
    for (std::size_t b = 1; b < kContactNodes; ++b)
      for (std::size_t a = 0; a < b; ++a) need(nodes[a], nodes[b]);
  sort_needed();
  add_needed(kMostOfNeeded * needed_.size());
  return pattern_;
}

void ContactPattern::set_added(std::vector<std::array<Index, 2>> added) {
  if (added == added_) return;
  added_ = std::move(added);
  build();
}

/// To those of before, unless these were more than `most` altogether.
void ContactPattern::add_needed(std::size_t most) {
  std::vector<std::array<Index, 2>> all;
  std::set_union(added_.begin(), added_.end(), needed_.begin(), needed_.end(), std::back_inserter(all));
  set_added(all.size() > most ? needed_ : std::move(all));
}

void ContactPattern::need(Index i, Index j) {
  if (i > j) std::swap(i, j);
  if (i >= 0 && i != j && base_->find(i, j) < 0) needed_.push_back({i, j});
}

void ContactPattern::sort_needed() {
  std::sort(needed_.begin(), needed_.end());
  needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
}

void ContactPattern::build() {
  if (added_.empty()) {
    pattern_ = base_;
    return;
  }
  if (base_pairs_.empty())
    for (Index i = 0; i < base_->rows(); ++i)
      for (auto k = base_->diagonal(i) + 1; k < base_->row_start()[static_cast<std::size_t>(i) + 1]; ++k) {
        base_pairs_.push_back(i);
        base_pairs_.push_back(base_->columns()[static_cast<std::size_t>(k)]);
      }
  std::vector<Index> flat;
  flat.reserve(2 * added_.size());
  for (const auto& [i, j] : added_) flat.insert(flat.end(), {i, j});
  const std::array<BlockPattern::Cliques, 2> cliques = {{{base_pairs_, 2}, {flat, 2}}};
  pattern_ = std::make_shared<BlockPattern>(base_->rows(), cliques);
  place_.resize(static_cast<std::size_t>(base_->blocks()));
  for_chunks(base_->rows(), 1024, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      auto in = pattern_->diagonal(i);  // both rows are sorted
      for (auto k = base_->diagonal(i); k < base_->row_start()[static_cast<std::size_t>(i) + 1]; ++k) {
        while (pattern_->columns()[static_cast<std::size_t>(in)] != base_->columns()[static_cast<std::size_t>(k)]) ++in;
        place_[static_cast<std::size_t>(k)] = in;
      }
    }
  });
}

void ContactPattern::copy_base(const BlockMatrix& from, BlockMatrix& A) const {
  assert(A.shared_pattern() == pattern_ && A.block_size() == from.block_size());
  if (pattern_ == base_) {
    std::copy(from.values().begin(), from.values().end(), A.values().begin());
    return;
  }
  A.set_zero();
  const int size = from.block_size() * from.block_size();
  for_chunks(static_cast<Index>(base_->blocks()), 8192, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) std::copy_n(from.block(k), size, A.block(place_[static_cast<std::size_t>(k)]));
  });
}

}  // namespace pliant
