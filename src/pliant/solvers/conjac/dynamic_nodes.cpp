// Placement. The depth of a node is its distance to the surface, along edges. Where the depth has a local maximum runs
// the body's middle, through limbs as well as through the trunk; these nodes are the candidates. Of them, each next one
// is the farthest, along edges, from all chosen before and from what pins hold (farthest-point sampling), so pieces
// that are not connected get one each first, and limbs come before a second one in the trunk.
#include "pliant/solvers/conjac/dynamic_nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/linalg/ordering.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/math/small_cholesky.hpp"

namespace pliant {

namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

/// The nodes of a model and the edges between them, at rest.
class NodeMap {
 public:
  explicit NodeMap(const Model& model) : model_(model), graph_(node_graph(*model.pattern())) {}

  Index nodes() const { return graph_.nodes(); }
  std::span<const Index> neighbours(Index i) const { return graph_.of(i); }

  /// Lowers `distance` to the distance along edges from `sources`, where that is less (Dijkstra).
  void spread(std::span<const Index> sources, std::vector<double>& distance) const {
    using Entry = std::pair<double, Index>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (Index i : sources) {
      distance[at(i)] = 0;
      queue.emplace(0.0, i);
    }
    while (!queue.empty()) {
      const auto [d, i] = queue.top();
      queue.pop();
      if (d > distance[at(i)]) continue;
      for (Index j : graph_.of(i)) {
        const double further = d + (node(model_.rest(), i) - node(model_.rest(), j)).norm();
        if (further < distance[at(j)]) {
          distance[at(j)] = further;
          queue.emplace(further, j);
        }
      }
    }
  }

  /// For each node the number of the connected piece it belongs to.
  std::vector<Index> pieces(Index& count) const {
    std::vector<Index> piece(at(nodes()), -1), stack;
    count = 0;
    for (Index start = 0; start < nodes(); ++start) {
      if (piece[at(start)] >= 0) continue;
      piece[at(start)] = count;
      stack.push_back(start);
      while (!stack.empty()) {
        const Index i = stack.back();
        stack.pop_back();
        for (Index j : graph_.of(i))
          if (piece[at(j)] < 0) {
            piece[at(j)] = count;
            stack.push_back(j);
          }
      }
      ++count;
    }
    return piece;
  }

