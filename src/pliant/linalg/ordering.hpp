#pragma once

#include <vector>

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

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

NodeGraph node_graph(const BlockPattern& pattern);

/// A fill-reducing elimination order by nested dissection (METIS): entry k is the node eliminated k-th. The same graph
/// always gets the same order.
std::vector<Index> nested_dissection(const NodeGraph& graph);

}  // namespace pliant
