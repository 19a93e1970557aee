#include "pliant/fem/fe_mesh.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cassert>
#include <sstream>
#include <unordered_map>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

/// Where a node lies between mesh vertices, whatever element sees it: up to three pairs of vertex and lattice
/// coordinate, sorted by vertex, unused ones (-1, 0). Elements that share an edge or face therefore share its nodes.
struct NodeKey {
  std::array<Index, 3> vertices = {-1, -1, -1};
  std::array<int, 3> lattice = {0, 0, 0};
  bool operator==(const NodeKey&) const = default;
};

struct NodeKeyHash {
  std::size_t operator()(const NodeKey& key) const {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      hash = (hash ^ static_cast<std::uint64_t>(key.vertices[i] * 4 + key.lattice[i])) * 0x9E3779B97F4A7C15ull;
      hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
  }
};

NodeKey node_key(const Tet& tet, const std::array<int, 4>& lattice) {
  std::array<std::pair<Index, int>, 4> pairs;
  std::size_t count = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    if (lattice[i] > 0) pairs[count++] = {tet[i], lattice[i]};
  }
  assert(count <= 3);
  std::sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(count));
  NodeKey key;
  for (std::size_t i = 0; i < count; ++i) {
    key.vertices[i] = pairs[i].first;
    key.lattice[i] = pairs[i].second;
  }
  return key;
}

const ReferenceElement& checked_reference(int order) {
  if (order < 1 || order > 3) {
    std::ostringstream message;
    message << "element order must be 1, 2 or 3, got " << order;
    throw InputError(message.str());
  }
  return ReferenceElement::of_order(order);
}

}  // namespace

FeMesh::FeMesh(const TetMesh& mesh, int order)
    : reference_(&checked_reference(order)), positions_(mesh.vertices().begin(), mesh.vertices().end()) {
  const auto& lattice = reference_->lattice();
  corners_.resize(positions_.size());
  for (std::size_t v = 0; v < positions_.size(); ++v) corners_[v] = {static_cast<Index>(v)};

  const auto tets = mesh.tets();
  elements_.reserve(tets.size() * lattice.size());
  volumes_.reserve(tets.size());
  inverse_edges_.reserve(tets.size());
  std::unordered_map<NodeKey, Index, NodeKeyHash> numbers;
  for (const Tet& tet : tets) {
    for (std::size_t a = 0; a < lattice.size(); ++a) {
      if (a < 4) {
        elements_.push_back(tet[a]);
        continue;
      }
      const NodeKey key = node_key(tet, lattice[a]);
      const auto [entry, inserted] = numbers.try_emplace(key, node_count());
      if (inserted) {
        Vec3 position = Vec3::Zero();
        corners_.emplace_back();
        for (std::size_t i = 0; i < 3 && key.vertices[i] >= 0; ++i) {
          position += key.lattice[i] * mesh.vertices()[static_cast<std::size_t>(key.vertices[i])];
          corners_.back().push_back(key.vertices[i]);
        }
        positions_.push_back(position / order);
      }
      elements_.push_back(entry->second);
    }
    const Vec3& origin = mesh.vertices()[static_cast<std::size_t>(tet[0])];
    Mat3 edges;
    for (std::size_t i = 0; i < 3; ++i) {
      edges.col(static_cast<Eigen::Index>(i)) = mesh.vertices()[static_cast<std::size_t>(tet[i + 1])] - origin;
    }
    volumes_.push_back(edges.determinant() / 6);
    inverse_edges_.push_back(edges.inverse());
  }
}

std::vector<Index> FeMesh::nodes_of(std::span<const Index> vertices) const {
  std::vector<char> chosen(positions_.size(), 0);
  for (Index v : vertices) {
    assert(v >= 0 && v < node_count() && corners_[static_cast<std::size_t>(v)].size() == 1);
    chosen[static_cast<std::size_t>(v)] = 1;
  }
  std::vector<Index> nodes;
  for (std::size_t n = 0; n < corners_.size(); ++n) {
    const bool all = std::all_of(corners_[n].begin(), corners_[n].end(),
                                 [&](Index v) { return chosen[static_cast<std::size_t>(v)] != 0; });
    if (all) nodes.push_back(static_cast<Index>(n));
  }
  return nodes;
}

}  // namespace pliant
