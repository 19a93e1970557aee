#pragma once

#include <memory>
#include <string>

#include "pliant/contact/aabb.hpp"
#include "pliant/contact/collider.hpp"
#include "pliant/contact/contact_surface.hpp"
#include "pliant/mesh/triangle_mesh.hpp"

namespace pliant {

/// How contact is modelled (docs/contact.md).
struct ContactOptions {
  double dhat = 0;              ///< distance below which surfaces repel each other, m; 0: chosen from sizes and edges
  double kappa = 0;             ///< stiffness of the barrier, Pa; 0: chosen from stiffness and mass
  bool adaptive = false;        ///< doubles kappa within a step where tiny gaps go on shrinking
  double friction = 0;          ///< Coulomb's coefficient wherever no other is given
  double eps_v = 1e-3;          ///< sliding speed below which friction is that of sticking, m/s
  int friction_iterations = 1;  ///< how often normal forces and directions of friction are renewed in a step
  bool self = true;             ///< bodies touch themselves
  bool bodies = true;           ///< bodies touch each other and themselves; false: they touch colliders alone
  /// Exceptions by the names of bodies and colliders.
  struct Pair {
    std::string first, second;
    double friction = 0;
    bool touches = true;
  };
  std::vector<Pair> pairs = {};
};

/// A surface that follows a prescribed motion, whatever pushes against it. Open or closed.
struct Obstacle {
  std::string name = "obstacle";
  std::shared_ptr<const TriangleMesh> surface;
  Motion motion;         ///< rigid; its displacement field is not used
  double friction = -1;  ///< Coulomb's coefficient; negative: the common one
};

/// A place that four nodes carry: a weighted sum of them. The surface of a rigid body is made of these.
struct CarriedPoint {
  std::array<Index, 4> nodes = {};
  std::array<double, 4> weights = {};

  Vec3 at(const VecX& x) const {
    Vec3 sum = Vec3::Zero();
    for (std::size_t k = 0; k < 4; ++k) sum += weights[k] * node(x, nodes[k]);
    return sum;
  }
};

/// Vectors over nodes, with those of the points they carry behind them.
void append_carried(const std::vector<CarriedPoint>& carried, const VecX& x, VecX& all);

/// A body's part in contact, over the model's nodes and, behind them, what these carry.
struct ContactBody {
  std::string name;
  std::vector<Triangle> triangles;
  std::vector<Edge> edges;    ///< beyond those of the triangles
  std::vector<Index> points;  ///< beyond those of triangles and edges
  double young = 0;           ///< Pa; 0: unknown
  double mass = 0;            ///< kg
  double radius = 0;          ///< of a rod, of which the middle line touches, m
  /// Moved by joints, whatever pushes against it: it pushes bodies as a collider does, and colliders do not stop it.
  bool is_driven = false;
  double friction = -1;  ///< Coulomb's coefficient against others; negative: the common one
  /// Of a rigid body: the nodes that carry its points. It does not touch itself.
  Range frame = {0, 0};
};

/// Everything about contact that does not change while a simulation runs. Positions [0, nodes) move with the model:
/// its nodes come first, then the points that some of them carry. Those behind them belong to the obstacles, one
/// obstacle after the other. Planes have no positions.
struct ContactModel {
  struct Placed {
    std::string name;
    Motion motion;
    Index group = 0;
    Range positions;  ///< empty for planes
    PlaneShape plane;
    double withdrawn = 0;  ///< by how much it is taken smaller than it is, m
  };

