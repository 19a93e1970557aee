#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pliant/mesh/cutting.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/triangle_mesh.hpp"
#include "pliant/scene/selection.hpp"
#include "pliant/settings/value.hpp"
#include "pliant/sim/fibre_field.hpp"
#include "pliant/sim/model.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant {

/// A scene as plain data, in SI units, angles in radians: what load_scene makes of a file and what build_model builds
/// from. `origin` is where a part was written ("beam.toml:12"), for messages; it may be empty.

struct SceneMesh {
  std::optional<MeshGenerator> generator;
  std::optional<ClothOptions> cloth;
  std::optional<RodLine> rod;
  std::shared_ptr<const TetMesh> given;         ///< from code
  std::shared_ptr<const TriangleMesh> surface;  ///< the same for shells and rigid bodies
  std::filesystem::path file;                   ///< when there is nothing else
  Vec3 scale = Vec3::Ones();                    ///< then rotate, then translate
  Vec3 axis = Vec3::UnitX();
  double angle = 0;
  Vec3 centre = Vec3::Zero();
  Vec3 translate = Vec3::Zero();
};

/// Fibres of a body; exactly one of the four ways to give their directions.
struct SceneFibres {
  std::shared_ptr<const FibreLaw> law;
  FibreParameters parameters;
  std::optional<FibreField> field;
  std::string element_field;
  std::filesystem::path file;
  std::string muscle;  ///< empty: none
  std::string origin;
};

struct SceneRegion {
  std::string name;
  std::optional<Selection> where;
  Lame lame;
  std::string origin;
};

/// What makes a body rigid: its shape, or none where its mesh is the surface of what it fills.
struct SceneRigid {
  std::optional<Shape> shape;
  double young = 1e8;    ///< Pa
  double friction = -1;  ///< negative: the common one
};

struct SceneBody {
  std::string name;
  SceneMesh mesh;
  int order = 1;
  std::string material = "neo-hookean";
  std::shared_ptr<const Law> law;  ///< the material's; none: found by its name
  Lame lame;
  std::string young_field, poisson_field;  ///< element fields of the mesh in place of `lame`; both or none
  std::vector<SceneFibres> fibres;
  std::optional<SpringStiffness> springs;  ///< a network in place of a solid
  std::optional<ShellMaterial> shell;      ///< a shell of the mesh's triangles in place of it
  std::optional<RodMaterial> rod;          ///< a rod along the mesh's line in place of it
  std::optional<SceneRigid> rigid;         ///< a rigid body in place of all that
  std::optional<SceneMesh> visual;         ///< a file with a finer surface that moves with it, put where its mesh is
  RayleighDamping damping;
  std::vector<SceneRegion> regions;  ///< a later one holds where two overlap
  double density = 1000;
  Vec3 velocity = Vec3::Zero();
  Vec3 angular_velocity = Vec3::Zero();
  std::string origin;
};

struct ScenePin {
  std::string name;
  std::size_t body = 0;
  Selection where;
  std::array<bool, 3> axes = {true, true, true};
  std::string origin;
};

struct SceneScript {
  std::string name;
  std::size_t body = 0;
  Selection where;
  Motion motion;
  /// Set for motion by code, in place of `motion`: build_model fills in the rest positions of the nodes.
  std::shared_ptr<DrivenPositions> driven;
  Imposition imposition = Imposition::penalty;
  double sigma = 1e8;
  double start = 0;
  double release = std::numeric_limits<double>::infinity();
  std::string origin;
};

struct SceneLoad {
  std::string name;
  std::size_t body = 0;
  Selection where;
  LoadOptions load;  ///< but for its name, body and vertices
  std::string origin;
};

/// What is recorded of a probe.
enum class ProbeQuantity {
  position,
  displacement,
  velocity,
  reaction,
  contact_force,
  stress,
  volume,
  cavity,
  energy,
  force,  ///< of a spring, an attachment or a joint, as is its length
  length
};

struct SceneProbe {
  std::string name;
  std::size_t body = 0;
  Selection where;
  std::vector<ProbeQuantity> quantities;
  std::string origin;
  /// The spring, attachment or joint that it looks at, in place of a body.
  std::optional<TieGroup::Kind> tie_kind = std::nullopt;
  std::string tie = {};
};

