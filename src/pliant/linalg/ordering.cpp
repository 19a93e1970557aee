#include "pliant/linalg/ordering.hpp"

#include <metis.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>

#include "pliant/math/parallel.hpp"

namespace pliant {
namespace {

static_assert(sizeof(idx_t) == sizeof(Index), "METIS must be built with 32-bit indices");

/// Thousandths by which one side of a separator may be heavier than its share. Well above METIS's default of 200:
/// smaller separators are worth more than balance, which work-stealing tasks do not need.
constexpr idx_t imbalance = 400;

/// Graphs below this are ordered by METIS in one call; above, they are split here and the halves go to two threads.
constexpr Index least_split = 4000;
/// Levels at which several separators are tried: the first ones decide most of the work.
constexpr int levels_of_choice = 2;

/// METIS draws random numbers from the C library's one generator, so that two calls at once would change each other's
/// results. Its own functions around that generator are replaced here, for this program, by one per thread (shared
/// libraries resolve their symbols in the program first). Where that does not work - the library was loaded on its own
/// before - no number is ever drawn here, and calls take turns.
struct Generator {
  std::uint64_t state = 0;
  std::int64_t drawn = 0;
  /// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
  std::uint64_t next() {
    ++drawn;
    std::uint64_t z = (state += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
};
thread_local Generator generator;

/// What SIGABRT did before the calls of METIS that are under way.
struct Trap {
  std::mutex mutex;
  int calls = 0;
  void (*before)(int) = SIG_DFL;
};
Trap trap;

/// METIS ends the process where its first allocations fail, before it is ready to report that. So what a call will need
/// is tried here: an allocation that is not touched costs next to nothing.
void require_room(const NodeGraph& graph) {
  constexpr std::size_t least = std::size_t{1} << 20U, bytes_per_entry = 48;
  void* room = std::malloc(least + bytes_per_entry * (graph.start.size() + graph.neighbours.size()));
  if (!room) throw std::bad_alloc();
  std::free(room);
}

/// Runs a call of METIS, alone until it is known that calls do not disturb each other.
template <class Call>
void call_metis(const NodeGraph& graph, Call&& call) {
  require_room(graph);
  static std::mutex one_at_a_time;
  static std::atomic<bool> independent = false;
  std::unique_lock lock(one_at_a_time, std::defer_lock);
  if (!independent) lock.lock();
  generator.drawn = 0;
  const int result = call();
  if (generator.drawn > 0) independent = true;
  if (result == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (result != METIS_OK) throw std::logic_error("METIS refused the graph of a block pattern");
}

std::array<idx_t, METIS_NOPTIONS> metis_options(int seed) {
  std::array<idx_t, METIS_NOPTIONS> options;
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = seed;
  options[METIS_OPTION_UFACTOR] = imbalance;
  return options;
}

void metis_order(const NodeGraph& graph, int seed, std::vector<Index>& order) {
  idx_t n = graph.nodes();
  auto options = metis_options(seed);
  std::vector<idx_t> start(graph.start), neighbours(graph.neighbours), position(at(n));
  call_metis(graph, [&] {
    return METIS_NodeND(&n, start.data(), neighbours.data(), nullptr, options.data(), order.data(), position.data());
  });
}

/// Two sides and the separator between them, by ascending node.
std::array<std::vector<Index>, 3> split(const NodeGraph& graph, int seed, Index tried) {
  struct Attempt {
    std::vector<idx_t> part;
    double score = 0;
  };
  std::vector<Attempt> attempts(at(tried));
  for_chunks(tried, 1, [&](Index k, Index) {
    Attempt& attempt = attempts[at(k)];
    idx_t n = graph.nodes(), size = 0;
    auto options = metis_options(seed + static_cast<int>(k));
    std::vector<idx_t> start(graph.start), neighbours(graph.neighbours);
    attempt.part.resize(at(n));
    call_metis(graph, [&] {
      return METIS_ComputeVertexSeparator(&n, start.data(), neighbours.data(), nullptr, options.data(), &size,
                                          attempt.part.data());
    });
    const auto larger = std::max(std::count(attempt.part.begin(), attempt.part.end(), 0),
                                 std::count(attempt.part.begin(), attempt.part.end(), 1));
    // The work of a separator grows with its third power, that of a side about with its second.
    attempt.score = 3 * std::log(double(size) + 1) + 2 * std::log(double(larger) + 1);
  });
  const auto best =
      std::min_element(attempts.begin(), attempts.end(), [](auto& x, auto& y) { return x.score < y.score; });
  std::array<std::vector<Index>, 3> parts;
  for (Index i = 0; i < graph.nodes(); ++i) parts[at(best->part[at(i)])].push_back(i);
  return parts;
}

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

std::vector<Index> dissect(const NodeGraph& graph, int seed, Index separators, int level) {
  std::vector<Index> order(at(graph.nodes()));
  std::iota(order.begin(), order.end(), Index{0});
  if (graph.neighbours.empty()) return order;
  if (graph.nodes() < least_split) {
    metis_order(graph, seed, order);
    return order;
  }
  const std::array<std::vector<Index>, 3> parts = split(graph, seed, level < levels_of_choice ? separators : 1);
  std::array<std::vector<Index>, 2> part_orders;
  for_chunks(2, 1, [&](Index side, Index) {
    part_orders[at(side)] = dissect(induced(graph, parts[at(side)]), seed, separators, level + 1);
  });
  order.clear();
  for (std::size_t side : {0, 1}) {
    for (Index k : part_orders[side]) order.push_back(parts[side][at(k)]);
  }
  order.insert(order.end(), parts[2].begin(), parts[2].end());
  return order;
}

}  // namespace

extern "C" {
// METIS takes over the process's SIGTERM and SIGABRT during a call and puts back what it found, which of two calls at
// once leaves a handler of METIS's behind that jumps into a call long gone. Replaced as well: SIGTERM stays the
// program's, SIGABRT, by which METIS reports a failed allocation to itself, goes back when the last call ends.
extern __thread int gk_cur_jbufs;
void gk_sigthrow(int signal);
__attribute__((visibility("default"))) int gk_sigtrap() {
  const std::lock_guard lock(trap.mutex);
  ++gk_cur_jbufs;
  if (trap.calls++ == 0) trap.before = std::signal(SIGABRT, gk_sigthrow);
  return 1;
}
__attribute__((visibility("default"))) int gk_siguntrap() {
  const std::lock_guard lock(trap.mutex);
  --gk_cur_jbufs;
  if (--trap.calls == 0) std::signal(SIGABRT, trap.before);
  return 1;
}
__attribute__((visibility("default"))) void gk_randinit(std::uint64_t seed) { generator.state = seed; }
__attribute__((visibility("default"))) std::uint64_t gk_randint64() { return generator.next() >> 1U; }
__attribute__((visibility("default"))) std::uint32_t gk_randint32() {
  return static_cast<std::uint32_t>(generator.next() >> 33U);
}
}

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

std::vector<Index> nested_dissection(const NodeGraph& graph, int seed, Index separators) {
  return dissect(graph, seed, separators, 0);
}

std::vector<Index> elimination_order(const NodeGraph& graph, const AnalysisOptions& options, Index separators) {
  const auto best_of = [&](const NodeGraph& part) {
    std::vector<Index> best = nested_dissection(part, 1, separators);
    if (options.attempts <= 1 || part.neighbours.empty()) return best;
    double least = elimination_work(part, best);
    for (int attempt = 1; attempt < options.attempts; ++attempt) {
      std::vector<Index> order = nested_dissection(part, 1 + attempt * separators, separators);
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
