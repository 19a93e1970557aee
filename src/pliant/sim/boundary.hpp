#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "pliant/math/motion.hpp"

namespace pliant {

/// Nodes held where they are, for ever, along the chosen axes; eliminated from the system.
struct Pin {
  std::string name;
  std::vector<Index> nodes;
  std::array<bool, 3> axes = {true, true, true};
};

/// Moving boundaries are imposed directly (the nodes are put where they belong before the step is solved) or by the
/// penalty sigma/2 sum M_ii |x_i - c_i|^2 with the consistent mass (pitfalls, appendix C).
enum class Imposition { penalty, direct };

/// Where driven nodes belong at the end of the next step, m, one entry per scripted node. Written by whoever embeds the
/// library, between steps: the one thing a model refers to that may change, so that no step calls foreign code.
struct DrivenPositions {
  std::vector<Vec3> positions;
};

/// Nodes that follow a prescribed motion from `start` until `release`.
struct Script {
  std::string name;
  std::vector<Index> nodes;
  Motion motion;
  Imposition imposition = Imposition::penalty;
  double sigma = 1e8;                                        ///< penalty per mass, 1/s^2
  double start = -std::numeric_limits<double>::infinity();   ///< s
  double release = std::numeric_limits<double>::infinity();  ///< s
  std::shared_ptr<const DrivenPositions> driven = {};        ///< in place of `motion`
};

/// What holds at one instant, for all nodes.
struct BoundaryState {
  std::vector<std::uint8_t> fixed;  ///< per unknown: 1 where the value is prescribed
  VecX positions;                   ///< prescribed values where fixed, rest positions elsewhere
  std::vector<Index> penalised;     ///< nodes held by a penalty
  std::vector<Vec3> targets;        ///< where they belong, m
  std::vector<double> sigma;        ///< 1/s^2

  /// Prescribes the nodes that penalties hold.
  void impose_penalties();
};

/// Pins and scripts evaluated at `time` (that of the end of the step).
BoundaryState boundary_state(const std::vector<Pin>& pins, const std::vector<Script>& scripts, const VecX& rest,
                             double time);

}  // namespace pliant
