#pragma once

#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/settings/value.hpp"

// What load.cpp and load_material.cpp share: from checked values to plain types.
namespace pliant {

inline constexpr double kDegree = std::numbers::pi / 180;

[[noreturn]] inline void fail(const std::string& origin, const std::string& message) {
  throw InputError(origin + ": " + message);
}

/// Runs something that throws messages without a place, and adds the place.
template <class Function>
auto at_origin(const std::string& origin, Function&& function) {
  try {
    return function();
  } catch (const InputError& error) {
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

}  // namespace pliant
