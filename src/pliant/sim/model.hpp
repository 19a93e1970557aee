#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pliant/contact/contact_model.hpp"
#include "pliant/energies/collider_penalty.hpp"
#include "pliant/energies/elastic.hpp"
#include "pliant/energies/rod_energy.hpp"
#include "pliant/energies/shell_energy.hpp"
#include "pliant/energies/spring_energy.hpp"
#include "pliant/fem/fe_mesh.hpp"
#include "pliant/mesh/rod_line.hpp"
#include "pliant/mesh/spring_network.hpp"
#include "pliant/rigid/articulation.hpp"
#include "pliant/rigid/mass_points.hpp"
#include "pliant/sim/boundary.hpp"
#include "pliant/sim/grab.hpp"
#include "pliant/sim/joint.hpp"
#include "pliant/sim/load.hpp"
#include "pliant/sim/mass.hpp"
#include "pliant/sim/rigid_body.hpp"
#include "pliant/sim/tie.hpp"

namespace pliant {

class Sharing;

/// Resistance to velocity: W(v) = 1/2 v^T (mass M + stiffness K) v with K the body's stiffness at the start of the
/// step, projected, so that it always dissipates.
struct RayleighDamping {
  double mass = 0;       ///< 1/s
  double stiffness = 0;  ///< s
  bool none() const { return mass == 0 && stiffness == 0; }
};

/// A deformable body and its place in the node array: a solid of finite elements, or a network of springs, a shell of
/// triangles or a rod, which have no mesh, elements, law and elastic energy. A rigid body is a solid of one stiff
/// tetrahedron, its frame, which carries the surface that touches and is drawn.
struct Body {
  std::string name;
  std::shared_ptr<const TetMesh> mesh;
  std::shared_ptr<const FeMesh> elements;
  std::shared_ptr<const Law> law;
  std::vector<Lame> lame;  ///< one, or one per element
  std::vector<Fibres> fibres;
  std::shared_ptr<const SpringNetwork> network;  ///< of a shell without springs, of a rod its segments
  double density = 1000;                         ///< kg/m^3, of cloth kg/m^2
  RayleighDamping damping;
  Range nodes;  ///< in the model's node array
  std::shared_ptr<const ElasticEnergy> elastic;
  std::shared_ptr<const SpringEnergy> springs;
  std::shared_ptr<const ShellEnergy> shell;
  std::shared_ptr<const RodEnergy> rod;
  Index first_tube = 0;  ///< of the corners of a rod's tube behind what is carried, in Model::drawn()
  std::shared_ptr<const RigidShape> rigid;  ///< null unless it is a rigid body; its density is that of the frame
  Index first_carried = 0;                  ///< of its surface's vertices in Model::carried()

