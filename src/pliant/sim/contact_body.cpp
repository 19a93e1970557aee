#include "pliant/sim/contact_body.hpp"

#include <algorithm>
#include <set>

namespace pliant {

namespace {

/// The nodes of one face of an element by their lattice coordinates on it.
class FaceLattice {
 public:
  FaceLattice(const FeMesh& mesh, Index element, std::size_t opposite) : order_(mesh.reference().order()) {
    const auto n = static_cast<std::size_t>(mesh.reference().nodes());
    const auto nodes = mesh.elements().subspan(static_cast<std::size_t>(element) * n, n);
    std::size_t k = 0;
    for (std::size_t c = 0; c < 4; ++c)
      if (c != opposite) corners_[k++] = c;
    if (opposite % 2 == 1) std::swap(corners_[1], corners_[2]);
    for (std::size_t a = 0; a < n; ++a) {
      const std::array<int, 4>& lattice = mesh.reference().lattice()[a];
      if (lattice[opposite] == 0) at(lattice[corners_[1]], lattice[corners_[2]]) = nodes[a];
    }
  }

  Index& at(int i, int j) { return node_[static_cast<std::size_t>(i * 4 + j)]; }

  void add_triangles(Index first, std::vector<Triangle>& triangles) {
    for (int i = 0; i < order_; ++i)
      for (int j = 0; i + j < order_; ++j) {
        triangles.push_back({first + at(i, j), first + at(i + 1, j), first + at(i, j + 1)});
        if (i + j + 1 < order_)
          triangles.push_back({first + at(i + 1, j), first + at(i + 1, j + 1), first + at(i, j + 1)});
      }
  }

 private:
  int order_;
  std::array<std::size_t, 3> corners_{};
  std::array<Index, 16> node_{};
};

Triangle sorted(Triangle t) {
  std::sort(t.begin(), t.end());
  return t;
}

void add_solid(const Body& body, ContactBody& contact) {
  if (body.elements->reference().order() == 1) {
    for (const Triangle& t : body.surface())
      contact.triangles.push_back({body.nodes.begin + t[0], body.nodes.begin + t[1], body.nodes.begin + t[2]});
  } else {
    std::set<Triangle> surface;
    for (const Triangle& t : body.surface()) surface.insert(sorted(t));
    for (std::size_t e = 0; e < body.mesh->tets().size(); ++e) {
      const Tet& tet = body.mesh->tets()[e];
      for (std::size_t opposite = 0; opposite < 4; ++opposite) {
        Triangle face{};
        for (std::size_t c = 0, k = 0; c < 4; ++c)
          if (c != opposite) face[k++] = tet[c];
        if (surface.contains(sorted(face)))
          FaceLattice(*body.elements, static_cast<Index>(e), opposite)
              .add_triangles(body.nodes.begin, contact.triangles);
      }
    }
  }
  double young = 0;
  for (const Lame& l : body.lame) {
    const double e = l.mu * (3 * l.lambda + 2 * l.mu) / (l.lambda + l.mu);
    if (young == 0 || e < young) young = e;
  }
  contact.young = young;
}

void add_network(const Body& body, ContactBody& contact) {
  const SpringNetwork& network = *body.network;
  for (const Triangle& t : network.triangles)
    contact.triangles.push_back({body.nodes.begin + t[0], body.nodes.begin + t[1], body.nodes.begin + t[2]});
  if (!network.triangles.empty()) return;
  for (const Spring& spring : network.springs)
    if (spring.kind == SpringKind::structural)
      contact.edges.push_back({body.nodes.begin + spring.a, body.nodes.begin + spring.b});
}

}  // namespace

ContactBody contact_body(const Body& body) {
  ContactBody contact;
  contact.name = body.name;
  contact.mass = body.mass();
  if (body.is_solid())
    add_solid(body, contact);
  else
    add_network(body, contact);
  return contact;
}

}  // namespace pliant
