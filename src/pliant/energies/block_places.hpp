#pragma once

#include "pliant/energies/energy.hpp"
#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// Where the blocks of stencils' Hessians are added up. A chunk of stencils adds into places of its own, one for each
/// block of the matrix that it touches, in the nearest cache. What no other chunk touches then goes straight into the
/// matrix; the rest waits in a buffer, from which every block collects its share in the order of the chunks. So a few
/// times fewer numbers pass through memory than stencils have.
class BlockPlaces {
 public:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  void build(const BlockPattern& pattern, const Stencils& stencils, Index stencils_per_chunk);

  Index chunks() const { return static_cast<Index>(chunk_start_.size()) - 1; }
  std::int64_t places(Index chunk) const { return chunk_start_[at(chunk) + 1] - chunk_start_[at(chunk)]; }
  std::int64_t most_places() const { return most_places_; }
  /// Of each local block of a stencil: its place, from its chunk's first, doubled, plus one when it enters transposed;
  /// kNowhere for blocks of nodes that are no unknowns.
  const std::uint32_t* words(Index stencil) const { return words_.data() + at(stencil) * at(per_stencil_); }
  int words_per_stencil() const { return per_stencil_; }

  /// Adds scale times what a chunk has at its places to A, or puts it into `shared`.
  void leave(Index chunk, const double* at_places, double scale, BlockMatrix& A, std::vector<double>& shared) const;
  /// Adds what waits in `shared`.
  void collect(const std::vector<double>& shared, BlockMatrix& A) const;
  std::size_t shared_numbers() const { return 9 * at(shared_start_.back()); }

 private:
  int per_stencil_ = 0;
  std::int64_t most_places_ = 0;
  std::vector<std::uint32_t> words_;
  std::vector<std::int64_t> chunk_start_ = {0};
  std::vector<std::int64_t> target_;        ///< of each place: a block, or ~ where in the buffer
  std::vector<std::int64_t> shared_block_;  ///< blocks of several chunks
  std::vector<std::int64_t> shared_start_ = {0};
};

}  // namespace pliant