  bool is_solid() const { return mesh != nullptr; }
  /// The points of a rigid link, which joints move.
  bool is_link() const { return network && network->source == "link"; }
  const Energy& energy() const {
    if (elastic) return *elastic;
    if (rod) return *rod;
    return shell ? static_cast<const Energy&>(*shell) : *springs;
  }
  /// At rest; the first nodes of the body.
  std::span<const Vec3> vertices() const;
  std::span<const Triangle> surface() const;
  const std::map<std::string, std::vector<Index>>& sets() const;
  const std::string& source() const;
  /// The body's own nodes that a set of its vertices holds; of a rigid body, all four.
  std::vector<Index> nodes_of(std::span<const Index> vertices) const;
  double mass() const;  ///< kg
};

/// Stiffness of springs by what they resist, N/m.
struct SpringStiffness {
  double structural = 1000, shear = 500, bending = 10;
};

/// What a body is made of, for ModelBuilder.
struct BodyOptions {
  std::string name = "body";
  std::shared_ptr<const TetMesh> mesh;  ///< of a solid
  Material material;
  std::vector<Lame> lame;  ///< per element; empty: material.lame everywhere
  std::vector<Fibres> fibres;
  int order = 1;                                 ///< 1, 2 or 3
  std::shared_ptr<const SpringNetwork> network;  ///< in place of the mesh
  SpringStiffness springs;
  /// Makes the triangles of the network a shell, in place of its springs; shares of the volume are its measure.
  std::optional<ShellMaterial> shell;
  /// Makes the springs of the network, which follow each other, a rod; shares of the volume are its measure.
  std::optional<RodMaterial> rod;
  std::shared_ptr<const RigidShape> rigid;  ///< of which the mesh is the frame; see add_rigid
  double density = 1000;                    ///< kg/m^3, of cloth kg/m^2
  RayleighDamping damping;
  Vec3 velocity = Vec3::Zero();          ///< at t = 0, m/s
  Vec3 angular_velocity = Vec3::Zero();  ///< at t = 0 about the centre of mass, rad/s
};

/// Positions and velocities of all nodes at an instant: plain data.
struct State {
  VecX x;                 ///< m
  VecX v;                 ///< m/s
  double time = 0;        ///< s
  std::int64_t step = 0;  ///< steps taken
  /// One for each muscle, 0 to 1. A step overwrites those that follow keyframes; the others are the user's.
  std::vector<double> activation;
  /// Points held from outside. Like activations they are the user's input, not a result: checkpoints leave them out.
  std::vector<Grab> grabs = {};
};

/// A rigid link, for ModelBuilder: Link of rigid/articulation.hpp, with the shape its mass comes from.
struct LinkOptions {
  std::string name = "link";
  Index parent = -1;
  JointKind joint = JointKind::free;
  Vec3 pivot = Vec3::Zero();  ///< m
  Vec3 axis = Vec3::UnitZ();
  Shape shape;            ///< box, sphere, cylinder or capsule
  double density = 1000;  ///< kg/m^3
};

/// Something that fibres of any number of bodies contract by.
struct Muscle {
  std::string name;
  Keyframes<double> activation;  ///< over time, 0 to 1; empty: set from outside, in State::activation
};

/// Everything about a simulation that does not change while it runs.
class Model {
 public:
  Index nodes() const { return static_cast<Index>(rest_.size() / 3); }
  const VecX& rest() const { return rest_; }
  const std::vector<Body>& bodies() const { return bodies_; }
  const Mass& mass() const { return mass_; }
  /// What does not depend on the positions, N: gravity and loads that do not follow, at a time.
  void external_force(double time, VecX& f) const;
  /// Of it what does not depend on the time either.
  const VecX& external_force() const { return external_force_; }
  /// At the start.
  const Vec3& gravity() const { return gravity_; }
  Vec3 gravity(double time) const { return driven_gravity_ ? *driven_gravity_ : gravity_keyframes_.at(time, gravity_); }
  const Keyframes<Vec3>& gravity_keyframes() const { return gravity_keyframes_; }
  /// Whether whoever embeds the library writes it between steps.
  bool has_driven_gravity() const { return driven_gravity_ != nullptr; }
  /// Loads over time that do not depend on the positions.
  const std::vector<DeadLoad>& timed_loads() const { return timed_loads_; }
  /// Loads that follow surfaces.
  const std::vector<SurfaceLoad>& surface_loads() const { return surface_loads_; }
  const std::vector<Pin>& pins() const { return pins_; }
  const std::vector<Script>& scripts() const { return scripts_; }
  const std::vector<Muscle>& muscles() const { return muscles_; }
  /// The activations of a step that ends at `time`: those of `state`, with keyframes in place of them where there are
  /// any.
  std::vector<double> activation(const State& state, double time) const;
  bool is_damped() const;
  /// The rigid links, whose points are bodies of their own; null when there are none.
  const Articulation* articulation() const { return articulation_.get(); }
  /// Keeps the surfaces of all bodies out of the colliders by a penalty; null when there are none, and with contact, to
  /// which colliders then belong.
  const ColliderPenalty* colliders() const { return colliders_.get(); }
  /// Contact by barriers of surfaces with each other, themselves and obstacles, or with colliders alone; null when
  /// there is none.
  const std::shared_ptr<const ContactModel>& contact() const { return contact_; }
  /// Potentials of the positions alone.
  std::span<const Energy* const> energies() const { return energies_; }
  /// Those of them that are no body's elasticity, as they were added.
  std::span<const std::shared_ptr<const Energy>> more_energies() const { return more_energies_; }
  /// Springs between places, and attachments of bodies to each other; null when there are none.
  const TieEnergy* ties() const { return ties_.get(); }
  /// Whose they are.
  const std::vector<TieGroup>& tie_groups() const { return tie_groups_; }
  /// The vertices of the surfaces of rigid bodies, as sums of nodes. Behind the nodes they are what is drawn.
  const std::vector<CarriedPoint>& carried() const { return carried_; }
  /// Positions, or whatever is linear in them, of the nodes and of what they carry.
  VecX with_carried(const VecX& x) const {
    VecX all;
    append_carried(carried_, x, all);
    return all;
  }
  /// The corners of the tubes of rods: the node about which each lies.
  const std::vector<Index>& tube_nodes() const { return tube_nodes_; }
  /// Positions of the nodes, of what they carry, and of the corners of tubes: of all that is drawn.
  VecX drawn(const VecX& x) const;
  /// The same of whatever is linear in positions, such as velocities: corners of tubes have that of their node.
  VecX drawn_vectors(const VecX& v) const;
  /// The node that a position of these moves with, where there is one: itself, or the middle of its tube.
  Index node_of_drawn(Index i) const {
    const Index first = nodes() + static_cast<Index>(carried_.size());
    return i < first ? i : tube_nodes_[at(i - first)];
  }
  /// Couples the nodes of every energy and of the mass matrix.
  std::shared_ptr<const BlockPattern> pattern() const { return pattern_; }
  State rest_state() const { return initial_; }
  /// Null unless this is a part of a larger model: then how it fits into that.
  Sharing* sharing() const { return sharing_.get(); }