 private:
  const Model& model_;
  NodeGraph graph_;
};

std::vector<Index> surface_nodes(const Model& model) {
  std::vector<Index> nodes;
  for (const Body& body : model.bodies()) {
    std::vector<Index> vertices;
    for (const Triangle& t : body.surface()) vertices.insert(vertices.end(), t.begin(), t.end());
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    for (Index i : body.nodes_of(vertices)) nodes.push_back(body.nodes.begin + i);
  }
  return nodes;
}

/// Nodes that placement leaves alone: those that cannot move by themselves (one that is pinned along some axes only, as
/// in plane strain, can), and those of rigid bodies, which are dynamic anyway.
std::vector<std::uint8_t> taken_beforehand(const Model& model) {
  std::vector<std::uint8_t> axes(at(model.nodes()), 0), taken(at(model.nodes()), 0);
  for (const Pin& pin : model.pins())
    for (Index i : pin.nodes)
      axes[at(i)] |= static_cast<std::uint8_t>(pin.axes[0] | pin.axes[1] << 1 | pin.axes[2] << 2);
  for (std::size_t i = 0; i < axes.size(); ++i) taken[i] = axes[i] == 7;
  for (const Script& script : model.scripts())
    for (Index i : script.nodes) taken[at(i)] = 1;
  if (model.articulation())
    for (Index i = 0; i < model.nodes(); ++i)
      if (model.articulation()->link_of()[at(i)] >= 0) taken[at(i)] = 1;
  for (Index i : frame_nodes(model)) taken[at(i)] = 1;
  return taken;
}

/// Free nodes in the middle of their bodies; where a piece has none inside, all its free nodes. A node is in the middle
/// when none within two edges is much deeper: `share` of the depth there will do.
std::vector<Index> candidates(const Model& model, const NodeMap& map, const std::vector<std::uint8_t>& taken,
                              double share) {
  std::vector<double> depth(at(map.nodes()), kFar), around(at(map.nodes()));
  map.spread(surface_nodes(model), depth);
  const auto deepest_neighbour = [&](const std::vector<double>& of, Index i) {
    double most = of[at(i)];
    for (Index j : map.neighbours(i)) most = std::max(most, of[at(j)]);
    return most;
  };
  for (Index i = 0; i < map.nodes(); ++i) around[at(i)] = deepest_neighbour(depth, i);
  std::vector<std::uint8_t> middle(at(map.nodes()), 0);
  // Equal within rounding counts as equal: along a bar's axis all depths are the same.
  for (Index i = 0; i < map.nodes(); ++i)
    middle[at(i)] = !taken[at(i)] && depth[at(i)] > 0 && depth[at(i)] >= (share - 1e-9) * deepest_neighbour(around, i);
  Index count = 0;
  const std::vector<Index> piece = map.pieces(count);
  std::vector<std::uint8_t> has_middle(at(count), 0);
  for (Index i = 0; i < map.nodes(); ++i)
    if (middle[at(i)]) has_middle[at(piece[at(i)])] = 1;
  std::vector<Index> found;
  for (Index i = 0; i < map.nodes(); ++i)
    if (middle[at(i)] || (!has_middle[at(piece[at(i)])] && !taken[at(i)])) found.push_back(i);
  return found;
}

std::uint64_t scramble(std::uint64_t z) {  // splitmix64
  z = (z + 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
  return (z ^ (z >> 31)) * 0x94d049bb133111ebULL;
}

std::vector<Index> place(const Model& model, int count, std::int64_t seed) {
  const NodeMap map(model);
  const std::vector<std::uint8_t> taken = taken_beforehand(model);
  if (count <= 0) return {};
  std::vector<Index> from, chosen, held;
  for (double share : {1.0, 0.7, 0.4, 0.0}) {
    from = candidates(model, map, taken, share);
    if (static_cast<int>(from.size()) >= count) break;
  }
  if (from.empty()) return {};
  for (Index i = 0; i < map.nodes(); ++i)
    if (taken[at(i)]) held.push_back(i);
  std::vector<double> distance(at(map.nodes()), kFar);
  map.spread(held, distance);
  // Pieces that nothing is held of or chosen in come first, the heaviest of them before others.
  Index pieces = 0;
  const std::vector<Index> piece = map.pieces(pieces);
  std::vector<double> weight(at(pieces), 0.0);
  for (Index i = 0; i < map.nodes(); ++i) weight[at(piece[at(i)])] += model.mass().lumped()[i];
  while (static_cast<int>(chosen.size()) < count && chosen.size() < from.size()) {
    const auto better = [&](Index a, Index b) {  // whether a comes before b
      const double da = distance[at(a)], db = distance[at(b)];
      if (da == kFar && db == kFar) {
        const double wa = weight[at(piece[at(a)])], wb = weight[at(piece[at(b)])];
        if (wa != wb) return wa > wb;
        const auto salt = static_cast<std::uint64_t>(seed);
        return seed == 0
                   ? false
                   : scramble(salt ^ static_cast<std::uint64_t>(a)) < scramble(salt ^ static_cast<std::uint64_t>(b));
      }
      return da > db;
    };
    Index best = from.front();
    if (chosen.empty() && seed != 0 && distance[at(best)] < kFar) {
      best = from[scramble(static_cast<std::uint64_t>(seed)) % from.size()];
    } else {
      for (Index i : from)
        if (better(i, best)) best = i;
    }
    if (distance[at(best)] == 0) break;
    chosen.push_back(best);
    map.spread(std::span<const Index>(&chosen.back(), 1), distance);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    const auto first = part.find_first_not_of(" \t");
    if (first != std::string::npos) parts.push_back(part.substr(first, part.find_last_not_of(" \t") - first + 1));
    begin = end + 1;
  }
  return parts;
}

std::vector<Index> by_name(const Model& model, const std::string& text) {
  std::vector<Index> nodes;
  for (const std::string& part : split(text)) {
    if (part == "none") continue;
    if (part == "all") {
      for (Index i = 0; i < model.nodes(); ++i) nodes.push_back(i);
      continue;
    }
    if (part.find_first_not_of("0123456789") == std::string::npos) {
      Index i = -1;
      const auto result = std::from_chars(part.data(), part.data() + part.size(), i);
      if (result.ec != std::errc() || i >= model.nodes())
        throw InputError(fmt::format("'dynamic' names node {}, but there are {} nodes", part, model.nodes()));
      nodes.push_back(i);
      continue;
    }
    bool found = false;
    std::vector<std::string> known = {"all", "none"};
    for (const Body& body : model.bodies())
      for (const auto& [name, vertices] : body.sets()) {
        known.push_back(name);
        if (name != part) continue;
        found = true;
        for (Index i : body.nodes_of(vertices)) nodes.push_back(body.nodes.begin + i);
      }
    if (found) continue;
    const std::string close = nearest(part, known);
    throw InputError(fmt::format("'dynamic': no mesh has a set of vertices '{}'; {}", part,
                                 close.empty() ? fmt::format("choose one of {}", fmt::join(known, ", "))
                                               : fmt::format("did you mean '{}'?", close)));
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

using Mat6 = Eigen::Matrix<double, 6, 6>;
using Vec6 = Eigen::Matrix<double, 6, 1>;

/// How strongly a held unknown resists each rigid motion of its piece: the rows of [I, -[r]x] squared, with r in units
/// of the piece's size.
void add_support(const Vec3& r, int axis, Mat6& gram) {
  Vec6 row = Vec6::Zero();
  row[axis] = 1;
  row.tail<3>() = r.cross(Vec3::Unit(axis));
  gram += row * row.transpose();
}

double log_determinant(const Mat6& gram) {
  Mat6 L = gram + 1e-6 * Mat6::Identity();
  factor_cholesky(L);
  return 2 * L.diagonal().array().log().sum();
}

bool stands(const Mat6& gram) { return symmetric_eigenvalues<6>(gram)[0] > 1e-4; }

}  // namespace

std::vector<Index> dynamic_nodes(const Model& model, const DynamicNodeOptions& options) {
  return options.named.empty() ? place(model, options.count, options.seed) : by_name(model, options.named);
}

std::vector<Index> frame_nodes(const Model& model) {
  std::vector<Index> nodes;
  for (const Body& body : model.bodies())
    for (Index i = body.nodes.begin; body.rigid && i < body.nodes.end; ++i) nodes.push_back(i);
  return nodes;
}

std::vector<Index> floating_pieces(const Model& model, std::span<const std::uint8_t> held) {
  Index count = 0;
  std::vector<Index> piece = NodeMap(model).pieces(count);
  std::vector<std::uint8_t> is_held(at(count), 0);
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i]) is_held[at(piece[i / 3])] = 1;
  std::vector<Index> number(at(count), -1);
  Index floating = 0;
  for (Index p = 0; p < count; ++p)
    if (!is_held[at(p)]) number[at(p)] = floating++;
  for (Index& p : piece) p = number[at(p)];
  return piece;
}

std::vector<Index> supporting_nodes(const Model& model, std::span<const std::uint8_t> held,
                                    std::span<const Index> dynamic) {
  const NodeMap map(model);
  Index count = 0;
  const std::vector<Index> piece = map.pieces(count);
  std::vector<Vec3> low(at(count), Vec3::Constant(kFar)), high(at(count), Vec3::Constant(-kFar));
  for (Index i = 0; i < map.nodes(); ++i) {
    const auto p = at(piece[at(i)]);
    low[p] = low[p].cwiseMin(node(model.rest(), i));
    high[p] = high[p].cwiseMax(node(model.rest(), i));
  }
  const auto relative = [&](Index i) {
    const auto p = at(piece[at(i)]);
    const double size = std::max((high[p] - low[p]).norm(), 1e-300);
    return Vec3((node(model.rest(), i) - 0.5 * (low[p] + high[p])) / size);
  };
  std::vector<Mat6> gram(at(count), Mat6::Zero());
  for (Index i = 0; i < map.nodes(); ++i)
    for (int axis = 0; axis < 3; ++axis)
      if (held[3 * at(i) + static_cast<std::size_t>(axis)]) add_support(relative(i), axis, gram[at(piece[at(i)])]);
  for (Index i : dynamic)
    for (int axis = 0; axis < 3; ++axis) add_support(relative(i), axis, gram[at(piece[at(i)])]);

  std::map<Index, std::vector<Index>> unsupported;
  for (Index p = 0; p < count; ++p)
    if (!stands(gram[at(p)])) unsupported[p];
  if (unsupported.empty()) return {};
  std::vector<std::uint8_t> taken(at(map.nodes()), 0);
  for (Index i = 0; i < map.nodes(); ++i) taken[at(i)] = held[3 * at(i)] && held[3 * at(i) + 1] && held[3 * at(i) + 2];
  for (Index i : dynamic) taken[at(i)] = 1;
  for (Index i : frame_nodes(model)) taken[at(i)] = 1;
  // In the middle first; all of the piece where the middle is a line or a point.
  std::vector<Index> added;
  const auto support = [&](Index p, const std::vector<Index>& from) {
    for (int more = 0; more < 3 && !stands(gram[at(p)]); ++more) {
      Index best = -1;
      double most = log_determinant(gram[at(p)]);
      for (Index i : from) {
        if (taken[at(i)]) continue;
        Mat6 with = gram[at(p)];
        for (int axis = 0; axis < 3; ++axis) add_support(relative(i), axis, with);
        const double value = log_determinant(with);
        if (value > most) most = value, best = i;
      }
      if (best < 0) return;
      for (int axis = 0; axis < 3; ++axis) add_support(relative(best), axis, gram[at(p)]);
      taken[at(best)] = 1;
      added.push_back(best);
    }
  };
  for (Index i : candidates(model, map, taken, 0.4))
    if (const auto found = unsupported.find(piece[at(i)]); found != unsupported.end()) found->second.push_back(i);
  for (auto& [p, from] : unsupported) {
    support(p, from);
    if (stands(gram[at(p)])) continue;
    std::vector<Index> everything;
    for (Index i = 0; i < map.nodes(); ++i)
      if (piece[at(i)] == p) everything.push_back(i);
    support(p, everything);
  }
  std::sort(added.begin(), added.end());
  return added;
}

}  // namespace pliant
