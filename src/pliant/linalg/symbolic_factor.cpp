// From a pattern to the plan of its factorisation, all on the graph of nodes: with 3x3 blocks that is a ninth of the
// scalar entries.
//
//   nested dissection -> elimination tree -> postorder -> column counts -> fundamental supernodes -> amalgamation ->
//   final order
//   -> row structures -> destinations of the matrix blocks and of the updates.
//
// The elimination tree and the counts come from the pattern without forming the factor's structure: J. W. H. Liu, "The
// role of elimination trees in sparse factorization" (1990), and Gilbert, Ng, Peyton, "An efficient algorithm to
// compute row and column counts for sparse Cholesky factorization" (1994).
//
// Amalgamation trades stored zeros for fewer, larger fronts (Ashcraft and Grimes, "The influence of relaxed supernode
// partitions on the multifrontal method", 1989). Any child may merge into its parent, not only the last one, since
// the final order is derived from the merged tree afterwards.
#include "pliant/linalg/symbolic_factor.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "pliant/linalg/ordering.hpp"

namespace pliant {
namespace {

std::vector<Index> inverse(const std::vector<Index>& permutation) {
  std::vector<Index> result(permutation.size());
  for (std::size_t k = 0; k < permutation.size(); ++k) result[at(permutation[k])] = static_cast<Index>(k);
  return result;
}

/// Children as linked lists, each list ascending.
struct ChildLists {
  std::vector<Index> first, next;
  std::vector<Index> roots;