 private:
  friend class ModelBuilder;
  std::vector<Body> bodies_;
  VecX rest_;
  Mass mass_;
  Vec3 gravity_ = Vec3::Zero();
  Keyframes<Vec3> gravity_keyframes_;           ///< empty: it is constant
  std::shared_ptr<const Vec3> driven_gravity_;  ///< in place of both
  VecX node_mass_;                              ///< with gravity over time: sums of the rows of the mass matrix, kg
  VecX external_force_;                         ///< N
  std::vector<DeadLoad> timed_loads_;
  std::vector<SurfaceLoad> surface_loads_;
  std::vector<Pin> pins_;
  std::vector<Script> scripts_;
  std::vector<Muscle> muscles_;
  std::shared_ptr<const Articulation> articulation_;
  std::shared_ptr<const ColliderPenalty> colliders_;
  std::shared_ptr<const ContactModel> contact_;
  std::vector<const Energy*> energies_;
  std::vector<std::shared_ptr<const Energy>> more_energies_;
  std::shared_ptr<const TieEnergy> ties_;
  std::vector<TieGroup> tie_groups_;
  std::vector<CarriedPoint> carried_;
  std::vector<Index> tube_nodes_;
  std::shared_ptr<const BlockPattern> pattern_;
  State initial_;
  std::shared_ptr<Sharing> sharing_;
};

/// Whether there is gas in a cavity.
bool has_gas(const Model& model);

/// What makes the model of a builder a part of a larger one (sim/sharing.hpp), beyond its elements.
struct PartOptions {
  std::shared_ptr<Sharing> sharing;
  /// The number of each body here among those of the whole model, and how many that has.
  std::vector<std::size_t> bodies;
  std::size_t all_bodies = 0;
  /// What does not depend on positions and time, N, over the nodes here, as shares of the whole's: in place of gravity
  /// and of loads that are constant. Empty: gravity alone.
  VecX force;
  VecX velocity;  ///< where the simulation begins, m/s, in place of those of the bodies
};

/// How colliders keep bodies out where surfaces are not in contact otherwise: as obstacles of contact, which nothing
/// passes and on which friction sticks, or by a penalty per node with friction as a filter of velocities, as papers do
/// whose experiments need it.
enum class ColliderLaw { barrier, penalty };

class ModelBuilder {
 public:
  /// Returns the body's index.
  std::size_t add_body(BodyOptions options);
  /// A rigid body. Returns its index among all bodies. Throws InputError.
  std::size_t add_rigid(const RigidOptions& options);
  const Body& body(std::size_t index) const { return bodies_[index]; }
  void set_gravity(const Vec3& gravity) { gravity_ = gravity; }
  /// Over time, in place of a constant one.
  void set_gravity(Keyframes<Vec3> gravity) { gravity_keyframes_ = std::move(gravity); }
  /// As whoever embeds the library writes it between steps, in place of either; null: not.
  void drive_gravity(std::shared_ptr<const Vec3> driven) { driven_gravity_ = std::move(driven); }
  void set_mass(MassKind kind) { mass_kind_ = kind; }
  /// Returns the muscle's index, for Fibres::activation. Throws InputError for values outside [0, 1].
  Index add_muscle(Muscle muscle);
  /// Nodes of pins, scripts and loads are global: body(b).nodes.begin + local. Throws InputError for empty sets, nodes
  /// out of range, and nodes that a pin or an overlapping script already holds.
  void add_pin(Pin pin);
  void add_script(Script script);
  /// Throws InputError for shapes without a size, negative stiffness or friction.
  void add_collider(Collider collider);
  void set_collider_law(ColliderLaw law) { collider_law_ = law; }
  /// Returns the link's index. Its points become a body of the same name.
  Index add_link(const LinkOptions& options);
  /// Nodes, global, that move with a link from here on. Throws InputError for those that pins and scripts hold.
  void attach(Index link, std::span<const Index> nodes);
  /// Surfaces touch each other, too, and colliders become obstacles of that contact, whatever their law.
  void set_contact(ContactOptions options) { contact_ = std::move(options); }
  /// Needs contact.
  void add_obstacle(Obstacle obstacle) { obstacles_.push_back(std::move(obstacle)); }
  /// A constant force in N spread evenly over the nodes.
  void add_load(std::span<const Index> nodes, const Vec3& total_force);
  /// Any load. Throws InputError.
  void add_load(LoadOptions options);
  /// Between bodies that are there already. Throws InputError.
  void add_spring(const SpringOptions& options);
  void add_attachment(const AttachmentOptions& options);
  void add_joint(const JointOptions& options);
  /// A load on some nodes or faces here of a larger model.
  void add_part_of_load(DeadLoad load) { dead_loads_.push_back(std::move(load)); }
  void add_part_of_load(SurfaceLoad load) { surface_loads_.push_back(std::move(load)); }
  /// Makes the model a part of a larger one. Surfaces of bodies are those of the whole ones, whose vertices are in
  /// their sets "boundary".
  void make_part(PartOptions part) { part_ = std::move(part); }
  /// Any further potential of the positions; its stencils name global nodes.
  void add_energy(std::shared_ptr<const Energy> energy);
  std::shared_ptr<const Model> build();

