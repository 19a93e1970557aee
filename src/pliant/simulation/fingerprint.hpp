#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "pliant/base/bytes.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

/// The checksum of bytes, numbers and texts one after the other.
class Hash {
 public:
  void add(const void* data, std::size_t bytes);
  void add(std::string_view text);
  void add(double value) { add(&value, sizeof value); }
  void add(std::int64_t value) { add(&value, sizeof value); }
  void add(const VecX& x) { add(x.data(), static_cast<std::size_t>(x.size()) * sizeof(double)); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = checksum({});
};

/// What the result of a run depends on, hashed in parts so that a refusal can say which of them changed. It is taken
/// from the model rather than from the text of the scene: comments, order and aliases do not matter, an edited mesh
/// file does.
struct Fingerprint {
  static constexpr std::size_t kParts = 6;
  static constexpr std::array<std::string_view, kParts> kNames = {
      "mesh", "materials and masses", "pins and scripts", "forces and initial velocities", "time step", "solver"};
  std::array<std::uint64_t, kParts> parts{};

  bool operator==(const Fingerprint&) const = default;
  /// "mesh, solver": the parts that differ.
  std::string difference(const Fingerprint& other) const;
};

Fingerprint fingerprint(const Scene& scene, const Model& model);
/// Of a scene of generated boxes whose model nobody has as a whole (distributed/box_parts.hpp): by what it says of
/// them.
Fingerprint fingerprint_of_boxes(const Scene& scene);

}  // namespace pliant
