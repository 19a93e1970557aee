#include "pliant/linalg/ordering.hpp"

#include <metis.h>

#include <cassert>
#include <limits>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>

namespace pliant {
namespace {

static_assert(sizeof(idx_t) == sizeof(Index), "METIS must be built with 32-bit indices");

/// Thousandths by which one side of a separator may be heavier than its share. Well above METIS's default of 200:
/// smaller separators are worth more than balance, which work-stealing tasks do not need.
constexpr idx_t imbalance = 400;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The graph among these nodes, numbered by their place in the list.
NodeGraph induced(const NodeGraph& graph, std::span<const Index> nodes) {
  std::vector<Index> number(at(graph.nodes()), -1);
  for (std::size_t k = 0; k < nodes.size(); ++k) number[at(nodes[k])] = static_cast<Index>(k);
  NodeGraph part;
  part.start.reserve(nodes.size() + 1);
  part.start.push_back(0);
  for (Index node : nodes) {
    for (Index neighbour : graph.of(node))
      if (number[at(neighbour)] >= 0) part.neighbours.push_back(number[at(neighbour)]);
    part.start.push_back(static_cast<Index>(part.neighbours.size()));
  }
  return part;
}

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

std::vector<Index> nested_dissection(const NodeGraph& graph, int seed) {
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
  options[METIS_OPTION_SEED] = seed;
  options[METIS_OPTION_UFACTOR] = imbalance;
  std::vector<idx_t> start(graph.start), neighbours(graph.neighbours), position(at(n));
  const int result = METIS_NodeND(&n, start.data(), neighbours.data(), nullptr, options, order.data(), position.data());
  if (result == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (result != METIS_OK) throw std::logic_error("METIS_NodeND refused the graph of a block pattern");
  return order;
}

std::vector<Index> elimination_order(const NodeGraph& graph, const AnalysisOptions& options) {
  const auto best_of = [&](const NodeGraph& part) {
    std::vector<Index> best = nested_dissection(part);
    if (options.attempts <= 1 || part.neighbours.empty()) return best;
    double least = elimination_work(part, best);
    for (int seed = 2; seed <= options.attempts; ++seed) {
      std::vector<Index> order = nested_dissection(part, seed);
      const double work = elimination_work(part, order);
      if (work < least) {
        least = work;
        best = std::move(order);
      }
    }
    return best;
  };
  if (options.last_nodes.empty()) return best_of(graph);
  std::vector<std::uint8_t> is_last(at(graph.nodes()), 0);
  for (Index node : options.last_nodes) {
    assert(!is_last[at(node)] && "a node is named twice");
    is_last[at(node)] = 1;
  }
  std::vector<Index> rest;
  for (Index i = 0; i < graph.nodes(); ++i)
    if (!is_last[at(i)]) rest.push_back(i);
  std::vector<Index> order;
  order.reserve(at(graph.nodes()));
  const auto append = [&](std::span<const Index> nodes) {
    for (Index k : best_of(induced(graph, nodes))) order.push_back(nodes[at(k)]);
  };
  append(rest);
  if (options.schur) {
    order.insert(order.end(), options.last_nodes.begin(), options.last_nodes.end());
  } else {
    append(options.last_nodes);
  }
  return order;
}

}  // namespace pliant
