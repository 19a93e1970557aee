#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pliant/energies/contact_pair.hpp"
#include "pliant/energies/energy.hpp"
#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// The pattern of a Hessian whose couplings come and go with contacts: that of the model, and what contact couples on
/// top of it. Within a step it only grows, so that few iterations need another symbolic factorisation; what was needed
/// before the step is forgotten, so that a step's bits do not depend on the steps before it.
class ContactPattern {
 public:
  explicit ContactPattern(std::shared_ptr<const BlockPattern> base);

  void begin_step() { needs_reset_ = true; }
  /// A pattern with the model's couplings and those of all stencils. The same object as last time where that will do.
  const std::shared_ptr<const BlockPattern>& cover(std::span<const Energy* const> energies);
  /// The same for these couplings, each of up to eight nodes (-1: none). Those of before stay, for contacts that come
  /// back, until they are most of what there is.
  const std::shared_ptr<const BlockPattern>& cover(std::span<const std::array<Index, kContactNodes>> couplings);
  /// Couplings beyond the model's, i < j, ascending; and to go on with those.
  std::span<const std::array<Index, 2>> added() const { return added_; }
  void set_added(std::vector<std::array<Index, 2>> added);
  /// A on the pattern of the last cover() becomes `from`, which is on the model's; blocks of either size.
  void copy_base(const BlockMatrix& from, BlockMatrix& A) const;

 private:
  void need(Index i, Index j);
  void sort_needed();
  void add_needed(std::size_t most);
  void build();

  std::shared_ptr<const BlockPattern> base_, pattern_;
  std::vector<std::int64_t> place_;                   ///< of each block of the base
  std::vector<std::array<Index, 2>> added_, needed_;  ///< couplings beyond the base, ascending
  std::vector<Index> base_pairs_;
  bool needs_reset_ = true;
};

}  // namespace pliant
