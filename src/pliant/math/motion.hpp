#pragma once

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

/// A rigid motion from rest: x = centre + rotation (X - centre) + translation.
struct RigidPose {
  Mat3 rotation = Mat3::Identity();
  Vec3 centre = Vec3::Zero(), translation = Vec3::Zero();

  Vec3 from_rest(const Vec3& X) const;
  Vec3 to_rest(const Vec3& x) const;
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
  /// Rotation and translation alone.
  RigidPose pose(double time) const;
};

}  // namespace pliant