struct SceneCollider {
  Collider collider;
  std::string origin;
  /// A file with triangles in place of the collider's shape, scaled, then moved; needs contact.
  std::filesystem::path surface;
  double scale = 1;
  Vec3 shift = Vec3::Zero();
};

struct SceneContact {
  ContactOptions options;
  std::string origin;
};

struct SceneMuscle {
  Muscle muscle;
  std::string origin;
};

struct SceneLink {
  LinkOptions link;
  std::string origin;
};

/// Vertices of a body that move with a link, are tied to another body, or slide on one or in the world.
struct SceneAttachment {
  std::string name;
  std::size_t body = 0;
  Selection where;
  std::optional<std::size_t> link = std::nullopt;
  std::optional<std::size_t> to_body = std::nullopt;  ///< in place of a link; with neither, what slides, in the world
  double stiffness = 0, damping = 0;                  ///< of each tie, N/m and N s/m; no stiffness: chosen by the model
  TieFreedom freedom = TieFreedom::none;
  Vec3 direction = Vec3::UnitX();  ///< of the line, or normal to the plane
  std::string origin = {};
};

struct SceneSpring {
  SpringOptions spring;
  std::string origin;
};

struct SceneJoint {
  JointOptions joint;
  std::string origin;
};

/// A cut of a body's mesh at rest, made before the first step that begins at `time` or later.
struct SceneCut {
  std::string name;
  std::size_t body = 0;
  CutSurface surface;
  double time = 0;  ///< s
  std::string origin;
};

enum class OnFailure { stop, proceed };

struct SceneSolver {
  std::string name = "pod-newton";
  ParameterMap parameters;  ///< complete: every parameter of the solver
  OnFailure on_failure = OnFailure::stop;
  std::string origin;
};

enum class FrameField { displacement, velocity, von_mises, stretch, body };

/// Of any run; a hundred times a year of film, and all sums stay far below what integers hold.
inline constexpr std::int64_t kMostSteps = 1'000'000'000;
/// Of any scene, s: beyond them squares overflow or vanish.
inline constexpr double kLeastTimeStep = 1e-12, kGreatestTimeStep = 1e9;

struct SceneOutput {
  int every = 1;  ///< steps
  std::vector<FrameField> fields;
  bool pictures = false;
  int checkpoint_every = 50;              ///< steps; 0: at the end
  std::vector<std::string> exports = {};  ///< formats to write besides when the run ends
  bool visual = false;                    ///< exports show the visual meshes of bodies that have one
  std::int64_t export_every = 0;          ///< frames; 0: all, or as many as the format keeps by default
  std::string export_colour = {};         ///< a field of the frames; empty: a colour per body
};

/// How pictures of a run look; what is not given is chosen from all frames at once.
struct ScenePicture {
  std::optional<Vec3> from, at;                               ///< where the camera is and what it looks at, m
  double field_of_view = 25;                                  ///< of the picture's height, degrees
  std::string colour = "stretch";                             ///< a field of the frames; "body": a colour per body
  std::optional<std::array<double, 2>> range = std::nullopt;  ///< of the field
  int width = 1280, height = 720;                             ///< pixels
  bool is_size_given = false;                                 ///< by the scene; else a short run may draw less
  std::optional<Vec3> background = std::nullopt;              ///< red, green, blue, each 0 to 1
  bool legend = true, stamp = true, wireframe = true, shadows = true;
};

struct Scene {
  std::filesystem::path path;
  std::string name;
  std::string title;
  double dt = 0;  ///< s
  std::int64_t steps = 0;
  Vec3 gravity = Vec3(0, -9.81, 0);            ///< at the start
  Keyframes<Vec3> gravity_keyframes;           ///< over time, in place of it
  std::shared_ptr<const Vec3> driven_gravity;  ///< from code, in place of both
  MassKind mass = MassKind::lumped;
  ColliderLaw collider_law = ColliderLaw::barrier;
  std::vector<SceneBody> bodies;  ///< rods behind the others, rigid ones last
  std::vector<ScenePin> pins;
  std::vector<SceneScript> scripts;
  std::vector<SceneLoad> loads;
  std::vector<SceneProbe> probes;
  std::vector<SceneMuscle> muscles;
  std::vector<SceneCollider> colliders;
  std::vector<SceneLink> links;  ///< parents before their children
  std::vector<SceneAttachment> attachments;
  std::vector<SceneSpring> springs;
  std::vector<SceneJoint> joints;
  std::vector<SceneCut> cuts;  ///< by time
  std::optional<SceneContact> contact;
  SceneSolver solver;
  SceneOutput output;
  ScenePicture picture;
  std::vector<std::shared_ptr<const Energy>> energies;  ///< from code, over global nodes
  std::vector<std::string> notices;                     ///< what a person should know but nobody need act on
};

