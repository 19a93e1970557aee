#pragma once

#include <functional>
#include <memory>

#include "experiments/energy_meter.hpp"
#include "pliant/mesh/tet_mesh.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

/// The parameters with those beside them, unless given, that make conjac and linearly-implicit the paper's method: no
/// safeguard, turns along tangents, a fixed gamma.
ParameterMap as_published(const std::string& solver, ParameterMap parameters);

/// The mesh brought to `size` m along its longest side, with its lowest corner at the origin; vertices that no tet uses
/// go there too.
MeshData table_top(MeshData data, double size);

/// Where the model rests once nothing is scripted any more, by Newton's method.
State resting_state(const std::shared_ptr<const Model>& model);

/// DRAGON (fig. 1): a body of soft rubber, 12 cm long. Its lowest tenth is held; head (the highest part), a hand (the
/// outermost in x) and the tail (what is farthest from both) are pulled from the middle outwards by a third of the size
/// within 0.2 s and let go at 0.3 s.
struct PullAndRelease {
  std::shared_ptr<const Model> model;
  std::string label = {};
  double release = 0.3;   ///< s
  double duration = 1.0;  ///< s
  double size = 0.12;     ///< m
  State rest = {};        ///< with nothing but the feet held
  std::vector<Index> head = {};
  Vec3 pull = Vec3::Zero();  ///< of the head, m
};
PullAndRelease pulled_body(const MeshData& mesh, const std::string& label, double poisson = 0.49);

/// One run, judged as the contract does: stable when every step is done and the energy above that of the resting shape
/// never exceeds 1.1 times that of the release and ends below it.
struct ReleaseTrial {
  bool stable = false;
  double growth = 0;      ///< largest energy after the release over that of the release
  double liveliness = 0;  ///< L: mean kinetic energy 0.1 to 0.4 s after the release over the energy at the release
  int steps = 0, projected = 0, factorisations = 0;
  double cpu = 0;  ///< s of processor time, all steps
  std::string outcome = "completed";
  std::vector<double> head;  ///< displacement along its pull from where it rests, over the pull, after the release
  State end;
};
enum class Patience { to_the_end, until_unstable };
ReleaseTrial try_out(
    const PullAndRelease& scene, const std::string& solver, const ParameterMap& parameters, double h,
    const std::function<bool()>& stop, Patience patience = Patience::to_the_end,
    const std::function<void(const State&)>& each = [](const State&) {});

/// Stability over a grid of betas, upwards.
struct BetaRow {
  std::vector<double> beta;
  std::vector<int> stable;
  double smallest = std::numeric_limits<double>::quiet_NaN();  ///< stable together with the next two
  ReleaseTrial trial;                                          ///< at the smallest
};
BetaRow smallest_beta(const PullAndRelease& scene, const std::string& solver, const ParameterMap& parameters, double h,
                      double from, double to, const std::function<bool()>& stop);

/// Extremes of a curve that lie farther than `least` from zero.
int turning_points(const std::vector<double>& curve, std::size_t within, double least);

}  // namespace pliant::experiments
