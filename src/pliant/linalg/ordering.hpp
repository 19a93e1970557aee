#pragma once

#include <vector>

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// How the order of elimination is chosen.
struct AnalysisOptions {
  /// Nodes eliminated after all others: a change that touches only them leaves the rest of the factor as it is.
  std::span<const Index> last_nodes = {};
  /// Makes `last_nodes`, in their order, one dense block at the end, whose Schur complement can be asked for.
  bool schur = false;
  /// Orderings tried, of which the one with the least work is taken. More pay off where one analysis serves hundreds of
  /// factorisations.
  int attempts = 1;
};

/// The graph of a symmetric pattern: the neighbours of each node, itself not among them, ascending.
struct NodeGraph {
  std::vector<Index> start;  ///< nodes + 1
  std::vector<Index> neighbours;

  Index nodes() const { return static_cast<Index>(start.size()) - 1; }
  std::span<const Index> of(Index node) const {
    const auto begin = start[static_cast<std::size_t>(node)];
    return {neighbours.data() + begin, static_cast<std::size_t>(start[static_cast<std::size_t>(node) + 1] - begin)};
  }
};

/// Throws std::bad_alloc, also for graphs beyond 32-bit indices.
NodeGraph node_graph(const BlockPattern& pattern);

/// A fill-reducing elimination order by nested dissection (METIS): entry k is the node eliminated k-th. The same graph
/// and seed always get the same order. Of so many separators at the first splits the best is taken: a second one makes
/// a factorisation a few percent cheaper and the analysis dearer, which pays for blocks of 3 and not for numbers.
std::vector<Index> nested_dissection(const NodeGraph& graph, int seed = 1, Index separators = 2);

/// The order the options ask for.
std::vector<Index> elimination_order(const NodeGraph& graph, const AnalysisOptions& options, Index separators = 2);

/// Work of a factorisation in this order, up to a constant factor: the sum of squares of the factor's columns.
double elimination_work(const NodeGraph& graph, const std::vector<Index>& order);

}  // namespace pliant
