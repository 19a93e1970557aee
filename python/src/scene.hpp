#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convert.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant::python {

struct MeshHandle;

class SceneTree {
 public:
  SceneTree(std::string name, std::filesystem::path folder);
  static SceneTree read(const std::string& path, const std::vector<std::string>& changes, const std::string& solver);

  /// Puts a section in the place of what there was.
  void set_table(const std::string& key, const py::dict& table, const std::string& origin);
  /// A key of the top level.
  void set_text(const std::string& key, const std::string& text, const std::string& origin);
  /// Adds a [[body]], a [[pin]] or the like.
  void append(const std::string& kind, const py::dict& table, const std::string& origin);
  /// Changes keys of the one of this name; None takes a key away.
  void change(const std::string& kind, const std::string& name, const py::dict& table, const std::string& origin);
  /// Takes it away.
  void remove(const std::string& kind, const std::string& name, const std::string& origin);
  /// The names of the [[...]] of a kind, as the scene will have them.
  std::vector<std::string> names(const std::string& kind) const;

  void add_mesh(const std::string& name, const MeshHandle& mesh);
  void add_surface(const std::string& name, const py::object& vertices, const py::object& triangles);
  /// A body goes on with another mesh, of which `origin` has for each vertex the one it was: selections by number get
  /// the copies of their vertices.
  void adopt_mesh(const std::string& body, const MeshHandle& mesh, const std::vector<Index>& origin,
                  const std::string& origin_of_message);
  void add_vertices(const std::string& name, const py::object& vertices, Index count, const std::string& what);
  std::shared_ptr<DrivenPositions> drive(const std::string& script);
  /// What a load is multiplied by from now on, whatever its keyframes.
  std::shared_ptr<double> drive_load(const std::string& load);
  /// Gravity from code, in place of the scene's, until drop_gravity(), m/s^2.
  std::shared_ptr<Vec3> drive_gravity();
  /// From code, that script or load; it is that of the scene again.
  void stop_driving(const std::string& kind, const std::string& name);
  void drop_gravity() { objects_.gravity.reset(); }
  void add_energy(std::shared_ptr<const Energy> energy) { objects_.energies.push_back(std::move(energy)); }

  Scene scene() const;
  /// With some keys changed, as on the command line.
  Scene scene_with(const std::vector<std::string>& changes) const;
  const Value& root() const { return root_; }

 private:
  std::size_t index_of(const std::string& kind, const std::string& name, const std::string& origin) const;
  Scene scene_of(Value root) const;
  void follow_cut(Value& where, const std::vector<Index>& origin, std::size_t before);
  void check_alone(Value root, const std::string& key, const std::string& origin) const;

  std::string name_;
  std::filesystem::path folder_, path_;
  std::string solver_;
  Value root_;
  SceneObjects objects_;
};

}  // namespace pliant::python