  ContactOptions options;             ///< with dhat as chosen
  Index nodes = 0;                    ///< positions that are no obstacle's
  std::vector<CarriedPoint> carried;  ///< the last of them
  std::shared_ptr<const ContactSurface> surface;
  std::vector<Placed> obstacles;
  std::vector<Placed> planes;
  VecX rest;                       ///< of all positions, m
  std::vector<double> point_area;  ///< by position: a third of its triangles at rest, m^2
  std::vector<double> edge_area;   ///< by edge: a third of its triangles at rest, m^2
  /// Of a part of a larger model: by position, `point_area` with the triangles of other parts. Empty: there are none.
  std::vector<double> whole_area;
  std::vector<double> edge_length2;  ///< by edge: at rest, m^2
  std::vector<std::string> group_names;
  std::vector<double> friction;  ///< groups x groups
  double young = 0;              ///< of the softest body, Pa; 0: unknown
  double mass_per_area = 0;      ///< of all bodies, kg/m^2
  double size = 0;               ///< diagonal of the smallest body's box at rest, m

  Index positions() const { return static_cast<Index>(rest.size() / 3); }
  /// A third of all triangles at a position, m^2.
  double area_at(Index position) const {
    return (whole_area.empty() ? point_area : whole_area)[static_cast<std::size_t>(position)];
  }
  bool is_obstacle(Index position) const { return position >= nodes; }
  /// The model's own nodes.
  Index unknowns() const { return nodes - static_cast<Index>(carried.size()); }
  /// Calls add(node, weight) for the nodes that a position of the model moves with.
  template <class Add>
  void for_unknowns_of(Index position, Add&& add) const {
    if (position < unknowns()) return add(position, 1.0);
    const CarriedPoint& point = carried[static_cast<std::size_t>(position - unknowns())];
    for (std::size_t k = 0; k < 4; ++k) add(point.nodes[k], point.weights[k]);
  }
  /// What a vector over the nodes is at the positions of the model.
  void extend(const VecX& x, VecX& all) const { append_carried(carried, x, all); }
  /// Adds to g, over the nodes, what pushes at the positions of the model.
  void add_to_unknowns(const VecX& all, VecX& g) const;
  double friction_of(Index group_a, Index group_b) const {
    return friction[static_cast<std::size_t>(group_a) * group_names.size() + static_cast<std::size_t>(group_b)];
  }
  /// kappa as given, or 0.1 E of the softest body but no more than what stops its share of mass over a tenth of its
  /// size within a hundredth of a second, 0.1 (m/A) L / (0.01 s)^2. Pa.
  double stiffness() const;
};

/// What the parameters of contact are chosen by.
struct ContactMeasures {
  struct OfBody {
    Aabb box;                      ///< of what touches, at rest
    double length = 0, edges = 0;  ///< of the edges of all triangles, m, and how many there are
    double mass = 0;               ///< kg
    double young = 0;              ///< Pa; 0: unknown
    double radius = 0;             ///< of a rod, m
  };
  std::vector<OfBody> bodies;
  double area = 0;  ///< of all of them, m^2
  std::vector<double>
      depths;  ///< by collider: how deep the deepest point is in it where it begins, m; negative: outside
};
ContactMeasures measure_contact(const VecX& rest, const std::vector<ContactBody>& bodies,
                                const std::vector<Collider>& colliders, const std::vector<CarriedPoint>& carried = {});

/// Colliders become obstacles: planes as they are, all else as triangles (tessellate). Where bodies touch colliders
/// alone, one that a body begins in touch with, or less than dhat inside of, is taken smaller by that much and dhat.
/// Throws InputError for options out of range and for pairs that name nothing.
std::shared_ptr<ContactModel> make_contact_model(const ContactOptions& options, const VecX& rest,
                                                 const std::vector<ContactBody>& bodies,
                                                 const std::vector<Collider>& colliders,
                                                 const std::vector<Obstacle>& obstacles,
                                                 const std::vector<CarriedPoint>& carried,
                                                 const ContactMeasures& measures);
/// With the measures of these very bodies.
std::shared_ptr<ContactModel> make_contact_model(const ContactOptions& options, const VecX& rest,
                                                 const std::vector<ContactBody>& bodies,
                                                 const std::vector<Collider>& colliders,
                                                 const std::vector<Obstacle>& obstacles,
                                                 const std::vector<CarriedPoint>& carried = {});

}  // namespace pliant