/// What the command line changes in a scene file.
struct SceneChanges {
  std::vector<std::string> set;  ///< "body.0.young=1e6", "solver.tolerance=0.01"; bodies and the like by number or name
  std::string solver;            ///< another solver; parameters it does not have are left out, with a notice
};

/// What code can put into a scene beside its text.
struct SceneObjects {
  std::map<std::string, std::shared_ptr<const TetMesh>> meshes;         ///< what the key 'mesh' may name
  std::map<std::string, std::shared_ptr<const TriangleMesh>> surfaces;  ///< likewise, of shells and rigid bodies
  std::map<std::string, std::vector<Index>> vertices;                   ///< what the text of a selection may be
  std::map<std::string, std::shared_ptr<DrivenPositions>> driven;       ///< the motion of scripts, by their names
  std::map<std::string, std::shared_ptr<const double>> factors;         ///< of loads, by their names
  std::shared_ptr<const Vec3> gravity;                                  ///< in place of the scene's, m/s^2
  std::vector<std::shared_ptr<const Energy>> energies;
};

/// Reads and checks a scene file. Throws InputError: one message with file, line, key and remedy.
Scene load_scene(const std::filesystem::path& path, const SceneChanges& changes = {});
/// The same for text; relative mesh paths start at `folder`.
Scene parse_scene(std::string_view text, const std::string& name, const std::filesystem::path& folder = ".",
                  const SceneChanges& changes = {});
/// The same for a tree that code has put together.
Scene scene_from_tree(Value root, const std::string& name, const std::filesystem::path& folder = ".",
                      const SceneChanges& changes = {}, const SceneObjects& objects = {});

/// The finer surface of a body that has one, where the scene puts it. Throws InputError.
TriangleMesh read_visual(const SceneBody& body);

/// The map from a generated or read mesh to where the scene puts it: scaled, then turned, then moved.
void place(const SceneMesh& source, std::vector<Vec3>& vertices);
/// The colliders of the scene, with their law.
void add_colliders(const Scene& scene, ModelBuilder& builder);

/// Reads or generates the meshes and builds the model. Throws InputError with the origin of the part at fault.
std::shared_ptr<const Model> build_model(const Scene& scene);

/// The scene after one of its cuts: the body's mesh, in place of how it was made, and selections of vertices by number
/// with the copies of these vertices. `origin` gets, for each vertex of the new mesh, the one it was or is a copy of.
/// The cut is given where the body's vertices are in `where`; empty: at rest. Throws InputError when the cut passes
/// between no two elements, and where parts of the scene cannot follow it.
Scene cut_scene(const Scene& scene, const Model& model, const SceneCut& cut, std::vector<Index>& origin,
                std::span<const Vec3> where = {});

/// What the scene asks of a solver beyond its model.
SceneDemands demands_of(const Scene& scene);
/// Makes rigid bodies of the links, with joints, and ties of what is attached to them: for solvers that have no reduced
/// coordinates. load_scene does so where the scene's solver is one of these.
void make_links_rigid(Scene& scene);
/// Whether each solver could run the scene, of which this is the model, links being made rigid bodies where it needs
/// that.
std::vector<SolverFit> solver_fits(const Scene& scene, const Model& model);
/// The scene's solver for its model. Throws InputError when the solver cannot run the scene, naming those that can, and
/// when settings clash that are fine one by one.
std::unique_ptr<Stepper> make_stepper(const Scene& scene, std::shared_ptr<const Model> model);

/// What would run, for people: bodies, sizes, boundaries, time, solver.
std::string describe(const Scene& scene, const Model& model);
/// Which solvers could run the scene, and why others could not, for people.
std::string describe_solvers(const Scene& scene, const Model& model);

/// docs/scene.md, from the table of keys.
std::string scene_documentation();

}  // namespace pliant
