#pragma once

#include <numbers>

#include "pliant/base/complaints.hpp"
#include "pliant/base/error.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/settings/value.hpp"

// What load.cpp, the other load_*.cpp and build.cpp share: from checked values to plain types.
namespace pliant {

inline constexpr double kDegree = std::numbers::pi / 180;

/// A message that names its place.
struct PlacedError : InputError {
  using InputError::InputError;
};

[[noreturn]] inline void fail(const std::string& origin, const std::string& message) {
  throw PlacedError(origin + ": " + message);
}

/// Runs something that may throw messages without a place, and adds the place, if there is one. Of places within each
/// other, the innermost is told.
template <class Function>
auto at_origin(const std::string& origin, Function&& function) {
  try {
    return function();
  } catch (const PlacedError&) {
    throw;
  } catch (const InputError& error) {
    if (origin.empty()) throw;
    fail(origin, error.what());
  }
}

inline int to_int(const Value& value) { return static_cast<int>(std::get<std::int64_t>(value.data)); }
Vec3 to_vector(const Value& value);
/// Normalised; `key` names it in the message for zero.
Vec3 to_direction(const Value& value, const std::string& key);

Lame to_lame(const Value& table);
/// Law, stiffness, fibres, damping and springs of a [[body]].
void read_material(const Value& table, const std::filesystem::path& folder, SceneBody& body);
SceneMuscle to_muscle(const Value& table, const std::string& name);

Selection to_selection(const Value& value, const SceneObjects& objects);
/// Names of the tables of a list: as given, otherwise "pin-1", "pin-2", ...; those that are not all different are
/// complained of.
std::vector<std::string> names_of(const Value* list, const std::string& kind, Complaints& wrong);
std::size_t body_named(const Value& name, const std::vector<std::string>& bodies);
/// That of the key 'body', which may be left out where there is one.
std::size_t body_index(const Value& table, const std::vector<std::string>& bodies, const std::string& kind);
std::size_t link_index(const Value& value, const std::vector<std::string>& links);
/// The time of a keyframe, which becomes `previous`.
double later_time(const Value& frame, double& previous);

SceneJoint to_joint(const Value& table, const std::string& name, std::size_t body,
                    const std::vector<std::string>& bodies);
SceneSpring to_spring(const Value& table, const std::string& name, std::size_t body,
                      const std::vector<std::string>& bodies);
SceneAttachment to_attachment(const Value& table, const std::string& name, std::size_t body, Selection where,
                              const std::vector<std::string>& bodies, const std::vector<std::string>& links);
SceneProbe to_probe(const Value& table, const std::string& name, const Value& root, const SceneObjects& objects,
                    const std::vector<std::string>& bodies);

}  // namespace pliant
