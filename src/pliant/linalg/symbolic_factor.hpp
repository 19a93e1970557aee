#pragma once

#include <span>
#include <vector>

#include "pliant/linalg/block_matrix.hpp"
#include "pliant/linalg/ordering.hpp"

namespace pliant {

/// What a factorisation of a pattern looks like before any number is known: the order of elimination, the supernodes,
/// their assembly tree, and where every number goes. A value; immutable once made.
///
/// Nodes are renumbered by *position* in the elimination order. A supernode is a range of positions whose columns of
/// the factor share one row structure; its *front* is the dense matrix over its own columns (the pivots) followed by
/// `rows`. The first `pivots` columns of the front, the *panel*, become factor; what is left is the *update* added into
/// the parent's front. Supernodes are numbered in postorder: descendants first, a subtree is a range.
struct SymbolicFactor {
  Index nodes = 0;
  int block_size = 3;
  std::vector<Index> order;     ///< order[position] = node
  std::vector<Index> position;  ///< position[node]

  struct Supernode {
    Index first = 0;             ///< position of the first pivot
    Index pivots = 0;            ///< nodes eliminated here
    Index rows = 0;              ///< nodes of the front below the pivots
    Index parent = -1;           ///< -1 at a root
    Index first_descendant = 0;  ///< the subtree is the supernodes [first_descendant, this one]
    std::int64_t row_start = 0;  ///< into `rows` and `parent_rows`
    std::int64_t panel = 0;      ///< first number of the panel in the factor, column-major with `stride`
    std::int64_t stride = 0;
    std::int64_t entry_start = 0;  ///< into `entries`
    std::int64_t entry_end = 0;
    Index child_start = 0;  ///< into `children`
    Index child_end = 0;
    double flops = 0;          ///< of this front
    double subtree_flops = 0;  ///< of this front and all below
  };
  std::vector<Supernode> supernodes;
  std::vector<Index> supernode_of;  ///< by position
  std::vector<Index> last_nodes;    ///< that share no supernode with others
  Index schur_nodes = 0;            ///< the last supernode is these nodes alone, in the order they were given
  std::vector<Index> rows;          ///< positions, ascending per supernode
  std::vector<Index> parent_rows;   ///< the same as rows of the parent's front
  std::vector<Index> runs;          ///< how many rows from here on are consecutive in the parent's front too
  std::vector<Index> children;      ///< ascending per supernode

  /// A block of the matrix goes to (row, column) of the panel of the supernode that lists it, in nodes.
  struct Entry {
    std::int64_t block;
    Index row;
    Index column;
    bool transposed;
  };
  std::vector<Entry> entries;

  std::int64_t panel_numbers = 0;   ///< storage of all panels, padding included
  std::int64_t factor_entries = 0;  ///< lower triangle of the factor, zeros of amalgamation included
  double flops = 0;

  std::span<const Index> rows_of(const Supernode& s) const {
    return {rows.data() + s.row_start, static_cast<std::size_t>(s.rows)};
  }
  std::span<const Index> parent_rows_of(const Supernode& s) const {
    return {parent_rows.data() + s.row_start, static_cast<std::size_t>(s.rows)};
  }
  std::span<const Index> runs_of(const Supernode& s) const {
    return {runs.data() + s.row_start, static_cast<std::size_t>(s.rows)};
  }
  std::span<const Index> children_of(const Supernode& s) const {
    return {children.data() + s.child_start, static_cast<std::size_t>(s.child_end - s.child_start)};
  }
  std::span<const Entry> entries_of(const Supernode& s) const {
    return {entries.data() + s.entry_start, static_cast<std::size_t>(s.entry_end - s.entry_start)};
  }
};

/// Throws std::bad_alloc.
SymbolicFactor analyze_symbolic(const BlockPattern& pattern, int block_size, const AnalysisOptions& options = {});
/// The same with a given order of elimination, for a pattern that differs little from one that has been ordered.
SymbolicFactor analyze_symbolic(const BlockPattern& pattern, int block_size, std::vector<Index> order,
                                std::vector<Index> last_nodes = {}, bool schur_block = false);

}  // namespace pliant
