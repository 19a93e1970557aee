#include "pliant/linalg/ordering.hpp"

#include <metis.h>

#include <limits>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>

namespace pliant {
namespace {

static_assert(sizeof(idx_t) == sizeof(Index), "METIS must be built with 32-bit indices");

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

NodeGraph node_graph(const BlockPattern& pattern) {
  const Index n = pattern.rows();
  const std::int64_t edges = pattern.blocks() - n;
  if (2 * edges > std::numeric_limits<Index>::max()) throw std::bad_alloc();  // beyond what METIS can index
  NodeGraph graph;
  graph.start.reserve(at(n) + 1);
  graph.neighbours.reserve(at(2 * edges));
  graph.start.push_back(0);
  for (Index i = 0; i < n; ++i) {
    for (const auto& lower : pattern.lower_row(i)) graph.neighbours.push_back(lower.column);
    for (std::int64_t k = pattern.diagonal(i) + 1; k < pattern.row_start()[at(i) + 1]; ++k) {
      graph.neighbours.push_back(pattern.columns()[at(k)]);
    }
    graph.start.push_back(static_cast<Index>(graph.neighbours.size()));
  }
  return graph;
}

std::vector<Index> nested_dissection(const NodeGraph& graph) {
  idx_t n = graph.nodes();
  std::vector<Index> order(at(n));
  std::iota(order.begin(), order.end(), Index{0});
  if (graph.neighbours.empty()) return order;

  // METIS draws from the C library's generator, seeded per call: two calls at once would change each other's order.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1;
  std::vector<idx_t> start(graph.start), neighbours(graph.neighbours), position(at(n));
  const int result = METIS_NodeND(&n, start.data(), neighbours.data(), nullptr, options, order.data(), position.data());
  if (result == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (result != METIS_OK) throw std::logic_error("METIS_NodeND refused the graph of a block pattern");
  return order;
}

}  // namespace pliant
