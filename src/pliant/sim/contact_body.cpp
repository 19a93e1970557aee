#include "pliant/sim/contact_body.hpp"

#include "pliant/sim/surface_faces.hpp"

namespace pliant {

namespace {

void add_solid(const Body& body, ContactBody& contact) {
  if (body.elements->reference().order() == 1) {
    for (const Triangle& t : body.surface())
      contact.triangles.push_back({body.nodes.begin + t[0], body.nodes.begin + t[1], body.nodes.begin + t[2]});
  } else {
    const FaceSet faces = surface_faces(body);
    const int order = faces.reference().order();
    for (Index f = 0; f < faces.stencils().count(); ++f) {
      const auto at = [&](int i, int j) { return faces.stencils()[f][ReferenceFace::number(order, i, j)]; };
      for (int i = 0; i < order; ++i)
        for (int j = 0; i + j < order; ++j) {
          contact.triangles.push_back({at(i, j), at(i + 1, j), at(i, j + 1)});
          if (i + j + 1 < order) contact.triangles.push_back({at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
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

/// Nothing but springs keeps what is inside a network from leaving it.
void add_inner_points(const Body& body, ContactBody& contact) {
  std::vector<bool> is_outer(body.vertices().size(), false);
  for (const Triangle& t : body.network->triangles)
    for (Index v : t) is_outer[at(v)] = true;
  for (std::size_t v = 0; v < is_outer.size(); ++v)
    if (!is_outer[v] && !body.is_link()) contact.points.push_back(body.nodes.begin + static_cast<Index>(v));
}

void add_network(const Body& body, ContactBody& contact) {
  const SpringNetwork& network = *body.network;
  for (const Triangle& t : network.triangles)
    contact.triangles.push_back({body.nodes.begin + t[0], body.nodes.begin + t[1], body.nodes.begin + t[2]});
  if (body.rod) contact.radius = body.rod->material().radius;
  if (!network.triangles.empty()) return add_inner_points(body, contact);
  for (const Spring& spring : network.springs)
    if (spring.kind == SpringKind::structural)
      contact.edges.push_back({body.nodes.begin + spring.a, body.nodes.begin + spring.b});
}

}  // namespace

ContactBody contact_body(const Body& body, Index nodes) {
  ContactBody contact;
  contact.name = body.name;
  contact.mass = body.mass();
  if (body.rigid) {
    const Index first = nodes + body.first_carried;
    for (const Triangle& t : body.rigid->triangles)
      contact.triangles.push_back({first + t[0], first + t[1], first + t[2]});
    contact.friction = body.rigid->friction;
    contact.frame = body.nodes;
    return contact;
  }
  if (body.is_solid())
    add_solid(body, contact);
  else
    add_network(body, contact);
  return contact;
}

}  // namespace pliant