 private:
  struct Load {
    std::vector<Index> nodes;
    Vec3 force;
  };
  VecX rest_positions() const;
  void add_loads(Model& model) const;
  void add_penalty(Model& model, bool links_only) const;
  void add_contact(Model& model) const;
  void begin_bodies(Model& model) const;
  void add_solid(const BodyOptions& options, Body& body) const;
  void add_network(const BodyOptions& options, Body& body) const;
  void add_ties(TieGroup::Kind kind, const std::string& name, std::size_t body, const std::vector<Tie>& ties);
  void check_nodes(const std::vector<Index>& nodes, const std::string& what) const;

  std::vector<Body> bodies_;
  std::vector<BodyOptions> options_;
  std::vector<Pin> pins_;
  std::vector<Script> scripts_;
  std::vector<Muscle> muscles_;
  std::vector<Collider> colliders_;
  ColliderLaw collider_law_ = ColliderLaw::barrier;
  std::vector<Link> links_;
  std::vector<Obstacle> obstacles_;
  std::optional<ContactOptions> contact_;
  std::vector<Load> loads_;
  std::vector<DeadLoad> dead_loads_;
  std::vector<SurfaceLoad> surface_loads_;
  std::vector<std::shared_ptr<const Energy>> energies_;
  std::vector<Tie> ties_;
  std::vector<TieGroup> tie_groups_;
  std::vector<CarriedPoint> carried_;
  std::vector<Index> tube_nodes_;
  Vec3 gravity_ = Vec3::Zero();
  Keyframes<Vec3> gravity_keyframes_;
  std::shared_ptr<const Vec3> driven_gravity_;
  MassKind mass_kind_ = MassKind::lumped;
  std::optional<PartOptions> part_;
  Index nodes_ = 0;
};

}  // namespace pliant
