#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pliant/energies/elastic.hpp"
#include "pliant/fem/fe_mesh.hpp"
#include "pliant/sim/boundary.hpp"
#include "pliant/sim/mass.hpp"

namespace pliant {

/// A deformable body: a mesh, its law and its place in the node array.
struct Body {
  std::string name;
  std::shared_ptr<const TetMesh> mesh;
  std::shared_ptr<const FeMesh> elements;
  std::shared_ptr<const Law> law;
  std::vector<Lame> lame;  ///< one, or one per element
  double density = 1000;   ///< kg/m^3
  Range nodes;             ///< in the model's node array
  std::shared_ptr<const ElasticEnergy> elastic;
};

/// What a body is made of, for ModelBuilder.
struct BodyOptions {
  std::string name = "body";
  std::shared_ptr<const TetMesh> mesh;
  Material material;
  std::vector<Lame> lame;                ///< per element; empty: material.lame everywhere
  double density = 1000;                 ///< kg/m^3
  int order = 1;                         ///< 1, 2 or 3
  Vec3 velocity = Vec3::Zero();          ///< at t = 0, m/s
  Vec3 angular_velocity = Vec3::Zero();  ///< at t = 0 about the centre of mass, rad/s
};

/// Positions and velocities of all nodes at an instant: plain data.
struct State {
  VecX x;                 ///< m
  VecX v;                 ///< m/s
  double time = 0;        ///< s
  std::int64_t step = 0;  ///< steps taken
};

/// Everything about a simulation that does not change while it runs.
class Model {
 public:
  Index nodes() const { return static_cast<Index>(rest_.size() / 3); }
  const VecX& rest() const { return rest_; }
  const std::vector<Body>& bodies() const { return bodies_; }
  const Mass& mass() const { return mass_; }
  const VecX& external_force() const { return external_force_; }
  const Vec3& gravity() const { return gravity_; }
  const std::vector<Pin>& pins() const { return pins_; }
  const std::vector<Script>& scripts() const { return scripts_; }
  /// Potentials of the positions alone.
  std::span<const Energy* const> energies() const { return energies_; }
  /// Couples the nodes of every energy and of the mass matrix.
  std::shared_ptr<const BlockPattern> pattern() const { return pattern_; }
  State rest_state() const { return initial_; }

 private:
  friend class ModelBuilder;
  std::vector<Body> bodies_;
  VecX rest_;
  Mass mass_;
  Vec3 gravity_ = Vec3::Zero();
  VecX external_force_;  ///< gravity and loads, N
  std::vector<Pin> pins_;
  std::vector<Script> scripts_;
  std::vector<const Energy*> energies_;
  std::shared_ptr<const BlockPattern> pattern_;
  State initial_;
};

class ModelBuilder {
 public:
  /// Returns the body's index.
  std::size_t add_body(BodyOptions options);
  const Body& body(std::size_t index) const { return bodies_[index]; }
  void set_gravity(const Vec3& gravity) { gravity_ = gravity; }
  void set_mass(MassKind kind) { mass_kind_ = kind; }
  /// Nodes of pins, scripts and loads are global: body(b).nodes.begin + local. Throws InputError for empty sets, nodes
  /// out of range, and nodes that a pin or an overlapping script already holds.
  void add_pin(Pin pin);
  void add_script(Script script);
  /// A constant force in N spread evenly over the nodes.
  void add_load(std::span<const Index> nodes, const Vec3& total_force);
  std::shared_ptr<const Model> build();

 private:
  struct Load {
    std::vector<Index> nodes;
    Vec3 force;
  };
  void check_nodes(const std::vector<Index>& nodes, const std::string& what) const;

  std::vector<Body> bodies_;
  std::vector<BodyOptions> options_;
  std::vector<Pin> pins_;
  std::vector<Script> scripts_;
  std::vector<Load> loads_;
  Vec3 gravity_ = Vec3::Zero();
  MassKind mass_kind_ = MassKind::lumped;
  Index nodes_ = 0;
};

}  // namespace pliant