  explicit ChildLists(const std::vector<Index>& parent) : first(parent.size(), -1), next(parent.size(), -1) {
    for (auto v = static_cast<Index>(parent.size()) - 1; v >= 0; --v) {
      const Index p = parent[at(v)];
      if (p < 0) {
        roots.push_back(v);
      } else {
        next[at(v)] = first[at(p)];
        first[at(p)] = v;
      }
    }
    std::reverse(roots.begin(), roots.end());
  }
};

/// Vertices of a forest, children before parents, without recursion (a tree may be as deep as there are nodes).
std::vector<Index> postorder(const std::vector<Index>& parent) {
  ChildLists lists(parent);
  std::vector<Index> result, stack;
  result.reserve(parent.size());
  for (Index root : lists.roots) {
    stack.push_back(root);
    while (!stack.empty()) {
      const Index v = stack.back();
      Index& child = lists.first[at(v)];
      if (child >= 0) {
        stack.push_back(child);
        child = lists.next[at(child)];
      } else {
        result.push_back(v);
        stack.pop_back();
      }
    }
  }
  return result;
}

/// parent[position] in the elimination tree of the graph under the order.
std::vector<Index> elimination_tree(const NodeGraph& graph, const std::vector<Index>& order,
                                    const std::vector<Index>& position) {
  std::vector<Index> parent(order.size(), -1), ancestor(order.size(), -1);
  for (Index j = 0; j < graph.nodes(); ++j) {
    for (Index neighbour : graph.of(order[at(j)])) {
      for (Index i = position[at(neighbour)]; i >= 0 && i < j;) {
        const Index up = ancestor[at(i)];
        ancestor[at(i)] = j;  // path compression
        if (up < 0) parent[at(i)] = j;
        i = up;
      }
    }
  }
  return parent;
}

/// The order becomes a postorder of its tree: same fill, but subtrees and supernodes are ranges.
void renumber_by_postorder(std::vector<Index>& order, std::vector<Index>& parent) {
  const std::vector<Index> post = postorder(parent), rank = inverse(post);
  std::vector<Index> new_order(order.size()), new_parent(order.size());
  for (std::size_t k = 0; k < post.size(); ++k) {
    new_order[k] = order[at(post[k])];
    const Index up = parent[at(post[k])];
    new_parent[k] = up < 0 ? -1 : rank[at(up)];
  }
  order = std::move(new_order);
  parent = std::move(new_parent);
}

/// Nodes in each column of the factor, diagonal included; the order must be a postorder of its tree.
std::vector<Index> column_counts(const NodeGraph& graph, const std::vector<Index>& order,
                                 const std::vector<Index>& position, const std::vector<Index>& parent) {
  const Index n = graph.nodes();
  std::vector<Index> first_descendant(at(n)), latest(at(n), -1), previous_leaf(at(n), -1), set(at(n)), count(at(n), 0);
  std::iota(first_descendant.begin(), first_descendant.end(), Index{0});
  std::iota(set.begin(), set.end(), Index{0});
  for (Index j = 0; j < n; ++j) {
    if (first_descendant[at(j)] == j) count[at(j)] = 1;  // a leaf
    if (const Index p = parent[at(j)]; p >= 0) {
      first_descendant[at(p)] = std::min(first_descendant[at(p)], first_descendant[at(j)]);
    }
  }
  const auto find = [&](Index v) {
    Index root = v;
    while (set[at(root)] != root) root = set[at(root)];
    while (set[at(v)] != root) v = std::exchange(set[at(v)], root);
    return root;
  };
  for (Index j = 0; j < n; ++j) {
    if (parent[at(j)] >= 0) --count[at(parent[at(j)])];
    for (Index neighbour : graph.of(order[at(j)])) {
      const Index i = position[at(neighbour)];
      if (i <= j || first_descendant[at(j)] <= latest[at(i)]) continue;
      // j is a leaf of the subtree of row i: the row is new here, and counted twice above where two leaves' paths meet.
      latest[at(i)] = first_descendant[at(j)];
      ++count[at(j)];
      if (const Index leaf = std::exchange(previous_leaf[at(i)], j); leaf >= 0) --count[at(find(leaf))];
    }
    if (parent[at(j)] >= 0) set[at(j)] = parent[at(j)];
  }
  for (Index j = 0; j < n; ++j) {
    if (parent[at(j)] >= 0) count[at(parent[at(j)])] += count[at(j)];
  }
  return count;
}

/// A supernode while the tree is being merged; sizes in nodes.
struct Group {
  Index pivots = 0;
  Index rows = 0;
  Index parent = -1;
  double zeros = 0;  ///< stored zeros of its trapezoid, in scalars
  std::vector<Index> children;
  std::vector<Index> columns;  ///< positions, ascending
  bool last = false;           ///< of the nodes that were to come last; others may not merge into it
};

/// `last` marks positions that share no supernode with the others.
std::vector<Group> fundamental_supernodes(const std::vector<Index>& parent, const std::vector<Index>& count,
                                          const std::vector<std::uint8_t>& last) {
  std::vector<Group> groups;
  std::vector<Index> group_of(parent.size());
  const auto n = static_cast<Index>(parent.size());
  for (Index j = 0; j < n; ++j) {
    const bool continues = j > 0 && parent[at(j) - 1] == j && count[at(j) - 1] == count[at(j)] + 1;
    if (!continues || last[at(j)] != last[at(j) - 1]) groups.emplace_back();
    groups.back().columns.push_back(j);
    group_of[at(j)] = static_cast<Index>(groups.size()) - 1;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Group& group = groups[g];
    group.pivots = static_cast<Index>(group.columns.size());
    group.rows = count[at(group.columns.front())] - group.pivots;
    group.last = last[at(group.columns.front())] != 0;
    if (const Index up = parent[at(group.columns.back())]; up >= 0) {
      group.parent = group_of[at(up)];
      groups[at(group.parent)].children.push_back(static_cast<Index>(g));
    }
  }
  return groups;
}

/// Whether a supernode of so many scalar columns may hold this share of zeros: small fronts cost calls, not flops.
bool worth_merging(double columns, int block_size, double zero_share) {
  if (columns <= 4.0 * block_size) return true;
  if (columns <= 16) return zero_share < 0.8;
  if (columns <= 48) return zero_share < 0.1;
  if (columns <= 144) return zero_share < 0.03;
  return zero_share < 0.005;
}

/// Merges children into parents, bottom-up, those first that bring the fewest zeros. Merged groups are left with no
/// columns.
void amalgamate(std::vector<Group>& groups, int block_size) {
  const double b = block_size;
  for (auto& parent : groups) {
    const auto new_zeros = [&](const Group& child) {
      return b * b * child.pivots * (double(parent.pivots) + parent.rows - child.rows);
    };
    std::stable_sort(parent.children.begin(), parent.children.end(),
                     [&](Index x, Index y) { return new_zeros(groups[at(x)]) < new_zeros(groups[at(y)]); });
    std::vector<Index> kept;
    for (Index c : parent.children) {
      Group& child = groups[at(c)];
      const double columns = b * (double(child.pivots) + parent.pivots);
      const double entries = columns * (columns + 1) / 2 + columns * b * parent.rows;
      const double zeros = parent.zeros + child.zeros + new_zeros(child);
      if (parent.last != child.last || !worth_merging(columns, block_size, zeros / entries)) {
        kept.push_back(c);
        continue;
      }
      parent.pivots += child.pivots;
      parent.zeros = zeros;
      parent.columns.insert(parent.columns.end(), child.columns.begin(), child.columns.end());
      kept.insert(kept.end(), child.children.begin(), child.children.end());
      child = Group{};
    }
    std::sort(parent.columns.begin(), parent.columns.end());
    parent.children = std::move(kept);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (Index c : groups[g].children) groups[at(c)].parent = static_cast<Index>(g);
  }
}

/// Numbers of a panel column; columns begin on cache lines, and not all in the same cache set.
std::int64_t padded(std::int64_t rows) {
  const std::int64_t stride = (rows + 7) / 8 * 8;
  return stride % 256 == 0 ? stride + 8 : stride;
}

/// Supernodes in postorder with order, sizes and tree, from the merged groups. `old_order` is the order the groups
/// speak of.
void lay_out(const std::vector<Group>& groups, const std::vector<Index>& old_order, SymbolicFactor& plan) {
  std::vector<Index> parent(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) parent[g] = groups[g].parent;
  std::vector<Index> number(groups.size(), -1);
  plan.order.reserve(old_order.size());
  for (Index g : postorder(parent)) {
    const Group& group = groups[at(g)];
    if (group.columns.empty()) continue;
    number[at(g)] = static_cast<Index>(plan.supernodes.size());
    SymbolicFactor::Supernode s;
    s.first = static_cast<Index>(plan.order.size());
    s.pivots = group.pivots;
    s.rows = group.rows;
    s.parent = g;  // replaced below, when the parents have numbers
    for (Index column : group.columns) plan.order.push_back(old_order[at(column)]);
    plan.supernodes.push_back(s);
  }
  plan.position = inverse(plan.order);
  auto& supernodes = plan.supernodes;
  for (std::size_t k = 0; k < supernodes.size(); ++k) supernodes[k].first_descendant = static_cast<Index>(k);
  for (auto& s : supernodes) {
    const Index up = groups[at(s.parent)].parent;
    s.parent = up < 0 ? -1 : number[at(up)];
    if (s.parent < 0) continue;
    auto& p = supernodes[at(s.parent)];
    p.first_descendant = std::min(p.first_descendant, s.first_descendant);
    ++p.child_end;
  }
  Index next_child = 0;
  for (auto& s : supernodes) {
    s.child_start = std::exchange(next_child, next_child + s.child_end);
    s.child_end = s.child_start;
  }
  plan.children.resize(at(next_child));
  for (std::size_t k = 0; k < supernodes.size(); ++k) {
    const Index p = supernodes[k].parent;
    if (p >= 0) plan.children[at(supernodes[at(p)].child_end++)] = static_cast<Index>(k);
  }
}

/// Row structures and the places of children's rows in their parents: the union of the matrix' own rows and the
/// children's.
void fill_rows(const NodeGraph& graph, SymbolicFactor& plan) {
  std::int64_t total = 0;
  for (auto& s : plan.supernodes) s.row_start = std::exchange(total, total + s.rows);
  plan.rows.resize(at(total));
  plan.parent_rows.resize(at(total));
  plan.runs.assign(at(total), 0);
  std::vector<Index> seen_by(at(plan.nodes), -1), front_row(at(plan.nodes));
  std::vector<Index> found;
  for (std::size_t k = 0; k < plan.supernodes.size(); ++k) {
    const auto& s = plan.supernodes[k];
    const Index below = s.first + s.pivots;
    found.clear();
    const auto add = [&](Index row) {
      if (row < below || seen_by[at(row)] == static_cast<Index>(k)) return;
      seen_by[at(row)] = static_cast<Index>(k);
      found.push_back(row);
    };
    for (Index j = s.first; j < below; ++j) {
      for (Index neighbour : graph.of(plan.order[at(j)])) add(plan.position[at(neighbour)]);
    }
    for (Index c : plan.children_of(s)) {
      for (Index row : plan.rows_of(plan.supernodes[at(c)])) add(row);
    }
    assert(static_cast<Index>(found.size()) == s.rows);
    std::sort(found.begin(), found.end());
    std::copy(found.begin(), found.end(), plan.rows.begin() + s.row_start);
    for (Index j = 0; j < s.pivots; ++j) front_row[at(s.first + j)] = j;
    for (Index j = 0; j < s.rows; ++j) front_row[at(found[at(j)])] = s.pivots + j;
    for (Index c : plan.children_of(s)) {
      const auto& child = plan.supernodes[at(c)];
      for (Index j = 0; j < child.rows; ++j) {
        plan.parent_rows[at(child.row_start + j)] = front_row[at(plan.rows[at(child.row_start + j)])];
      }
      const auto to = plan.parent_rows_of(child);
      for (Index j = child.rows - 1, run = 0; j >= 0; --j) {
        run = j + 1 < child.rows && to[at(j + 1)] == to[at(j)] + 1 ? run + 1 : 1;
        plan.runs[at(child.row_start + j)] = run;
      }
    }
  }
}

/// Sends every block of the pattern to the supernode that eliminates the earlier of its two nodes.
void fill_entries(const BlockPattern& pattern, SymbolicFactor& plan) {
  auto& supernode_of = plan.supernode_of;
  supernode_of.resize(at(plan.nodes));
  for (std::size_t k = 0; k < plan.supernodes.size(); ++k) {
    const auto& s = plan.supernodes[k];
    std::fill_n(supernode_of.begin() + s.first, s.pivots, static_cast<Index>(k));
  }
  const auto for_blocks = [&](auto&& body) {
    for (Index i = 0; i < plan.nodes; ++i) {
      for (std::int64_t k = pattern.row_start()[at(i)]; k < pattern.row_start()[at(i) + 1]; ++k) {
        const Index pi = plan.position[at(i)], pj = plan.position[at(pattern.columns()[at(k)])];
        body(k, std::max(pi, pj), std::min(pi, pj), pi < pj);
      }
    }
  };
  for_blocks(
      [&](std::int64_t, Index, Index column, bool) { ++plan.supernodes[at(supernode_of[at(column)])].entry_end; });
  std::int64_t next = 0;
  for (auto& s : plan.supernodes) {
    s.entry_start = std::exchange(next, next + s.entry_end);
    s.entry_end = s.entry_start;
  }
  plan.entries.resize(at(next));
  for_blocks([&](std::int64_t k, Index row, Index column, bool transposed) {
    auto& s = plan.supernodes[at(supernode_of[at(column)])];
    Index front_row = row - s.first;
    if (front_row >= s.pivots) {
      const auto rows = plan.rows_of(s);
      front_row = s.pivots + static_cast<Index>(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
    }
    plan.entries[at(s.entry_end++)] = {k, front_row, column - s.first, transposed};
  });
}

void count_work(SymbolicFactor& plan) {
  const double b = plan.block_size;
  for (auto& s : plan.supernodes) {
    const double k = b * s.pivots, r = b * s.rows;
    s.stride = padded(std::int64_t(plan.block_size) * (s.pivots + s.rows));
    s.panel = std::exchange(plan.panel_numbers, plan.panel_numbers + s.stride * plan.block_size * s.pivots);
    plan.factor_entries += static_cast<std::int64_t>(k * (k + 1) / 2 + k * r);
    s.flops = k * k * k / 3 + k * k * r + k * r * r;
    s.subtree_flops += s.flops;
    plan.flops += s.flops;
    if (s.parent >= 0) plan.supernodes[at(s.parent)].subtree_flops += s.subtree_flops;
  }
}

}  // namespace

double elimination_work(const NodeGraph& graph, const std::vector<Index>& order) {
  std::vector<Index> renumbered = order, parent = elimination_tree(graph, order, inverse(order));
  renumber_by_postorder(renumbered, parent);
  double work = 0;
  for (Index count : column_counts(graph, renumbered, inverse(renumbered), parent)) work += double(count) * count;
  return work;
}

SymbolicFactor analyze_symbolic(const BlockPattern& pattern, int block_size, const AnalysisOptions& options) {
  // With numbers in place of blocks, a factorisation is a twentieth as long, and the analysis is not.
  const Index separators = block_size == 1 ? 1 : 2;
  return analyze_symbolic(pattern, block_size, elimination_order(node_graph(pattern), options, separators),
                          {options.last_nodes.begin(), options.last_nodes.end()}, options.schur);
}

SymbolicFactor analyze_symbolic(const BlockPattern& pattern, int block_size, std::vector<Index> order,
                                std::vector<Index> last_nodes, bool schur_block) {
  SymbolicFactor plan;
  plan.nodes = pattern.rows();
  plan.block_size = block_size;
  plan.last_nodes = std::move(last_nodes);
  const Index schur = plan.schur_nodes = schur_block ? static_cast<Index>(plan.last_nodes.size()) : 0;
  assert(static_cast<Index>(order.size()) == plan.nodes && schur <= plan.nodes);
  if (plan.nodes == 0) return plan;
  const NodeGraph graph = node_graph(pattern);
  std::vector<Index> parent = elimination_tree(graph, order, inverse(order));
  // The Schur complement is dense: its nodes are a chain, whatever couples them.
  for (Index j = plan.nodes - schur; j + 1 < plan.nodes; ++j) parent[at(j)] = j + 1;
  renumber_by_postorder(order, parent);
  std::vector<Index> count = column_counts(graph, order, inverse(order), parent);
  for (Index j = plan.nodes - schur; j < plan.nodes; ++j) count[at(j)] = plan.nodes - j;
  std::vector<std::uint8_t> last(at(plan.nodes), 0);
  const std::vector<Index> position = inverse(order);
  for (Index node : plan.last_nodes) last[at(position[at(node)])] = 1;
  std::vector<Group> groups = fundamental_supernodes(parent, count, last);
  amalgamate(groups, block_size);
  lay_out(groups, order, plan);
  fill_rows(graph, plan);
  fill_entries(pattern, plan);
  count_work(plan);
  return plan;
}

}  // namespace pliant
