#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// Values at instants, linear in between, constant beyond the ends; zero when there are none.
template <class T>
struct Keyframes {
  struct Key {
    double time;  ///< s
    T value;
  };
  std::vector<Key> keys;  ///< strictly increasing in time

  T at(double time, const T& none) const {
    if (keys.empty()) return none;
    if (time <= keys.front().time) return keys.front().value;
    for (std::size_t k = 1; k < keys.size(); ++k) {
      if (time > keys[k].time) continue;
      const double s = (time - keys[k - 1].time) / (keys[k].time - keys[k - 1].time);
      return (1 - s) * keys[k - 1].value + s * keys[k].value;
    }
    return keys.back().value;
  }
};

/// Prescribed motion of a set of nodes: a displacement field of given shape, then a rotation about a fixed axis, then a
/// translation, each scaled in time by keyframes.
struct Motion {
  Keyframes<Vec3> translation;  ///< m, from the rest position
  Vec3 axis = Vec3::UnitX();    ///< of the rotation, unit vector
  Vec3 centre = Vec3::Zero();   ///< a point on the axis, m
  Keyframes<double> angle;      ///< rad
  std::vector<Vec3> field;      ///< m, one displacement per scripted node, or empty
  Keyframes<double> field_scale;

  /// Where scripted node number k, at rest in `rest`, belongs at `time`.
  Vec3 position(std::size_t k, const Vec3& rest, double time) const;
};

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
};

/// Pins and scripts evaluated at `time` (that of the end of the step).
BoundaryState boundary_state(const std::vector<Pin>& pins, const std::vector<Script>& scripts, const VecX& rest,
                             double time);

}  // namespace pliant
