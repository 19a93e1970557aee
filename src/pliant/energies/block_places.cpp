#include "pliant/energies/block_places.hpp"

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cassert>

#include "pliant/energies/block_kernels.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {

void BlockPlaces::build(const BlockPattern& pattern, const Stencils& stencils, Index stencils_per_chunk) {
  per_stencil_ = local_blocks(stencils.size);
  const Index chunk_count = (stencils.count() + stencils_per_chunk - 1) / stencils_per_chunk;
  words_.resize(at(stencils.count()) * at(per_stencil_));
  std::vector<std::vector<std::int64_t>> blocks(at(chunk_count));  // of each chunk, ascending
  struct Scratch {
    std::vector<std::int64_t> target;  // block of each word, -1 for none
    std::vector<std::uint32_t> place;  // per block of the pattern; of meaning for the chunk's own alone
  };
  tbb::enumerable_thread_specific<Scratch> scratches;
  for_chunks(stencils.count(), stencils_per_chunk, [&](Index begin, Index end) {
    auto& [target, place] = scratches.local();
    place.resize(at(pattern.blocks()));
    target.clear();
    target.reserve(at(end - begin) * at(per_stencil_));
    std::vector<std::int64_t>& own = blocks[at(begin / stencils_per_chunk)];
    for (Index s = begin; s < end; ++s) {
      const Index* nodes = stencils[s];
      for (int b = 0; b < stencils.size; ++b)
        for (int a = 0; a <= b; ++a) {
          const bool is_block = nodes[a] >= 0 && nodes[b] >= 0;
          const std::int64_t k =
              is_block ? pattern.find(std::min(nodes[a], nodes[b]), std::max(nodes[a], nodes[b])) : -1;
          assert(!is_block || k >= 0);
          target.push_back(k);
          if (k < 0 || (place[at(k)] < own.size() && own[place[at(k)]] == k)) continue;
          place[at(k)] = static_cast<std::uint32_t>(own.size());
          own.push_back(k);
        }
    }
    std::sort(own.begin(), own.end());
    for (std::size_t i = 0; i < own.size(); ++i) place[at(own[i])] = static_cast<std::uint32_t>(i);
    const std::int64_t* block = target.data();
    for (Index s = begin; s < end; ++s) {
      const Index* nodes = stencils[s];
      std::uint32_t* word = words_.data() + at(s) * at(per_stencil_);
      for (int b = 0; b < stencils.size; ++b)
        for (int a = 0; a <= b; ++a, ++block)
          *word++ = *block < 0 ? kNowhere : 2 * place[at(*block)] + (nodes[a] > nodes[b] ? 1U : 0U);
    }
  });

  std::vector<std::uint32_t> users(at(pattern.blocks()), 0);
  chunk_start_.assign(1, 0);
  most_places_ = 0;
  for (const auto& own : blocks) {
    for (const std::int64_t k : own) ++users[at(k)];
    chunk_start_.push_back(chunk_start_.back() + static_cast<std::int64_t>(own.size()));
    most_places_ = std::max(most_places_, static_cast<std::int64_t>(own.size()));
  }
  shared_block_.clear();
  shared_start_.assign(1, 0);
  std::vector<std::int64_t> next(at(pattern.blocks()), -1);
  for (std::int64_t k = 0; k < pattern.blocks(); ++k) {
    if (users[at(k)] < 2) continue;
    next[at(k)] = shared_start_.back();
    shared_block_.push_back(k);
    shared_start_.push_back(shared_start_.back() + users[at(k)]);
  }
  target_.clear();
  target_.reserve(at(chunk_start_.back()));
  for (const auto& own : blocks)
    for (const std::int64_t k : own) target_.push_back(next[at(k)] < 0 ? k : ~next[at(k)]++);
}

void BlockPlaces::leave(Index chunk, const double* at_places, double scale, BlockMatrix& A,
                        std::vector<double>& shared) const {
  const std::int64_t first = chunk_start_[at(chunk)];
  leave_blocks(at_places, target_.data() + first, places(chunk), scale, A.values().data(), shared.data());
}

void BlockPlaces::collect(const std::vector<double>& shared, BlockMatrix& A) const {
  constexpr Index kGrain = 2048;
  for_chunks(static_cast<Index>(shared_block_.size()), kGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      double sum[9] = {};
      for (std::int64_t p = shared_start_[at(i)]; p < shared_start_[at(i) + 1]; ++p)
        for (int e = 0; e < 9; ++e) sum[e] += shared[at(9 * p + e)];
      double* to = A.block(shared_block_[at(i)]);
      for (int e = 0; e < 9; ++e) to[e] += sum[e];
    }
  });
}

}  // namespace pliant
