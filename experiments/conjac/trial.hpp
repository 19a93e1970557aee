#pragma once

#include <functional>
#include <memory>

#include "pliant/energies/assembler.hpp"
#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

/// Energies of a model's states, J.
class EnergyMeter {
 public:
  explicit EnergyMeter(std::shared_ptr<const Model> model);
  double kinetic(const State& state) const;
  /// Elastic and of the external forces, zero at rest without deformation.
  double potential(const State& state);

 private:
  std::shared_ptr<const Model> model_;
  Assembler assembler_;
};

/// The parameters with those beside them, unless given, that make conjac and linearly-implicit the paper's method: no
/// safeguard, turns along tangents, a fixed gamma.
ParameterMap as_published(const std::string& solver, ParameterMap parameters);

/// A mesh from a file, or, without a path, a generated figure with two arms; `size` m at its longest, from the origin
/// on.
MeshData table_top_mesh(const std::string& path, int cells, double size);

/// A body of soft rubber, table-top size, held somewhere, pulled somewhere else until `release`.
struct PullAndRelease {
  std::shared_ptr<const Model> model;
  std::string label = {};
  double release = 0.3;   ///< s
  double duration = 1.0;  ///< s
  double size = 0.1;      ///< m
};
/// A bar, clamped at one end.
PullAndRelease pulled_bar(std::array<Index, 3> cells);
/// Any mesh, scaled to 12 cm; its lowest tenth is held, the uppermost is pulled up and one side sideways.
PullAndRelease pulled_figure(const std::string& path, int cells);

struct Trial {
  /// The energy after the release never exceeded 1.2 times that of the release, and every step succeeded.
  bool stable = false;
  double growth = 0;         ///< largest energy after the release, over that of the release
  double kinetic = 0;        ///< J, mean over 0.15 to 0.25 s after the release
  double kinetic_at_02 = 0;  ///< J, 0.2 s after it
  int steps = 0, projected = 0;
  double seconds_per_step = 0;
  std::string outcome = "completed";
};
Trial try_out(const PullAndRelease& scene, const std::string& solver, const ParameterMap& parameters, double h,
              const std::function<bool()>& stop);

}  // namespace pliant::experiments
